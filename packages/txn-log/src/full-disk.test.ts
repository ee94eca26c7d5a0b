import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { batchOf, RecordingHandler, range, recordsOf, Z } from "./append-batches.ts";
import { makeReserve, RESERVE_FILE, releaseReserve } from "./directory/disk-reserve.ts";
import { promised } from "./promised-log.ts";
import { openStore, type Store } from "./sqlite.ts";
import { FULL_FILE } from "./test-break.ts";
import { TemporaryDirectory } from "./testing/temporary-directory.ts";

let place: TemporaryDirectory;
let directory: string;
let reports: RecordingHandler;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
  mkdirSync(directory);
  reports = new RecordingHandler();
});
afterEach(() => place[Symbol.dispose]());

const open = (): Promise<Store> => openStore({ directory, sid: 1, handler: reports, testBreak: "log-full" });

/** The disk has no room until the answer is disposed of. */
function fill(): Disposable {
  const file = join(directory, FULL_FILE);
  writeFileSync(file, "");
  return { [Symbol.dispose]: () => rmSync(file) };
}

async function until(claim: () => boolean): Promise<void> {
  while (!claim()) await setImmediate();
}

describe("a write without room", () => {
  test("waits with all behind it, and is written as it came once there is room", async () => {
    await using store = await open();
    const { log } = store;
    const steps = promised(log);
    let written: string[] = [];
    const noted = (what: string) => () => void written.push(what);
    {
      using _full = fill();
      steps.append(batchOf(range(1, 300)));
      steps.append(batchOf(range(301, 301), { records: [Buffer.alloc(3_000_000, 7)] }));
      void steps.setPromise({ epoch: 1, sid: 1, incarnation: 1 }).then(noted("promise"));
      steps.append(batchOf(range(302, 400)));
      await until(() => log.isFull);
      void steps.setCurrentEpoch(1).then(noted("epoch"));
      expect(reports.completions).toEqual([]);
      expect(log.durable.tail.zxid).toBe(0);
    }
    await until(() => written.length === 2);
    expect(written).toEqual(["promise", "epoch"]);
    expect(log.isFull).toBe(false);
    expect(reports.rooms).toEqual(["full", "room"]);
    expect(reports.completions.at(-1)?.zxid).toBe(Z(1, 400));
    expect(reports.failures).toEqual([]);
    written = [];
    const { bytes, count } = await steps.read(Z(0, 0), 1 << 24);
    expect(count).toBe(400);
    expect(recordsOf(bytes)[299]).toEqual(new TextEncoder().encode(`record ${Z(1, 300)} of 1`));
    expect(recordsOf(bytes)[300]?.length).toBe(3_000_000);
  });

  test("ends a stage, a cut and an installed history no less than an append", async () => {
    await using store = await open();
    const { log } = store;
    const steps = promised(log);
    steps.append(batchOf(range(1, 3)));
    await steps.setPromise({ epoch: 2, sid: 2, incarnation: 1 });
    let installed: unknown;
    {
      using _full = fill();
      const after = { zxid: Z(1, 3), chain: (await steps.chainAt(Z(1, 3))) ?? log.durable.floor.chain };
      void steps.beginStage(after);
      const { bytes, start, end } = batchOf([Z(2, 1), Z(2, 2)]);
      void steps.stage(bytes, start, end);
      void steps.installHistory({ epoch: 2, tail: Z(2, 2), committed: Z(1, 3) }).then((at) => {
        installed = at.zxid;
      });
      await until(() => log.isFull);
      expect([installed, log.durable.currentEpoch]).toEqual([undefined, 0]);
    }
    await until(() => installed !== undefined);
    expect([installed, log.durable.currentEpoch]).toEqual([Z(2, 2), 2]);
  });

  test("does not keep a log from closing, and is not there afterwards", async () => {
    {
      await using store = await open();
      promised(store.log).append(batchOf(range(1, 3)));
      await until(() => reports.completions.length === 1);
      using _full = fill();
      promised(store.log).append(batchOf(range(4, 5)));
      await until(() => store.log.isFull);
      await store[Symbol.asyncDispose]();
    }
    await using store = await open();
    expect(store.log.durable.tail.zxid).toBe(Z(1, 3));
    expect(reports.completions).toHaveLength(1);
  });

  test("uses the reserve first", async () => {
    await makeReserve(directory);
    await using store = await open();
    using _full = fill();
    promised(store.log).append(batchOf(range(1, 3)));
    await until(() => store.log.isFull);
    expect(releaseReserve(directory)).toBe(false);
  });
});

test("a start without room uses the reserve, and is refused by name without one", async () => {
  {
    await using _store = await open();
  }
  await makeReserve(directory);
  await makeReserve(directory);
  {
    using _full = fill();
    await expect(open()).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(releaseReserve(directory), RESERVE_FILE).toBe(false);
    expect(reports.warnings).toHaveLength(1);
    await expect(open()).rejects.toMatchObject({ code: "DISK_FULL" });
  }
  await using store = await open();
  expect(store.log.durable.identity.bootCount).toBe(2);
});
