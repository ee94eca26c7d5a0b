import { setTimeout as delay } from "node:timers/promises";
import { MessageChannel, type MessagePort, type Worker } from "node:worker_threads";
import type { Zxid } from "@zooid/model";
import type { AppendObserver } from "../log/append-observer.ts";
import type { LoggedRun } from "../log/txn-log.ts";
import type { CheckpointMark, StateMeta } from "../state/state-store.ts";
import { startWorker } from "../threads/start-worker.ts";
import { type BaseSource, type ListedBase, listBases, readManifest, writeBase } from "./archive-base.ts";
import { basesFolderOf, listArchive, logFolderOf } from "./archive-folder.ts";
import {
  type ArchiveCommand,
  type ArchiveFiles,
  type ArchiveLimits,
  type ArchiveReport,
  type ArchiveThreadData,
  MARKS_MAX,
} from "./archive-messages.ts";
import { EntryFeed, newFeedMemory } from "./entry-feed.ts";
import { carryOutPurge, type PurgePlan } from "./purge-plan.ts";

/** The committed entries of the last days, in files of their own. */
export interface ArchiveOptions extends ArchiveSettings {
  /** The archive's folder: made, readable by its owner only, if it does not exist. */
  readonly folder: string;
  /** Reports an event to operators. */
  readonly noted: (event: ArchiveEvent) => void;
}

/** The settings that can change while an archive is written. */
export interface ArchiveSettings {
  /** Older files and bases are removed, unless a state of the retained time is made from them. */
  readonly retainMs: number;
  /** The oldest files are removed while all of them have more bytes. Default: no limit. */
  readonly retainBytes?: number;
  /**
   * Maximum bytes of log that are kept for entries in no file yet. Beyond it the log may be purged,
   * and the archive has a gap. Default 1 GiB.
   */
  readonly lagBytesMax?: number;
  /** Default 8 MiB of entries, or 10 s. */
  readonly fileBytes?: number;
  readonly fileMs?: number;
  /**
   * Time from one base, a copy of the whole state, to the next. Default half of `retainMs`, at
   * least 10 minutes and at most a day.
   */
  readonly baseEveryMs?: number;
}

export type ArchiveEvent =
  /** Entries after the first zxid and up to the second one are in no file. */
  | { readonly kind: "gap"; readonly after: Zxid; readonly end: Zxid }
  /** A file or a base could not be written. It is tried again. */
  | { readonly kind: "unable"; readonly part: ArchivePart; readonly reason: string }
  /** Writing works again. */
  | { readonly kind: "able"; readonly part: ArchivePart };

/**
 * The parts that an archive writes: files of the log, and bases. Either may fail while the other
 * works.
 */
export type ArchivePart = "files" | "base";

export interface ArchiveStatus {
  /**
   * All entries of the log up to here are in files; undefined until this process has looked, which
   * it does at the first mark.
   */
  readonly end: Zxid | undefined;
  readonly files: ArchiveFiles;
  /** The newest base. */
  readonly base: Zxid | undefined;
  /** Log bytes that are in no file yet. */
  readonly lagBytes: number;
  /** Since the open. */
  readonly gapCount: number;
  /** Why the last file, and the last base, could not be written; undefined if it was. */
  readonly unable: Readonly<Record<ArchivePart, string | undefined>>;
}

const LAG_BYTES_MAX: number = 1024 * 1024 * 1024;
const FILE_BYTES: number = 8 * 1024 * 1024;
const FILE_MS = 10_000;
const HEAP_MIB = 96;
const BASE_MS_MIN = 600_000;
const BASE_MS_MAX = 86_400_000;
const RETRY_MS = 10_000;
const COMMITTED_POLL_MS = 50;

