/**
 * The interactive shell: a prompt with the state, a history, completion, and events printed above
 * the line being typed.
 */
import { clearLine, cursorTo } from "node:readline";
import { createInterface, type Interface } from "node:readline/promises";
import type { Terminal } from "../command.ts";
import type { Connection } from "../connection/connection.ts";
import type { Interpreter } from "../interpreter.ts";
import type { TextSink } from "../output.ts";
import { completeLine } from "./completion.ts";
import { HISTORY_LINES_MAX, loadHistory, saveHistory } from "./history-file.ts";
import { TerminalInput } from "./terminal-input.ts";

export interface ShellOptions {
  /** A terminal's two ends. */
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly historyFile: string;
}

/** How long a Tab waits for the server. */
const COMPLETION_MS_MAX = 2_000;

export class Shell implements Terminal {
  readonly #options: ShellOptions;
  #readline: Interface | undefined;
  #keys: TerminalInput | undefined;
  /** The current prompt; undefined while a command runs. */
  #prompt: (() => string) | undefined;
  #running: AbortController | undefined;
  /** Lines that were not read yet. */
  readonly #ahead: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #isClosed = false;

  constructor(options: ShellOptions) {
    this.#options = options;
  }

  /** Writes without mixing with the line being typed. */
  around(sink: TextSink): TextSink {
    return (text) => {
      if (this.#prompt === undefined) {
        sink(text);
        return;
      }
      clearLine(this.#options.output, 0);
      cursorTo(this.#options.output, 0);
      sink(text);
      // The output may have been a change of the state.
      this.#readline?.setPrompt(this.#prompt());
      if (this.#keys?.isSearching === true) this.#keys.drawSearch();
      else this.#readline?.prompt(true);
    };
  }

  async ask(question: string, signal: AbortSignal): Promise<string | undefined> {
    const giveUp = (): void => this.#take(undefined);
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await this.#next(() => question);
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
  }

  async lendTerminal<T>(work: () => Promise<T>): Promise<T> {
    this.#readline?.pause();
    this.#keys?.setRawMode(false);
    try {
      return await work();
    } finally {
      this.#keys?.setRawMode(true);
      this.#readline?.resume();
    }
  }

  /** Returns when the user quits, by `quit`, Ctrl-D, or Ctrl-C on an empty line. */
  async run(interpreter: Interpreter, connection: Connection): Promise<void> {
    const { input, output, historyFile } = this.#options;
    const kept = loadHistory(historyFile);
    const typed: string[] = [];
    const keys = new TerminalInput({
      source: input,
      output,
      history: () => (this.#prompt === undefined ? undefined : [...kept, ...typed].toReversed()),
      redraw: () => this.#readline?.prompt(true),
    });
    this.#keys = keys;
    interpreter.terminal = this;
    const readline = createInterface({
      input: keys,
      output,
      terminal: true,
      // Newest first, in readline's order.
      history: kept.toReversed(),
      historySize: HISTORY_LINES_MAX,
      removeHistoryDuplicates: false,
      completer: (line: string) => this.#complete(line, interpreter, connection),
    });
    this.#readline = readline;
    readline.on("line", (line) => this.#take(line));
    readline.on("close", () => this.#close());
    readline.on("SIGINT", () => this.#interrupt(readline));
    try {
      while (!interpreter.isDone) {
        const line = await this.#next(
          () => `[zk: ${connection.server}(${connection.stateWord}) ${interpreter.lineCount}] `,
        );
        if (line === undefined) break;
        if (line !== "") typed.push(line);
        this.#running = new AbortController();
        await interpreter.runLine(line, this.#running.signal);
        this.#running = undefined;
      }
    } finally {
      readline.close();
      keys.destroy();
      input.pause();
      saveHistory(historyFile, [...kept, ...typed]);
    }
  }

  /**
   * The next line; undefined when the user quits. Lines typed while a command ran, or pasted, come
   * first.
   */
  async #next(prompt: () => string): Promise<string | undefined> {
    const line = this.#ahead.shift();
    if (line !== undefined || this.#isClosed) return line;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    this.#waiting = resolve;
    this.#prompt = prompt;
    this.#readline?.setPrompt(prompt());
    this.#readline?.prompt();
    return await promise;
  }

  #take(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#prompt = undefined;
    if (waiting === undefined) {
      if (line !== undefined) this.#ahead.push(line);
    } else waiting(line);
  }

  #close(): void {
    this.#isClosed = true;
    this.#prompt = undefined;
    this.#readline = undefined;
    this.#running?.abort();
    this.#waiting?.(undefined);
  }

  /** Ctrl-C cancels the command, or drops the line being typed; on an empty line it quits. */
  #interrupt(readline: Interface): void {
    if (this.#running !== undefined) this.#running.abort();
    else if (readline.line === "") readline.close();
    else {
      readline.write(null, { ctrl: true, name: "e" });
      readline.write(null, { ctrl: true, name: "u" });
    }
  }

  async #complete(line: string, interpreter: Interpreter, connection: Connection): Promise<[string[], string]> {
    const [candidates, word] = await completeLine(line, {
      commands: interpreter.commands,
      children: async (path) => {
        if (connection.stateWord !== "CONNECTED" && connection.stateWord !== "CONNECTEDREADONLY") return [];
        const signal = AbortSignal.timeout(COMPLETION_MS_MAX);
        try {
          return (await (await connection.ready({ path, signal })).children(path, { signal })).names;
        } catch {
          // A Tab without candidates prints nothing.
          return [];
        }
      },
    });
    return [candidates, word];
  }
}
