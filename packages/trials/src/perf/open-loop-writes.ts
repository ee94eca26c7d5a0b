import { setTimeout as delay } from "node:timers/promises";
import { OP, setData } from "@zooid/conformance/internal/wire";
import { demand } from "../faults/paced-load.ts";
import { RawSession } from "../faults/raw-session.ts";

const SESSION_MS = 30_000;
const CONNECTIONS = 8;
const TICK_MS = 2;

export interface OpenLoopOptions {
  readonly port: number;
  /** Written in turn. */
  readonly paths: readonly string[];
  readonly bytes: number;
}

/** Writes on a schedule, however late the answers are; latencies count from the schedule. */
export class OpenLoopWrites implements AsyncDisposable {
  readonly #sessions: readonly RawSession[];
  readonly #paths: readonly string[];
  readonly #data: string;
  #count = 0;

  private constructor(sessions: readonly RawSession[], { paths, bytes }: OpenLoopOptions) {
    this.#sessions = sessions;
    this.#paths = paths;
    this.#data = "x".repeat(bytes);
  }

  static async open(options: OpenLoopOptions): Promise<OpenLoopWrites> {
    const { port } = options;
    const open = (): Promise<RawSession> => RawSession.open({ port, timeoutMs: SESSION_MS });
    return new OpenLoopWrites(await Promise.all(Array.from({ length: CONNECTIONS }, open)), options);
  }

  /** @returns the latency of each write, in milliseconds */
  async run({ rate, seconds }: { readonly rate: number; readonly seconds: number }): Promise<readonly number[]> {
    const count = Math.round(rate * seconds);
    const beginMs = performance.now();
    const latencies: Promise<number>[] = [];
    while (latencies.length < count) {
      const due = Math.min(count, Math.floor(((performance.now() - beginMs) * rate) / 1000));
      while (latencies.length < due) latencies.push(this.#write(beginMs + (latencies.length * 1000) / rate));
      await delay(TICK_MS);
    }
    return await Promise.all(latencies);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sessions.map((session) => session.end()));
  }

  async #write(dueMs: number): Promise<number> {
    const number = this.#count++;
    const session = this.#sessions[number % this.#sessions.length];
    const path = this.#paths[number % this.#paths.length];
    if (session === undefined || path === undefined) throw new Error("there is nothing to write");
    await demand(session, OP.setData, setData(path, this.#data));
    return performance.now() - dueMs;
  }
}
