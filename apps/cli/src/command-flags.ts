/**
 * The flags of zkCli's commands, parsed like Apache's commons-cli: one dash, anywhere among the
 * operands; `-sw` is `-s -w`; a value follows its flag as the next word (`-v 3`), directly (`-v3`)
 * or after an equals sign (`-v=3`); `--` ends the flags.
 */
import { usageError } from "./cli-error.ts";
import { START_OPTIONS } from "./command-line.ts";
import { nearestOf } from "./nearest.ts";

export interface Flag {
  /** Without the dash; a letter, or a word. */
  readonly name: string;
  /**
   * An addition to zkCli's flags: it takes two dashes, so that it never collides with one of those.
   */
  readonly isOwn?: boolean;
  readonly takesValue?: boolean;
  /** For the usage text of a command. */
  readonly meaning?: string;
  /** At most one flag of a group may be given. */
  readonly group?: string;
}

export interface ParsedFlags {
  readonly flags: Flags;
  readonly operands: readonly string[];
}

export class Flags {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The first value; undefined when the flag was not given. */
  value(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }

  /** Every value, for a flag that may be given several times. */
  all(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}

/** @throws CliError with zkCli's message */
export function parseFlags(table: readonly Flag[], words: readonly string[]): ParsedFlags {
  return new FlagParser(table).parse(words);
}

class FlagParser {
  readonly #table: ReadonlyMap<string, Flag>;
  readonly #values = new Map<string, string[]>();
  readonly #chosen = new Map<string, string>();
  readonly #operands: string[] = [];
  /** The flag whose value is expected next. */
  #open: Flag | undefined;

  constructor(table: readonly Flag[]) {
    this.#table = new Map(table.map((flag) => [flag.name, flag]));
  }

  parse(words: readonly string[]): ParsedFlags {
    let isPastFlags = false;
    for (const word of words) {
      if (isPastFlags) this.#operands.push(word);
      else if (word === "--") isPastFlags = true;
      else if (this.#open !== undefined && this.#isValue(word)) this.#close(withoutQuotes(word));
      else this.#take(word);
    }
    this.#requireValue();
    return { flags: new Flags(this.#values), operands: this.#operands };
  }

  #take(word: string): void {
    if (!word.startsWith("-") || word === "-") {
      this.#operands.push(word);
      return;
    }
    const isLong = word.startsWith("--");
    const name = word.slice(isLong ? 2 : 1);
    const whole = this.#table.get(name);
    if (isLong) {
      if (whole?.isOwn !== true) throw this.#unknown(word);
      this.#give(whole);
    } else if (whole !== undefined && whole.isOwn !== true) this.#give(whole);
    else if (name[1] === "=") this.#takeWithEquals(word, name);
    else this.#takeLetters(word, name);
  }

  #takeWithEquals(word: string, name: string): void {
    const flag = this.#table.get(name[0] ?? "");
    if (flag?.takesValue !== true) throw this.#unknown(word);
    this.#give(flag);
    this.#close(name.slice(2));
  }

  #takeLetters(word: string, letters: string): void {
    for (let i = 0; i < letters.length; i++) {
      const flag = this.#table.get(letters[i] ?? "");
      if (flag === undefined) throw this.#unknown(word);
      this.#give(flag);
      if (flag.takesValue === true && i + 1 < letters.length) {
        this.#close(withoutQuotes(letters.slice(i + 1)));
        return;
      }
    }
  }

  #give(flag: Flag): void {
    this.#requireValue();
    const { name, group } = flag;
    const chosen = group === undefined ? undefined : this.#chosen.get(group);
    if (chosen !== undefined && chosen !== name) throw alreadySelected(name, chosen);
    if (group !== undefined) this.#chosen.set(group, name);
    if (flag.takesValue === true) this.#open = flag;
    else this.#values.set(name, [""]);
  }

  #close(value: string): void {
    const name = this.#open?.name;
    if (name !== undefined) this.#values.set(name, [...(this.#values.get(name) ?? []), value]);
    this.#open = undefined;
  }

  #unknown(word: string): Error {
    const names = [...this.#table.values()].map(dashed);
    // Any letter is near to any other: flags of one letter have no mistyped form.
    const given = word.replace(/=.*$/s, "");
    const nearest = /^-[^-]{0,2}$/.test(word) ? undefined : nearestOf(names, given);
    const message = `${PARSER}.UnrecognizedOptionException: Unrecognized option: ${word}`;
    const plain = `the command has no flag ${word}`;
    const isOfStart = given.length > 2 && START_OPTIONS.some(({ name }) => name === given);
    if (!isOfStart && nearest === undefined) return usageError(message, { plain });
    const hint = isOfStart ? `${given} stands before the command` : `the nearest is ${nearest}`;
    return usageError(`${message}; ${hint}`, { plain, hint });
  }

  #requireValue(): void {
    if (this.#open === undefined) return;
    throw usageError(`${PARSER}.MissingArgumentException: Missing argument for option: ${this.#open.name}`, {
      plain: `the flag ${dashed(this.#open)} has no value`,
    });
  }

  /** A negative number is a value; any other word that looks like a flag of this command is one. */
  #isValue(word: string): boolean {
    if (!word.startsWith("-") || word === "-" || !Number.isNaN(Number(word))) return true;
    const name = word.slice(1).replace(/=.*$/s, "");
    return !this.#table.has(name) && !this.#table.has(name[0] ?? "");
  }
}

/** zkCli prints the name of the exception class, which scripts may search for. */
const PARSER = "org.apache.commons.cli";

function dashed({ name, isOwn }: Flag): string {
  return `${isOwn === true ? "--" : "-"}${name}`;
}

function alreadySelected(name: string, chosen: string): Error {
  return usageError(
    `${PARSER}.AlreadySelectedException: The option '${name}' was specified but an option from this group has already been selected: '${chosen}'`,
    { plain: `the flags ${name} and ${chosen} exclude each other` },
  );
}

/** A value may be quoted. */
function withoutQuotes(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') && !value.slice(1, -1).includes('"')
    ? value.slice(1, -1)
    : value;
}

/** The usage of a command with a line for each flag, in the layout of commons-cli. */
export function describeFlags(usage: string, table: readonly Flag[]): string {
  const rows = table
    .filter(({ isOwn }) => isOwn !== true)
    .map((flag) => ({ left: ` -${flag.name}${flag.takesValue === true ? " <arg>" : ""}`, meaning: flag.meaning ?? "" }))
    .sort((a, b) => (a.left.toLowerCase() < b.left.toLowerCase() ? -1 : 1));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return [usage, ...rows.map(({ left, meaning }) => `${left.padEnd(width)}   ${meaning}`), ""].join("\n");
}
