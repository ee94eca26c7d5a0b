/** Clients that ask one server, one request at a time each, and time the answers. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { create, OP, read, setData } from "@zooid/conformance/internal/wire";
import { quantiles } from "../figures/quantiles.ts";
import type { EnsembleServer } from "./ensemble-servers.ts";
import { RawSession } from "./raw-session.ts";

const WRITERS = 4;
const READ_EVERY_MS = 2;
const TIMEOUT_MS = 40_000;

/** Writers and a reader at one server, one request at a time each. */
export class PacedLoad {
  /** Writes that were answered. */
  doneCount = 0;
  readonly #server: EnsembleServer;
  readonly #ownDelay = monitorEventLoopDelay({ resolution: 1 });
  readonly #faults: string[] = [];
  #work: Promise<unknown> = Promise.resolve();
  #writesMs: number[] = [];
  #readsMs: number[] = [];
  #lastDoneAt = 0;
  #longestGapMs = 0;
  /** When the longest read since the last report was asked. */
  #slowestReadAt = 0;
  #slowestReadMs = 0;
  #since = 0;
  #isOver = false;

  constructor(server: EnsembleServer) {
    this.#server = server;
  }

  async start(): Promise<void> {
    const { host, port } = this.#server;
    const sessions = await Promise.all(
      Array.from({ length: WRITERS + 1 }, () => RawSession.open({ host, port, timeoutMs: TIMEOUT_MS })),
    );
    const [reader, ...writers] = sessions;
    if (reader === undefined) throw new Error("there is no reader");
    await demand(reader, OP.create, create("/written"));
    this.#since = this.#lastDoneAt = performance.now();
    this.#ownDelay.enable();
    const work = [this.#read(reader), ...writers.map((session, index) => this.#write(session, `/written/w${index}`))];
    this.#work = Promise.all(work).catch((error: unknown) => this.#faults.push(String(error)));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#work;
  }

  faults(): string[] {
    return [...this.#faults];
  }

  /** Prints what happened since the last report. */
  report(when: string): void {
    const now = performance.now();
    const rate = this.#writesMs.length / ((now - this.#since) / 1000);
    const [writes, reads] = [quantiles(this.#writesMs), quantiles(this.#readsMs)];
    const gapMs = Math.max(this.#longestGapMs, now - this.#lastDoneAt);
    console.log(
      `${when}: ${rate.toFixed(0)} writes/s, each p99 ${writes.p99.toFixed(1)} ms, max ${writes.max.toFixed(1)} ms; ` +
        `longest time without one ${gapMs.toFixed(1)} ms; reads p99 ${reads.p99.toFixed(1)} ms, max ${reads.max.toFixed(1)} ms, ${((this.#slowestReadAt - this.#since) / 1000).toFixed(1)} s in; ` +
        `this process was itself late by ${(this.#ownDelay.max / 1e6).toFixed(1)} ms at most`,
    );
    this.#ownDelay.reset();
    this.#writesMs = [];
    this.#readsMs = [];
    this.#longestGapMs = 0;
    this.#slowestReadMs = 0;
    this.#since = now;
  }

  async #write(session: RawSession, path: string): Promise<void> {
    await demand(session, OP.create, create(path));
    for (let count = 0; !this.#isOver; count++) {
      const sentAt = performance.now();
      await demand(session, OP.setData, setData(path, `${path} ${count}`.padEnd(100, "-")));
      const doneAt = performance.now();
      this.#writesMs.push(doneAt - sentAt);
      this.#longestGapMs = Math.max(this.#longestGapMs, doneAt - this.#lastDoneAt);
      this.#lastDoneAt = doneAt;
      this.doneCount++;
    }
  }

  async #read(session: RawSession): Promise<void> {
    const body = read("/written");
    while (!this.#isOver) {
      const sentAt = performance.now();
      await demand(session, OP.getData, body);
      const tookMs = performance.now() - sentAt;
      if (tookMs > this.#slowestReadMs) [this.#slowestReadMs, this.#slowestReadAt] = [tookMs, sentAt];
      this.#readsMs.push(tookMs);
      await delay(READ_EVERY_MS);
    }
  }
}

/** @throws where the server refuses */
export async function demand(session: RawSession, opcode: number, body: Buffer): Promise<void> {
  const { error } = await session.ask(opcode, body);
  if (error !== 0) throw new Error(`a request was refused with ${error}`);
}
