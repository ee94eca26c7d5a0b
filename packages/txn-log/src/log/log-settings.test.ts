import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, Z } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { settled } from "../testing/state-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

const SEGMENT_BYTES = 64 * 1024;
const NEVER_MS = 2 ** 31 - 1;
const KEEP_ALL = { logKeepBytes: 2 ** 40, retentionMs: 0, fsyncWarnMs: NEVER_MS };

function open(): Promise<Store> {
  return openStore({
    directory: place.path,
    sid: 1,
    handler: new RecordingHandler(),
    segmentBytes: SEGMENT_BYTES,
    ...KEEP_ALL,
  });
}

test("a sync is slow from another threshold on", async () => {
  await using store = await open();
  promised(store.log).append(batchOf(range(1, 3)));
  await settled(store);
  expect(store.log.stats().slowSyncCount).toBe(0);
  store.log.changeSettings({ ...KEEP_ALL, fsyncWarnMs: 0 });
  promised(store.log).append(batchOf(range(4, 6)));
  await settled(store);
  expect(store.log.stats().slowSyncCount).toBe(1);
});

test("segments that other settings do not ask for are purged", async () => {
  await using store = await open();
  const records = new Array(20).fill(Buffer.alloc(500));
  let next = 1;
  while (store.log.stats().rollCount < 4) {
    promised(store.log).append(batchOf(range(next, next + 19), { records, committed: Z(1, next - 1) }));
    next += 20;
    await settled(store);
  }
  store.log.allowPurge(Z(1, next - 21));
  await settled(store);
  expect(store.log.stats().purgedCount).toBe(0);
  store.log.changeSettings({ ...KEEP_ALL, logKeepBytes: 1 });
  await expect.poll(() => store.log.stats().purgedCount, { interval: 5 }).toBeGreaterThan(0);
});
