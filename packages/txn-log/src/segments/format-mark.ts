import { existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeDatabase, openReader, readErrorOf, syncDirectoryOf } from "../database.ts";
import { refuseNewerFormat, stampFormat } from "../directory/format-number.ts";
import { LOG_FORMAT } from "../log/log-boot.ts";
import { StoreError } from "../store-error.ts";
import { UNFINISHED } from "./segment-file.ts";
import { LOG_FILE } from "./segment-name.ts";

/**
 * `log.db` beside segments: either the oldest of them, which an earlier version wrote, or a mark, which holds nothing but the format. An
 * earlier version reads `store.format` first and refuses both by name (`NEWER_FORMAT`); without the file it would begin an empty log.
 */

const CACHE_KIB = 64;
const PAGE_BYTES = 1024;

/** What `log.db` is: none, a mark, or entries that an earlier version wrote. */
export type LogFileKind = "none" | "mark" | "entries";

export function kindOfLogFile(directory: string): LogFileKind {
  const file = join(directory, LOG_FILE);
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  // Its making was cut short, by this version or by an earlier one: nothing was ever promised on it.
  if (size === 0) return "none";
  const database = openReader(file, CACHE_KIB);
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
    if (tables.includes("log")) return "entries";
    return tables.includes("store") ? "mark" : "none";
  } catch (cause) {
    throw readErrorOf(cause, file);
  } finally {
    database.close();
  }
}

/** Throws `NEWER_FORMAT` for a mark of a later version: its segments need not even be named as ours. */
export function refuseNewerMark(directory: string): void {
  if (kindOfLogFile(directory) !== "mark") return;
  const file = join(directory, LOG_FILE);
  const database = openReader(file, CACHE_KIB);
  try {
    const place = "table store, row 1";
    const format = database.prepare("SELECT format FROM store").pluck().get();
    if (typeof format !== "number") {
      const found = `format ${String(format)}`;
      throw new StoreError({ code: "DAMAGED", file, place, found });
    }
    refuseNewerFormat(database, { file, place, found: format, known: LOG_FORMAT });
  } catch (cause) {
    throw readErrorOf(cause, file);
  } finally {
    database.close();
  }
}

/** Puts a mark in the place of `log.db`. Durable when it returns; at each step either the old file is whole there, or the mark. */
export function writeFormatMark(directory: string): void {
  const file = join(directory, LOG_FILE);
  const made = file + UNFINISHED;
  makeDatabase(made, { pageBytes: PAGE_BYTES, journal: "delete" }, (database) => {
    database.exec("CREATE TABLE store (id INTEGER PRIMARY KEY CHECK (id = 1), format INTEGER NOT NULL) STRICT");
    database.prepare("INSERT INTO store VALUES (1, ?)").run(LOG_FORMAT);
    stampFormat(database, LOG_FORMAT);
  });
  // A WAL of the old file must not lie beside the mark. The old file is checkpointed, so its WAL is empty.
  const leftovers = [`${file}-wal`, `${file}-shm`].filter((each) => existsSync(each));
  for (const each of leftovers) rmSync(each);
  if (leftovers.length > 0) syncDirectoryOf(file);
  renameSync(made, file);
  syncDirectoryOf(file);
}
