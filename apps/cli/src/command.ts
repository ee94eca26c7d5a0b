import type { Client } from "@zooid/client";
import { usageError } from "./cli-error.ts";
import { describeFlags, type Flag, type Flags, parseFlags } from "./command-flags.ts";
import type { Connection } from "./connection/connection.ts";
import type { JsonObject, Output } from "./output.ts";

/** What a command's words come to, and what it works with. */
export interface Invocation {
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly connection: Connection;
  readonly output: Output;
  /** Aborted when the user gives the command up. */
  readonly signal: AbortSignal;
  readonly shell: ShellControl;
}

/** What the commands about the shell itself reach of it. */
export interface ShellControl {
  /** The lines typed so far with their numbers, the running one last. */
  recentLines(): readonly { readonly index: number; readonly line: string }[];
  /** Runs an earlier line again. */
  redo(index: number): Promise<void>;
  quit(): void;
  /** Whether lines come from stdin. */
  readonly readsLines: boolean;
  /** The running command has run a program, and ends as that did. */
  endsWith(status: number): void;
  readonly commands: readonly Command[];
}

export interface Command {
  readonly name: string;
  /** What follows the name in the usage, with a blank between; possibly nothing. */
  readonly synopsis: string;
  readonly flags: readonly Flag[];
  /** One sentence for `help`. */
  readonly summary: string;
  /** Fewer operands print the usage instead. */
  readonly operandsMin?: number;
  /** The usage has a line for each flag. */
  readonly describesFlags?: true;
  /**
   * `shell`: it works without a connection, and is followed by zkCli's remark where there is none. `own`: zkCli does not have it.
   */
  readonly kind?: "shell" | "own";
  /** Which operand, counted from 0, is a path; for completion. */
  readonly pathOperand?: number;
  /** Its stdout is that of the program which it runs, or what it prints by itself: nothing is told there of the connection. */
  readonly runsProgram?: true;
  /** Takes every word as it is: zkCli does not look for flags in it. */
  readonly takesAnyWords?: true;
  /** @returns what it came to, for `--json`; text it has written already */
  run(invocation: Invocation): Promise<JsonObject> | JsonObject;
}

export function usageOf({ name, synopsis }: Command): string {
  return `${name} ${synopsis}`;
}

/** Sorts the words behind a command's name; without enough operands its usage is thrown. */
export function readWords(command: Command, words: readonly string[]): Pick<Invocation, "flags" | "operands"> {
  const parsed = parseFlags(command.flags, command.takesAnyWords === true ? ["--", ...words] : words);
  if (parsed.operands.length < (command.operandsMin ?? 0)) throw malformed(command);
  return parsed;
}

/** The usage as an error. */
export function malformed(command: Command): Error {
  const usage = usageOf(command);
  return usageError(command.describesFlags === true ? describeFlags(usage, command.flags) : usage);
}

/** The operand at `index`, which `operandsMin` promises. */
export function operand({ operands }: Invocation, index: number): string {
  return operands[index] ?? "";
}

/** A client for a command about `path`, once there is a connection. */
export async function clientFor(invocation: Invocation, path: string): Promise<Client> {
  return await invocation.connection.ready({ path, signal: invocation.signal });
}

export const FLAG_STAT: Flag = { name: "s", meaning: "Print znode stats additionally" };
export const FLAG_WATCH: Flag = { name: "w", meaning: "Watch for changes on the znode" };
export const FLAG_VERSION: Flag = { name: "v", takesValue: true, meaning: "Set with an expected version" };

export const FLAG_TIMEOUT: Flag = { name: "timeout", takesValue: true, isOwn: true };

const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** The value of `--timeout`; undefined, which waits for ever, where it was not given. */
export function timeoutMs(flags: Flags): number | undefined {
  const text = flags.value("timeout");
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number(text) <= TIMEOUT_MS_MAX) return Number(text);
  throw usageError(`--timeout takes milliseconds from 0 to ${TIMEOUT_MS_MAX}, found ${JSON.stringify(text)}`);
}

/** The value of `-v`; undefined, which matches every version, where it was not given. */
export function expectedVersion(flags: Flags): number | undefined {
  const text = flags.value("v");
  if (text === undefined) return undefined;
  const version = Number(text);
  if (!/^[+-]?\d+$/.test(text) || version !== (version | 0)) {
    throw usageError(`-v takes a whole number of 32 bits, found ${JSON.stringify(text)}`);
  }
  return version;
}
