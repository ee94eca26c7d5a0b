import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { composeZxid, counterOf, epochOf } from "@zooid/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CHECKPOINT_RESERVE, LOG_RESERVE, makeReserve, releaseReserve } from "../directory/disk-reserve.ts";
import { FULL_FILE } from "../disk/test-break.ts";
import { openStore, type Store } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, recordsOf, Z } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { createNodes, runOracle } from "../testing/state-history.ts";
import { loaded, Oracle } from "../testing/state-oracle.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

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

/** Nothing is checkpointed unless it is asked for. */
const NO_LAG = { checkpointBytes: 2 ** 40, checkpointMs: 2 ** 31 - 1 };

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

  test("uses the reserve where nothing can be purged", async () => {
    await makeReserve(directory, LOG_RESERVE);
    await using store = await open();
    using _full = fill();
    promised(store.log).append(batchOf(range(1, 3)));
    await until(() => store.log.isFull && !existsSync(join(directory, LOG_RESERVE.file)));
  });

  test("lets the state follow at once, so that the log can be purged", async () => {
    await using store = await openStore({ directory, sid: 1, handler: reports, testBreak: "log-full", ...NO_LAG });
    await runOracle(store, new Oracle(1, loaded(store)), 10);
    const { tail } = store.log.durable;
    expect(store.state.applied.applied.zxid).toBeLessThan(tail.zxid);
    using _full = fill();
    promised(store.log).append(batchOf([composeZxid(epochOf(tail.zxid), counterOf(tail.zxid) + 1)]));
    await until(() => store.state.applied.applied.zxid === tail.zxid);
    expect(store.log.isFull).toBe(true);
  });
});

test("a log purges what is allowed while a write waits for room", async () => {
  await using store = await openStore({
    directory,
    sid: 1,
    handler: reports,
    testBreak: "log-full",
    ...NO_LAG,
    segmentBytes: 64 * 1024,
    logKeepBytes: 64 * 1024,
  });
  // Nothing is checkpointed meanwhile, so no segment may go.
  for (let first = 1; first <= 2000; first += 100) await createNodes(store, first, first + 99);
  const { tail, floor } = store.log.durable;
  expect(floor.zxid).toBe(Z(0, 0));
  using _full = fill();
  promised(store.log).append(batchOf([Z(1, 2001)]));
  await until(() => store.log.durable.floor.zxid > 0);
  expect([store.log.isFull, store.log.durable.tail.zxid]).toEqual([true, tail.zxid]);
});

test("a checkpoint without room uses a reserve of its own first", async () => {
  await makeReserve(directory, CHECKPOINT_RESERVE);
  await using store = await openStore({ directory, sid: 1, handler: reports, testBreak: "state-full" });
  await createNodes(store, 1, 5000);
  const checkpointed = store.state.flush();
  await until(() => store.state.stats().isFull);
  expect(existsSync(join(directory, CHECKPOINT_RESERVE.file))).toBe(false);
  await Promise.allSettled([store[Symbol.asyncDispose](), checkpointed]);
});

test("marks that find no room together are checkpointed one at a time", async () => {
  await using store = await openStore({ directory, sid: 1, handler: reports, testBreak: "state-full", ...NO_LAG });
  await createNodes(store, 1, 800);
  await createNodes(store, 801, 1600);
  await store.state.flush();
  expect(store.state.stats().checkpointCount).toBe(2);
  expect(store.state.applied.applied.zxid).toBe(Z(1, 1600));
});

test("a start without room uses the reserve, and is refused by name without one", async () => {
  {
    await using _store = await open();
  }
  await makeReserve(directory, LOG_RESERVE);
  await makeReserve(directory, LOG_RESERVE);
  {
    using _full = fill();
    await expect(open()).rejects.toMatchObject({ code: "DISK_FULL" });
    expect(releaseReserve(directory, LOG_RESERVE)).toBe(false);
    expect(reports.warnings).toHaveLength(1);
    await expect(open()).rejects.toMatchObject({ code: "DISK_FULL" });
  }
  await using store = await open();
  expect(store.log.durable.identity.bootCount).toBe(2);
});

test("a start that cannot open a file in a directory with room is refused", async () => {
  {
    await using _store = await open();
  }
  await makeReserve(directory, LOG_RESERVE);
  const index =
    readdirSync(directory)
      .find((name) => name.endsWith("-wal"))
      ?.replace(/-wal$/, "-shm") ?? "";
  rmSync(join(directory, index), { force: true });
  symlinkSync("missing", join(directory, index));
  await expect(open()).rejects.toMatchObject({ code: "UNREADABLE" });
  expect([reports.warnings, existsSync(join(directory, LOG_RESERVE.file))]).toEqual([[], true]);
  rmSync(join(directory, index));
  await using store = await open();
  expect(store.log.durable.identity.bootCount).toBe(2);
});
