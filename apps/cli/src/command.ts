import type { Readable } from "node:stream";
import type { Client } from "@zooid/client";
import { counted } from "@zooid/model";
import { usageError } from "./cli-error.ts";
import { describeFlags, type Flag, type Flags, parseFlags } from "./command-flags.ts";
import type { Connection } from "./connection/connection.ts";
import type { JsonObject, Output } from "./output.ts";
import { checkedPath } from "./texts/znode-path.ts";

/** The arguments of a command, and the objects that it works with. */
export interface Invocation {
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly connection: Connection;
  readonly output: Output;
  /** Aborted when the user cancels the command. */
  readonly signal: AbortSignal;
  readonly shell: ShellControl;
}

/** The shell, for commands about the shell itself. */
export interface ShellControl {
  /** The lines typed so far with their numbers, the current one last; without credentials. */
  recentLines(): readonly { readonly index: number; readonly line: string }[];
  /** Runs an earlier line again. */
  redo(index: number): Promise<void>;
  quit(): void;
  /** Whether lines come from stdin. */
  readonly readsLines: boolean;
  /** Standard input for data; undefined where it has lines of commands, or a terminal. */
  readonly dataInput: Readable | undefined;
  /** The current command has run a program, and exits with its status. */
  endsWith(status: number): void;
  /** The user's answer; undefined where there is no terminal to ask at, or the user gives up. */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Runs another program that reads from the terminal, without taking its keys. */
  lendTerminal<T>(work: () => Promise<T>): Promise<T>;
  readonly commands: readonly Command[];
}

/** The user's terminal, where there is one. */
export type Terminal = Pick<ShellControl, "ask" | "lendTerminal">;

export interface Command {
  readonly name: string;
  /** The part of the usage text after the name, with a leading blank; may be empty. */
  readonly synopsis: string;
  readonly flags: readonly Flag[];
  /** One sentence for `help`. */
  readonly summary: string;
  /** With fewer operands the usage is printed. */
  readonly operandsMin?: number;
  /**
   * With more operands it is refused. Missing for zkCli's commands, which leave further words out
   * of account.
   */
  readonly operandsMax?: number;
  /** Whether the usage has a line for each flag. */
  readonly describesFlags?: true;
  /**
   * `shell`: it works without a connection, and is followed by zkCli's message if there is none.
   * `own`: an addition to zkCli. `offline`: one that needs no session, and opens none.
   */
  readonly kind?: "shell" | "own" | "offline";
  /** Index of the operand that is a path; for completion. */
  readonly pathOperand?: number;
  /**
   * Whether its stdout belongs to the program that it runs, or to its own output: then no
   * connection events are printed there.
   */
  readonly runsProgram?: true;
  /** Whether all words are operands, without parsing flags. */
  readonly takesAnyWords?: true;
  /** @returns the result for `--json`; text is already written */
  run(invocation: Invocation): Promise<JsonObject> | JsonObject;
}

export function usageOf({ name, synopsis }: Command): string {
  return `${name} ${synopsis}`;
}

/** Parses the words after a command's name; throws its usage if operands are missing. */
export function readWords(command: Command, words: readonly string[]): Pick<Invocation, "flags" | "operands"> {
  const parsed = parseFlags(command.flags, command.takesAnyWords === true ? ["--", ...words] : words);
  const { operandsMin = 0, operandsMax = Number.POSITIVE_INFINITY } = command;
  if (parsed.operands.length < operandsMin) {
    throw malformed(command, `${command.name} takes at least ${operandsMin} operands, found ${parsed.operands.length}`);
  }
  if (parsed.operands.length > operandsMax) {
    const surplus = JSON.stringify(parsed.operands[operandsMax]);
    throw usageError(
      `${command.name} takes at most ${counted(operandsMax, "operand")}, found ${parsed.operands.length}: ${surplus} is one too many; put words that belong together in quotes`,
    );
  }
  return parsed;
}

/** The usage as an error. */
export function malformed(command: Command, plain = `${command.name} does not take these operands`): Error {
  const usage = usageOf(command);
  return usageError(command.describesFlags === true ? describeFlags(usage, command.flags) : usage, { plain });
}

/** The operand at `index`; `operandsMin` ensures that it exists. */
export function operand({ operands }: Invocation, index: number): string {
  return operands[index] ?? "";
}

/** The node of a command, by default that of its first operand, and a connected client. */
export async function givenNode(
  invocation: Invocation,
  text: string = operand(invocation, 0),
): Promise<{ readonly path: string; readonly client: Client }> {
  const path = checkedPath(text);
  return { path, client: await clientFor(invocation, path) };
}

/** A connected client for a command about `path`. */
export async function clientFor(invocation: Invocation, path: string): Promise<Client> {
  return await invocation.connection.ready({ path, signal: invocation.signal });
}

export const FLAG_STAT: Flag = { name: "s", meaning: "Print znode stats additionally" };
export const FLAG_WATCH: Flag = { name: "w", meaning: "Watch for changes on the znode" };
export const FLAG_VERSION: Flag = { name: "v", takesValue: true, meaning: "Set with an expected version" };

export const FLAG_TIMEOUT: Flag = { name: "timeout", takesValue: true, isOwn: true };

const TIMEOUT_MS_MAX = 2 ** 31 - 1;

/** The value of `--timeout`; undefined for no limit. */
export function timeoutMs(flags: Flags): number | undefined {
  const text = flags.value("timeout");
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text) && Number(text) <= TIMEOUT_MS_MAX) return Number(text);
  throw usageError(`--timeout takes milliseconds from 0 to ${TIMEOUT_MS_MAX}, found ${JSON.stringify(text)}`);
}

/** The value of `-v`; undefined, which matches every version, if it was not given. */
export function expectedVersion(flags: Flags): number | undefined {
  const text = flags.value("v");
  if (text === undefined) return undefined;
  const version = Number(text);
  if (!/^[+-]?\d+$/.test(text) || version !== (version | 0)) {
    throw usageError(`-v takes a whole number of 32 bits, found ${JSON.stringify(text)}`);
  }
  return version;
}

/** The value of a flag that takes a whole number from 0 on; undefined if it was not given. */
export function wholeNumber(flags: Flags, name: string): number | undefined {
  const text = flags.value(name);
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const dashes = name.length === 1 ? "-" : "--";
  throw usageError(`${dashes}${name} takes a whole number, found ${JSON.stringify(text)}`);
}
