/** Apache's command line as a process that runs one command after another. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

const WAIT_MS = 30_000;
const MARKER = "version";
/** The marker's output; a closed session refuses even that. */
const MARKER_OUTPUT = /^(ZooKeeper CLI version|Not connected$)/;
/** A configuration of its log that keeps it silent; a file `logback.xml` on the class path. */
export const QUIET_LOG = '<configuration><root level="OFF"/></configuration>';

/**
 * zkCli prints events at any time, so they are taken out of the output and kept apart. A harmless
 * command after each one marks the end of its output.
 */
export class ZkCliCommandLine {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  readonly #output: string[] = [];
  readonly #events: string[] = [];
  #wake: () => void = () => undefined;

  constructor(classPath: string, address: string) {
    // One pipe for both streams, so that their lines keep their order.
    const script = 'exec java -Xmx128m -cp "$0" org.apache.zookeeper.ZooKeeperMain -timeout 20000 -server "$1" 2>&1';
    this.#process = spawn("sh", ["-c", script, classPath, address], { stdio: ["pipe", "pipe", "inherit"] });
    createInterface({ input: this.#process.stdout }).on("line", (line) => this.#take(line));
  }

  #take(line: string): void {
    if (line.startsWith("WatchedEvent")) this.#events.push(line);
    else if (line !== "" && line !== "WATCHER::") this.#output.push(line);
    this.#wake();
  }

  /** Runs one command and returns its output. */
  async run(command: string): Promise<readonly string[]> {
    this.#process.stdin.write(`${command}\n${MARKER}\n`);
    await this.#until(() => this.#output.some((line) => MARKER_OUTPUT.test(line)), `the end of "${command}"`);
    const end = this.#output.findIndex((line) => MARKER_OUTPUT.test(line));
    return this.#output.splice(0, end + 1).slice(0, -1);
  }

  /** The next events. Their order is the server's, except that one transaction's may swap. */
  async events(count: number): Promise<readonly string[]> {
    await this.#until(() => this.#events.length >= count, `${count} events`);
    return this.#events.splice(0, count).sort();
  }

  async #until(isReached: () => boolean, what: string): Promise<void> {
    const timer = setTimeout(() => {
      console.log(`(nothing more came while waiting for ${what})`, this.#output, this.#events);
      process.exit(1);
    }, WAIT_MS);
    while (!isReached()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearTimeout(timer);
  }

  async quit(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin.end("quit\n");
    await ended;
  }
}
