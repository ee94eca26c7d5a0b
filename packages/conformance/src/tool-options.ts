import { parseArgs } from "node:util";

/** How an option's text is read. */
export interface OptionKind<T> {
  readonly fallback: T;
  /** For a message, behind "is". */
  readonly expected: string;
  /** @returns undefined for a text that is not as expected */
  read(text: string): T | undefined;
}

/** An option that may be given several times. */
interface RepeatedOption<W extends string> {
  /** Those that it may have; undefined: any. */
  readonly words: readonly W[] | undefined;
  readonly fallback: readonly W[];
}

/**
 * An option by its default: a whole number from 0, a text, a switch, or whole numbers with commas
 * between them. A kind says what else it may be.
 */
type Option = number | string | boolean | readonly number[] | OptionKind<unknown> | RepeatedOption<string>;

type ValueOf<O> = O extends number
  ? number
  : O extends string
    ? string
    : O extends boolean
      ? boolean
      : O extends readonly number[]
        ? readonly number[]
        : O extends OptionKind<infer T>
          ? T
          : O extends RepeatedOption<infer W>
            ? readonly W[]
            : never;

/** A text that may be missing. */
export const text: OptionKind<string | undefined> = { fallback: undefined, expected: "a text", read: (value) => value };

/** Texts, one for each time that the option is given. */
export const texts: RepeatedOption<string> = { words: undefined, fallback: [] };

/** Some of the words, one for each time that the option is given; all by default. */
export function eachOf<const W extends string>(words: readonly W[], fallback: readonly W[] = words): RepeatedOption<W> {
  return { words, fallback };
}

/** A whole number within limits. */
export function whole<D extends number | undefined>(
  fallback: D,
  min = 0,
  max: number = Number.MAX_SAFE_INTEGER,
): OptionKind<D | number> {
  const upTo = max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`;
  const read = (value: string): number | undefined => {
    const number = /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  };
  return { fallback, expected: `a whole number from ${min}${upTo}`, read };
}

/** A number from 0, such as of seconds. */
export function decimal(fallback: number): OptionKind<number> {
  const read = (value: string): number | undefined =>
    /^(?:\d{1,16}|\d{0,16}\.\d{1,16})$/.test(value) ? Number(value) : undefined;
  return { fallback, expected: "a number from 0", read };
}

/** One of some words; the first is the default. */
export function oneOf<W extends string>(...words: readonly [W, ...W[]]): OptionKind<W> {
  return { ...maybeOneOf(words), fallback: words[0] };
}

/** One of some words, or none. */
export function maybeOneOf<W extends string>(words: readonly W[]): OptionKind<W | undefined> {
  return {
    fallback: undefined,
    expected: `one of ${words.join(", ")}`,
    read: (value) => words.find((word) => word === value),
  };
}

/** Some of the words, with commas between them; all by default. */
export function someOf<W extends string>(words: readonly W[]): OptionKind<readonly W[]> {
  const read = (value: string): readonly W[] | undefined => all(value, (part) => words.find((word) => word === part));
  return { fallback: words, expected: `some of ${words.join(", ")}`, read };
}

/** The default of a seed, which a tool prints: another one in each run. */
export function newSeed(): number {
  return Date.now() % 1_000_000;
}

/** Its code is of those that tools/refuse-options.ts prints as one sentence, with status 2. */
class OptionError extends RangeError {
  override readonly name = "OptionError";
  readonly code = "ERR_PARSE_ARGS_INVALID_OPTION_VALUE";
}

/**
 * The options of a tool, from the command line: `gapMs` is `--gap-ms`.
 *
 * @throws TypeError for an option that the tool does not have; RangeError for a value that is not
 *   as expected
 */
export function toolOptions<S extends Readonly<Record<string, Option>>>(
  options: S,
): { readonly [N in keyof S]: ValueOf<S[N]> } {
  const entries = Object.entries(options).map(([name, option]) => {
    const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return { name, flag, option };
  });
  const { values } = parseArgs({
    options: Object.fromEntries(
      entries.map(({ flag, option }) => [
        flag,
        typeof option === "boolean" ? ({ type: "boolean" } as const) : ({ type: "string", multiple: true } as const),
      ]),
    ),
  });
  const read = entries.map(({ name, flag, option }) => [name, readOption(flag, option, values[flag])]);
  return Object.fromEntries(read);
}

function readOption(
  flag: string,
  option: Option,
  given: string | boolean | readonly (string | boolean)[] | undefined,
): unknown {
  if (typeof option === "boolean") return given ?? option;
  const isRepeated = typeof option === "object" && "words" in option;
  const kind = isRepeated ? wordOf(option) : kindOf(option);
  if (!Array.isArray(given)) return isRepeated ? option.fallback : kind.fallback;
  const values = given.map(String).map((text) => {
    const value = kind.read(text);
    if (value === undefined) throw new OptionError(`--${flag} is ${kind.expected}, found "${text}"`);
    return value;
  });
  return isRepeated ? values : values.at(-1);
}

function wordOf({ words }: RepeatedOption<string>): OptionKind<unknown> {
  return words === undefined ? text : maybeOneOf(words);
}

function kindOf(option: Exclude<Option, boolean | RepeatedOption<string>>): OptionKind<unknown> {
  if (typeof option === "number") return whole(option);
  if (typeof option === "string") return { ...text, fallback: option };
  if ("expected" in option) return option;
  const read = (value: string): readonly number[] | undefined => all(value, whole(0).read);
  return { fallback: option, expected: "whole numbers with commas between them", read };
}

/** The parts between commas, or undefined where one of them is not as expected. */
function all<T>(list: string, read: (part: string) => T | undefined): readonly T[] | undefined {
  const parts = list.split(",").flatMap((part) => read(part) ?? []);
  return parts.length === list.split(",").length ? parts : undefined;
}
