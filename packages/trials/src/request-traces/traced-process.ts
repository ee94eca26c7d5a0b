import { type ChildProcess, fork } from "node:child_process";
import { on, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Role, StartOptions } from "@zooid/embedded-server";
import { type CallCounts, keyOf } from "./call-counts.ts";
import type { TraceAnswer, TraceQuestion } from "./traced-server.ts";

/** A server whose calls are counted, in a process and a folder of its own. */
export class TracedProcess implements AsyncDisposable {
  /** Where clients connect; known once it serves. */
  port = 0;
  role: Role = "looking";
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #answers: AsyncIterator<[TraceAnswer]>;

  constructor(options: StartOptions) {
    this.#folder = mkdtempSync(join(tmpdir(), "request-traces-"));
    const settings = { dataDir: this.#folder, port: 0, ...options };
    this.#child = fork(join(import.meta.dirname, "traced-server.ts"), [JSON.stringify(settings)], {
      execArgv: ["--conditions=@zooid/source"],
    });
    this.#answers = on(this.#child, "message", { close: ["exit"] }) as AsyncIterator<[TraceAnswer]>;
  }

  /** Resolves when it serves clients. */
  async serves(): Promise<void> {
    const { port, role } = await this.#next("serves");
    this.port = port;
    this.role = role;
  }

  /** Counts begin. */
  async begin(): Promise<void> {
    this.#child.send("begin" satisfies TraceQuestion);
    await this.#next("begun");
  }

  /** @returns the calls since {@link begin} */
  async end(): Promise<CallCounts> {
    this.#child.send("end" satisfies TraceQuestion);
    const { calls } = await this.#next("calls");
    return new Map(calls.map((call) => [keyOf(call), call]));
  }

  async #next<K extends TraceAnswer["kind"]>(kind: K): Promise<Extract<TraceAnswer, { kind: K }>> {
    for (;;) {
      const { done, value } = await this.#answers.next();
      if (done === true) throw new Error(`the traced server has ended, and was asked for: ${kind}`);
      const [answer] = value;
      if (answer.kind === kind) return answer as Extract<TraceAnswer, { kind: K }>;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#child.exitCode === null ? once(this.#child, "exit") : undefined;
    this.#child.kill("SIGKILL");
    await ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
