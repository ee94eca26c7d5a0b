import { crc32 } from "node:zlib";
import { assert, epochOf, FRAME_HEADER_BYTES, formatZxid, type Zxid } from "@zooid/model";
import { ChainCursor } from "./chain.ts";
import { type Database, newSyncError, openDatabase, type Statement, syncDirectoryOf, syncPath } from "./database.ts";
import { BatchCursor } from "./entry-batch.ts";
import {
  assertFollows,
  earlierOf,
  laterOf,
  newStage,
  type Stage,
  withApplied,
  withCut,
  withEntry,
  withFlip,
} from "./log-book.ts";
import { bootLog, newDurableLog } from "./log-boot.ts";
import {
  CHAIN_BYTES,
  chainOfEntry,
  createSchema,
  isUnfinished,
  readDurableLog,
  writeEpochs,
  writeStoreRow,
} from "./schema.ts";
import type { TestBreak } from "./test-break.ts";
import type { DurableLog, Flip, LogPosition } from "./txn-log.ts";
import { WitnessFile } from "./witness.ts";

export interface LogFileOptions {
  readonly file: string;
  readonly witnessFile: string;
  readonly sid: number;
  readonly ensembleId?: string | undefined;
  readonly takeEpoch: boolean;
  /** What was found missing at open and accepted: the log starts as an amnesiac. */
  readonly amnesiac: boolean;
  /** Where the state stands that the log continues: committed, whatever the log still knows of it. */
  readonly applied?: LogPosition | undefined;
  /** A segment ends after so many bytes. */
  readonly segmentBytes: number;
  readonly testBreak?: TestBreak | undefined;
}

/** Measured: 8 KiB pages hold 7 entries of 1 KiB (4 KiB pages 3), and one small entry still costs little (README). */
const PAGE_BYTES = 8192;
/** A page in the WAL, with its header. */
const FRAME_BYTES = PAGE_BYTES + 24;
const CACHE_KIB = 4096;
/** Rows in one statement; measured, more gains nothing. */
const ROWS_PER_INSERT = 16;
/** Where in a frame the chain is written before frame and record go to SQLite as one piece: over length and half the zxid. */
const CHAIN_IN_FRAME = FRAME_HEADER_BYTES - CHAIN_BYTES;

/**
 * `log.db`, written: one connection, used by one thread, one transaction at a time. Knows nothing of threads, queues or checkpoints'
 * schedules. A method that throws has rolled nothing forward in {@link log}; whether the file can still be trusted is the
 * caller's to decide.
 */
export class LogFile {
  /** What is durable. */
  log: DurableLog;
  /** Entries added and segments ended since open, rolled back ones included. */
  entryCount = 0;
  segmentCount = 0;
  readonly #database: Database;
  readonly #witness: WitnessFile;
  readonly #segmentBytesMax: number;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #insertRows: Statement;
  /** For the end of a batch, by how many rows it has: the last of them tells what is known to be committed. Made when first needed. */
  readonly #insertEnds: Statement[] = [];
  readonly #frames: Statement;
  readonly #restart: Statement;
  readonly #oldest: Statement;
  readonly #newestUpTo: Statement;
  readonly #deleteUpTo: Statement;
  readonly #deleteSegments: Statement;
  #isWalRestarted = false;
  readonly #batch = new BatchCursor();
  readonly #rowArguments: (number | Uint8Array)[] = [];
  /** What will be durable after the commit of the open transaction. */
  #next: DurableLog;
  readonly #chain = new ChainCursor();
  #tail: Zxid;
  #segmentBytes = 0;
  #nextSegmentBytes = 0;
  #stage: Stage | undefined;
  /** The table of staged entries holds some. */
  #hasStaged = false;
  /** They are an earlier stage's. */
  #isStaleStage = false;
  /** Known to be committed, and perhaps not yet written as a hint. */
  #committed: Zxid;
  readonly #testBreak: TestBreak | undefined;

