import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Zxid } from "@zooid/model";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore, type Store } from "../sqlite.ts";
import { batchOf, RecordingHandler, range, Z } from "../testing/append-batches.ts";
import { promised } from "../testing/promised-log.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { lockAlone, lockAsReader } from "./readers-lock.ts";
import { SealedSegments } from "./sealed-segments.ts";

let place: TemporaryDirectory;
let directory: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  directory = join(place.path, "data");
});
afterEach(() => place[Symbol.dispose]());

const SEGMENT_BYTES = 64 * 1024;
const RECORDS = new Array(50).fill(Buffer.alloc(1000, 1));

const open = (retainBytes: number): Promise<Store> =>
  openStore({
    directory,
    sid: 1,
    handler: new RecordingHandler(),
    takeEpoch: false,
    logKeepBytes: retainBytes,
    segmentBytes: SEGMENT_BYTES,
  });

/** Appends until `segmentCount` segments are sealed. @returns the next counter */
async function fill(store: Store, segmentCount: number, first = 1): Promise<number> {
  let next = first;
  while (store.log.stats().segmentCount <= segmentCount) {
    promised(store.log).append(batchOf(range(next, next + 49), { records: RECORDS, committed: Z(1, next - 1) }));
    next += 50;
    await promised(store.log).setConfigs({});
  }
  return next;
}

test("sealed segments of a running log are listed with their ranges, and read whole without an end to the writing", async () => {
  await using store = await open(1 << 30);
  const next = await fill(store, 4);
  using segments = new SealedSegments(directory);
  const listed = segments.list();
  expect(listed.length).toBeGreaterThanOrEqual(4);
  expect(listed[0]?.after.zxid).toBe(0);
  const zxids: Zxid[] = [];
  for (const [i, segment] of listed.entries()) {
    if (i > 0) expect(segment.after).toEqual(listed[i - 1]?.end);
    expect(readdirSync(directory)).toContain(`${segment.file}-wal`);
    segments.read(segment, (zxid) => zxids.push(zxid));
    expect(zxids.at(-1)).toBe(segment.end.zxid);
  }
  expect(zxids).toEqual(range(1, zxids.length));
  const last = listed.at(-1);
  const rest: Zxid[] = [];
  if (last !== undefined) segments.read(last, (zxid) => rest.push(zxid), (last.end.zxid - 3) as Zxid);
  expect(rest).toHaveLength(3);
  promised(store.log).append(batchOf(range(next, next)));
  await promised(store.log).setConfigs({});
  expect(store.log.durable.tail.zxid).toBe(Z(1, next));
});

test("a log that is stopped is read in the same way, and opens afterwards", async () => {
  {
    await using store = await open(1 << 30);
    await fill(store, 2);
  }
  {
    using segments = new SealedSegments(directory);
    let count = 0;
    for (const segment of segments.list()) segments.read(segment, () => count++);
    expect(count).toBeGreaterThan(0);
  }
  await using store = await open(1 << 30);
  expect(store.log.stats().segmentCount).toBeGreaterThanOrEqual(2);
});

test("a segment that the log let go of is reported as such", async () => {
  await using store = await open(1);
  using segments = new SealedSegments(directory);
  const next = await fill(store, 2);
  const [first] = segments.list();
  if (first === undefined) throw new Error("no segment is sealed");
  store.log.allowPurge(Z(1, next - 2));
  while (segments.list().some(({ sequence }) => sequence === first.sequence)) await setImmediate();
  // Its files go a little later.
  while (readdirSync(directory).includes(first.file)) await setImmediate();
  expect(() => segments.read(first, () => {})).toThrow(expect.objectContaining({ code: "BELOW_FLOOR" }));
  // While there is a reader, the log reuses none of its files, and continues to append.
  await fill(store, 3, next);
});

test("a flipped bit in a sealed segment is found, wherever it is among the entries", async () => {
  {
    await using store = await open(1 << 30);
    await fill(store, 2);
  }
  using segments = new SealedSegments(directory);
  const [first] = segments.list();
  if (first === undefined) throw new Error("no segment is sealed");
  const wal = join(directory, `${first.file}-wal`);
  const whole = readFileSync(wal);
  for (const share of [0.2, 0.5, 0.8]) {
    const damaged = Buffer.from(whole);
    const at = Math.floor(Math.min(first.bytes, whole.length) * share);
    damaged.writeUInt8(damaged.readUInt8(at) ^ 4, at);
    writeFileSync(wal, damaged);
    expect(() => segments.read(first, () => {}), `${at}`).toThrow(expect.objectContaining({ code: "DAMAGED" }));
  }
});

describe("the lock of readers", () => {
  test("is shared by readers, and none can hold it exclusively meanwhile", () => {
    using place = new TemporaryDirectory();
    const one = lockAsReader(place.path);
    using _other = lockAsReader(place.path);
    expect(lockAlone(place.path)).toBeUndefined();
    one[Symbol.dispose]();
    expect(lockAlone(place.path)).toBeUndefined();
    _other[Symbol.dispose]();
    using alone = lockAlone(place.path);
    expect(alone).toBeDefined();
  });
});
