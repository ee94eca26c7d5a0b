/**
 * Drives one command line through its standard streams, command by command.
 *
 * A harmless command behind each one marks the end of its output, on each of the two streams. Events come whenever they come, so they are
 * taken out of the output and handed over where somebody waits for them.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const WAIT_MS = 30_000;
/** Two commands, of which one ends on stdout and the other, with its usage, on stderr. */
const MARKERS = "version\nsync\n";
const STDOUT_MARK = /^ZooKeeper CLI version: /;
const STDERR_MARK = "sync path";
/** What both markers come to without a session. */
const WITHOUT_SESSION = "Not connected";

export interface CommandOutput {
  readonly stdout: readonly string[];
  readonly stderr: readonly string[];
}

export class CliSession {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<number | null>;
  #hasEnded = false;
  #stdout: string[] = [];
  #stderr: string[] = [];
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
    this.#process.stdin.write(`${command}\n${MARKERS}`);
    await this.#until(() => this.#isMarked(), `the end of "${command}"`);
    const isWithoutSession = !this.#stdout.some((line) => STDOUT_MARK.test(line));
    const stdout = isWithoutSession ? this.#stdout.slice(0, -2) : this.#stdout.filter((line) => !STDOUT_MARK.test(line));
    const stderr = isWithoutSession ? this.#stderr : this.#stderr.slice(0, -1);
    this.#stdout = [];
    this.#stderr = [];
    return { stdout, stderr };
  }

  /** The next events, sorted: where one change causes several, their order is nobody's promise. */
  async events(count: number): Promise<readonly string[]> {
    await this.#until(() => this.#events.length >= count, `${count} events`);
    return this.#events.splice(0, count).sort();
  }

  /** Ends its input. Returns its exit status, and the events that nobody waited for. */
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
    if (line.startsWith("WatchedEvent ")) {
      this.#events.push(line);
      // The empty line, WATCHER:: and the second empty line before it.
      const head = this.#stdout.lastIndexOf("WATCHER::");
      if (head > 0) this.#stdout.splice(head - 1, 3);
    } else this.#stdout.push(line);
    this.#wake();
  }

  #takeError(line: string): void {
    this.#stderr.push(line);
    this.#wake();
  }

  #isMarked(): boolean {
    const isMarked = this.#stdout.some((line) => STDOUT_MARK.test(line)) && this.#stderr.at(-1) === STDERR_MARK;
    return isMarked || this.#stdout.slice(-2).every((line) => line === WITHOUT_SESSION && this.#stdout.length > 1);
  }

  async #until(isReached: () => boolean, what: string): Promise<void> {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const describe = (): string => JSON.stringify({ stdout: this.#stdout, stderr: this.#stderr, events: this.#events });
    const timer = setTimeout(() => reject(new Error(`nothing more came while waiting for ${what}: ${describe()}`)), WAIT_MS);
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
