import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { batchOf, range, Z, zxidsOf } from "../append-batches.ts";
import { promised } from "../promised-log.ts";
import type { Store, StoreOptions } from "../sqlite.ts";
import { CONVERSION_STEPS, expectConverted, formatInLogFile, openConverted } from "../testing/conversion.ts";
import { chainOver, writeDirectoryOfFormat1 } from "../testing/log-of-format-1.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

let place: TemporaryDirectory;
let directory: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  mkdirSync(directory);
});
afterEach(() => place[Symbol.dispose]());

const open = (options: Partial<StoreOptions> = {}): Promise<Store> => openConverted(directory, options);
const settle = (store: Store): Promise<void> => promised(store.log).setConfigs({});
const file = (name: string): string => join(directory, name);

describe("a log.db from before there were segments", () => {
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
    expect(formatInLogFile(directory)).toBe(2);
    expect(existsSync(file("log.db-wal"))).toBe(false);
  });

  test("without entries is replaced by a mark at once", async () => {
    const old = writeDirectoryOfFormat1(directory, { floorAt: 10, count: 10 });
    await expectConverted(directory, old, 7);
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
    expect(formatInLogFile(directory)).toBe(1);
    await using store = await open({ allowAmnesia: true });
    expect(store.log.durable).toMatchObject({ amnesiac: true, tail: { zxid: Z(1, 26) }, floor: { zxid: Z(1, 10) } });
  });
});

test.each(CONVERSION_STEPS)("a conversion that is killed when %s goes on at the next start", async (_, convert) => {
  const old = writeDirectoryOfFormat1(directory, { floorAt: 10, count: 30 });
  convert(directory);
  await expectConverted(directory, old, 7);
  await expectConverted(directory, old, 8);
});
