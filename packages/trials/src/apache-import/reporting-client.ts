import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** The report of a client about its session and its ephemeral node. */
export interface ClientReport {
  readonly session: string;
  /** The path of its node. */
  readonly own: string;
  /** The session that owns the node; null where it is gone. */
  readonly owner: string | null;
  /** How often it lost its session. */
  readonly lost: number;
}

/** A client in a process of its own, which prints a report for each line that it gets. */
export class ReportingClient<Report = ClientReport> implements Disposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #errors = "";

  constructor([program = "", ...args]: readonly string[]) {
    this.#child = spawn(program, args);
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#errors += text;
    });
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** The report that it prints when it has made its node. */
  first(): Promise<Report> {
    return this.#next();
  }

  ask(): Promise<Report> {
    this.#child.stdin.write("\n");
    return this.#next();
  }

  async #next(): Promise<Report> {
    for (;;) {
      const line = await this.#lines.next();
      if (line.done === true) throw new Error(`${this.#child.spawnargs.join(" ")} ended: ${this.#errors.trim()}`);
      // Java's client logs to the same stream.
      if (line.value.startsWith("{")) return JSON.parse(line.value) as Report;
    }
  }

  /** Ends it by the end of its input; kazoo's ends its session then. */
  async end(): Promise<void> {
    const ended = once(this.#child, "close");
    this.#child.stdin.end();
    await ended;
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL");
  }
}
