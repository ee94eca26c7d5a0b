import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { sqliteCode } from "../disk/database.ts";

/**
 * Keeps the files of a log from being reused while another process reads them. A reader of a reused
 * file would get wrong or missing rows without an error. The lock is SQLite's on a file of its own,
 * so that the system frees it when a process ends in whatever way.
 *
 * Readers share the lock. The log's helper takes it alone while it reuses a file; where it cannot,
 * it removes the file and makes another.
 */
export const READERS_FILE = "zooid.readers";

/** Held until it is disposed of. */
export function lockAsReader(directory: string): Disposable {
  const database = openLock(directory, 5_000);
  try {
    database.exec("BEGIN");
    // A transaction takes its lock at its first read.
    database.prepare("SELECT count(*) FROM sqlite_schema").get();
  } catch (cause) {
    database.close();
    throw cause;
  }
  return { [Symbol.dispose]: () => database.close() };
}

/** Undefined while another process reads. */
export function lockAlone(directory: string): Disposable | undefined {
  const database = openLock(directory, 0);
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (cause) {
    database.close();
    if (sqliteCode(cause)?.startsWith("SQLITE_BUSY") === true) return undefined;
    throw cause;
  }
  return { [Symbol.dispose]: () => database.close() };
}

function openLock(directory: string, timeout: number): Sqlite {
  const file = join(directory, READERS_FILE);
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
  return new Sqlite(file, { timeout });
}