export interface ArchiveParts {
  readonly options: ArchiveOptions;
  readonly logDirectory: string;
  readonly leases: SharedArrayBuffer;
  readonly decoderModule: string;
  /** The log's floor: it is held until the first file says where the archive ends. */
  readonly after: Zxid;
  /** Where an archive without files begins. Transactions behind it that the log lacks are a gap. */
  readonly begin: Zxid;
  /** Whether the log lacks what follows the archive's last file. */
  readonly isBehindGap: boolean;
  /** Keeps the log behind a zxid. */
  readonly hold: (after: Zxid) => Disposable;
  readonly openSnapshot: () => Promise<BaseSource>;
  readonly ensembleId: () => string;
  /** Whether the state is part of the history: see `isFloorUncommitted`. */
  readonly isStateCommitted: () => boolean;
}

/** The archive as the store's thread sees it. Its own thread starts with the first mark. */
export class Archive implements AppendObserver {
  readonly #parts: ArchiveParts;
  #settings: ArchiveSettings;
  #thread: { readonly worker: Worker; readonly port: MessagePort; readonly feed: EntryFeed } | undefined;
  /** Undefined while the archive lags too far behind, or the disk has little room. */
  #hold: Disposable | undefined;
  /** Replaces a thread that has ended unexpectedly. */
  #again: NodeJS.Timeout | undefined;
  /** Marks whose entries are in no file yet, each with the bytes of log since the one before. */
  #marks: CheckpointMark[] = [];
  #lagBytes = 0;
  /** The last mark that the thread still has to reach, or has reached. */
  #marked: Zxid | undefined;
  #isLow = false;
  #isStopped = false;
  #begin: Zxid;
  #end: Zxid | undefined;
  #files: ArchiveFiles = { count: 0, bytes: 0 };
  #gapCount = 0;
  readonly #unable: Record<ArchivePart, string | undefined> = { files: undefined, base: undefined };
  #nextId = 1;
  readonly #flushes = new Map<number, () => void>();
  #closing: Promise<void> | undefined;
  #isClosed = false;
  #base: Zxid | undefined;
  /** Number of adopted states: a base that was begun in an earlier one is abandoned. */
  #adoptedCount = 0;
  /** When the next base is due, by the clock of this process. */
  #baseDueMs: number;
  #takingBase: Promise<void> | undefined;

  constructor(parts: ArchiveParts) {
    this.#parts = parts;
    this.#settings = parts.options;
    this.#begin = parts.begin;
    this.#hold = parts.hold(parts.after);
    this.#files = filesIn(parts.options.folder);
    const newest = listBases(basesFolderOf(parts.options.folder)).at(-1);
    this.#base = newest?.zxid;
    // What follows cannot be restored from a base that the files do not continue.
    const isContinued = newest !== undefined && !parts.isBehindGap;
    this.#baseDueMs = isContinued ? performance.now() + this.#baseEveryMs - ageOf(newest) : 0;
    // Before the first transaction, so that all of them can be restored.
    setImmediate(() => this.#takeBaseIfDue());
  }

  get #baseEveryMs(): number {
    const { retainMs, baseEveryMs = Math.min(BASE_MS_MAX, Math.max(BASE_MS_MIN, retainMs / 2)) } = this.#settings;
    return baseEveryMs;
  }

