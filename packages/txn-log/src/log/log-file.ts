import { existsSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { assert, earlierOf, epochOf, FRAME_HEADER_BYTES, formatZxid, laterOf, type Zxid } from "@zooid/model/storage";
import { WitnessFile } from "../directory/witness.ts";
import { type Database, isFull, newFullError, newSyncError } from "../disk/database.ts";
import { FULL_FILE, type TestBreak } from "../disk/test-break.ts";
import { manifestUpTo, purgeCount } from "../segments/manifest.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { ROWS_PER_INSERT, type SegmentFile } from "../segments/segment-file.ts";
import { STAGE_FILE } from "../segments/segment-name.ts";
import { type Obstacle, type RetiredSegment, SegmentSequence } from "../segments/segment-sequence.ts";
import { StageFile } from "../segments/stage-file.ts";
import type { WalMark } from "../segments/wal-scan.ts";
import { AddedFrames } from "./added-frames.ts";
import { ChainCursor } from "./chain.ts";
import { BatchCursor } from "./entry-batch.ts";
import {
  assertFollows,
  hintAt,
  newStage,
  purgeLimit,
  type Stage,
  withBranch,
  withCut,
  withEntry,
  withFormatInForce,
  withInstall,
  withMarks,
} from "./log-book.ts";
import { type LogFileOptions, openSegments } from "./log-open.ts";
import { CHAIN_BYTES, chainOfEntry, writeBranches, writeEpochs, writeStoreRow } from "./schema.ts";
import type { DurableLog, HistoryInstall, LogBranching, LogPosition, RunMarks } from "./txn-log.ts";

/** The part of the log that a purge leaves. */
export interface Keep {
  /** Entries above stay. */
  readonly above: Zxid;
  /** The newest segments stay until they have this many bytes together on the disk. */
  readonly bytes: number;
  /** Segments that were sealed later stay. */
  readonly olderThanMs: number;
}

/**
 * Where in a frame the chain is written before frame and record go to SQLite as one piece: over
 * length and half the zxid.
 */
const CHAIN_IN_FRAME = FRAME_HEADER_BYTES - CHAIN_BYTES;

/**
 * The segments of a log, written: used by one thread, one transaction at a time. Knows nothing of
 * threads, queues or schedules. A method that throws has rolled nothing forward in {@link log};
 * whether the files can still be trusted is the caller's to decide.
 */
export class LogFile {
  /** The durable log. */
  log: DurableLog;
  /** Entries added since open, rolled back ones included. */
  entryCount = 0;
  /** Segments purged since open. */
  purgedCount = 0;
  readonly #directory: string;
  readonly #segments: SegmentSequence;
  readonly #stageFile: StageFile;
  readonly #witness: WitnessFile;
  readonly #batch = new BatchCursor();
  readonly #added = new AddedFrames();
  readonly #rowArguments: (number | Uint8Array)[] = [];
  /** The log that will be durable after the commit of the open transaction. */
  #next: DurableLog;
  readonly #chain = new ChainCursor();
  #tail: Zxid;
  #nextBytes = 0;
  #nextEntries = 0;
  #stage: Stage | undefined;
  /** Known to be committed, and perhaps not yet written as a hint. */
  #committed: Zxid;
  /** As of the last commit that was not one of entries alone: those show by their zxid. */
  #walMark: WalMark;
  readonly #testBreak: TestBreak | undefined;

  /** Opens, converts or makes the log, and counts the start in a synced transaction. */
  constructor(options: LogFileOptions) {
    const { directory } = options;
    this.#directory = directory;
    this.#segments = new SegmentSequence(directory, new ReaderLeases(options.leases));
    this.#stageFile = new StageFile(join(directory, STAGE_FILE));
    this.#testBreak = options.testBreak;
    const log = this.#open(options);
    this.log = log;
    this.#next = log;
    this.#tail = log.tail.zxid;
    this.#committed = log.commitHint;
    this.#walMark = this.#segments.segment.walMark();
    this.#witness = new WitnessFile(options.witnessFile);
    this.#tryWitness(log);
  }

  /** A connection that is left open would checkpoint the WAL when its thread ends. */
  #open(options: LogFileOptions): DurableLog {
    try {
      this.#failWhereFull();
      return openSegments(this.#segments, options);
    } catch (cause) {
      this.#segments.close();
      throw cause;
    }
  }

  begin(): void {
    this.#segments.segment.begin();
    this.#added.clear();
    this.#next = this.log;
    this.#tail = this.log.tail.zxid;
    this.#chain.set(this.log.tail.chain);
    this.#nextBytes = 0;
    this.#nextEntries = 0;
  }

  /**
   * Adds a batch within the open transaction. Frame headers in the bytes are overwritten;
   * {@link undo} puts them back.
   *
   * @returns the log's end and its chain once this is committed
   */
  add(bytes: Buffer, start: number, end: number, committed: Zxid): LogPosition {
    const batch = this.#batch;
    const rows = this.#rowArguments;
    const { segment } = this.#segments;
    rows.length = 0;
    const known = laterOf(this.#committed, committed);
    let hint = this.#next.commitHint;
    let { epochs } = this.#next;
    let epoch = epochOf(this.#tail);
    batch.open(bytes, start, end);
    while (batch.next()) {
      const { zxid } = batch;
      assertFollows(this.#tail, zxid);
      this.entryCount++;
      this.#nextEntries++;
      if (epochs.length === 0 || epochOf(zxid) !== epoch) {
        epochs = withEntry(closedAt(epochs, this.#tail), zxid);
        epoch = epochOf(zxid);
        writeEpochs(segment.database, epochs);
      }
      this.#tail = zxid;
      this.#added.add(zxid, batch.end - batch.start);
      const entry = this.#chained(bytes, batch);
      if (batch.atEnd) {
        hint = hintAt(zxid, hint, known);
        rows.push(zxid, entry, hint);
        segment.insertEnd(rows);
      } else {
        rows.push(zxid, entry);
        if (rows.length === 2 * ROWS_PER_INSERT) {
          segment.insert(rows);
          rows.length = 0;
        }
      }
    }
    const tail = { zxid: this.#tail, chain: this.#chain.value() };
    this.#next = { ...this.#next, tail, commitHint: hint, epochs: closedAt(epochs, this.#tail) };
    this.#nextBytes += end - start;
    return tail;
  }

  /** Within the open transaction: what entries of the batch change beside the entries. */
  addMarks(marks: RunMarks): void {
    this.#next = withMarks(this.#next, marks);
    writeStoreRow(this.#segments.segment.database, this.#next);
  }

  /**
   * Ends the transaction with its sync. After an error nothing is known, unless the caller can tell
   * from its kind.
   */
  commit(): void {
    this.#commit(() => {});
  }

  #commit(committed: () => void): void {
    this.#failWhereFull();
    this.#segments.segment.commit();
    committed();
    if (this.#testBreak === "sync-fails") throw newSyncError();
    this.#segments.committed(this.#nextBytes, this.#nextEntries);
    this.#committedAs(this.#next);
  }

  /**
   * Undoes the open transaction, then reads the tail back.
   *
   * @param batches that were added in it, in order; the last one perhaps in part. Their bytes are
   *   put back as they came
   * @returns whether the newest segment holds exactly what it held before
   */
  undo(batches: Iterable<{ readonly bytes: Uint8Array; readonly start: number; readonly end: number }> = []): boolean {
    let count = 0;
    for (const { bytes, start, end } of batches) count = this.#added.restore(bytes, start, end, count);
    this.#added.clear();
    const { segment, head } = this.#segments;
    segment.rollback();
    const row = segment.database.prepare("SELECT zxid, entry FROM log ORDER BY zxid DESC LIMIT 1").raw().get();
    const { tail } = this.log;
    if (row === undefined) return tail.zxid === head.after.zxid && tail.chain === head.after.chain;
    const [zxid, entry] = row as [Zxid, Buffer];
    return zxid === tail.zxid && chainOfEntry(entry) === tail.chain;
  }

  /** Changes what stands beside the entries. */
  change(changed: DurableLog): void {
    this.#transact(() => {
      writeStoreRow(this.#segments.segment.database, changed);
      return changed;
    });
  }

  /** Turns the log into the history of another ensemble. Everything logged counts as committed. */
  branch(branching: LogBranching): void {
    const { segment, head } = this.#segments;
    const branched = withBranch(this.log, branching);
    const isEmpty = branched.tail.zxid === head.after.zxid;
    const branchedHead = { ...head, commitHint: branched.commitHint };
    this.#transact(() => {
      if (isEmpty) segment.writeHead(branchedHead, branched);
      else {
        this.#writeHint(segment, branched);
        writeStoreRow(segment.database, branched);
        writeBranches(segment.database, branched.branches);
      }
      return branched;
    });
    if (isEmpty) this.#segments.headCommitted(branchedHead);
  }

  /** Within the open transaction: the commit hint beside the last entry. */
  #writeHint({ database }: SegmentFile, { commitHint, tail }: DurableLog): void {
    database.prepare("UPDATE log SET committed = ? WHERE zxid = ?").run(commitHint, tail.zxid);
  }

  /** Entries up to here stay: a state was made of them, or soon will be. */
  noteCommitted(zxid: Zxid): void {
    assert(
      zxid <= this.log.tail.zxid,
      () => `${formatZxid(zxid)} is called committed and durable above the end ${formatZxid(this.log.tail.zxid)}`,
    );
    this.#committed = laterOf(this.#committed, zxid);
  }

  cut(to: Zxid): LogPosition {
    this.#refuseLoss(to);
    const cut = withCut(this.log, this.#positionOf(to));
    if (to !== this.log.tail.zxid) this.#beginSegment(cut, cut.tail);
    return this.log.tail;
  }

  /** Touches no disk but to remove what an earlier stage left. */
  beginStage(after: LogPosition): void {
    this.dropStage();
    this.#stage = newStage(after);
  }

  stage(bytes: Buffer): LogPosition {
    const stage = this.#stage;
    assert(stage !== undefined, "entries were staged without a stage");
    const rows: (readonly [Zxid, Uint8Array])[] = [];
    let { epochs } = stage;
    let last = stage.tail.zxid;
    const batch = this.#batch;
    this.#chain.set(stage.tail.chain);
    batch.open(bytes, 0, bytes.length);
    while (batch.next()) {
      assertFollows(last, batch.zxid);
      last = batch.zxid;
      epochs = withEntry(epochs, last);
      rows.push([last, this.#chained(bytes, batch)]);
    }
    this.#stageFile.add(rows);
    const tail = { zxid: last, chain: this.#chain.value() };
    this.#stage = { after: stage.after, tail, epochs };
    return tail;
  }

  dropStage(): void {
    this.#stage = undefined;
    this.#stageFile.drop();
  }

  installHistory(install: HistoryInstall): LogPosition {
    const stage = this.#stage;
    assert(stage !== undefined, "an install without a stage");
    const { after } = stage;
    if (install.snapshot === undefined) {
      const here = this.#positionOf(after.zxid);
      assert(here.chain === after.chain, `the stage continues another history at ${formatZxid(after.zxid)}`);
      this.#refuseLoss(after.zxid);
    }
    const installed = withInstall(this.log, install, stage);
    const continuesHere = install.snapshot === undefined && after.zxid === this.log.tail.zxid;
    if (continuesHere) this.#installHere(installed);
    else this.#beginSegment(installed, after, (segment) => this.#addStaged(segment, installed.commitHint));
    this.dropStage();
    if (install.snapshot !== undefined) this.#committed = this.log.commitHint;
    return this.log.tail;
  }

  /**
   * Seals the newest segment where the log ends, purges, and opens the next one.
   *
   * @returns what stands in the way; nothing has changed then
   */
  roll(keep: Keep, nowMs: number): Obstacle | undefined {
    const { log } = this;
    const sealed = manifestUpTo(this.#segments.sealedAt(log.tail, nowMs), log.tail);
    const count = purgeCount(sealed, this.#purgeOf(keep, 0));
    const floor = sealed[count - 1]?.end ?? log.floor;
    // Without further entries no later hint is written, and a purge ends below it.
    const commitHint = laterOf(log.commitHint, earlierOf(this.#committed, log.tail.zxid));
    const next = withFormatInForce({ ...log, commitHint, floor });
    const start = { after: log.tail, commitHint, manifest: sealed.slice(count) };
    const obstacle = this.#segments.tryBegin(start, next);
    if (obstacle !== undefined) return obstacle;
    this.purgedCount += count;
    this.#walMark = this.#segments.segment.walMark();
    this.#committedAs(next);
    return undefined;
  }

  /** How many sealed segments may go. */
  purgeable(keep: Keep): number {
    return purgeCount(this.#segments.head.manifest, this.#purgeOf(keep, this.#segments.segment.walBytes()));
  }

  /** Lets go of the oldest segments, in one commit. Their files are in {@link retired} then. */
  purge(count: number): void {
    const { head } = this.#segments;
    const floor = head.manifest[count - 1]?.end ?? this.log.floor;
    const purged = { ...head, manifest: head.manifest.slice(count) };
    this.#transact(() => {
      const next = { ...this.log, floor };
      this.#segments.writeHead(purged, next);
      return next;
    });
    this.#segments.headCommitted(purged);
    this.purgedCount += count;
  }

  /** Segments that the log no longer holds, and whose files the caller removes. */
  get retired(): RetiredSegment[] {
    return this.#segments.retired;
  }

  /** The newest one included. */
  get segmentCount(): number {
    return this.#segments.head.manifest.length + 1;
  }

  /** The sequence number of the newest segment. */
  get sequence(): number {
    return this.#segments.head.sequence;
  }

  /** The newest segment, or the directory where none is open. */
  get file(): string {
    return this.#segments.file ?? this.#directory;
  }

  /** How far the newest segment's WAL is written. */
  walBytes(): number {
    return this.#segments.segment.walBytes();
  }

  /** For the next segment. */
  pageBytes(): number {
    return this.#segments.pageBytes();
  }

  /** The value of a setting, by SQLite. */
  pragma(name: string): unknown {
    return this.#database.pragma(name, { simple: true });
  }

  /** For tests: sets the maximum number of pages of the newest segment. */
  limitPages(countMax: number): void {
    this.#database.pragma(`max_page_count = ${countMax}`);
  }

  close(): void {
    this.#witness.close();
    this.#stageFile.close();
    this.#segments.close();
  }

  get #database(): Database {
    return this.#segments.segment.database;
  }

  #failWhereFull(): void {
    const mayBeFull = this.#testBreak === "log-full" || this.#testBreak === "full-by-files";
    if (mayBeFull && existsSync(join(this.#directory, FULL_FILE))) throw newFullError();
  }

  #transact(change: () => DurableLog): void {
    this.begin();
    this.#next = change();
    this.#commit(() => {
      this.#walMark = this.#segments.segment.walMark();
    });
  }

  #committedAs(log: DurableLog): void {
    this.log = log;
    this.#committed = laterOf(this.#committed, log.commitHint);
    this.#tryWitness(log);
  }

  /**
   * Opens the next segment, behind a position of the log, or of a snapshot that replaces the log.
   */
  #beginSegment(found: DurableLog, after: LogPosition, fill?: (segment: SegmentFile) => void): void {
    this.#failWhereFull();
    const log = withFormatInForce(found);
    const isHeld = log.floor === this.log.floor;
    if (log.tail.zxid < this.log.tail.zxid) this.#lowerWitness(log.tail);
    const sealed = isHeld ? this.#segments.sealedAt(this.log.tail, Date.now()) : [];
    // The hint of an entry stands beside it.
    const commitHint = fill === undefined ? log.commitHint : earlierOf(log.commitHint, after.zxid);
    this.#segments.begin({ after, commitHint, manifest: manifestUpTo(sealed, after) }, log, fill);
    this.#walMark = this.#segments.segment.walMark();
    if (this.#testBreak === "sync-fails") throw newSyncError();
    this.#committedAs(log);
  }

  /** An install that cuts nothing adds to the newest segment. */
  #installHere(installed: DurableLog): void {
    const { segment, head } = this.#segments;
    const isEmpty = installed.tail.zxid === head.after.zxid;
    const newHead = { ...head, commitHint: installed.commitHint };
    this.#transact(() => {
      this.#addStaged(segment, installed.commitHint);
      if (isEmpty) {
        segment.writeHead(newHead, installed);
        return installed;
      }
      this.#writeHint(segment, installed);
      writeEpochs(segment.database, installed.epochs);
      writeStoreRow(segment.database, installed);
      return installed;
    });
    if (isEmpty) this.#segments.headCommitted(newHead);
  }

  #addStaged(segment: SegmentFile, commitHint: Zxid): void {
    let rows: (number | Uint8Array)[] = [];
    for (const [zxid, entry] of this.#stageFile.rows()) {
      if (rows.length === 2 * ROWS_PER_INSERT) {
        segment.insert(rows);
        rows = [];
      }
      rows.push(zxid, entry);
    }
    if (rows.length > 0) segment.insertEnd([...rows, commitHint]);
  }

  #purgeOf(keep: Keep, newestBytes: number): Parameters<typeof purgeCount>[1] {
    return {
      limit: purgeLimit(this.log, keep.above),
      newestBytes,
      keepBytes: keep.bytes,
      olderThanMs: keep.olderThanMs,
    };
  }

  #refuseLoss(to: Zxid): void {
    assert(
      to >= this.#committed,
      `a cut to ${formatZxid(to)} would drop what is committed up to ${formatZxid(this.#committed)}`,
    );
  }

  /** Puts an entry's chain in front of its record, and returns both as one piece. */
  #chained(bytes: Buffer, batch: BatchCursor): Uint8Array {
    const { start, end } = batch;
    const chain = this.#chain;
    chain.add(batch.zxid, end - start, crc32(bytes.subarray(start, end)));
    const at = start - FRAME_HEADER_BYTES + CHAIN_IN_FRAME;
    bytes.writeInt32BE(chain.high, at);
    bytes.writeInt32BE(chain.low, at + 4);
    return bytes.subarray(at, end);
  }

  #positionOf(zxid: Zxid): LogPosition {
    const position = zxid === this.log.floor.zxid ? this.log.floor : this.#segments.positionOf(zxid);
    assert(position !== undefined, `the log holds no entry ${formatZxid(zxid)}`);
    return position;
  }

  /**
   * After a commit. File systems that copy what they overwrite may have no room for it. That must
   * not look like a failed commit: the caller would write the same once more. The witness lags
   * then, as it may.
   */
  #tryWitness(log: DurableLog): void {
    try {
      this.#writeWitness(log);
    } catch (error) {
      if (!isFull(error)) throw error;
    }
  }

  #writeWitness(log: DurableLog): void {
    const { tail, promise, identity, currentEpoch } = log;
    const facts = { promise: promise.epoch, bootCount: identity.bootCount, currentEpoch };
    this.#witness.write({ ...tail, ...facts, wal: this.#walMark });
  }

  /**
   * Before a cut is committed, and on the disk before it: a witness above the log would look like
   * amnesia.
   */
  #lowerWitness(tail: LogPosition): void {
    this.#writeWitness({ ...this.log, tail });
    this.#witness.sync();
  }
}

/** The table with its newest row ending at the log's end. */
function closedAt(epochs: DurableLog["epochs"], tail: Zxid): DurableLog["epochs"] {
  const newest = epochs.at(-1);
  return newest === undefined || newest.epoch !== epochOf(tail) ? epochs : withEntry(epochs, tail);
}
