import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { counterOf, type Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { batchOf, RecordingHandler, range, recordsOf, Z, zxidsOf } from "../append-batches.ts";
import { openDatabase } from "../database.ts";
import { readDurableLog, writeStoreRow } from "../log/schema.ts";
import { promised } from "../promised-log.ts";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { chainOver, recordOf, writeDirectoryOfFormat1 } from "../testing/log-of-format-1.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { DurableLog } from "../txn-log.ts";
import { convertLog } from "./convert-log.ts";
import { createSegment } from "./segment-file.ts";
import { formatSegmentName } from "./segment-name.ts";

let place: TemporaryDirectory;
let directory: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  mkdirSync(directory);
});
afterEach(() => place[Symbol.dispose]());

const open = (options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({ directory, sid: 1, handler: new RecordingHandler(), ...options });
const settle = (store: Store): Promise<void> => promised(store.log).setConfigs({});
const file = (name: string): string => join(directory, name);
const SEGMENT_1 = formatSegmentName({ sequence: 1, after: Z(1, 30) });

async function expectConverted(old: DurableLog, bootCount: number): Promise<void> {
  await using store = await open();
  expect(store.log.durable).toEqual({ ...old, identity: { ...old.identity, formatVersion: 2, bootCount } });
  const run = await promised(store.log).read(old.floor.zxid, 1 << 20);
  const zxids = zxidsOf(run.bytes);
  expect(recordsOf(run.bytes).map((record) => Buffer.from(record).equals(recordOf(zxids.shift() as Zxid)))).toEqual(
    range(counterOf(old.floor.zxid) + 1, counterOf(old.tail.zxid)).map(() => true),
  );
  expect(run.last).toEqual(old.tail);
}

/** What an earlier version reads before all else. */
function formatInLogFile(): number {
  const database = new Sqlite(file("log.db"), { readonly: true });
  const format = database.prepare("SELECT format FROM store").pluck().get() as number;
  database.close();
  return format;
}

describe("a log.db from before there were segments", () => {
  test("becomes the oldest segment, and the log goes on behind it through restarts", async () => {
    const old = writeDirectoryOfFormat1(directory, { floorAt: 0, count: 30 });
    await expectConverted(old, 7);
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(31, 40)));
      await settle(store);
    }
    await using store = await open();
    expect(zxidsOf((await promised(store.log).read(Z(0, 0), 1 << 20)).bytes)).toEqual(range(1, 40));
    expect(zxidsOf((await promised(store.log).read(Z(1, 28), 1 << 20)).bytes)).toEqual(range(29, 40));
    expect(formatInLogFile()).toBe(2);
  });

  test("may be cut and flipped below its end", async () => {
    const old = writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
    const chain = chainOver(range(11, 26), old.floor.chain).at(-1);
    {
      await using store = await open();
      expect(await promised(store.log).cut(Z(1, 26))).toEqual({ zxid: Z(1, 26), chain });
      promised(store.log).append(batchOf([Z(4, 1)]));
      await settle(store);
    }
    await using store = await open();
    expect(zxidsOf((await promised(store.log).read(Z(1, 10), 1 << 20)).bytes)).toEqual([...range(11, 26), Z(4, 1)]);
    expect(await promised(store.log).chainAt(Z(1, 27))).toBeUndefined();
    await expect(promised(store.log).read(Z(1, 9), 1)).rejects.toMatchObject({ code: "below-floor" });
  });

  test("is replaced by a mark when it is purged, which names the format to earlier versions", async () => {
    writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30, isFolded: true });
    {
      await using store = await open({ logKeepBytes: 1, segmentBytes: 64 * 1024 });
      promised(store.log).append(batchOf([Z(4, 1)], { committed: Z(1, 30) }));
      await settle(store);
      store.log.allowPurge(Z(1, 30));
      while (store.log.durable.floor.zxid < Z(1, 30)) await settle(store);
    }
    await using store = await open();
    expect(store.log.durable).toMatchObject({ floor: { zxid: Z(1, 30) }, tail: { zxid: Z(4, 1) } });
    const database = new Sqlite(file("log.db"), { readonly: true });
    expect(database.prepare("SELECT name FROM sqlite_schema").pluck().all()).toEqual(["store"]);
    database.close();
    expect(formatInLogFile()).toBe(2);
    expect(existsSync(file("log.db-wal"))).toBe(false);
  });

  test("without entries is replaced by a mark at once", async () => {
    const old = writeDirectoryOfFormat1(directory, { floorAt: 10, count: 10 });
    await expectConverted(old, 7);
    const database = new Sqlite(file("log.db"), { readonly: true });
    expect(database.prepare("SELECT name FROM sqlite_schema").pluck().all()).toEqual(["store"]);
    database.close();
  });

  test("that is shorter than its witness is refused as it is, or begins anew behind its state on demand", async () => {
    writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
    const database = new Sqlite(file("log.db"));
    database.exec(`DELETE FROM log WHERE zxid > ${Z(1, 26)}`);
    database.close();
    await expect(open()).rejects.toMatchObject({ code: "LOG_SHORTENED" });
    expect(formatInLogFile()).toBe(1);
    await using store = await open({ allowAmnesia: true });
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: Z(1, 26) }, floor: { zxid: Z(1, 10) } });
  });

  test("of another server is refused and stays as it is", async () => {
    writeDirectoryOfFormat1(directory, { floorAt: 0, count: 30 });
    await expect(open({ sid: 2 })).rejects.toMatchObject({ code: "FOREIGN" });
    expect(formatInLogFile()).toBe(1);
    expect(readdirSync(directory).filter((name) => name.startsWith("log-"))).toEqual([]);
  });
});

