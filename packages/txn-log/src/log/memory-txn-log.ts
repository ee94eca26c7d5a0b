import { assert, copyRange, FRAME_HEADER_BYTES, formatZxid, laterOf, ZXID_NONE, type Zxid } from "@zooid/model/storage";
import { StoreError } from "../store/store-error.ts";
import { type Chain, ChainCursor } from "./chain.ts";
import { BatchCursor, putEntry } from "./entry-batch.ts";
import {
  assertFollows,
  hintAt,
  newStage,
  purgeLimit,
  type Stage,
  withConfigs,
  withCurrentEpoch,
  withCut,
  withEnsembleId,
  withEntry,
  withInstall,
  withMarks,
  withPromise,
} from "./log-book.ts";
import { bootLog, newDurableLog } from "./log-boot.ts";
import type {
  Appended,
  DurableLog,
  EntryRun,
  EpochPromise,
  HistoryInstall,
  LogConfigs,
  LoggedRun,
  LogHandler,
  LogPosition,
  LogStats,
  ReadResult,
  RunMarks,
  StoreLog,
} from "./txn-log.ts";

/**
 * The state that a crash leaves behind. It belongs to the next log that is opened from it; nothing
 * else changes it.
 */
export interface MemoryLogImage {
  readonly log: DurableLog;
  readonly entries: readonly MemoryEntry[];
}

export interface MemoryEntry {
  readonly zxid: Zxid;
  readonly chain: Chain;
  readonly record: Uint8Array;
}

export interface MemoryLogOptions {
  readonly sid: number;
  readonly ensembleId?: string;
  /** The id of a new disk; an image has its own. */
  readonly diskId?: string;
  readonly handler: LogHandler;
  /** The state that an earlier log left; none is a new disk. */
  readonly image?: MemoryLogImage;
  /** As a standalone server asks: see `SqliteLogOptions`. */
  readonly takeEpoch?: boolean;
}

/** A write that {@link MemoryTxnLog.syncNext} made durable. */
export type MemoryWrite =
  | ({ readonly kind: "append" } & Appended)
  | { readonly kind: "promise" | "epoch" | "configs" | "ensemble" | "stage"; readonly log: DurableLog }
  | { readonly kind: "cut" | "install"; readonly at: LogPosition };

interface PendingWrite {
  /** Changes the disk; throws when the write is a defect. */
  readonly perform: () => MemoryWrite;
  readonly settle: (write: MemoryWrite) => void;
  /** Undefined for a write that is no append. */
  readonly appendedBytes: number | undefined;
}

/**
 * The log's promises in memory, with the disk's moods in the hands of a simulator: nothing becomes
 * durable before {@link syncNext}, and {@link crash} says what survived. Deterministic; only a
 * question needs a turn of the microtask queue, and the simulator asks {@link readNow} and
 * {@link chainNow} instead.
 */
export class MemoryTxnLog implements StoreLog {
  readonly #handler: LogHandler;
  #log: DurableLog;
  #entries: MemoryEntry[];
  #stage: { book: Stage; entries: MemoryEntry[] } | undefined;
  #pending: PendingWrite[] = [];
  #dead: StoreError | undefined;
  #isFull = false;
  #purgeUpTo: Zxid = ZXID_NONE;
  readonly #holds = new Set<{ readonly after: Zxid }>();
  #batchCount = 0;
  #entryCount = 0;
  #appendedBytes = 0;
  #syncCount = 0;
  #purgedCount = 0;

  constructor(options: MemoryLogOptions) {
    this.#handler = options.handler;
    const found = options.image?.log ?? newDurableLog(options);
    this.#log = bootLog(found, options.takeEpoch === true);
    this.#entries = [...(options.image?.entries ?? [])];
  }

  get durable(): DurableLog {
    return this.#log;
  }

  /** Writes handed over and not yet durable. */
  get pendingCount(): number {
    return this.#pending.length;
  }

