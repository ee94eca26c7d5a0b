import { closeSync, existsSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import Sqlite, { type Statement } from "better-sqlite3";
import { StoreError } from "../store/store-error.ts";
import { syncPath } from "./sync-path.ts";

/** The one door to SQLite: how our files are opened, and that it does what it was asked. */

export type Database = Sqlite;
export type { Statement };

export interface DatabaseOptions {
  readonly pageBytes: number;
  readonly cacheKib: number;
  /**
   * `wal` for the log, which is small and written at every turn; `truncate` for the state, which is
   * large and written rarely.
   */
  readonly journal: "wal" | "truncate";
  /** How long to wait for those who read or write. Default 1000 ms. */
  readonly busyTimeoutMs?: number;
}

const BUSY_TIMEOUT_MS = 1_000;
/**
 * SQLite before 3.51.3 may corrupt a database when a checkpoint meets a writer that resets the WAL.
 */
const VERSION_FLOOR: readonly number[] = [3, 51, 3];
const FILE_MODE = 0o600;

/** Opens for writing; a file that does not exist is made, readable by its owner only. */
export function openDatabase(file: string, options: DatabaseOptions): Database {
  // SQLite gives a new file the mode of the process's umask, and its WAL the mode of the file: so
  // the file must be there first.
  if (!existsSync(file)) closeSync(openSync(file, "wx", FILE_MODE));
  const database = new Sqlite(file, { timeout: options.busyTimeoutMs ?? BUSY_TIMEOUT_MS });
  try {
    assertVersion(database, file);
    database.pragma(`page_size = ${options.pageBytes}`);
    expectPragma(database, file, `journal_mode = ${options.journal}`, options.journal);
    database.pragma("synchronous = FULL");
    expectPragma(database, file, "synchronous", 2);
    expectPragma(database, file, "journal_mode", options.journal);
    database.pragma("fullfsync = ON");
    database.pragma("wal_autocheckpoint = 0");
    configure(database, options.cacheKib);
    return database;
  } catch (cause) {
    database.close();
    throw readErrorOf(cause, file);
  }
}

/**
 * Makes a database file, whole and synced when this returns. A crash before that may leave any part
 * of the file, so the caller makes it under a name that means nothing, and renames it.
 */
export function makeDatabase(
  file: string,
  options: { readonly pageBytes: number; readonly journal: "wal" | "delete" },
  fill: (database: Database) => void,
): void {
  for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  closeSync(openSync(file, "wx", FILE_MODE));
  const database = new Sqlite(file);
  try {
    database.pragma("synchronous = OFF");
    database.pragma(`page_size = ${options.pageBytes}`);
    database.pragma("journal_mode = MEMORY");
    fill(database);
    expectPragma(database, file, `journal_mode = ${options.journal}`, options.journal);
  } finally {
    database.close();
  }
  syncPath(file);
}

/** The bytes of a file that {@link makeDatabase} would make, apart from the form of its journal. */
export function makeImage(pageBytes: number, fill: (database: Database) => void): Buffer {
  const database = new Sqlite(":memory:");
  try {
    database.pragma(`page_size = ${pageBytes}`);
    fill(database);
    return database.serialize();
  } finally {
    database.close();
  }
}

/** Opens for reading what must exist; never changes the file. */
export function openReader(file: string, cacheKib: number, busyTimeoutMs: number = BUSY_TIMEOUT_MS): Database {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: busyTimeoutMs });
  try {
    configure(database, cacheKib);
    return database;
  } catch (cause) {
    database.close();
    throw readErrorOf(cause, file);
  }
}

function configure(database: Database, cacheKib: number): void {
  database.pragma("mmap_size = 0");
  database.pragma("locking_mode = NORMAL");
  database.pragma("temp_store = MEMORY");
  database.pragma("cell_size_check = ON");
  database.pragma("trusted_schema = OFF");
  database.pragma(`cache_size = -${cacheKib}`);
}

