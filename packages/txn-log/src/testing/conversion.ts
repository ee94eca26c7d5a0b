import { cpSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { counterOf, type Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import { expect } from "vitest";
import { RecordingHandler, range, recordsOf, Z, zxidsOf } from "../append-batches.ts";
import { openDatabase } from "../database.ts";
import { readDurableLog, writeStoreRow } from "../log/schema.ts";
import { promised } from "../promised-log.ts";
import { convertLog } from "../segments/convert-log.ts";
import { createSegment } from "../segments/segment-file.ts";
import { formatSegmentName } from "../segments/segment-name.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import type { DurableLog } from "../txn-log.ts";
import { recordOf } from "./log-of-format-1.ts";

const SEGMENT_1 = formatSegmentName({ sequence: 1, after: Z(1, 30) });

export function openConverted(directory: string, options: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore({ directory, sid: 1, handler: new RecordingHandler(), ...options });
}

/** Opens a log written in format 1, and expects all of it in format 2. */
export async function expectConverted(directory: string, old: DurableLog, bootCount: number): Promise<void> {
  await using store = await openConverted(directory);
  expect(store.log.durable).toEqual({ ...old, identity: { ...old.identity, formatVersion: 2, bootCount } });
  const run = await promised(store.log).read(old.floor.zxid, 1 << 20);
  const zxids = zxidsOf(run.bytes);
  expect(recordsOf(run.bytes).map((record) => Buffer.from(record).equals(recordOf(zxids.shift() as Zxid)))).toEqual(
    range(counterOf(old.floor.zxid) + 1, counterOf(old.tail.zxid)).map(() => true),
  );
  expect(run.last).toEqual(old.tail);
}

/** What an earlier version reads before all else. */
export function formatInLogFile(directory: string): number {
  const database = new Sqlite(join(directory, "log.db"), { readonly: true });
  const format = database.prepare("SELECT format FROM store").pluck().get() as number;
  database.close();
  return format;
}

/** What each step of a conversion leaves to a kill, of a log whose last entry is 30 of epoch 1. */
export const CONVERSION_STEPS: readonly (readonly [name: string, convert: (directory: string) => void])[] = [
  ["nothing was done", () => {}],
  ["the format is raised, in the WAL", raiseFormat],
  ["log.db is checkpointed", (directory) => void convertLog(directory)],
  [
    "the first segment is half made",
    (directory) => {
      convertLog(directory);
      writeFileSync(join(directory, `${SEGMENT_1}.new`), "half");
    },
  ],
  [
    "the first segment is whole and empty",
    (directory) => {
      convertLog(directory);
      createSegment(join(directory, SEGMENT_1), 1024);
    },
  ],
  [
    "the WAL of the first segment is allocated",
    (directory) => {
      convertLog(directory);
      createSegment(join(directory, SEGMENT_1), 1024);
      writeFileSync(join(directory, `${SEGMENT_1}-wal`), Buffer.alloc(100_000));
    },
  ],
  [
    "the first segment has a WAL and no main file",
    (directory) => {
      convertLog(directory);
      writeFileSync(join(directory, `${SEGMENT_1}-wal`), Buffer.alloc(100_000));
    },
  ],
];

/** As the conversion does it, killed before the checkpoint. */
function raiseFormat(directory: string): void {
  const path = join(directory, "log.db");
  const database = openDatabase(path, { pageBytes: 8192, cacheKib: 256, journal: "wal" });
  const log = readDurableLog(database, path);
  database.exec("BEGIN; DELETE FROM staged");
  writeStoreRow(database, { ...log, identity: { ...log.identity, formatVersion: 2 } });
  database.exec("COMMIT");
  const copies = ["log.db", "log.db-wal"].map(
    (name) => [join(dirname(directory), name), join(directory, name)] as const,
  );
  for (const [copy, from] of copies) cpSync(from, copy);
  database.close();
  for (const [copy, to] of copies) cpSync(copy, to);
}
