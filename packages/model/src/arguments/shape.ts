/**
 * Checks of options objects at run time, for callers without a type checker: unknown names, and
 * values of wrong types. An error names the expected, the found, and the nearest known name. A
 * check of valid options allocates nothing.
 */

import { keepCode } from "../errors/cloned-error.ts";
import { errorJson } from "../errors/error-json.ts";
import { found } from "./found.ts";

/** A rule for the value of one option. */
export interface Rule {
  /** What is expected, for messages: a noun phrase. */
  readonly expected: string;
  /** The accepted words, where those are all. */
  readonly words?: readonly string[];
  accepts(value: unknown): boolean;
}

/** A rule for each option of `T`; undefined is always accepted. */
export type Shape<T> = { readonly [K in T extends unknown ? keyof T : never]-?: Rule };

/** Invalid arguments: a mistake in the calling program, found before anything was done. */
export class ArgumentError extends RangeError {
  override readonly name: string = "ArgumentError";
  readonly code = "INVALID_ARGUMENT";
  /** Every problem, one sentence each. */
  readonly problems: readonly string[];

  /** @param where the function or class */
  constructor(where: string, problems: readonly string[], options?: ErrorOptions) {
    if (!Array.isArray(problems)) throw new ArgumentError("ArgumentError", [misfit("problems", problems, rules.list)]);
    super(`${where}: ${problems.join("; ")}`, options);
    this.problems = problems;
    keepCode(this, this.code);
  }

  /** As JSON, in a bounded size; see `errorJson`. */
  toJSON(): object {
    return errorJson(this);
  }
}

export type Rules = Readonly<
  Record<
    "flag" | "text" | "callable" | "anything" | "record" | "list" | "duration" | "int" | "payload" | "signal",
    Rule
  >
>;

/** The rules that shapes are made of. */
export const rules: Rules = {
  flag: { expected: "true or false", accepts: (value) => typeof value === "boolean" },
  text: { expected: "a string", accepts: (value) => typeof value === "string" },
  callable: { expected: "a function", accepts: (value) => typeof value === "function" },
  anything: { expected: "any value", accepts: () => true },
  record: { expected: "an object", accepts: (value) => typeof value === "object" && value !== null },
  list: { expected: "an array", accepts: Array.isArray },
  /** A time limit; infinity for none. */
  duration: {
    expected: "a number of milliseconds, at least 0",
    accepts: (value) => typeof value === "number" && value >= 0,
  },
  /** An int of 32 bits. */
  int: {
    expected: "a whole number of 32 bits",
    accepts: (value) => Number.isInteger(value) && (value as number) >= -(2 ** 31) && (value as number) < 2 ** 31,
  },
  payload: { expected: "a string, a Uint8Array or null", accepts: isPayload },
  signal: {
    expected: "an AbortSignal",
    accepts: (value) => typeof value === "object" && value !== null && "aborted" in value,
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
function isPayload(value: unknown): boolean {
  if (typeof value === "string" || value === null || value instanceof Uint8Array) return true;
  return ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]";
}

/** The shape without inherited names, which are no options. */
export function shape<T>(ofOptions: Shape<T>): Shape<T> {
  return Object.assign(Object.create(null), ofOptions) as Shape<T>;
}

/** Whether options have known names and values of the right types. Undefined is no options. */
export function fits<T>(options: unknown, expected: Shape<T>): boolean {
  if (options === undefined) return true;
  if (typeof options !== "object" || options === null || Array.isArray(options)) return false;
  const ruleOf = expected as Readonly<Record<string, Rule | undefined>>;
  for (const name in options) {
    const rule = ruleOf[name];
    if (rule === undefined) return false;
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (value !== undefined && !rule.accepts(value)) return false;
  }
  return true;
}

/** Every reason why options do not fit. */
export function misfits<T>(options: unknown, expected: Shape<T>): readonly string[] {
  if (options === undefined) return [];
  if (typeof options !== "object" || options === null || Array.isArray(options))
    return [`the options are an object, found ${found(options)}`];
  const ruleOf = expected as Readonly<Record<string, Rule | undefined>>;
  const problems: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    const rule = ruleOf[name];
    if (rule === undefined) problems.push(unknownName(name, ruleOf));
    else if (value !== undefined && !rule.accepts(value)) problems.push(misfit(name, value, rule));
  }
  return problems;
}

/** The problem of one value, as a sentence. */
export function misfit(name: string, value: unknown, rule: Rule): string {
  const nearest = typeof value === "string" ? nearestName(value, rule.words ?? []) : undefined;
  const hint = nearest === undefined ? "" : `; did you mean ${JSON.stringify(nearest)}?`;
  return `${name} is ${rule.expected}, found ${found(value)}${hint}`;
}

function unknownName(name: string, expected: Readonly<Record<string, Rule | undefined>>): string {
  const known = Object.keys(expected);
  const nearest = nearestName(name, known) ?? optionWithWord(name, expected);
  const hint = nearest === undefined ? `known are ${known.join(", ")}` : `did you mean ${nearest}?`;
  return `there is no option ${JSON.stringify(name)}; ${hint}`;
}

/** `{ ephemeral: true }` is `{ mode: "ephemeral" }`. */
function optionWithWord(name: string, expected: Readonly<Record<string, Rule | undefined>>): string | undefined {
  for (const [option, rule] of Object.entries(expected)) {
    const word = nearestName(name, rule?.words ?? []);
    if (word !== undefined) return `${option}: ${JSON.stringify(word)}`;
  }
  return undefined;
}

/**
 * The known name that is meant by another: the same but for case and punctuation, a longer or
 * shorter form, or a few letters off.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = bare(name);
  if (wanted === "") return undefined;
  const same = known.find((other) => bare(other) === wanted);
  if (same !== undefined) return same;
  const longer = known.filter((other) => bare(other).startsWith(wanted));
  if (longer.length > 0 && wanted.length >= 3) return byLength(longer).at(0);
  return fewEditsAway(wanted, known) ?? partOf(wanted, known);
}

function fewEditsAway(wanted: string, known: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Math.ceil(wanted.length * 0.4) + 1;
  for (const other of known) {
    const distance = editDistance(wanted, bare(other));
    if (distance >= least) continue;
    least = distance;
    nearest = other;
  }
  return nearest;
}

/** `watchChildren` for `watch`, `persistent-sequential` for `sequential`. */
function partOf(wanted: string, known: readonly string[]): string | undefined {
  if (wanted.length < 4) return undefined;
  const shorter = known.filter((other) => bare(other).length >= 4 && wanted.startsWith(bare(other)));
  return byLength(shorter).at(-1) ?? byLength(known.filter((other) => bare(other).includes(wanted))).at(0);
}

/** The shortest first. */
function byLength(names: readonly string[]): readonly string[] {
  return [...names].sort((a, b) => a.length - b.length);
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Number of letters to insert, delete or replace. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
