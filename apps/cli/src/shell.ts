/** The shell for people: a prompt that tells the state, a history, completion, and events printed above the line being typed. */
import { clearLine, cursorTo } from "node:readline";
import { createInterface, type Interface } from "node:readline/promises";
import { completeLine } from "./completion.ts";
import type { Connection } from "./connection.ts";
import { HISTORY_LINES_MAX, loadHistory, saveHistory } from "./history-file.ts";
import type { Interpreter } from "./interpreter.ts";
import type { TextSink } from "./output.ts";

export interface ShellOptions {
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  readonly historyFile: string;
}

/** How long a Tab waits for the server. */
const COMPLETION_MS_MAX = 2_000;

export class Shell {
  readonly #options: ShellOptions;
  #readline: Interface | undefined;
  #isPrompting = false;
  #running: AbortController | undefined;

  constructor(options: ShellOptions) {
    this.#options = options;
  }

  /** Writes without mixing with the line that is being typed. */
  around(sink: TextSink): TextSink {
    return (text) => {
      if (!this.#isPrompting) {
        sink(text);
        return;
      }
      clearLine(this.#options.output, 0);
      cursorTo(this.#options.output, 0);
      sink(text);
      this.#readline?.prompt(true);
    };
  }

  /** Returns when the user leaves, by `quit`, Ctrl-D, or Ctrl-C on an empty line. */
  async run(interpreter: Interpreter, connection: Connection): Promise<void> {
    const { input, output, historyFile } = this.#options;
    const kept = loadHistory(historyFile);
    const typed: string[] = [];
    const readline = createInterface({
      input,
      output,
      // Newest first, as readline keeps it.
      history: kept.toReversed(),
      historySize: HISTORY_LINES_MAX,
      removeHistoryDuplicates: false,
      completer: (line: string) => this.#complete(line, interpreter, connection),
    });
    this.#readline = readline;
    readline.on("SIGINT", () => this.#interrupt(readline));
    try {
      while (!interpreter.isDone) {
        const line = await this.#ask(
          readline,
          `[zk: ${connection.server}(${connection.stateWord}) ${interpreter.lineCount}] `,
        );
        if (line === undefined) break;
        if (line !== "") typed.push(line);
        this.#running = new AbortController();
        await interpreter.runLine(line, this.#running.signal);
        this.#running = undefined;
      }
    } finally {
      readline.close();
      this.#readline = undefined;
      saveHistory(historyFile, [...kept, ...typed]);
    }
  }

  /** The next line; undefined when the user leaves. */
  async #ask(readline: Interface, prompt: string): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const onClose = (): void => resolve(undefined);
    readline.once("line", resolve);
    readline.once("close", onClose);
    this.#isPrompting = true;
    readline.setPrompt(prompt);
    readline.prompt();
    try {
      return await promise;
    } finally {
      this.#isPrompting = false;
      readline.off("line", resolve);
      readline.off("close", onClose);
    }
  }

  /** Ctrl-C gives up what runs, or the line being typed; on an empty line it leaves. */
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
          // A Tab that finds nothing says nothing.
          return [];
        }
      },
    });
    return [candidates, word];
  }
}
