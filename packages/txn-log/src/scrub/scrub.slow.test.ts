import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store, type StoreOptions } from "../sqlite.ts";
import { RecordingHandler } from "../testing/append-batches.ts";
import { flipBitBefore } from "../testing/flip-bit.ts";
import { createNodes } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import type { ScrubDamage } from "./scrub.ts";

let place: TemporaryDirectory;
let damaged: ScrubDamage[];
let healed: string[];
beforeEach(() => {
  place = new TemporaryDirectory();
  damaged = [];
  healed = [];
});
afterEach(() => place[Symbol.dispose]());

const directory = (): string => join(place.path, "data");
/** A round begins when it is asked for. */
const open = (options: Partial<StoreOptions> = {}): Promise<Store> =>
  openStore({
    directory: directory(),
    sid: 1,
    handler: new RecordingHandler(),
    segmentBytes: 64 * 1024,
    takeEpoch: true,
    scrub: {
      bytesPerSecond: 1024 ** 3,
      everyMs: 2 ** 31 - 1,
      firstMs: 2 ** 31 - 1,
      damaged: (found) => damaged.push(found),
      healed: (file) => healed.push(file),
    },
    ...options,
  });

function sealedWals(): string[] {
  const wals = readdirSync(directory()).filter((name) => /^log-.*-wal$/.test(name));
  return wals
    .sort()
    .slice(0, -1)
    .map((name) => join(directory(), name));
}

async function fill(store: Store): Promise<void> {
  for (let batch = 0; batch < 30; batch++) await createNodes(store, batch * 20 + 1, (batch + 1) * 20, 300);
}

test("a store without damage passes its rounds", async () => {
  await using store = await open();
  await fill(store);
  await store.state.flush();
  const first = await store.scrub?.round();
  const second = await store.scrub?.round();
  expect(sealedWals().length).toBeGreaterThan(1);
  expect(first).toMatchObject({ unfinishedCount: 0, damaged: [] });
  expect(second).toMatchObject({ unfinishedCount: 0, damaged: [] });
  expect(second?.roundCount).toBeGreaterThan(first?.roundCount ?? 0);
  // Entries and state each have the data of 600 nodes.
  expect(first?.bytes).toBeGreaterThan(2 * 600 * 300);
});

test("a damaged segment that the state is past is let go of, and reported once", async () => {
  const [wal = ""] = await (async () => {
    await using store = await open();
    await fill(store);
    await store.state.flush();
    return sealedWals();
  })();
  flipBitBefore(wal, statSync(wal).size / 2);
  {
    await using store = await open();
    await store.scrub?.round();
    expect(damaged).toMatchObject([{ part: "segment", file: wal.replace(/-wal$/, ""), effect: "retired" }]);
    expect(store.log.durable.floor.zxid).toBeGreaterThanOrEqual(damaged[0]?.end ?? Number.POSITIVE_INFINITY);
    const status = await store.scrub?.round();
    expect(status?.damaged).toEqual([]);
    expect(healed).toEqual([damaged[0]?.file]);
    expect(damaged).toHaveLength(1);
  }
  await using store = await open();
  expect(store.replay(store.loadState({ session: () => {}, node: () => {} }).applied, () => {})).toEqual(
    store.log.durable.tail,
  );
});

// The first frame's sum, and a page that later frames replace: no entry is read from either.
test.each([56, 1000])("a bit before byte %i of a sealed WAL that flips while the store runs is found", async (end) => {
  await using store = await open();
  await fill(store);
  await store.state.flush();
  const [wal = ""] = sealedWals();
  flipBitBefore(wal, end);
  await store.scrub?.round();
  expect(damaged).toMatchObject([{ part: "segment", file: wal.replace(/-wal$/, ""), effect: "retired" }]);
});

test("a sealed segment that another program has checkpointed is whole", async () => {
  const [wal = ""] = await (async () => {
    await using store = await open();
    await fill(store);
    return sealedWals();
  })();
  const database = new Sqlite(wal.replace(/-wal$/, ""));
  database.pragma("wal_checkpoint(TRUNCATE)");
  database.close();
  expect(existsSync(wal)).toBe(false);
  await using store = await open();
  expect(await store.scrub?.round()).toMatchObject({ unfinishedCount: 0, damaged: [] });
});

test("a damaged segment that the state still needs is kept, and named", async () => {
  const [wal = ""] = await (async () => {
    await using store = await open({ checkpointBytes: 2 ** 30 });
    await fill(store);
    return sealedWals();
  })();
  flipBitBefore(wal, statSync(wal).size / 2);
  await using store = await open({ checkpointBytes: 2 ** 30 });
  const status = await store.scrub?.round();
  expect(status?.damaged).toMatchObject([{ part: "segment", effect: "needed" }]);
  expect(damaged).toHaveLength(1);
  expect(store.log.durable.floor.zxid).toBe(0);
});

test("a damaged state file is named with its place, and once", async () => {
  await using store = await open();
  await fill(store);
  await store.state.flush();
  const file = join(directory(), store.log.durable.stateFile);
  flipBitBefore(file, statSync(file).size - 1000);
  await store.scrub?.round();
  const status = await store.scrub?.round();
  expect(damaged).toMatchObject([{ part: "state", file, effect: "needed" }]);
  expect(status?.damaged).toHaveLength(1);
});

test("a store can be closed in the middle of a round", async () => {
  const store = await open({
    scrub: { bytesPerSecond: 1, everyMs: 2 ** 31 - 1, firstMs: 0, damaged: () => {}, healed: () => {} },
  });
  await fill(store);
  const round = store.scrub?.round();
  await store[Symbol.asyncDispose]();
  expect(await round).toMatchObject({ damaged: [] });
});