  get status(): ArchiveStatus {
    const lagBytes = this.#lagBytes;
    const [end, files, base] = [this.#end, this.#files, this.#base];
    return { end, files, base, lagBytes, gapCount: this.#gapCount, unable: { ...this.#unable } };
  }

  /** Takes appended entries, which may never be committed. */
  appended(run: LoggedRun): void {
    this.#thread?.feed.appended(run);
  }

  /** The log was cut or replaced: it may lack entries that were appended so far. */
  replaced(): void {
    this.#thread?.feed.replaced();
  }

  /** Everything up to here is committed and durable. */
  advance(mark: CheckpointMark): void {
    if (this.#closing !== undefined || this.#isLow) return;
    // A later mark can stand for the ones before it.
    const replaced = this.#marks.length < MARKS_MAX ? undefined : this.#marks.pop();
    this.#marks.push({ ...mark, bytes: mark.bytes + (replaced?.bytes ?? 0) });
    this.#lagBytes += mark.bytes;
    this.#marked = mark.zxid;
    this.#endHoldIfFar();
    if (this.#again === undefined) this.#send(markCommand(mark));
  }

  /** Replaces the limits. Files beyond them are removed when the next one is written. */
  change(settings: ArchiveSettings): void {
    const before = this.#baseEveryMs;
    this.#settings = settings;
    // One that is due stays due.
    if (this.#baseDueMs > performance.now()) this.#baseDueMs += this.#baseEveryMs - before;
    this.#endHoldIfFar();
    if (this.#thread !== undefined && this.#closing === undefined) this.#send({ kind: "change", limits: this.#limits });
  }

  #endHoldIfFar(): void {
    const { lagBytesMax = LAG_BYTES_MAX } = this.#settings;
    if (this.#lagBytes > lagBytesMax) this.#endHold();
  }

  get #limits(): ArchiveLimits {
    const { fileBytes = FILE_BYTES, fileMs = FILE_MS, retainMs } = this.#settings;
    return { fileBytes, fileMs, retainMs, retainBytes: this.#settings.retainBytes ?? Number.POSITIVE_INFINITY };
  }

  /**
   * Marks the position of the state file, unless it or a later one is marked. After an open and
   * before the first write nothing is marked, and the log is held from its beginning.
   */
  markApplied({ applied: { zxid }, digestHigh, digestLow }: StateMeta): void {
    if (this.#marked === undefined || this.#marked < zxid) this.advance({ zxid, digestHigh, digestLow, bytes: 0 });
  }

  /**
   * While the disk has little room, nothing is archived, and no log is held for the archive.
   */
  setLow(isLow: boolean): void {
    if (isLow === this.#isLow) return;
    this.#isLow = isLow;
    if (!isLow) {
      this.#keep(this.#end ?? this.#parts.after);
      return;
    }
    this.#endHold();
    this.#forgetMarks();
  }

  /**
   * Another state was adopted, and the log continues from it. A restored state replaces the
   * history, so there is no gap before it.
   */
  adopted(floor: Zxid): void {
    this.#begin = floor;
    this.#forgetMarks(this.#parts.isStateCommitted() ? undefined : floor);
    this.#keep(floor);
    if (this.#isLow || this.#isStopped) {
      this.#baseDueMs = 0;
      return;
    }
    // At once: later transactions can be restored only from a base at this position.
    this.#adoptedCount++;
    this.#beginBase((this.#takingBase ?? Promise.resolve()).then(() => this.#takeBase()));
  }

  /** The thread reads entries in no file from the log again; those that it lacks are a gap. */
  #forgetMarks(restoredAt?: Zxid): void {
    this.#marks = [];
    this.#lagBytes = 0;
    this.#marked = undefined;
    if (this.#thread !== undefined) this.#send({ kind: "restart", begin: this.#begin, restoredAt });
  }

  /**
   * Ends the file that is being written.
   *
   * @returns when everything that was marked is in files, and a base that was due is taken
   */
  async flush(): Promise<ArchiveStatus> {
    await this.flushFiles();
    this.#takeBaseIfDue();
    await this.#takingBase;
    return this.status;
  }

  /** As {@link flush}, but does not wait for a base. */
  async flushFiles(): Promise<ArchiveStatus> {
    this.#resume();
    if (this.#thread !== undefined && this.#closing === undefined) {
      const id = this.#nextId++;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#flushes.set(id, resolve);
      this.#send({ kind: "flush", id });
      await promise;
    }
    return this.status;
  }

  /**
   * Takes a base now, also of a state that has not changed since the last one.
   *
   * @throws Error with the reason where it cannot be taken
   */
  async takeBase(): Promise<void> {
    if (this.#isLow) throw new Error("the disk has little room");
    await this.#takingBase;
    this.#baseDueMs = 0;
    this.#takeBaseIfDue();
    await this.#takingBase;
    const reason = this.#isStopped ? "the store is closed" : this.#unable.base;
    if (reason !== undefined) throw new Error(reason);
  }

  /** Removes what a purge names. */
  remove(plan: PurgePlan): void {
    const { folder } = this.#parts.options;
    carryOutPurge(folder, plan);
    this.#files = filesIn(folder);
  }

  get folder(): string {
    return this.#parts.options.folder;
  }

  /** Nothing is written while the disk has little room. */
  get isLow(): boolean {
    return this.#isLow;
  }

  /** Takes no further base, and abandons one in progress without a report. */
  stop(): void {
    this.#isStopped = true;
  }

  close(): Promise<void> {
    this.stop();
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#thread !== undefined) {
      const { worker, port } = this.#thread;
      const { promise, resolve } = Promise.withResolvers<void>();
      if (worker.threadId === -1) resolve();
      else worker.once("exit", () => resolve());
      worker.ref();
      port.postMessage({ kind: "close" } satisfies ArchiveCommand);
      await promise;
      port.close();
    }
    clearTimeout(this.#again);
    this.#settle();
    await this.#takingBase;
    this.#isClosed = true;
    this.#endHold();
  }

  #send(command: ArchiveCommand): void {
    this.#thread ??= this.#start();
    this.#thread.port.postMessage(command);
  }

  #start(): { readonly worker: Worker; readonly port: MessagePort; readonly feed: EntryFeed } {
    const { options, logDirectory, leases, decoderModule } = this.#parts;
    const { port1, port2 } = new MessageChannel();
    const feed = newFeedMemory();
    const data: ArchiveThreadData = {
      archive: options.folder,
      logDirectory,
      leases,
      feed,
      port: port2,
      decoderModule,
      begin: this.#begin,
      ...this.#limits,
    };
    const worker = startWorker({ name: "archive/archive-thread", data, transfer: [port2], heapMib: HEAP_MIB });
    port1.on("message", (report: ArchiveReport) => this.#receive(report));
    worker.on("error", (error) => this.#fail("files", error.message));
    worker.once("exit", (status) => this.#ended(status));
    port1.unref();
    worker.unref();
    return { worker, port: port1, feed: new EntryFeed(feed) };
  }

  /**
   * Entries that the thread had in no file are read from the log again, which is held from the end
   * of the last file on.
   */
  #ended(status: number): void {
    if (this.#closing !== undefined) return;
    this.#thread?.port.close();
    this.#thread = undefined;
    this.#again = setTimeout(() => this.#resume(), RETRY_MS).unref();
    if (this.#unable.files === undefined) this.#fail("files", `its thread ended with status ${status}`);
    this.#settle();
  }

  /** Replaces a thread that has ended, and sends it the marks whose entries are in no file. */
  #resume(): void {
    if (this.#again === undefined || this.#closing !== undefined) return;
    clearTimeout(this.#again);
    this.#again = undefined;
    for (const mark of this.#marks) this.#send(markCommand(mark));
  }

  #receive(report: ArchiveReport): void {
    switch (report.kind) {
      case "archived": {
        this.#files = report.files;
        this.#reached(report.end.zxid);
        this.#takeBaseIfDue();
        return this.#wrote("files");
      }
      case "contained":
        return this.#reached(report.end);
      case "gap":
        // A base behind the gap, which an adopted state has, is enough.
        if (this.#base === undefined || this.#base < report.end) this.#baseDueMs = 0;
        this.#gapCount++;
        return this.#parts.options.noted({ kind: "gap", after: report.after, end: report.end });
      case "flushed":
        this.#flushes.get(report.id)?.();
        this.#flushes.delete(report.id);
        return;
      case "unable":
        return this.#fail("files", report.reason);
    }
  }

  /** The log up to here is not held any more. */
  #reached(end: Zxid): void {
    this.#end = end;
    const behind = this.#marks.findIndex((mark) => mark.zxid > end);
    const done = this.#marks.splice(0, behind === -1 ? this.#marks.length : behind);
    for (const { bytes } of done) this.#lagBytes -= bytes;
    this.#keep(end);
  }

  /** Called when something was written: a base of an unchanged state would equal the last one. */
  #takeBaseIfDue(): void {
    if (this.#takingBase !== undefined || this.#isLow || this.#isStopped || performance.now() < this.#baseDueMs) return;
    // A restored state is no part of the history until a quorum has it: it may be given up.
    if (!this.#parts.isStateCommitted()) return;
    this.#beginBase(this.#takeBase());
  }

  #beginBase(begun: Promise<void>): void {
    this.#baseDueMs = performance.now() + this.#baseEveryMs;
    const taking = begun.finally(() => {
      if (this.#takingBase === taking) this.#takingBase = undefined;
    });
    this.#takingBase = taking;
  }

  async #takeBase(): Promise<void> {
    const { options, openSnapshot, ensembleId } = this.#parts;
    const adoptedCount = this.#adoptedCount;
    try {
      await using source = await openSnapshot();
      const whole = (): Promise<void> => this.#untilCommitted(adoptedCount);
      const info = { ensembleId: ensembleId(), takenMs: Date.now(), whole };
      const { position } = await writeBase(basesFolderOf(options.folder), source, info);
      this.#base = position.zxid;
      this.#wrote("base");
    } catch (cause) {
      // The failure of a base whose state was replaced meanwhile is not reported.
      if (this.#isStopped || this.#adoptedCount !== adoptedCount) return;
      this.#baseDueMs = performance.now() + RETRY_MS;
      this.#fail("base", cause instanceof Error ? cause.message : String(cause));
    }
  }

  /** A base of a restored state waits until a quorum has that state: it may be given up. */
  async #untilCommitted(adoptedCount: number): Promise<void> {
    for (;;) {
      if (this.#adoptedCount !== adoptedCount) throw new Error("another state was adopted");
      if (this.#parts.isStateCommitted()) return;
      if (this.#isStopped) throw new Error("the archive is closed");
      await delay(COMMITTED_POLL_MS, undefined, { ref: false });
    }
  }

  #fail(part: ArchivePart, reason: string): void {
    if (this.#unable[part] === undefined) this.#parts.options.noted({ kind: "unable", part, reason });
    this.#unable[part] = reason;
  }

  #wrote(part: ArchivePart): void {
    if (this.#unable[part] !== undefined) this.#parts.options.noted({ kind: "able", part });
    this.#unable[part] = undefined;
  }

  #keep(after: Zxid): void {
    const before = this.#hold;
    // Also while this is being closed: the thread copies what is marked, file after file.
    this.#hold = this.#isLow || this.#isClosed ? undefined : this.#parts.hold(after);
    // The new hold begins before the old one ends, so that nothing is purged in between.
    before?.[Symbol.dispose]();
  }

  #endHold(): void {
    this.#hold?.[Symbol.dispose]();
    this.#hold = undefined;
  }

  #settle(): void {
    for (const resolve of this.#flushes.values()) resolve();
    this.#flushes.clear();
  }
}

function filesIn(folder: string): ArchiveFiles {
  const files = listArchive(logFolderOf(folder));
  return { count: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}

function markCommand({ zxid, bytes, digestHigh, digestLow }: CheckpointMark): ArchiveCommand {
  return { kind: "mark", mark: { zxid, bytes, digestHigh, digestLow } };
}

/**
 * Time since a base was taken; infinite for a damaged one. If the clock was set back since, the
 * base counts as new: otherwise no base would be due until the clock has caught up.
 */
function ageOf(base: ListedBase): number {
  try {
    return Math.max(0, Date.now() - readManifest(base).takenMs);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
