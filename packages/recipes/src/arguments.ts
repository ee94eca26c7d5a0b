/** Checks of arguments at run time, for callers without a type checker. */
import {
  ArgumentError,
  checkPath,
  fits,
  found,
  misfit,
  misfits,
  type Rule,
  rules,
  type Shape,
  shape,
} from "@zooid/model";

/** For recipes without options. */
const NO_OPTIONS: Shape<object> = shape<object>({});
const SIGNAL: Shape<{ signal: unknown }> = shape<{ signal: unknown }>({ signal: rules.signal });

/** A codec, as `json()` makes one. */
export const codecRule: Rule = {
  expected: "a codec with encode and decode",
  accepts: (value) => rules.record.accepts(value) && "encode" in (value as object) && "decode" in (value as object),
};

/** Bytes, of any realm. */
export const bytesRule: Rule = {
  expected: "a Uint8Array",
  accepts: (value) => typeof value !== "string" && value !== null && rules.payload.accepts(value),
};

/** An absolute path. */
export const pathRule: Rule = {
  expected: "an absolute path",
  accepts: (value) => typeof value === "string" && isPath(value),
};

/** The name of a node below a recipe's path. */
export const nameRule: Rule = {
  expected: "the name of a node: not empty, without / and control characters",
  accepts: (value) => typeof value === "string" && value !== "" && !value.includes("/") && isPath(`/${value}`),
};

/** Names of nodes. */
export const namesRule: Rule = {
  expected: "an array of names of nodes, without / and control characters",
  accepts: (value) => Array.isArray(value) && value.every((name) => nameRule.accepts(name)),
};

/** Checks one argument of a method. @throws ArgumentError */
export function checkName(what: string, name: string, value: unknown): void {
  checkArgument(what, name, value, nameRule);
}

/** The same by any rule. @throws ArgumentError */
export function checkArgument(what: string, name: string, value: unknown, rule: Rule): void {
  if (!rule.accepts(value)) throw new ArgumentError(what, [misfit(name, value, rule)]);
}

/** Refuses a list in which a value comes twice. @throws ArgumentError that names it */
export function checkDifferent(what: string, name: string, values: readonly string[]): void {
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined) throw new ArgumentError(what, [`${name} has ${found(twice)} twice`]);
}

/** The signal of a call that takes nothing else. @throws ArgumentError */
export function signalOf(what: string, options: { readonly signal?: AbortSignal | undefined }): AbortSignal {
  checkOptions(what, options, SIGNAL);
  return options.signal ?? new AbortController().signal;
}

/** Checks work that is to be called. @throws ArgumentError */
export function checkWork(what: string, value: unknown): void {
  checkArgument(what, "the work", value, rules.callable);
}

/**
 * Checks an object whose required fields have no default. @throws ArgumentError with every problem
 */
export function checkRecord<T>(
  what: string,
  value: unknown,
  expected: Shape<T>,
  required: readonly (keyof T & string)[],
): void {
  const problems = [...misfits(value ?? null, expected), ...missing(value, expected, required)];
  if (problems.length > 0) throw new ArgumentError(what, problems);
}

/**
 * Checks the arguments of a recipe's constructor.
 *
 * @param what the class
 * @param required names of options without a default
 * @throws ArgumentError with every problem
 */
export function checkArguments<T>(
  what: string,
  zk: unknown,
  path: unknown,
  options?: unknown,
  expected: Shape<T> | Shape<object> = NO_OPTIONS,
  required: readonly (keyof T & string)[] = [],
): void {
  const problems = [...clientProblems(zk), ...pathProblems(path), ...misfits(options, expected)];
  problems.push(...missing(options, expected, required));
  if (problems.length > 0) throw new ArgumentError(what, problems);
}

function missing(options: unknown, expected: object, required: readonly string[]): readonly string[] {
  const given = (typeof options === "object" ? options : undefined) ?? {};
  const ruleOf = expected as Readonly<Record<string, Rule>>;
  const isMissing = (name: string): boolean => (given as Readonly<Record<string, unknown>>)[name] === undefined;
  return required.filter(isMissing).map((name) => misfit(name, undefined, ruleOf[name] ?? rules.anything));
}

/** Checks the options of a method. @throws ArgumentError with every problem */
export function checkOptions<T>(what: string, options: unknown, expected: Shape<T>): void {
  if (!fits(options, expected)) throw new ArgumentError(what, misfits(options, expected));
}

/** Clients of another copy of the package are clients too. */
function clientProblems(zk: unknown): readonly string[] {
  if (typeof zk === "object" && zk !== null) {
    if ("sessionId" in zk && "create" in zk) return [];
    if ("then" in zk) return ["the first argument is a client, found a promise; await it"];
  }
  return [`the first argument is a client, as connect() returns one, found ${found(zk)}`];
}

function pathProblems(path: unknown): readonly string[] {
  if (typeof path !== "string") return [`the path is a string, found ${found(path)}`];
  try {
    checkPath(path);
    return [];
  } catch (error) {
    const hint = isPath(`/${path}`) ? `; did you mean ${found(`/${path}`)}?` : "";
    return [`${error instanceof Error ? error.message : String(error)}${hint}`];
  }
}

function isPath(text: string): boolean {
  try {
    checkPath(text);
    return true;
  } catch {
    return false;
  }
}
