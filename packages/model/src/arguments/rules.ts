/** Rules for values that callers give, with what messages say of them. */
import { checkPath } from "../tree/path.ts";
import { found } from "./found.ts";
import { nearestName } from "./nearest-name.ts";

/** A rule for the value of one option. */
export interface Rule {
  /** The expected value, for messages: a noun phrase. */
  readonly expected: string;
  /** The accepted words, where those are all. */
  readonly words?: readonly string[];
  accepts(value: unknown): boolean;
}

export type Rules = Readonly<
  Record<
    | "flag"
    | "text"
    | "filledText"
    | "callable"
    | "anything"
    | "record"
    | "list"
    | "duration"
    | "time"
    | "int"
    | "payload"
    | "bytes"
    | "bytesOrNull"
    | "signal"
    | "path"
    | "name"
    | "client"
    | "codec",
    Rule
  >
>;

/** The rules that shapes are made of. */
export const rules: Rules = {
  flag: { expected: "true or false", accepts: (value) => typeof value === "boolean" },
  text: { expected: "a string", accepts: (value) => typeof value === "string" },
  filledText: {
    expected: "a text that is not empty",
    accepts: (value) => typeof value === "string" && value !== "",
  },
  callable: { expected: "a function", accepts: (value) => typeof value === "function" },
  anything: { expected: "any value", accepts: () => true },
  record: { expected: "an object", accepts: (value) => typeof value === "object" && value !== null },
  list: { expected: "an array", accepts: Array.isArray },
  /** A time limit; infinity for none. */
  duration: {
    expected: "a number of milliseconds, at least 0",
    accepts: (value) => typeof value === "number" && value >= 0,
  },
  /** A time that may have passed: then it is 0. */
  time: {
    expected: "a number of milliseconds",
    accepts: (value) => typeof value === "number" && !Number.isNaN(value),
  },
  /** An int of 32 bits. */
  int: {
    expected: "a whole number of 32 bits",
    accepts: (value) => Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 31,
  },
  payload: {
    expected: "a string, a Uint8Array or null",
    accepts: (value) => typeof value === "string" || value === null || isBytes(value),
  },
  bytes: { expected: "a Uint8Array", accepts: isBytes },
  bytesOrNull: { expected: "a Uint8Array or null", accepts: (value) => value === null || isBytes(value) },
  signal: {
    expected: "an AbortSignal",
    accepts: (value) => hasFields(value, ["aborted"]),
  },
  /** An absolute path of a node. */
  path: { expected: "an absolute path", accepts: isPath },
  /** The name of a node below another. */
  name: { expected: "the name of a node: not empty, without / and control characters", accepts: isName },
  /** A client of any copy of the package. */
  client: {
    expected: "a client, as connect() returns one",
    accepts: (value) => hasFields(value, ["sessionId", "create"]),
  },
  /** A codec, as `json()` makes one. */
  codec: {
    expected: "a codec with the methods encode and decode, such as json()",
    accepts: (value) => hasMethods(value, ["encode", "decode"]),
  },
};

/** One of these words. */
export function wordRule(...known: readonly string[]): Rule {
  return {
    expected: known.map((word) => JSON.stringify(word)).join(" or "),
    words: known,
    accepts: (value) => typeof value === "string" && known.includes(value),
  };
}

export function wholeNumberRule(least: number, most: number = 2 ** 31 - 1): Rule {
  return {
    expected: `a whole number from ${least} to ${most}`,
    accepts: (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  };
}

/** Any of several rules. */
export function anyRule(...some: readonly Rule[]): Rule {
  return {
    expected: some.map(({ expected }) => expected).join(" or "),
    words: some.flatMap((rule) => rule.words ?? []),
    accepts: (value) => some.some((rule) => rule.accepts(value)),
  };
}

/** Bytes of any realm: test runners give programs globals of their own. */
function isBytes(value: unknown): boolean {
  if (value instanceof Uint8Array) return true;
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !value.includes("/") && isPath(`/${value}`);
}

function isPath(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    checkPath(value);
    return true;
  } catch {
    return false;
  }
}

/** Whether a value is an object with these methods, own or inherited. */
export function hasMethods(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== "object" || value === null) return false;
  const members = value as Readonly<Record<string, unknown>>;
  return names.every((name) => typeof members[name] === "function");
}

/** Whether a value is an object with these fields, own or inherited. */
export function hasFields(value: unknown, names: readonly string[]): boolean {
  return typeof value === "object" && value !== null && names.every((name) => name in value);
}

/** The problem of one value, as a sentence. */
export function misfit(name: string, value: unknown, rule: Rule): string {
  const nearest = typeof value === "string" ? nearestName(value, rule.words ?? []) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
  return `${name} is ${rule.expected}, found ${found(value)}${hint}`;
}