function expectPragma(database: Database, file: string, pragma: string, expected: string | number): void {
  const found = database.pragma(pragma, { simple: true });
  if (found === expected) return;
  throw new StoreError({ code: "NOT_DURABLE", file, expected: `${pragma} (${expected})`, found: String(found) });
}

function assertVersion(database: Database, file: string): void {
  const found = String(database.prepare("SELECT sqlite_version()").pluck().get());
  const parts = found.split(".").map(Number);
  const decisive = VERSION_FLOOR.findIndex((part, i) => part !== parts[i]);
  if (decisive === -1 || (parts[decisive] ?? 0) > (VERSION_FLOOR[decisive] ?? 0)) return;
  throw new StoreError({ code: "NOT_DURABLE", file, expected: `SQLite ${VERSION_FLOOR.join(".")} or later`, found });
}

/** SQLite's error for a sync that failed. */
export function newSyncError(): Error {
  return new Sqlite.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");
}

/** SQLite's error for a write without room. */
export function newFullError(): Error {
  return new Sqlite.SqliteError("database or disk is full", "SQLITE_FULL");
}

/** SQLite's name for what went wrong, or undefined for an error of another kind. */
export function sqliteCode(error: unknown): string | undefined {
  return error instanceof Sqlite.SqliteError ? error.code : undefined;
}

/** No room: nothing is wrong with what is on the disk. */
export function isFull(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === "DISK_FULL";
  // The index of a WAL is a file of its own, which SQLite makes room for when it opens the WAL.
  const code = sqliteCode(error) ?? systemCode(error);
  return code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE" || code === "ENOSPC" || code === "EDQUOT";
}

/**
 * SQLite could not open a file, make one, such as a journal, or shorten one. It does not say why.
 */
export function isUnexplained(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === "NOT_OPENED";
  const code = sqliteCode(error);
  return code?.startsWith("SQLITE_CANTOPEN") === true || code === "SQLITE_IOERR_TRUNCATE";
}

/** Whether a directory has room for one more file, which shows when it is made. */
export function hasRoomForFile(directory: string): boolean {
  const file = join(directory, `room-${process.pid}`);
  try {
    closeSync(openSync(file, "w", 0o600));
    rmSync(file);
    return true;
  } catch (error) {
    return !isFull(error);
  }
}

/**
 * The system's name for a call that failed, or undefined for an error of another kind, and for a
 * sync: what it left is not known.
 */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined;
  return error.syscall === "fsync" ? undefined : String(error.code);
}

/** The error of a read of a file, as one that names the file where SQLite found damage. */
export function readErrorOf(cause: unknown, file: string): unknown {
  const code = sqliteCode(cause);
  // SQLITE_ERROR: a table or a column is missing that each file of this kind has.
  const isDamage = code?.startsWith("SQLITE_CORRUPT") === true || code === "SQLITE_NOTADB" || code === "SQLITE_ERROR";
  if (!isDamage || !(cause instanceof Error)) return cause;
  return new StoreError({ code: "DAMAGED", file, place: "a page", found: cause.message }, { cause });
}

/** Reads something of a file; see {@link readErrorOf}. */
export function readNamed<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw readErrorOf(cause, file);
  }
}

/** A thrown value as the error that a store reports. */
export function storeErrorOf(cause: unknown, file: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = sqliteCode(cause);
  if (isFull(cause)) return new StoreError({ code: "DISK_FULL", file, reason }, { cause });
  if (isUnexplained(cause)) return new StoreError({ code: "NOT_OPENED", file, reason }, { cause });
  // A call to the system that failed says which.
  if (cause instanceof Error && "syscall" in cause)
    return new StoreError({ code: "WRITE_FAILED", file, reason }, { cause });
  if (code === undefined) return new StoreError({ code: "DEFECT", reason }, { cause });
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") {
    return new StoreError({ code: "DAMAGED", file, place: "a page", found: reason }, { cause });
  }
  return new StoreError({ code: "WRITE_FAILED", file, reason: `${reason} (${code})` }, { cause });
}
