import { join } from "node:path";
import { openDatabase, syncPath } from "../database.ts";
import { stampFormat } from "../directory/format-number.ts";
import { LOG_FORMAT } from "../log/log-boot.ts";
import { readDurableLog, writeStoreRow } from "../log/schema.ts";
import { StoreError } from "../store-error.ts";
import type { DurableLog } from "../txn-log.ts";
import { LOG_FILE } from "./segment-name.ts";

/**
 * The first two steps of the conversion of a `log.db` from before there were segments; the third is the first transaction of segment 1, which
 * the log writes as it writes every one. Nothing is copied.
 *
 * ```
 * 1 one commit in log.db raises the format ──▶ earlier versions refuse it
 * 2 log.db is checkpointed and synced ───────▶ it needs no WAL any more
 * 3 segment 1 begins, with log.db in its manifest as sequence 0
 * ```
 *
 * Before step 1 nothing has changed. After a crash behind it, a start finds a `log.db` of this format and no segment, and
 * continues the conversion.
 *
 * @returns the log as `log.db` has it
 */
export function convertLog(directory: string): DurableLog {
  const file = join(directory, LOG_FILE);
  const database = openDatabase(file, { pageBytes: 8192, cacheKib: 1024, journal: "wal" });
  let log: DurableLog;
  try {
    const found = readDurableLog(database, file);
    log = { ...found, identity: { ...found.identity, formatVersion: LOG_FORMAT } };
    if (found.identity.formatVersion < LOG_FORMAT) {
      database.exec("BEGIN IMMEDIATE; DELETE FROM staged");
      writeStoreRow(database, log);
      stampFormat(database, LOG_FORMAT);
      database.exec("COMMIT");
    }
    const [busy] = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").raw().get() as [number, number, number];
    if (busy !== 0) {
      const reason = "another connection keeps its write ahead log from being copied into it";
      throw new StoreError({ code: "UNREADABLE", file, reason });
    }
  } finally {
    // Closes last, and removes the WAL.
    database.close();
  }
  syncPath(file);
  syncPath(directory);
  return log;
}