  /** Opens or makes the file, and counts the start in a synced transaction. */
  constructor(options: LogFileOptions) {
    const { file } = options;
    this.#segmentBytesMax = options.segmentBytes;
    this.#database = openDatabase(file, {
      pageBytes: PAGE_BYTES,
      cacheKib: CACHE_KIB,
      journal: "wal",
    });
    const database = this.#database;
    const isNew = isUnfinished(database);
    const found = isNew ? newDurableLog(ownerOf(options)) : readDurableLog(database, file);
    const known = withApplied({ ...found, amnesiac: found.amnesiac || options.amnesiac }, options.applied);
    const log = bootLog(known, options.takeEpoch);
    database.exec("BEGIN IMMEDIATE");
    if (isNew) createSchema(database);
    else database.exec("DELETE FROM staged");
    if (log.floor !== found.floor) {
      database.exec("DELETE FROM log; DELETE FROM segments;");
      writeEpochs(database, log.epochs);
    }
    writeStoreRow(database, log);
    database.exec("COMMIT");
    // SQLite ignores it when its own sync of the directory fails.
    syncPath(file);
    syncDirectoryOf(file);
    this.log = log;
    this.#next = log;
    this.#tail = log.tail.zxid;
    this.#committed = log.commitHint;
    this.#testBreak = options.testBreak;
    this.#witness = new WitnessFile(options.witnessFile);
    this.#writeWitness(log);
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
    const rows = new Array(ROWS_PER_INSERT).fill("(?, ?)").join(", ");
    this.#insertRows = database.prepare(`INSERT INTO log (zxid, entry) VALUES ${rows}`);
    this.#frames = database.prepare("PRAGMA wal_checkpoint(NOOP)").raw();
    this.#restart = database.prepare("PRAGMA wal_checkpoint(RESTART)").raw();
    this.#oldest = database.prepare("SELECT zxid FROM log ORDER BY zxid LIMIT 1").pluck();
    this.#newestUpTo = database.prepare("SELECT zxid, entry FROM log WHERE zxid <= ? ORDER BY zxid DESC LIMIT 1").raw();
    this.#deleteUpTo = database.prepare("DELETE FROM log WHERE zxid <= ?");
    this.#deleteSegments = database.prepare("DELETE FROM segments WHERE last <= ?");
  }

  begin(): void {
    this.#begin.run();
    this.#next = this.log;
    this.#tail = this.log.tail.zxid;
    this.#chain.set(this.log.tail.chain);
    this.#nextSegmentBytes = this.#segmentBytes;
  }

  /**
   * Adds a batch within the open transaction. Frame headers in the bytes are overwritten.
   *
   * @returns the log's end and its chain once this is committed
   */
  add(bytes: Buffer, start: number, end: number, committed: Zxid): LogPosition {
    const batch = this.#batch;
    const rows = this.#rowArguments;
    rows.length = 0;
    let hint = laterOf(this.#next.commitHint, laterOf(this.#committed, committed));
    let { epochs } = this.#next;
    let epoch = epochOf(this.#tail);
    batch.open(bytes, start, end);
    while (batch.next()) {
      const { zxid } = batch;
      assertFollows(this.#tail, zxid);
      this.entryCount++;
      if (epochs.length === 0 || epochOf(zxid) !== epoch) {
        epochs = withEntry(closedAt(epochs, this.#tail), zxid);
        epoch = epochOf(zxid);
        writeEpochs(this.#database, epochs);
      }
      this.#tail = zxid;
      const entry = this.#chained(bytes, batch);
      if (batch.atEnd) {
        // A leader may have committed more than has come here yet: that says nothing about this log.
        hint = earlierOf(hint, zxid);
        rows.push(zxid, entry, hint);
        this.#insertEnd((rows.length - 1) / 2).run(rows);
      } else {
        rows.push(zxid, entry);
        if (rows.length === 2 * ROWS_PER_INSERT) {
          this.#insertRows.run(rows);
          rows.length = 0;
        }
      }
    }
    const tail = { zxid: this.#tail, chain: this.#chain.value() };
    this.#next = { ...this.#next, tail, commitHint: hint, epochs: closedAt(epochs, this.#tail) };
    this.#countSegment(end - start);
    return tail;
  }

  #insertEnd(rowCount: number): Statement {
    const known = this.#insertEnds[rowCount];
    if (known !== undefined) return known;
    const others = "(?, ?, NULL), ".repeat(rowCount - 1);
    const made = this.#database.prepare(`INSERT INTO log (zxid, entry, committed) VALUES ${others}(?, ?, ?)`);
    this.#insertEnds[rowCount] = made;
    return made;
  }

  /** Within the open transaction: a configuration that the batch carries. */
  addConfig(lastSeenConfig: Uint8Array): void {
    this.#next = { ...this.#next, lastSeenConfig };
    writeStoreRow(this.#database, this.#next);
  }

  /** Ends the transaction with its sync. After an error nothing is known, unless the caller can tell from its kind. */
  commit(): void {
    this.#isWalRestarted = false;
    this.#commit.run();
    if (this.#testBreak === "sync-fails") throw newSyncError();
    this.log = this.#next;
    this.#committed = laterOf(this.#committed, this.log.commitHint);
    this.#segmentBytes = this.#nextSegmentBytes;
    this.#writeWitness(this.log);
  }

  /**
   * Undoes the open transaction, then reads the tail back.
   *
   * @returns whether the file holds exactly what it held before
   */
  rollback(): boolean {
    if (this.#database.inTransaction) this.#rollback.run();
    const row = this.#database.prepare("SELECT zxid, entry FROM log ORDER BY zxid DESC LIMIT 1").raw().get();
    const { tail, floor } = this.log;
    if (row === undefined) return tail.zxid === floor.zxid;
    const [zxid, entry] = row as [Zxid, Buffer];
    return zxid === tail.zxid && chainOfEntry(entry) === tail.chain;
  }

  /** Changes what stands beside the entries. */
  change(changed: DurableLog): void {
    this.#transact(() => {
      writeStoreRow(this.#database, changed);
      return changed;
    });
  }

  /** What lies up to here stays: a state was made of it, or soon will be. */
  noteCommitted(zxid: Zxid): void {
    assert(
      zxid <= this.log.tail.zxid,
      () => `${formatZxid(zxid)} is called committed and durable above the end ${formatZxid(this.log.tail.zxid)}`,
    );
    this.#committed = laterOf(this.#committed, zxid);
  }

  cut(to: Zxid): LogPosition {
    this.#transact(() => {
      this.#refuseLoss(to);
      const cut = withCut(this.log, this.#positionOf(to));
      this.#lowerWitness(cut.tail);
      this.#deleteAbove(to);
      writeEpochs(this.#database, cut.epochs);
      return cut;
    });
    return this.log.tail;
  }

  /** Touches no disk: what an earlier stage left goes with the next thing that is written to the table. */
  beginStage(after: LogPosition): void {
    this.#stage = newStage(after);
    this.#isStaleStage = this.#hasStaged;
  }

  stage(bytes: Buffer): LogPosition {
    const stage = this.#stage;
    assert(stage !== undefined, "entries were staged without a stage");
    let { tail, epochs } = stage;
    this.#transactUnsynced(() => {
      this.#dropStale();
      const insert = this.#database.prepare("INSERT INTO staged (zxid, entry) VALUES (?, ?)");
      const batch = this.#batch;
      this.#chain.set(tail.chain);
      let last = tail.zxid;
      batch.open(bytes, 0, bytes.length);
      while (batch.next()) {
        assertFollows(last, batch.zxid);
        last = batch.zxid;
        epochs = withEntry(epochs, last);
        insert.run(last, this.#chained(bytes, batch));
      }
      tail = { zxid: last, chain: this.#chain.value() };
      return this.log;
    });
    this.#stage = { after: stage.after, tail, epochs };
    this.#hasStaged = true;
    return tail;
  }

  dropStage(): void {
    this.#stage = undefined;
    if (!this.#hasStaged) return;
    this.#isStaleStage = true;
    this.#transactUnsynced(() => this.#dropStale());
  }

  flip(flip: Flip): LogPosition {
    const stage = this.#stage;
    assert(stage !== undefined, "a flip without a stage");
    this.#transact(() => {
      const database = this.#database;
      const { after } = stage;
      this.#dropStale();
      if (flip.snapshot === undefined) {
        const here = this.#positionOf(after.zxid);
        assert(here.chain === after.chain, `the stage continues another history at ${formatZxid(after.zxid)}`);
      }
      if (flip.snapshot === undefined) this.#refuseLoss(after.zxid);
      const flipped = withFlip(this.log, flip, stage);
      if (flipped.tail.zxid < this.log.tail.zxid) this.#lowerWitness(flipped.tail);
      if (flip.snapshot === undefined) this.#deleteAbove(after.zxid);
      else database.exec("DELETE FROM log; DELETE FROM segments;");
      if (this.#hasStaged) {
        database.exec(
          "INSERT INTO log (zxid, entry) SELECT zxid, entry FROM staged ORDER BY zxid; DELETE FROM staged;",
        );
      }
      database.prepare("UPDATE log SET committed = ? WHERE zxid = ?").run(flipped.commitHint, flipped.tail.zxid);
      writeEpochs(database, flipped.epochs);
      writeStoreRow(database, flipped);
      return flipped;
    });
    this.#stage = undefined;
    this.#hasStaged = false;
    if (flip.snapshot !== undefined) this.#committed = this.log.commitHint;
    return this.log.tail;
  }

  /**
   * Drops the oldest entries within the open transaction, at most `countMax` and none above `limit`, and raises the floor to the
   * last that went.
   */
  purgeSlice(limit: Zxid, countMax: number): number {
    const first = this.#oldest.get() as Zxid | undefined;
    if (first === undefined || first > limit) return 0;
    // Counters of an epoch are consecutive, so the slice's end is known without walking to it.
    const boundary = this.#newestUpTo.get(Math.min(limit, first + countMax - 1));
    if (boundary === undefined) return 0;
    const [zxid, entry] = boundary as [Zxid, Buffer];
    const { changes } = this.#deleteUpTo.run(zxid);
    this.#deleteSegments.run(zxid);
    this.#next = { ...this.#next, floor: { zxid, chain: chainOfEntry(entry) } };
    writeStoreRow(this.#database, this.#next);
    return changes;
  }

  /** The newest end of a segment that may go: old enough, and with enough bytes behind it. */
  purgeLimit(allowed: Zxid, keepBytes: number, olderThanMs: number): Zxid | undefined {
    let kept = this.#segmentBytes;
    const segments = this.#database.prepare("SELECT last, bytes, time_ms FROM segments ORDER BY last DESC").raw();
    for (const row of segments.all()) {
      const [last, bytes, timeMs] = row as [Zxid, number, number];
      if (kept >= keepBytes && timeMs <= olderThanMs && last <= allowed && last <= this.log.commitHint) return last;
      kept += bytes;
    }
    return undefined;
  }

  /** How far the WAL is written; 0 once it was restarted, for then the next commit begins it anew. */
  walBytes(): number {
    if (this.#isWalRestarted) return 0;
    const [, frames] = this.#frames.get() as [number, number, number];
    return frames * FRAME_BYTES;
  }

  /** Copies the rest of the WAL into the main file, so that the next commit overwrites the WAL from its start. */
  restartWal(): boolean {
    const [busy] = this.#restart.get() as [number, number, number];
    this.#isWalRestarted = busy === 0;
    return busy === 0;
  }

  setBusyTimeout(ms: number): void {
    this.#database.pragma(`busy_timeout = ${ms}`);
  }

  /** What SQLite says that a setting is. */
  pragma(name: string): unknown {
    return this.#database.pragma(name, { simple: true });
  }

  /** For tests: the file may not grow beyond so many pages. */
  limitPages(countMax: number): void {
    this.#database.pragma(`max_page_count = ${countMax}`);
  }

  close(): void {
    this.#witness.close();
    this.#database.close();
  }

  #transact(change: () => DurableLog): void {
    this.begin();
    this.#next = change();
    this.commit();
  }

  /** For what a restart forgets anyway: a later synced commit makes it durable along with itself. */
  #transactUnsynced(change: () => void): void {
    const synchronous = this.pragma("synchronous");
    this.#database.pragma("synchronous = NORMAL");
    try {
      this.begin();
      change();
      this.#isWalRestarted = false;
      this.#commit.run();
    } finally {
      if (this.#database.inTransaction) this.#rollback.run();
      this.#database.pragma(`synchronous = ${synchronous}`);
    }
    assert(this.pragma("synchronous") === synchronous, "commits are synced as they were before");
  }

  #dropStale(): void {
    if (!this.#isStaleStage) return;
    this.#database.exec("DELETE FROM staged");
    this.#isStaleStage = false;
    this.#hasStaged = false;
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

  #countSegment(bytes: number): void {
    this.#nextSegmentBytes += bytes;
    if (this.#nextSegmentBytes < this.#segmentBytesMax) return;
    const insert = "INSERT OR REPLACE INTO segments (last, bytes, time_ms) VALUES (?, ?, ?)";
    this.#database.prepare(insert).run(this.#tail, this.#nextSegmentBytes, Date.now());
    this.#nextSegmentBytes = 0;
    this.segmentCount++;
  }

  #positionOf(zxid: Zxid): LogPosition {
    if (zxid === this.log.floor.zxid) return this.log.floor;
    const entry = this.#database.prepare("SELECT entry FROM log WHERE zxid = ?").pluck().get(zxid);
    assert(entry !== undefined, `the log holds no entry ${formatZxid(zxid)}`);
    return { zxid, chain: chainOfEntry(entry as Buffer) };
  }

  #deleteAbove(zxid: Zxid): void {
    this.#database.prepare("DELETE FROM log WHERE zxid > ?").run(zxid);
    this.#database.prepare("DELETE FROM segments WHERE last > ?").run(zxid);
  }

  #writeWitness(log: DurableLog): void {
    this.#witness.write({ ...log.tail, promise: log.promise.epoch, bootCount: log.identity.bootCount });
  }

  /** Before a cut is committed, and on the disk before it: a witness above the log would look like amnesia. */
  #lowerWitness(tail: LogPosition): void {
    this.#writeWitness({ ...this.log, tail });
    this.#witness.sync();
  }
}

function ownerOf(options: LogFileOptions): { readonly sid: number; readonly ensembleId?: string } {
  return options.ensembleId === undefined ? { sid: options.sid } : { sid: options.sid, ensembleId: options.ensembleId };
}

/** The table with its newest row ending at the log's end. */
function closedAt(epochs: DurableLog["epochs"], tail: Zxid): DurableLog["epochs"] {
  const newest = epochs.at(-1);
  return newest === undefined || newest.epoch !== epochOf(tail) ? epochs : withEntry(epochs, tail);
}
