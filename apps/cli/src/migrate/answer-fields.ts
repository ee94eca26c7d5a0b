/** Fields of an admin port's answer. Each throws a RangeError for an answer of another server. */
import { type AdminFields, parseZxid, type Zxid } from "@zooid/model";

export function textIn(fields: AdminFields, name: string): string {
  const value = fields[name];
  if (typeof value === "string") return value;
  throw new RangeError(`${name} must be a text, found ${JSON.stringify(value)}`);
}

export function numberIn(fields: AdminFields, name: string): number {
  const value = fields[name];
  if (typeof value === "number") return value;
  throw new RangeError(`${name} must be a number, found ${JSON.stringify(value)}`);
}

export function zxidIn(fields: AdminFields, name: string): Zxid {
  return parseZxid(textIn(fields, name));
}
