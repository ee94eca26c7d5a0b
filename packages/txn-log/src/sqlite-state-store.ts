import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import { assert } from "@zooid/model";
import { startWorker } from "./start-worker.ts";
import { loadStateFile } from "./state-file.ts";
import type { FoldReport, StateCommand, StateReport, StateThreadData } from "./state-messages.ts";
import type { StateMark, StateMeta, StateSink, StateStats, StateStore } from "./state-store.ts";
import { StoreError } from "./store-error.ts";

export interface SqliteStateOptions {
  readonly stateFile: string;
  readonly logFile: string;
  readonly decoderModule: string;
  readonly lagMarkBytes: number;
  readonly lagMarkMs: number;
  /** A fold is on the disk. */
  readonly folded: (meta: StateMeta) => void;
  /** The state cannot be brought forward any more; the process must end. */
  readonly failed: (error: Error) => void;
}

const STATE_HEAP_MIB = 48;

export async function openSqliteState(options: SqliteStateOptions): Promise<SqliteStateStore> {
  const channel = new MessageChannel();
  const { stateFile, logFile, decoderModule, lagMarkBytes, lagMarkMs } = options;
  const data: StateThreadData = { stateFile, logFile, decoderModule, lagMarkBytes, lagMarkMs, port: channel.port2 };
  const worker = startWorker({ name: "state-thread", data, transfer: [channel.port2], heapMib: STATE_HEAP_MIB });
  const { promise, resolve, reject } = Promise.withResolvers<StateMeta>();
  worker.once("error", reject);
  channel.port1.once("message", (report: StateReport) => {
    worker.off("error", reject);
    if (report.kind === "ready") resolve(report.meta);
    else if (report.kind === "failed") reject(new StoreError(report.detail));
    else reject(new StoreError({ code: "DEFECT", reason: `the state thread began with "${report.kind}"` }));
  });
  return new SqliteStateStore(options, worker, channel.port1, await promise);
}

/** The state store as its user's thread sees it. */
export class SqliteStateStore implements StateStore {
  readonly #options: SqliteStateOptions;
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #applied: StateMeta;
  #dead: Error | undefined;
  #closing: Promise<void> | undefined;
  #lagBytes = 0;
  #lagMarks = 0;
  #lastMark: StateMark | undefined;
  #nextId = 1;
  readonly #flushes = new Map<number, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();
  #totals = { foldCount: 0, foldMsTotal: 0, foldMsLast: 0, foldedEntries: 0, writtenNodes: 0 };

  constructor(options: SqliteStateOptions, worker: Worker, port: MessagePort, meta: StateMeta) {
    this.#options = options;
    this.#worker = worker;
    this.#port = port;
    this.#applied = meta;
    port.on("message", (report: StateReport) => this.#receive(report));
    worker.on("error", (cause) => {
      this.#fail(new StoreError({ code: "DEFECT", reason: `the state thread ended: ${String(cause)}` }, { cause }));
    });
  }

  get applied(): StateMeta {
    return this.#applied;
  }

  get lagBytes(): number {
    return this.#lagBytes;
  }

  load(sink: StateSink): StateMeta {
    assert(this.#totals.foldCount === 0 && this.#lagMarks === 0, "the state is loaded before anything is folded");
    return loadStateFile(this.#options.stateFile, sink);
  }

  advance(mark: StateMark): void {
    if (this.#dead !== undefined) return;
    assert(mark.zxid > (this.#lastMark?.zxid ?? -1), "marks rise");
    this.#lastMark = mark;
    this.#lagBytes += mark.bytes;
    this.#lagMarks++;
    this.#send({ kind: "mark", mark });
  }

  async flush(): Promise<StateMeta> {
    if (this.#dead !== undefined) throw this.#dead;
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#flushes.set(id, { resolve, reject });
    this.#send({ kind: "flush", id });
    await promise;
    return this.#applied;
  }

  stats(): StateStats {
    return { lagBytes: this.#lagBytes, lagMarks: this.#lagMarks, ...this.#totals };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#worker.threadId === -1) resolve();
    else this.#worker.once("exit", () => resolve());
    this.#send({ kind: "close" });
    await promise;
    this.#dead ??= new StoreError({ code: "CLOSED" });
    this.#rejectFlushes(this.#dead);
    this.#port.close();
  }

  #receive(report: StateReport): void {
    if (this.#dead !== undefined) return;
    switch (report.kind) {
      case "folded":
        return this.#folded(report.fold);
      case "flushed":
        this.#flushes.get(report.id)?.resolve();
        this.#flushes.delete(report.id);
        return;
      case "failed":
        return this.#fail(new StoreError(report.detail));
      case "ready":
        return;
    }
  }

  #folded(fold: FoldReport): void {
    this.#applied = fold.meta;
    this.#lagBytes -= fold.bytes;
    this.#lagMarks -= fold.marks;
    const { foldCount, foldMsTotal, foldedEntries, writtenNodes } = this.#totals;
    this.#totals = {
      foldCount: foldCount + 1,
      foldMsTotal: foldMsTotal + fold.ms,
      foldMsLast: fold.ms,
      foldedEntries: foldedEntries + fold.entries,
      writtenNodes: writtenNodes + fold.nodes,
    };
    this.#options.folded(fold.meta);
  }

  #fail(error: Error): void {
    if (this.#dead !== undefined) return;
    this.#dead = error;
    this.#rejectFlushes(error);
    this.#options.failed(error);
  }

  #rejectFlushes(error: Error): void {
    for (const { reject } of this.#flushes.values()) reject(error);
    this.#flushes.clear();
  }

  #send(command: StateCommand): void {
    this.#port.postMessage(command);
  }
}
