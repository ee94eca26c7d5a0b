/**
 * Drives one command line through its standard streams, command by command.
 *
 * Behind each command two more mark the end of its output on each stream, and work without a
 * connection too: the history, whose last line is itself, and an unknown command. Events arrive at
 * any time, so they are taken out of the output and returned when the scenario waits for them.
 * Empty lines surround events, and are dropped.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const WAIT_MS = 30_000;
/** The number of lines of the history. */
const HISTORY_LINES = 11;
const USAGE_HEAD = "ZooKeeper -server ";
/**
 * The line after the history, and after every other command, without a session; it may or may not
 * be read with it.
 */
const WITHOUT_SESSION = "Not connected";

export interface CommandOutput {
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

export class CliSession {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number | null>;
  #hasEnded = false;
  #markCount = 0;
  readonly #stdout: string[] = [];
  readonly #stderr: string[] = [];
  readonly #events: string[] = [];
  #wake: () => void = () => undefined;

  constructor(command: readonly string[]) {
    const [program = "", ...args] = command;
    this.#process = spawn(program, args, { stdio: "pipe", env: { ...process.env, TZ: "UTC", LC_ALL: "C.UTF-8" } });
    const { promise, resolve } = Promise.withResolvers<number | null>();
    this.#ended = promise;
    this.#process.on("error", (error) => this.#takeError(String(error)));
    this.#process.on("close", (code) => {
      this.#hasEnded = true;
      resolve(code);
      this.#wake();
    });
    this.#process.stdin.on("error", () => undefined);
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#take(line));
    createInterface({ input: this.#process.stderr }).on("line", (line) => this.#takeError(line));
  }

  /** Runs one command and returns what it printed, without events. */
  async run(command: string): Promise<CommandOutput> {
    const mark = `MARK${++this.#markCount}`;
    this.#process.stdin.write(`${command}\nhistory ${mark}\n${mark}\n`);
    const endOf = (lines: readonly string[], text: string): number => lines.findIndex((line) => line.endsWith(text));
    const stdoutEnd = (): number => endOf(this.#stdout, ` - history ${mark}`);
    const stderrEnd = (): number => endOf(this.#stderr, `Command not found ${mark}`);
    await this.#until(() => stdoutEnd() >= 0 && stderrEnd() >= 0, `the end of "${command}"`);

    const stdout = this.#stdout.splice(0, stdoutEnd() + 1);
    const newest = Number.parseInt(stdout.at(-1) ?? "", 10);
    const stderr = this.#stderr.splice(0, stderrEnd() + 1);
    return {
      stdout: withoutRepeats(stdout.slice(0, -Math.min(HISTORY_LINES, newest + 1))),
      stderr: stderr.slice(
        0,
        stderr.findLastIndex((line) => line.startsWith(USAGE_HEAD)),
      ),
    };
  }

  /** The next events, sorted: if one change causes several, their order is not guaranteed. */
  async events(count: number): Promise<readonly string[]> {
    await this.#until(() => this.#events.length >= count, `${count} events`);
    return this.#events.splice(0, count).sort();
  }

  /** Ends its input. Returns its exit status, and the remaining events. */
  async end(): Promise<{ readonly status: number | null; readonly events: readonly string[] }> {
    this.#process.stdin.end();
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), WAIT_MS);
    const status = await this.#ended;
    clearTimeout(timer);
    return { status, events: this.#events.splice(0) };
  }

  kill(): void {
    this.#process.kill("SIGKILL");
  }

  #take(line: string): void {
    if (line.startsWith("WatchedEvent ")) this.#events.push(line);
    // zkCli prints events in a thread of its own, so their lines may come between those of
    // commands.
    else if (line !== "" && line !== "WATCHER::") this.#stdout.push(line);
    this.#wake();
  }

  #takeError(line: string): void {
    this.#stderr.push(line);
    this.#wake();
  }

  async #until(isReached: () => boolean, what: string): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const describe = (): string => JSON.stringify({ stdout: this.#stdout, stderr: this.#stderr, events: this.#events });
    const timer = setTimeout(
      () => reject(new Error(`nothing more came while waiting for ${what}: ${describe()}`)),
      WAIT_MS,
    );
    try {
      while (!isReached()) {
        if (this.#hasEnded) throw new Error(`the program ended before ${what}: ${describe()}`);
        await Promise.race([
          late,
          new Promise<void>((resolve) => {
            this.#wake = resolve;
          }),
        ]);
      }
    } finally {
      clearTimeout(timer);
    }
  }
}

function withoutRepeats(lines: readonly string[]): readonly string[] {
  return lines.filter((line, at) => line !== WITHOUT_SESSION || lines[at - 1] !== WITHOUT_SESSION);
}
