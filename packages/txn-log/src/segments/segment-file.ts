import { renameSync, statSync } from "node:fs";
import {
  type Database,
  makeDatabase,
  openDatabase,
  openReader,
  readErrorOf,
  type Statement,
} from "../disk/database.ts";
import type { DurableLog } from "../log/txn-log.ts";
import { createSegmentTables, type SegmentHead, writeHead } from "./segment-schema.ts";
import { NO_WAL, readSalt, type WalMark } from "./wal-scan.ts";

const CACHE_KIB = 1024;
const KEEPER_CACHE_KIB = 64;
/** Rows in one statement; measured, more gains nothing. */
export const ROWS_PER_INSERT = 16;
const FRAME_HEADER_BYTES = 24;

/**
 * Makes the tables of a segment: a main file that is whole and synced, and no WAL. It has another
 * name until then. The directory is left to the caller.
 */
export function createSegment(file: string, pageBytes: number): void {
  const made = file + UNFINISHED;
  makeDatabase(made, { pageBytes, journal: "wal" }, createSegmentTables);
  renameSync(made, file);
}

/** The ending of a main file's name until it is whole. */
export const UNFINISHED = ".new";

/**
 * A segment, written: one connection, one synced transaction at a time, never a checkpoint.
 *
 * The connection that closes last checkpoints and deletes the WAL, which would write every entry a
 * second time. A read-only connection does neither, so one stays open beside the writer and closes
 * after it.
 */
export class SegmentFile {
  readonly file: string;
  readonly pageBytes: number;
  readonly #database: Database;
  readonly #keeper: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #frames: Statement;
  readonly #insertRows: Statement;
  /**
   * For the end of a batch, by how many rows it has: the last of them has the commit hint. Made
   * when first needed.
   */
  readonly #insertEnds: Statement[] = [];

  constructor(file: string) {
    this.file = file;
    this.#keeper = openKeeper(file);
    try {
      // The page size is the file's own: for a file with tables the pragma changes nothing.
      this.#database = openDatabase(file, { pageBytes: 1024, cacheKib: CACHE_KIB, journal: "wal" });
    } catch (cause) {
      this.#keeper.close();
      throw readErrorOf(cause, file);
    }
    const database = this.#database;
    try {
      this.pageBytes = database.pragma("page_size", { simple: true }) as number;
      this.#begin = database.prepare("BEGIN IMMEDIATE");
      this.#commit = database.prepare("COMMIT");
      this.#rollback = database.prepare("ROLLBACK");
      this.#frames = database.prepare("PRAGMA wal_checkpoint(NOOP)").raw();
      const rows = new Array(ROWS_PER_INSERT).fill("(?, ?)").join(", ");
      this.#insertRows = database.prepare(`INSERT INTO log (zxid, entry) VALUES ${rows}`);
    } catch (cause) {
      this.close();
      throw readErrorOf(cause, file);
    }
  }

  begin(): void {
    this.#begin.run();
  }

  /**
   * Within the open transaction: everything that the log knows besides its entries. The first
   * transaction begins the segment.
   */
  writeHead(head: SegmentHead, log: DurableLog): void {
    writeHead(this.#database, head, log);
  }

  /**
   * Within the open transaction: adds entries.
   *
   * @param rows zxid and entry (chain and record) in turn, of {@link ROWS_PER_INSERT} entries
   */
  insert(rows: readonly (number | Uint8Array)[]): void {
    this.#insertRows.run(rows);
  }

  /**
   * Within the open transaction: adds at most {@link ROWS_PER_INSERT} entries; a commit hint for
   * the last of them is the last value.
   */
  insertEnd(rows: readonly (number | Uint8Array)[]): void {
    this.#insertEnd((rows.length - 1) / 2).run(rows);
  }

  /** Ends the transaction with its sync. After an error nothing is known. */
  commit(): void {
    this.#commit.run();
  }

  rollback(): void {
    if (this.#database.inTransaction) this.#rollback.run();
  }

  /** For reads of the writer's own. */
  get database(): Database {
    return this.#database;
  }

  /** How far the WAL is written. */
  walBytes(): number {
    return this.#frameCount() * (this.pageBytes + FRAME_HEADER_BYTES);
  }

  /** How far the WAL is written, by what a later start can compare. */
  walMark(): WalMark {
    const frameCount = this.#frameCount();
    return frameCount === 0 ? NO_WAL : { salt: readSalt(`${this.file}-wal`), frameCount };
  }

  /** The WAL stays as it is. */
  close(): void {
    this.seal()[Symbol.dispose]();
  }

  /**
   * Ends the writing. The WAL stays as it is, and until the answer is disposed of its index does
   * too: the next reader of a segment without one reads the whole WAL to make it.
   */
  seal(): Disposable {
    this.#database.close();
    return { [Symbol.dispose]: () => void this.#keeper.close() };
  }

  #frameCount(): number {
    const [, frameCount] = this.#frames.get() as [number, number, number];
    return frameCount;
  }

  #insertEnd(rowCount: number): Statement {
    const known = this.#insertEnds[rowCount];
    if (known !== undefined) return known;
    const others = "(?, ?, NULL), ".repeat(rowCount - 1);
    const made = this.#database.prepare(`INSERT INTO log (zxid, entry, committed) VALUES ${others}(?, ?, ?)`);
    this.#insertEnds[rowCount] = made;
    return made;
  }
}

/**
 * A read-only connection to a segment. Its WAL must be there: without it SQLite would make one at
 * the first write.
 */
function openKeeper(file: string): Database {
  const database = openReader(file, KEEPER_CACHE_KIB);
  try {
    // A connection counts as open once it has read.
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (cause) {
    database.close();
    throw readErrorOf(cause, file);
  }
}

/** A main file that is missing or empty holds no tables: its WAL is not its own. */
export function hasTables(file: string): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0;
}
