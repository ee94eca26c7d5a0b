import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from "node:worker_threads";
import {
  assert,
  copyBytes,
  copyRange,
  earlierOf,
  epochOf,
  LatencyBuckets,
  laterOf,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model/storage";
import { SpareBuffers } from "@zooid/wire";
import { StoreError } from "../store/store-error.ts";
import { HEAP_MIB_MIN, startWorker } from "../threads/start-worker.ts";
import type { AppendObserver } from "./append-observer.ts";
import { ControlWord, newRingMemory, RecordKind, type RingMemory, RingWriter } from "./append-ring.ts";
import { type Chain, chainFromHalves } from "./chain.ts";
import { withEntry } from "./log-book.ts";
import {
  type AppendMessage,
  COMMIT_BUCKETS_AT,
  type HelperAnswer,
  type HelperRequest,
  type HelperThreadData,
  LOG_STAT_COUNT,
  type LogCommand,
  type LogReport,
  LogStat,
  type LogThreadData,
} from "./log-messages.ts";
import type { LogFileOptions } from "./log-open.ts";
import type {
  DurableLog,
  EpochPromise,
  HistoryInstall,
  LogBranching,
  LogConfigs,
  LoggedRun,
  LogHandler,
  LogPosition,
  LogSettings,
  LogStats,
  ReadResult,
  RunMarks,
  StoreLog,
} from "./txn-log.ts";

export interface SqliteLogOptions {
  readonly file: LogFileOptions;
  readonly handler: LogHandler;
  readonly ringBytes: number;
  /** How long a segment's WAL is. */
  readonly segmentBytes: number;
  readonly settings: LogSettings;
  /**
   * Gives back what room it can, for a write that found none: it allows a purge, above all. Settles
   * in any case.
   */
  readonly freeRoom?: () => Promise<unknown>;
}

/** A record that finds the ring full, in the order of the calls. */
type Backlog =
  | { readonly kind: "append"; readonly batch: AppendMessage; readonly copy: Uint8Array | undefined }
  | { readonly kind: "command"; readonly command: LogCommand };

const NO_BYTES = new Uint8Array(0);

/**
 * Opens the log: resolves once the start is counted on the disk, rejects with what stands in the
 * way.
 */
export async function openSqliteLog(options: SqliteLogOptions): Promise<SqliteTxnLog> {
  const ring = newRingMemory(options.ringBytes);
  const stats = new SharedArrayBuffer(LOG_STAT_COUNT * 8);
  const { directory, leases } = options.file;
  const forLog = new MessageChannel();
  const forHelper = new MessageChannel();
  const between = new MessageChannel();
  const data: LogThreadData = {
    options: options.file,
    ring,
    stats,
    port: forLog.port2,
    helper: between.port1,
    segmentBytes: options.segmentBytes,
    settings: options.settings,
  };
  const worker = startWorker({
    name: "log/log-thread",
    data,
    transfer: [forLog.port2, between.port1],
    heapMib: HEAP_MIB_MIN,
  });
  const ready = await firstReport(forLog.port1, worker);
  const helper: HelperThreadData = {
    directory,
    leases,
    control: ring.control,
    port: forHelper.port2,
    log: between.port2,
  };
  return new SqliteTxnLog({
    options,
    ring,
    stats,
    worker,
    helper,
    log: ready,
    port: forLog.port1,
    reads: forHelper.port1,
  });
}

function firstReport(port: MessagePort, worker: Worker): Promise<DurableLog> {
  const { promise, resolve, reject } = Promise.withResolvers<DurableLog>();
  worker.once("error", reject);
  port.once("message", (report: LogReport) => {
    worker.off("error", reject);
    if (report.kind === "ready") resolve(report.log);
    else if (report.kind === "failed") reject(new StoreError(report.detail));
    else reject(new StoreError({ code: "DEFECT", reason: `the log thread began with "${report.kind}"` }));
  });
  return promise;
}

/**
 * The log over SQLite, as its user's thread sees it: the ring's writer and the receiver of reports.
 */
export class SqliteTxnLog implements StoreLog {
  readonly #handler: LogHandler;
  readonly #port: MessagePort;
  readonly #reads: MessagePort;
  readonly #worker: Worker;
  /**
   * Data for the helper thread, which starts at its first task: most short-lived logs need none.
   */
  readonly #helperData: HelperThreadData;
  #helper: Worker | undefined;
  readonly #ring: RingWriter;
  readonly #commitBuckets: LatencyBuckets;
  readonly #control: Int32Array;
  readonly #stats: Float64Array;
  readonly #record: {
    kind: number;
    generation: number;
    committed: number;
    bytes: Uint8Array;
    start: number;
    end: number;
  };
  #backlog: Backlog[] = [];
  /** Sizes of the batches handed over and not completed, oldest first. */
  #pendingSizes: number[] = [];
  #pendingBytes = 0;
  #log: DurableLog;
  #nextId = 1;
  /** The calls back once a write is durable, by the number of its command. */
  readonly #writes = new Map<number, () => void>();
  /** The same for questions to the helper. */
  readonly #asked = new Map<number, (answer: HelperAnswer) => void>();
  readonly #holds = new Set<{ readonly after: Zxid }>();
  /** For batches that find the ring full. */
  readonly #copies = new SpareBuffers();
  #purgeAllowed: Zxid = ZXID_NONE;
  #purgeAsked: Zxid = ZXID_NONE;
  /** The state file that the newest install with a snapshot names. */
  #naming: string | undefined;
  #observer: AppendObserver | undefined;
  readonly #freeOtherRoom: () => Promise<unknown>;
  #isFreeing = false;
  #dead: StoreError | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    readonly options: SqliteLogOptions;
    readonly ring: RingMemory;
    readonly stats: SharedArrayBuffer;
    readonly worker: Worker;
    readonly helper: HelperThreadData;
    readonly log: DurableLog;
    readonly port: MessagePort;
    readonly reads: MessagePort;
  }) {
    this.#handler = parts.options.handler;
    this.#freeOtherRoom = parts.options.freeRoom ?? (() => Promise.resolve());
    this.#ring = new RingWriter(parts.ring);
    this.#control = new Int32Array(parts.ring.control);
    this.#stats = new Float64Array(parts.stats);
    this.#commitBuckets = new LatencyBuckets(this.#stats, COMMIT_BUCKETS_AT);
    this.#log = parts.log;
    this.#port = parts.port;
    this.#reads = parts.reads;
    this.#worker = parts.worker;
    this.#helperData = parts.helper;
    this.#record = { kind: 0, generation: 0, committed: 0, bytes: NO_BYTES, start: 0, end: 0 };
    parts.port.on("message", (report: LogReport) => this.#receive(report));
    parts.reads.on("message", (answer: HelperAnswer) => this.#receiveRead(answer));
    this.#watch(parts.worker);
  }

  get durable(): DurableLog {
    return this.#log;
  }

  /** Calls an observer with what is appended from now on. */
  observe(observer: AppendObserver): void {
    this.#observer = observer;
  }

  append(run: LoggedRun, generation: number, committed: Zxid, marks?: RunMarks): void {
    const { bytes, start, end } = run;
    assert(end > start, "an empty batch was appended");
    if (this.#dead !== undefined) return;
    this.#observer?.appended(run);
    this.#handler.appending?.(end - start);
    this.#pendingSizes.push(end - start);
    this.#pendingBytes += end - start;
    if (this.#backlog.length === 0 && marks === undefined && this.#ring.fits(end - start)) {
      const record = this.#record;
      record.kind = RecordKind.APPEND;
      record.generation = generation;
      record.committed = committed;
      record.bytes = bytes;
      record.start = start;
      record.end = end;
      const taken = this.#ring.offer(record);
      record.bytes = NO_BYTES;
      if (taken) return;
    }
    // A message is cloned with the whole of its buffer: what goes as one is a buffer of its own.
    const goesIntoRing = marks === undefined && this.#ring.fits(end - start);
    const copy = goesIntoRing ? this.#copies.take(end - start) : undefined;
    if (copy !== undefined) copyBytes(bytes, start, end, copy, 0);
    const record = copy?.subarray(0, end - start) ?? copyRange(bytes, start, end);
    this.#enqueue({ kind: "append", batch: { generation, committed, bytes: record, marks }, copy });
  }

  get isFull(): boolean {
    return this.#stats[LogStat.FULL] === 1;
  }

  setLow(isLow: boolean): void {
    if (this.#dead === undefined) this.#enqueue({ kind: "command", command: { kind: "low", isLow } });
  }

  changeSettings(settings: LogSettings): void {
    if (this.#dead === undefined) this.#enqueue({ kind: "command", command: { kind: "settings", settings } });
  }

  /**
   * Lets go of segments up to a zxid of a synced state file, whatever else would keep them but
   * learners and the commit hint.
   */
  discard(upTo: Zxid, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "discard", id, upTo }));
  }

  /**
   * Begins a segment whose WAL held nothing before, also where the newest one is not full. Segments
   * before it are removed when the log drops them, and never used again.
   */
  renew(done: () => void): void {
    this.#ask(done, (id) => ({ kind: "renew", id }));
  }

  setPromise(promise: EpochPromise, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "promise", id, promise }));
  }

  setCurrentEpoch(epoch: number, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "epoch", id, epoch }));
  }

  setConfigs(configs: LogConfigs, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "configs", id, ...configs }));
  }

  setEnsembleId(ensembleId: string, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "ensemble", id, ensembleId }));
  }

  /** Turns the log into the history of another ensemble: see {@link LogBranching}. */
  branch(branching: LogBranching, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "branch", id, branching }));
  }

  cut(to: Zxid, done: () => void): void {
    this.#observer?.replaced();
    this.#ask(done, (id) => ({ kind: "cut", id, to }));
  }

  beginStage(after: LogPosition, done: () => void): void {
    this.#ask(done, (id) => ({ kind: "begin-stage", id, after }));
  }

  stage(run: LoggedRun, done: () => void): void {
    const bytes = copyRange(run.bytes, run.start, run.end);
    this.#ask(done, (id) => ({ kind: "stage", id, bytes }));
  }

  dropStage(done: () => void): void {
    this.#ask(done, (id) => ({ kind: "drop-stage", id }));
  }

  installHistory(install: HistoryInstall, done: () => void): void {
    this.#observer?.replaced();
    if (install.snapshot !== undefined) this.#naming = install.snapshot.stateFile;
    this.#ask(done, (id) => ({ kind: "install-history", id, install }));
  }

  prepareReads(): void {
    if (this.#dead === undefined && this.#closing === undefined) this.#startHelper();
  }

  read(after: Zxid, bytesMax: number, done: (result: ReadResult) => void): void {
    this.#askHelper(
      (answer) => done(readResult(answer)),
      (id) => ({ kind: "read", id, after, bytesMax }),
    );
  }

  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void {
    this.#askHelper(
      (answer) => {
        // A chain that cannot be read is not one that differs.
        if (answer.kind === "chain") done(answer.chain);
      },
      (id) => ({ kind: "chain", id, zxid }),
    );
  }

  /** Whether the log names a state file, or is about to. */
  isNamed(stateFile: string): boolean {
    return stateFile === this.#log.stateFile || stateFile === this.#naming;
  }

  /**
   * Everything up to a zxid that is durable here is committed as well; a cut below it is a defect
   * from now on.
   */
  noteCommitted(zxid: Zxid): void {
    this.#enqueue({ kind: "command", command: { kind: "committed", zxid } });
  }

  allowPurge(upTo: Zxid): void {
    this.#purgeAllowed = laterOf(this.#purgeAllowed, upTo);
    this.#purge();
  }

  hold(after: Zxid): Disposable {
    const held = { after };
    this.#holds.add(held);
    this.#purge();
    return {
      [Symbol.dispose]: () => {
        if (this.#holds.delete(held)) this.#purge();
      },
    };
  }

  stats(): LogStats {
    const stat = (at: number): number => this.#stats[at] ?? 0;
    return {
      batchCount: stat(LogStat.BATCHES),
      entryCount: stat(LogStat.ENTRIES),
      appendedBytes: stat(LogStat.BYTES),
      syncCount: stat(LogStat.SYNCS),
      syncMsTotal: stat(LogStat.SYNC_MS_TOTAL),
      syncMsMax: stat(LogStat.SYNC_MS_MAX),
      syncMsLast: stat(LogStat.SYNC_MS_LAST),
      commitBuckets: this.#commitBuckets,
      slowSyncCount: stat(LogStat.SLOW_SYNCS),
      pendingBatches: this.#pendingSizes.length,
      pendingBytes: this.#pendingBytes,
      walBytes: stat(LogStat.WAL_BYTES),
      segmentCount: stat(LogStat.SEGMENTS),
      rollCount: stat(LogStat.ROLLS),
      rollMsTotal: stat(LogStat.ROLL_MS_TOTAL),
      stallCount: stat(LogStat.STALLS),
      stallMsTotal: stat(LogStat.STALL_MS_TOTAL),
      purgedCount: stat(LogStat.PURGED),
    };
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const worker = exited(this.#worker);
    Atomics.store(this.#control, ControlWord.CLOSING, 1);
    this.#freed();
    if (this.#dead === undefined) this.#enqueue({ kind: "command", command: { kind: "close" } });
    // The helper may be the thread that failed: the log thread could then wait for it indefinitely.
    else void this.#worker.terminate();
    await worker;
    // The helper ends last: the remaining entries of the log may need a segment.
    if (this.#helper !== undefined) {
      const helper = exited(this.#helper);
      this.#reads.postMessage({ kind: "close" } satisfies HelperRequest);
      await helper;
    }
    this.#dead ??= new StoreError({ code: "CLOSED" });
    this.#forgetCallbacks();
    this.#port.close();
    this.#reads.close();
  }

  #watch(worker: Worker): void {
    worker.on("error", (cause) => {
      this.#fail(new StoreError({ code: "DEFECT", reason: `a thread of the log ended: ${String(cause)}` }, { cause }));
    });
    worker.once("exit", (status) => this.#ended(status));
  }

  /** Starts the helper: messages of the other threads wait in its ports until it runs. */
  #startHelper(): void {
    if (this.#helper !== undefined) return;
    const { port, log } = this.#helperData;
    this.#helper = startWorker({
      name: "log/helper-thread",
      data: this.#helperData,
      transfer: [port, log],
      heapMib: HEAP_MIB_MIN,
    });
    this.#watch(this.#helper);
  }

  #receive(report: LogReport): void {
    if (this.#dead !== undefined) return;
    switch (report.kind) {
      case "appended":
        this.#completed(report.done, report.log);
        break;
      case "room-changed":
        this.#handler.roomChanged(report.missing);
        if (report.missing !== undefined) void this.#freeRoom();
        break;
      case "answer": {
        this.#log = report.log;
        const done = this.#writes.get(report.id);
        this.#writes.delete(report.id);
        if (done !== undefined) this.#complete(done);
        break;
      }
      case "purged":
        this.#log = report.log;
        break;
      case "helper-due":
        this.#startHelper();
        break;
      case "warned":
        this.#handler.warned(report.text, "slow");
        break;
      case "failed":
        this.#fail(new StoreError(report.detail));
        return;
      case "ready":
        break;
    }
    this.#drain();
  }

  #completed(done: readonly number[], changed: DurableLog | undefined): void {
    for (let i = 0; i < done.length; i += 5) {
      const [generation = 0, zxid = 0, high = 0, low = 0, committed = 0] = done.slice(i, i + 5);
      const tail = { zxid: zxid as Zxid, chain: chainFromHalves(high, low) };
      this.#settleSize();
      this.#log = {
        ...this.#log,
        tail,
        commitHint: laterOf(this.#log.commitHint, earlierOf(committed as Zxid, tail.zxid)),
        epochs: movedTo(this.#log.epochs, tail.zxid),
      };
      if (changed !== undefined && i + 5 === done.length) this.#log = changed;
      this.#handler.appended({ generation, ...tail });
    }
  }

  #settleSize(): void {
    this.#pendingBytes -= this.#pendingSizes.shift() ?? 0;
  }

  #receiveRead(answer: HelperAnswer): void {
    if (this.#dead !== undefined) return;
    const done = this.#asked.get(answer.id);
    this.#asked.delete(answer.id);
    if (done === undefined) return;
    if (answer.kind === "failed" && answer.detail.code !== "BELOW_FLOOR") {
      this.#handler.warned(`what the log holds cannot be read: ${new StoreError(answer.detail).message}`, "unreadable");
    }
    this.#complete(() => done(answer));
  }

  #complete(step: () => void): void {
    if (this.#handler.completed === undefined) step();
    else this.#handler.completed(step);
  }

  #enqueue(item: Backlog): void {
    this.#backlog.push(item);
    this.#drain();
  }

  /**
   * Moves what waits into the ring, as far as there is room; the rest goes when the log thread has
   * reported again.
   */
  #drain(): void {
    let item = this.#backlog[0];
    while (item !== undefined && this.#offer(item)) {
      this.#backlog.shift();
      item = this.#backlog[0];
    }
  }

  #offer(item: Backlog): boolean {
    const record = { kind: 0, generation: 0, committed: 0, bytes: NO_BYTES as Uint8Array, start: 0, end: 0 };
    if (item.kind === "append" && item.copy !== undefined) {
      const { batch, copy } = item;
      const taken = this.#ring.offer({ ...record, ...batch, kind: RecordKind.APPEND, end: batch.bytes.length });
      if (taken) this.#copies.give(copy);
      return taken;
    }
    // The message must be there before the record that announces it.
    if (!this.#ring.hasRoom(0)) return false;
    this.#port.postMessage(item.kind === "append" ? { kind: "append", batch: item.batch } : item.command);
    const announced = this.#ring.offer({ ...record, kind: RecordKind.MESSAGE });
    assert(announced, "the ring lost room that it had");
    return true;
  }

  #ask(done: () => void, command: (id: number) => LogCommand): void {
    if (this.#dead !== undefined) return;
    const id = this.#nextId++;
    this.#writes.set(id, done);
    this.#enqueue({ kind: "command", command: command(id) });
  }

  #askHelper(done: (answer: HelperAnswer) => void, request: (id: number) => HelperRequest): void {
    if (this.#dead !== undefined) return;
    const id = this.#nextId++;
    this.#asked.set(id, done);
    this.#startHelper();
    this.#reads.postMessage(request(id));
  }

  #purge(): void {
    let upTo = this.#purgeAllowed;
    for (const { after } of this.#holds) upTo = earlierOf(upTo, after);
    if (upTo === this.#purgeAsked) return;
    this.#purgeAsked = upTo;
    this.#stats[LogStat.PURGE_ALLOWED] = upTo;
    this.#enqueue({ kind: "command", command: { kind: "purge" } });
  }

  /**
   * On a disk that stays full, what was asked for first may still wait itself: nothing more is
   * asked for then.
   */
  async #freeRoom(): Promise<void> {
    if (this.#isFreeing) return;
    this.#isFreeing = true;
    try {
      await this.#freeOtherRoom();
    } catch {
      // Then the log waits for room from elsewhere.
    }
    this.#isFreeing = false;
    this.#freed();
  }

  /** The write that found no room is tried again. */
  #freed(): void {
    Atomics.store(this.#control, ControlWord.FREEING, 0);
    Atomics.notify(this.#control, ControlWord.FREEING);
  }

  /** A thread has ended, for whatever reason. What it reported before that counts first. */
  #ended(status: number): void {
    if (this.#closing !== undefined) return;
    for (let next = receiveMessageOnPort(this.#port); next !== undefined; next = receiveMessageOnPort(this.#port)) {
      this.#receive(next.message as LogReport);
    }
    this.#fail(new StoreError({ code: "DEFECT", reason: `a thread of the log ended with status ${status}` }));
  }

  #fail(error: StoreError): void {
    if (this.#dead !== undefined) return;
    this.#dead = error;
    this.#handler.failed(error);
    this.#forgetCallbacks();
  }

  #forgetCallbacks(): void {
    this.#writes.clear();
    this.#asked.clear();
  }
}

function readResult(answer: HelperAnswer): ReadResult {
  if (answer.kind === "run") return answer.run;
  return answer.kind === "failed" && answer.detail.code === "BELOW_FLOOR" ? "below-floor" : "damaged";
}

function exited(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (worker.threadId === -1) resolve();
  else worker.once("exit", () => resolve());
  return promise;
}

/** The epoch table when the log has come to a zxid of its newest epoch. */
function movedTo(epochs: DurableLog["epochs"], zxid: Zxid): DurableLog["epochs"] {
  return epochs.at(-1)?.epoch === epochOf(zxid) ? withEntry(epochs, zxid) : epochs;
}
