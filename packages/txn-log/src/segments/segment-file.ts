import { rmSync, statSync } from "node:fs";
import type { Zxid } from "@zooid/model";
import { type Database, openDatabase, openReader, type Statement, syncPath } from "../database.ts";
import type { DurableLog } from "../txn-log.ts";
import { createSegmentTables, type SegmentHead, writeHead } from "./segment-schema.ts";

const CACHE_KIB = 4096;
const KEEPER_CACHE_KIB = 64;
const ROWS_PER_INSERT = 16;
const FRAME_HEADER_BYTES = 24;

/** Makes the tables of a segment: a main file that is whole and synced, and no WAL. The directory is left to the caller. */
export function createSegment(file: string, pageBytes: number): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  const database = openDatabase(file, { pageBytes, cacheKib: CACHE_KIB, journal: "wal" });
  try {
    createSegmentTables(database);
  } finally {
    // Closes last, and so copies the tables into the main file.
    database.close();
  }
  syncPath(file);
}

/**
 * A segment, written: one connection, one synced transaction at a time, never a checkpoint.
 *
 * The connection that closes last checkpoints and deletes the WAL, which would write every entry a second time. A read-only connection
 * does neither, so one stays open beside the writer and closes after it.
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
  readonly #inserts = new Map<number, Statement>();

  constructor(file: string) {
    this.file = file;
    this.#keeper = openKeeper(file);
    try {
      // The page size is the file's own: for a file with tables the pragma changes nothing.
      this.#database = openDatabase(file, { pageBytes: 1024, cacheKib: CACHE_KIB, journal: "wal" });
    } catch (cause) {
      this.#keeper.close();
      throw cause;
    }
    const database = this.#database;
    this.pageBytes = database.pragma("page_size", { simple: true }) as number;
    this.#begin = database.prepare("BEGIN IMMEDIATE");
    this.#commit = database.prepare("COMMIT");
    this.#rollback = database.prepare("ROLLBACK");
    this.#frames = database.prepare("PRAGMA wal_checkpoint(NOOP)").raw();
  }

  get inTransaction(): boolean {
    return this.#database.inTransaction;
  }

  begin(): void {
    this.#begin.run();
  }

  /** Within the open transaction: everything that the log knows besides its entries. The first transaction begins the segment. */
  writeHead(head: SegmentHead, log: DurableLog): void {
    writeHead(this.#database, head, log);
  }

  /**
   * Within the open transaction: adds entries.
   *
   * @param rows zxid and entry (chain and record) in turn
   * @param committed the commit hint for the last of them
   */
  insert(rows: readonly (number | Uint8Array)[], committed: Zxid): void {
    const whole = 2 * ROWS_PER_INSERT;
    let at = 0;
    for (; rows.length - at > whole; at += whole) this.#insertOf(ROWS_PER_INSERT, null).run(rows.slice(at, at + whole));
    const rest = rows.slice(at);
    this.#insertOf(rest.length / 2, "?").run(...rest, committed);
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
    const [, frames] = this.#frames.get() as [number, number, number];
    return frames * (this.pageBytes + FRAME_HEADER_BYTES);
  }

  /** The WAL stays as it is. */
  close(): void {
    this.#database.close();
    this.#keeper.close();
  }

  #insertOf(rowCount: number, hint: "?" | null): Statement {
    const key = hint === null ? 0 : rowCount;
    const known = this.#inserts.get(key);
    if (known !== undefined) return known;
    const values = `${"(?, ?, NULL), ".repeat(rowCount - 1)}(?, ?, ${hint ?? "NULL"})`;
    const made = this.#database.prepare(`INSERT INTO log (zxid, entry, committed) VALUES ${values}`);
    this.#inserts.set(key, made);
    return made;
  }
}

/** A read-only connection to a segment. Its WAL must be there: without it SQLite would make one at the first write. */
export function openKeeper(file: string): Database {
  const database = openReader(file, KEEPER_CACHE_KIB);
  try {
    // A connection counts as open once it has read.
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

/** A main file that is missing or empty holds no tables: its WAL is not its own. */
export function hasTables(file: string): boolean {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return size > 0;
}