  /**
   * Makes the oldest pending write durable and reports it. Undefined when there is none, or no
   * room.
   */
  syncNext(): MemoryWrite | undefined {
    // rule: a-full-disk-completes-nothing
    if (this.#isFull) return undefined;
    const pending = this.#pending.shift();
    if (pending === undefined) return undefined;
    try {
      const write = pending.perform();
      this.#syncCount++;
      pending.settle(write);
      return write;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      this.#pending.unshift(pending);
      this.fail(new StoreError({ code: "DEFECT", reason }, { cause }));
      return undefined;
    }
  }

  syncAll(): void {
    while (this.syncNext() !== undefined);
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** The disk is full: nothing becomes durable until {@link makeRoom}. */
  fill(reason = "no space left"): void {
    if (this.#isFull || this.#dead !== undefined) return;
    this.#isFull = true;
    this.#handler.roomChanged(reason);
  }

  makeRoom(): void {
    if (!this.#isFull || this.#dead !== undefined) return;
    this.#isFull = false;
    this.#handler.roomChanged(undefined);
  }

  /** A sync fails: from here on the log is poisoned. */
  fail(error: StoreError = new StoreError({ code: "WRITE_FAILED", file: "memory", reason: "EIO" })): void {
    if (this.#dead !== undefined) return;
    // rule: a-failed-sync-is-the-end
    this.#dead = error;
    this.#handler.failed(error);
    this.#pending = [];
  }

  /**
   * Ends this log as a crash would.
   *
   * @param keep how many of the pending writes reached the disk all the same, as a prefix; none of
   *   them is reported. None does where there is no room.
   */
  crash(keep = 0): MemoryLogImage {
    for (const pending of this.#pending.splice(0, this.#isFull ? 0 : keep)) pending.perform();
    this.#pending = [];
    this.#dead = new StoreError({ code: "CLOSED" });
    // Nothing changes them any more: no copy.
    return { log: this.#log, entries: this.#entries };
  }

  /** A write was handed over, and waits for {@link syncNext}. For logs that sync by themselves. */
  protected queued(): void {}

  append(run: LoggedRun, generation: number, committed: Zxid, marks: RunMarks = {}): void {
    if (this.#dead !== undefined) return;
    const bytes = copyRange(run.bytes, run.start, run.end);
    const { lastSeenConfig: config, ...rest } = marks;
    const kept = config === undefined ? rest : { ...rest, lastSeenConfig: copyRange(config, 0, config.length) };
    assert(bytes.length > 0, "an empty batch was appended");
    this.#handler.appending?.(bytes.length);
    this.#queue({
      appendedBytes: bytes.length,
      perform: () => {
        const added: MemoryEntry[] = [];
        const tail = walk(bytes, this.#log.tail, (entry) => added.push(entry));
        for (const entry of added) this.#entries.push(entry);
        this.#log = {
          ...withMarks(this.#log, kept),
          tail,
          epochs: added.reduce((epochs, entry) => withEntry(epochs, entry.zxid), this.#log.epochs),
          commitHint: hintAt(tail.zxid, this.#log.commitHint, committed),
        };
        this.#batchCount++;
        this.#entryCount += added.length;
        this.#appendedBytes += bytes.length;
        return { kind: "append", generation, ...tail };
      },
      settle: (write) => {
        if (write.kind !== "append") return;
        this.#handler.appended({ generation: write.generation, zxid: write.zxid, chain: write.chain });
      },
    });
  }

  /** It keeps no more than it needs at any time. */
  setLow(): void {}

  prepareReads(): void {}

  changeSettings(): void {}

  setPromise(promise: EpochPromise, done: () => void): void {
    this.#write("promise", done, () => withPromise(this.#log, promise));
  }

  setCurrentEpoch(epoch: number, done: () => void): void {
    this.#write("epoch", done, () => withCurrentEpoch(this.#log, epoch));
  }

  setConfigs(configs: LogConfigs, done: () => void): void {
    this.#write("configs", done, () => withConfigs(this.#log, configs));
  }

  setEnsembleId(ensembleId: string, done: () => void): void {
    this.#write("ensemble", done, () => withEnsembleId(this.#log, ensembleId));
  }

  cut(to: Zxid, done: () => void): void {
    this.#enqueue(done, () => {
      this.#log = withCut(this.#log, this.#position(to));
      this.#entries.length = this.#countUpTo(to);
      return { kind: "cut", at: this.#log.tail };
    });
  }

  beginStage(after: LogPosition, done: () => void): void {
    this.#write("stage", done, () => {
      this.#stage = { book: newStage(after), entries: [] };
      return this.#log;
    });
  }

  stage(run: LoggedRun, done: () => void): void {
    const bytes = copyRange(run.bytes, run.start, run.end);
    this.#write("stage", done, () => {
      const stage = this.#stage;
      assert(stage !== undefined, "entries were staged without a stage");
      const tail = walk(bytes, stage.book.tail, (entry) => {
        stage.entries.push(entry);
        stage.book = { ...stage.book, epochs: withEntry(stage.book.epochs, entry.zxid) };
      });
      stage.book = { ...stage.book, tail };
      return this.#log;
    });
  }

  dropStage(done: () => void): void {
    this.#write("stage", done, () => {
      this.#stage = undefined;
      return this.#log;
    });
  }

  installHistory(install: HistoryInstall, done: () => void): void {
    this.#enqueue(done, () => {
      const stage = this.#stage;
      assert(stage !== undefined, "an install without a stage");
      if (install.snapshot === undefined) {
        const here = this.#position(stage.book.after.zxid);
        assert(
          here.chain === stage.book.after.chain,
          `the stage continues another history at ${formatZxid(here.zxid)}`,
        );
      }
      this.#log = withInstall(this.#log, install, stage.book);
      // rule: an-install-cuts-the-tail
      this.#entries.length = install.snapshot === undefined ? this.#countUpTo(stage.book.after.zxid) : 0;
      for (const entry of stage.entries) this.#entries.push(entry);
      this.#stage = undefined;
      return { kind: "install", at: this.#log.tail };
    });
  }

  read(after: Zxid, bytesMax: number, done: (result: ReadResult) => void): void {
    this.#answer(() => done(after < this.#log.floor.zxid ? "below-floor" : this.readNow(after, bytesMax)));
  }

  /** {@link read} of entries that the log holds. */
  readNow(after: Zxid, bytesMax: number): EntryRun {
    const from = this.#position(after);
    const run: MemoryEntry[] = [];
    let size = 0;
    for (let i = this.#countUpTo(after); i < this.#entries.length; i++) {
      const entry = this.#entries[i];
      if (entry === undefined) break;
      const more = FRAME_HEADER_BYTES + entry.record.length;
      if (run.length > 0 && size + more > bytesMax) break;
      run.push(entry);
      size += more;
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const entry of run) at = putEntry(bytes, at, entry.zxid, entry.record);
    const last = run.at(-1);
    return {
      bytes,
      after: from,
      last: last === undefined ? from : { zxid: last.zxid, chain: last.chain },
      count: run.length,
    };
  }

  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void {
    this.#answer(() => done(this.chainNow(zxid)));
  }

  /** {@link chainAt} at once. */
  chainNow(zxid: Zxid): Chain | undefined {
    if (zxid === this.#log.floor.zxid) return this.#log.floor.chain;
    const entry = this.#entries[this.#countUpTo(zxid) - 1];
    return entry?.zxid === zxid ? entry.chain : undefined;
  }

  allowPurge(upTo: Zxid): void {
    this.#purgeUpTo = laterOf(this.#purgeUpTo, upTo);
    this.#purge();
  }

  hold(after: Zxid): Disposable {
    const held = { after };
    this.#holds.add(held);
    return { [Symbol.dispose]: () => void this.#holds.delete(held) };
  }

  stats(): LogStats {
    const appends = this.#pending.flatMap(({ appendedBytes }) => appendedBytes ?? []);
    return {
      batchCount: this.#batchCount,
      entryCount: this.#entryCount,
      appendedBytes: this.#appendedBytes,
      syncCount: this.#syncCount,
      syncMsTotal: 0,
      syncMsMax: 0,
      syncMsLast: 0,
      commitBuckets: undefined,
      slowSyncCount: 0,
      pendingBatches: appends.length,
      pendingBytes: appends.reduce((sum, bytes) => sum + bytes, 0),
      walBytes: 0,
      segmentCount: 0,
      rollCount: 0,
      rollMsTotal: 0,
      stallCount: 0,
      stallMsTotal: 0,
      purgedCount: this.#purgedCount,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#dead !== undefined) return;
    this.syncAll();
    this.#dead ??= new StoreError({ code: "CLOSED" });
  }

  /** The state that a closed log leaves; for reopening without a crash. */
  image(): MemoryLogImage {
    return { log: this.#log, entries: [...this.#entries] };
  }

  #queue(write: PendingWrite): void {
    this.#pending.push(write);
    this.queued();
  }

  #write(
    kind: "promise" | "epoch" | "configs" | "ensemble" | "stage",
    done: () => void,
    change: () => DurableLog,
  ): void {
    this.#enqueue(done, () => {
      this.#log = change();
      return { kind, log: this.#log };
    });
  }

  #complete(step: () => void): void {
    if (this.#handler.completed === undefined) step();
    else this.#handler.completed(step);
  }

  /** Never from within the call. */
  #answer(step: () => void): void {
    queueMicrotask(() => {
      if (this.#dead === undefined) this.#complete(step);
    });
  }

  #enqueue(done: () => void, perform: () => MemoryWrite): void {
    if (this.#dead !== undefined) return;
    this.#queue({ perform, settle: () => this.#complete(done), appendedBytes: undefined });
  }

  #position(zxid: Zxid): LogPosition {
    const chain = this.chainNow(zxid);
    assert(chain !== undefined, `the log holds no entry ${formatZxid(zxid)}`);
    return { zxid, chain };
  }

  #purge(): void {
    let limit = purgeLimit(this.#log, this.#purgeUpTo);
    for (const { after } of this.#holds) if (after < limit) limit = after;
    const count = this.#countUpTo(limit);
    const last = this.#entries[count - 1];
    if (last === undefined) return;
    this.#entries.splice(0, count);
    this.#log = { ...this.#log, floor: { zxid: last.zxid, chain: last.chain } };
    this.#purgedCount += count;
  }

  /** How many entries are not above a zxid: the place of the first that is. */
  #countUpTo(zxid: Zxid): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.zxid ?? ZXID_NONE) <= zxid) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Takes a batch apart onto a position; returns the new end. */
function walk(bytes: Uint8Array, from: LogPosition, each: (entry: MemoryEntry) => void): LogPosition {
  const cursor = new BatchCursor();
  const chain = new ChainCursor();
  chain.set(from.chain);
  let last: LogPosition = from;
  cursor.open(bytes, 0, bytes.length);
  while (cursor.next()) {
    assertFollows(last.zxid, cursor.zxid);
    cursor.extend(chain);
    last = { zxid: cursor.zxid, chain: chain.value() };
    each({ ...last, record: cursor.record() });
  }
  return last;
}
