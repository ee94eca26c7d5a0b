import { formatSessionId, type SessionId } from "@zooid/model";

/**
 * Lets an object with a session id be written as JSON, which has no bigint: the id becomes text in
 * hexadecimal, as in logs. The method is not enumerable, so the object is compared and copied as
 * before.
 */
export function withJson<T extends object>(value: T): T {
  Object.defineProperty(value, "toJSON", { value: plainOf, configurable: true });
  return value;
}

function plainOf(this: object): object {
  const shown = (field: unknown): unknown => (typeof field === "bigint" ? formatSessionId(field as SessionId) : field);
  return Object.fromEntries(Object.entries(this).map(([name, field]) => [name, shown(field)]));
}
