import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Database, makeDatabase, openReader, readErrorOf } from "../database.ts";
import { refuseOtherFormat, stampFormat } from "../directory/format-number.ts";
import { LOG_FORMAT } from "../log/log-boot.ts";
import { StoreError } from "../store-error.ts";
import { syncDirectoryOf } from "../sync-path.ts";
import { UNFINISHED } from "./segment-file.ts";
import { FORMAT_MARK_FILE } from "./segment-name.ts";

/**
 * The mark in the log's directory: a database that holds the format of the log and nothing else. A
 * version that writes another format reads it before all other files, and refuses the directory
 * (`NEWER_FORMAT`), whatever its segments are called.
 */

const CACHE_KIB = 64;
const PAGE_BYTES = 1024;

/** Whether the mark is there. A file without its table is none: its creation was cut short. */
export function hasFormatMark(directory: string): boolean {
  const file = join(directory, FORMAT_MARK_FILE);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return false;
  return read(file, (database) => {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
    return tables.includes("store");
  });
}

/** @throws StoreError NEWER_FORMAT, FOREIGN or DAMAGED for the mark of another format */
export function refuseOtherMark(directory: string): void {
  if (!hasFormatMark(directory)) return;
  const file = join(directory, FORMAT_MARK_FILE);
  read(file, (database) => {
    const place = "table store, row 1";
    const format = database.prepare("SELECT format FROM store").pluck().get();
    if (typeof format !== "number") {
      const found = `format ${String(format)}`;
      throw new StoreError({ code: "DAMAGED", file, place, found });
    }
    refuseOtherFormat(database, { file, place, found: format, known: LOG_FORMAT });
  });
}

/** Durable when it returns. */
export function writeFormatMark(directory: string): void {
  const file = join(directory, FORMAT_MARK_FILE);
  const made = file + UNFINISHED;
  makeDatabase(made, { pageBytes: PAGE_BYTES, journal: "delete" }, (database) => {
    database.exec("CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL) STRICT");
    database.prepare("INSERT INTO store VALUES (1, ?)").run(LOG_FORMAT);
    stampFormat(database, LOG_FORMAT);
  });
  renameSync(made, file);
  syncDirectoryOf(file);
}

function read<T>(file: string, use: (database: Database) => T): T {
  const database = openReader(file, CACHE_KIB);
  try {
    return use(database);
  } catch (cause) {
    throw readErrorOf(cause, file);
  } finally {
    database.close();
  }
}