/** What each step of a conversion leaves to a kill. */
const steps: readonly (readonly [name: string, convert: () => void])[] = [
  ["nothing was done", () => {}],
  ["the format is raised, in the WAL", () => raiseFormat()],
  ["log.db is checkpointed", () => void convertLog(directory)],
  ["the first segment is half made", () => [convertLog(directory), writeFileSync(file(`${SEGMENT_1}.new`), "half")]],
  ["the first segment is whole and empty", () => [convertLog(directory), createSegment(file(SEGMENT_1), 1024)]],
  [
    "the WAL of the first segment is allocated",
    () => {
      convertLog(directory);
      createSegment(file(SEGMENT_1), 1024);
      writeFileSync(file(`${SEGMENT_1}-wal`), Buffer.alloc(100_000));
    },
  ],
  [
    "the first segment has a WAL and no main file",
    () => [convertLog(directory), writeFileSync(file(`${SEGMENT_1}-wal`), Buffer.alloc(100_000))],
  ],
];

/** As the conversion does it, killed before the checkpoint. */
function raiseFormat(): void {
  const database = openDatabase(file("log.db"), { pageBytes: 8192, cacheKib: 256, journal: "wal" });
  const log = readDurableLog(database, file("log.db"));
  database.exec("BEGIN; DELETE FROM staged");
  writeStoreRow(database, { ...log, identity: { ...log.identity, formatVersion: 2 } });
  database.exec("COMMIT");
  const copies = ["log.db", "log.db-wal"].map((name) => [join(place.path, name), file(name)] as const);
  for (const [copy, from] of copies) cpSync(from, copy);
  database.close();
  for (const [copy, to] of copies) cpSync(copy, to);
}

test.each(steps)("a conversion that is killed when %s goes on at the next start", async (_, convert) => {
  const old = writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
  convert();
  await expectConverted(old, 7);
  await expectConverted(old, 8);
});

test.each(steps.slice(1))("an earlier version refuses a conversion that was killed when %s", (_, convert) => {
  writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
  convert();
  expect(formatInLogFile()).toBe(2);
});
