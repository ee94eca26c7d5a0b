/** Checks of arguments at run time, for callers without a type checker. */
import { checkPath } from "../tree/path.ts";
import { ArgumentError } from "./argument-error.ts";
import { found } from "./found.ts";
import { hasFields, misfit, type Rule, rules } from "./rules.ts";
import { fits, misfits, type Shape } from "./shape.ts";

/**
 * Checks one argument.
 *
 * @param where the function or class, for the message, as in all checks here
 * @throws ArgumentError
 */
export function checkArgument(where: string, name: string, value: unknown, rule: Rule): void {
  if (!rule.accepts(value)) throw new ArgumentError(where, [misfit(name, value, rule)]);
}

/** Checks options; undefined is no options. @throws ArgumentError with every problem */
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
  const problems = [...misfits(value ?? null, expected), ...missingFields(value, expected, required)];
  if (problems.length > 0) throw new ArgumentError(where, problems);
}

/** The problem of each required field that is missing, or undefined. */
export function missingFields<T>(
  value: unknown,
  expected: Shape<T> | Shape<object>,
  required: readonly (keyof T & string)[],
): readonly string[] {
  const given = (rules.record.accepts(value) ? value : {}) as Readonly<Record<string, unknown>>;
  const ruleOf = expected as Readonly<Record<string, Rule>>;
  return required
    .filter((name) => given[name] === undefined)
    .map((name) => misfit(name, undefined, ruleOf[name] ?? rules.anything));
}

/** Checks the client that a function works with. @throws ArgumentError */
export function checkClient(where: string, client: unknown): void {
  const problems = clientProblems(client);
  if (problems.length > 0) throw new ArgumentError(where, problems);
}

/**
 * The problems of the client that a function works with; a promise of one is a frequent mistake.
 *
 * @param name of the argument. Default `the client`
 */
export function clientProblems(client: unknown, name = "the client"): readonly string[] {
  if (rules.client.accepts(client)) return [];
  return [hasFields(client, ["then"]) ? `${name} is a promise: await it` : misfit(name, client, rules.client)];
}

/** The problems of the path of a node, and the one that is meant. */
export function pathProblems(path: unknown, name = "the path"): readonly string[] {
  if (typeof path !== "string") return [misfit(name, path, rules.text)];
  try {
    checkPath(path);
    return [];
  } catch (error) {
    const hint = rules.path.accepts(`/${path}`) ? `; did you mean ${found(`/${path}`)}?` : "";
    return [`${error instanceof Error ? error.message : String(error)}${hint}`];
  }
}

/** Checks a password, which the message does not show. @throws ArgumentError */
export function checkPassword(where: string, password: unknown): void {
  if (rules.text.accepts(password)) return;
  const given = password === undefined || password === null ? String(password) : `a ${typeof password}`;
  throw new ArgumentError(where, [`the password is a string, found ${given}`]);
}

/** Refuses a list in which a value comes twice. @throws ArgumentError that names it */
export function checkDifferent(where: string, name: string, values: readonly string[]): void {
  const seen = new Set<string>();
  for (const value of values) {
    if (seen.has(value)) throw new ArgumentError(where, [`${name} has ${found(value)} twice`]);
    seen.add(value);
  }
}
