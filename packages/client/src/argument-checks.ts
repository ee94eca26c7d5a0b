/** Checks of arguments at run time, for callers without a type checker. */
import { ArgumentError, fits, misfit, misfits, type Rule, rules, type Shape } from "@zooid/model";

/** A time in milliseconds that may have passed: then it is 0. */
export const timeRule: Rule = {
  expected: "a number of milliseconds",
  accepts: (value) => typeof value === "number" && !Number.isNaN(value),
};

/** A client of this copy of the package or another. */
const clientRule: Rule = {
  expected: "a client, as connect() returns one",
  accepts: (value) => hasFields(value, ["sessionId", "create"]),
};

/** A codec, as `json()` makes one. */
export const codecRule: Rule = {
  expected: "a codec with the methods encode and decode, such as json()",
  accepts: (value) => hasMethods(value, ["encode", "decode"]),
};

/** Checks one argument. @throws ArgumentError */
export function checkArgument(where: string, name: string, value: unknown, rule: Rule): void {
  if (!rule.accepts(value)) throw new ArgumentError(where, [misfit(name, value, rule)]);
}

/**
 * Checks the client that a function works with; a promise of one is a frequent mistake. @throws
 * ArgumentError
 */
export function checkClient(where: string, client: unknown): void {
  if (hasFields(client, ["then"])) throw new ArgumentError(where, ["the client is a promise: await it"]);
  checkArgument(where, "the client", client, clientRule);
}

/** Checks a password, which the message does not show. @throws ArgumentError */
export function checkPassword(where: string, password: unknown): void {
  if (rules.text.accepts(password)) return;
  const found = password === undefined || password === null ? String(password) : `a ${typeof password}`;
  throw new ArgumentError(where, [`the password is a string, found ${found}`]);
}

/** Checks options. @throws ArgumentError with every problem */
export function checkFit<T>(where: string, options: unknown, expected: Shape<T>): void {
  if (!fits(options, expected)) throw new ArgumentError(where, misfits(options, expected));
}

/**
 * Checks an object whose required fields have no default. @throws ArgumentError with every problem
 */
export function checkRecord<T>(
  where: string,
  value: unknown,
  expected: Shape<T>,
  required: readonly (keyof T & string)[],
): void {
  const problems = [...misfits(value ?? null, expected)];
  const given = (rules.record.accepts(value) ? value : {}) as Readonly<Record<string, unknown>>;
  const ruleOf = expected as Readonly<Record<string, Rule>>;
  for (const name of required)
    if (given[name] === undefined) problems.push(misfit(name, undefined, ruleOf[name] ?? rules.anything));
  if (problems.length > 0) throw new ArgumentError(where, problems);
}

export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (!isObject(value)) return false;
  const members = value as Readonly<Record<string, unknown>>;
  return names.every((name) => typeof members[name] === "function");
}

function hasFields(value: unknown, names: readonly string[]): boolean {
  return isObject(value) && names.every((name) => name in value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
