import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { FEATURE_LEVELS, levelOfFormat } from "@zooid/model/storage";
import { refuseOtherFormat, stampFormat } from "../directory/format-number.ts";
import { type Database, makeDatabase, openReader, readErrorOf } from "../disk/database.ts";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import { StoreError } from "../store/store-error.ts";
import { UNFINISHED } from "./segment-file.ts";
import { FORMAT_MARK_FILE } from "./segment-name.ts";

/**
 * The mark in the log's directory: a database that holds the format of the log and nothing else. A
 * version that writes another format reads it before all other files, and refuses the directory
 * (`NEWER_FORMAT`), whatever its segments are called.
 */

const CACHE_KIB = 64;
const PAGE_BYTES = 1024;
const STORE_TABLE = `
  CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format INTEGER NOT NULL,
    level INTEGER NOT NULL,
    since TEXT NOT NULL
  ) STRICT`;

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
    refuseOtherFormat(database, { file, kind: "log", place, found: format, isOf: levelOf(database) });
  });
}

/** The level that the mark names: those of versions that do not know it say nothing else of it. */
function levelOf(database: Database): { readonly level: number; readonly since: string } | undefined {
  const columns = database.prepare("SELECT name FROM pragma_table_info('store')").pluck().all();
  if (!columns.includes("level") || !columns.includes("since")) return undefined;
  const [level, since] = database.prepare("SELECT level, since FROM store").raw().get() as readonly unknown[];
  return typeof level === "number" && typeof since === "string" ? { level, since } : undefined;
}

/** Replaces the mark. Durable when it returns. */
export function writeFormatMark(directory: string, format: number): void {
  const level = levelOfFormat("log", format) ?? 1;
  const since = FEATURE_LEVELS.find((each) => each.formats.log === format)?.since ?? "";
  const file = join(directory, FORMAT_MARK_FILE);
  const made = file + UNFINISHED;
  makeDatabase(made, { pageBytes: PAGE_BYTES, journal: "delete" }, (database) => {
    database.exec(STORE_TABLE);
    database.prepare("INSERT INTO store VALUES (1, ?, ?, ?)").run(format, level, since);
    stampFormat(database, format);
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
