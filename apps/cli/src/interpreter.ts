/** Runs lines and commands, one after another, and keeps the last exit status. */
import type { Readable } from "node:stream";
import { assertNever } from "@zooid/model";
import { CliError, usageError } from "./cli-error.ts";
import { type Command, readWords, type ShellControl, type Terminal, usageOf } from "./command.ts";
import { COMMAND_BY_NAME, COMMANDS, nearestCommand } from "./command-table.ts";
import type { Connection } from "./connection/connection.ts";
import { ExitStatus } from "./exit-status.ts";
import { type Explanation, errorJson, explainError } from "./explain-error.ts";
import type { JsonObject, Output } from "./output.ts";
import { withoutSecrets } from "./shell/secrets.ts";
import { splitWords } from "./shell/shell-words.ts";

const USAGE_HEAD = "ZooKeeper -server host:port -client-configuration properties-file cmd args";
/** The number of lines in zkCli's history. */
const RECENT_COUNT = 11;

export class Interpreter implements ShellControl {
  readonly commands: readonly Command[] = COMMANDS;
  /** Set where commands may ask the user. */
  terminal: Terminal | undefined;
  dataInput: Readable | undefined;
  readonly #connection: Connection;
  readonly #output: Output;
  readonly #lines: string[] = [];
  #exitStatus: number = ExitStatus.OK;
  #failureStatus: number = ExitStatus.OK;
  /** The status of the program that the current command has run. */
  #programStatus: number | undefined;
  #isDone = false;

  constructor(connection: Connection, output: Output) {
    this.#connection = connection;
    this.#output = output;
  }

  /** The exit status of the last command. */
  get exitStatus(): number {
    return this.#exitStatus;
  }

  /** The exit status of the first command that has failed; 0 for none. */
  get failureStatus(): number {
    return this.#failureStatus;
  }

  /** Whether the user wants to quit. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The number of the next line. */
  get lineCount(): number {
    return this.#lines.length;
  }

  /** Runs a typed line. An empty one does nothing, and does not count. */
  async runLine(line: string, signal: AbortSignal): Promise<void> {
    if (line === "") return;
    this.#lines.push(line);
    await this.#runText(line, signal);
  }

  /** Runs a command that is already split into words. Never throws: errors are printed. */
  async run(words: readonly string[], signal: AbortSignal): Promise<void> {
    const [name = ""] = words;
    this.#programStatus = undefined;
    try {
      const result = await this.#perform(words, signal);
      this.#exitStatus = this.#programStatus ?? ExitStatus.OK;
      // A redo has no result of its own.
      if (name !== "redo") this.#output.json({ command: name, ...result });
    } catch (error) {
      if (!signal.aborted) {
        this.#fail(name, error);
        return;
      }
      this.#exitStatus = ExitStatus.INTERRUPTED;
      this.#output.progress("given up");
    } finally {
      if (this.#failureStatus === ExitStatus.OK) this.#failureStatus = this.#exitStatus;
    }
  }

  recentLines(): readonly { readonly index: number; readonly line: string }[] {
    const first = Math.max(0, this.#lines.length - RECENT_COUNT);
    return this.#lines.slice(first).map((line, at) => ({ index: first + at, line: withoutSecrets(line) }));
  }

  async redo(index: number): Promise<void> {
    const running = this.#lines.length - 1;
    const line = index < running ? this.#lines[index] : undefined;
    if (line === undefined) throw usageError("Command index out of range");
    if (splitWords(line)[0] === "redo") throw usageError("No redoing redos");
    this.#lines[running] = line;
    await this.#runText(line, this.#signal);
  }

  quit(): void {
    this.#isDone = true;
  }

  get readsLines(): boolean {
    return this.#lines.length > 0;
  }

  endsWith(status: number): void {
    this.#programStatus = status;
  }

  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    return await this.terminal?.ask(question, signal);
  }

  async lendTerminal<T>(work: () => Promise<T>): Promise<T> {
    return this.terminal === undefined ? await work() : await this.terminal.lendTerminal(work);
  }

  /** The history for the command in progress, for the line that it starts. */
  #signal: AbortSignal = new AbortController().signal;

  async #runText(line: string, signal: AbortSignal): Promise<void> {
    const words = splitWords(line);
    if (words.length > 0) await this.run(words, signal);
  }

  async #perform(words: readonly string[], signal: AbortSignal): Promise<JsonObject> {
    const [name = "", ...rest] = words;
    const command = COMMAND_BY_NAME.get(name);
    if (command === undefined) throw this.#unknown(name);
    this.#signal = signal;
    switch (command.kind) {
      case "shell": {
        const result = await this.#invoke(command, rest, signal);
        // zkCli checks the connection after these too.
        if (!this.#isDone && !this.#connection.isAlive) this.#output.line(NOT_CONNECTED);
        return result;
      }
      case "offline":
        return await this.#invoke(command, rest, signal);
      case "own":
      case undefined:
        if (command.name === "help" || this.#connection.isAlive) return await this.#invoke(command, rest, signal);
        if (this.#output.format === "json") throw new CliError(NOT_CONNECTED, { code: "NOT_CONNECTED" });
        // zkCli's line, though not its status, which is 0.
        this.#output.line(NOT_CONNECTED);
        this.endsWith(ExitStatus.FAILED);
        return {};
      default:
        return assertNever(command.kind);
    }
  }

  async #invoke(command: Command, words: readonly string[], signal: AbortSignal): Promise<JsonObject> {
    const { flags, operands } = readWords(command, words);
    const [connection, output] = [this.#connection, this.#output];
    return await command.run({ flags, operands, connection, output, signal, shell: this });
  }

  #unknown(name: string): CliError {
    const nearest = nearestCommand(name);
    const unknown = `Command not found: Command not found ${name}`;
    const plain = `there is no command ${JSON.stringify(name)}`;
    if (nearest !== undefined) {
      const hint = `the nearest is ${nearest}`;
      return new CliError(`${unknown}; ${hint}`, { code: "COMMAND_UNKNOWN", plain, hint });
    }
    this.#output.note([USAGE_HEAD, ...COMMANDS.map((command) => `\t${usageOf(command)}`)].join("\n"));
    return new CliError(unknown, { code: "COMMAND_UNKNOWN", plain, hint: "help lists the commands" });
  }

  #fail(name: string, error: unknown): void {
    const explanation = withUsage(explainError(error), name);
    const isJson = this.#output.format === "json";
    this.#exitStatus = isJson ? explanation.fineStatus : explanation.plainStatus;
    this.#output.note(explanation.text);
    this.#output.json({ command: name, ...errorJson(explanation) });
  }
}

const NOT_CONNECTED = "Not connected";

/** Misuse of a command is answered with its usage, where nothing better is known. */
function withUsage(explanation: Explanation, name: string): Explanation {
  const command = COMMAND_BY_NAME.get(name);
  if (explanation.code !== "USAGE" || explanation.hint !== undefined || command === undefined) return explanation;
  return { ...explanation, hint: `usage: ${usageOf(command).trimEnd()}` };
}
