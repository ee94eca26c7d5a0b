import { FRAME_HEADER_BYTES, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { BatchCursor, putEntry } from "../log/entry-batch.ts";
import type { LoggedRun } from "../log/txn-log.ts";
import { Z } from "../testing/append-batches.ts";
import { EntryFeed, EntryFeedReader, newFeedMemory } from "./entry-feed.ts";

const RECORD_BYTES = 100;
const RING_BYTES = 4096;

/** Entries with these zxids, whose records have the counters in them. */
function run(...zxids: readonly Zxid[]): LoggedRun {
  const bytes = new Uint8Array(zxids.length * (FRAME_HEADER_BYTES + RECORD_BYTES));
  let end = 0;
  for (const zxid of zxids) end = putEntry(bytes, end, zxid, new Uint8Array(RECORD_BYTES).fill(zxid % 251));
  return { bytes, start: 0, end };
}

function newFeed(): { readonly feed: EntryFeed; readonly reader: EntryFeedReader } {
  const memory = newFeedMemory(RING_BYTES);
  return { feed: new EntryFeed(memory), reader: new EntryFeedReader(memory) };
}

/** The records that are taken next through a zxid; each record is unchanged. */
function taken(reader: EntryFeedReader, upTo: Zxid): readonly Zxid[] {
  const { bytes, start, end } = reader.take(upTo);
  const batch = new BatchCursor();
  batch.open(bytes, start, end);
  const zxids: Zxid[] = [];
  while (batch.next()) {
    expect([...batch.record()]).toEqual(Array(RECORD_BYTES).fill(batch.zxid % 251));
    zxids.push(batch.zxid);
  }
  return zxids;
}

test("entries are taken in order through a zxid, and those of the same batch behind it later", () => {
  const { feed, reader } = newFeed();
  expect(reader.next(Z(1, 0))).toBeUndefined();
  feed.appended(run(Z(1, 1), Z(1, 2), Z(1, 3)));
  feed.appended(run(Z(1, 4)));
  expect(reader.next(Z(1, 0))).toBe(Z(1, 1));
  expect(taken(reader, Z(1, 2))).toEqual([Z(1, 1), Z(1, 2)]);
  expect(reader.next(Z(1, 2))).toBe(Z(1, 3));
  expect(taken(reader, Z(1, 4))).toEqual([Z(1, 3)]);
  expect(reader.next(Z(1, 3))).toBe(Z(1, 4));
  expect(taken(reader, Z(2, 0))).toEqual([Z(1, 4)]);
  expect(reader.next(Z(1, 4))).toBeUndefined();
});

test("entries up to the one that is asked for are passed over, also within a batch", () => {
  const { feed, reader } = newFeed();
  feed.appended(run(Z(1, 1), Z(1, 2)));
  feed.appended(run(Z(1, 3), Z(1, 4), Z(1, 5)));
  expect(reader.next(Z(1, 4))).toBe(Z(1, 5));
  expect(taken(reader, Z(1, 9))).toEqual([Z(1, 5)]);
});

test("many times the ring's size goes through it", () => {
  const { feed, reader } = newFeed();
  let last = Z(1, 0);
  for (let counter = 1; counter <= 500; counter += 5) {
    feed.appended(run(...Array.from({ length: 5 }, (_, i) => Z(1, counter + i))));
    expect(reader.next(last)).toBe(Z(1, counter));
    expect(taken(reader, Z(1, counter + 4))).toHaveLength(5);
    last = Z(1, counter + 4);
  }
});

test("batches without room are left out until a quarter of the ring is free, and the next one says so", () => {
  const { feed, reader } = newFeed();
  // 40 of them have no room.
  for (let counter = 1; counter <= 80; counter++) feed.appended(run(Z(1, counter)));
  let last = Z(1, 0);
  for (let next = reader.next(last); next === last + 1; next = reader.next(last))
    last = taken(reader, Z(1, 80)).at(-1) ?? last;
  expect(last).toBeGreaterThan(Z(1, 20));
  expect(last).toBeLessThan(Z(1, 40));
  expect(reader.next(last)).toBeUndefined();
  feed.appended(run(Z(1, 81)));
  expect(reader.next(last)).toBe(Z(1, 81));
  expect(taken(reader, Z(1, 81))).toEqual([Z(1, 81)]);
});

test("a ring that was full is not used for each batch that is taken", () => {
  const { feed, reader } = newFeed();
  for (let counter = 1; counter <= 80; counter++) feed.appended(run(Z(1, counter)));
  reader.next(Z(1, 1));
  feed.appended(run(Z(1, 81)));
  let last = Z(1, 1);
  for (let next = reader.next(last); next !== undefined; next = reader.next(last))
    last = taken(reader, Z(1, 81)).at(-1) ?? last;
  expect(last).toBeLessThan(Z(1, 40));
});

test("a batch that never has room is left out", () => {
  const { feed, reader } = newFeed();
  feed.appended(run(...Array.from({ length: 40 }, (_, i) => Z(1, i + 1))));
  feed.appended(run(Z(1, 41)));
  expect(reader.next(Z(1, 0))).toBe(Z(1, 41));
});

test("entries that were appended before the log was replaced are not handed over, also of a batch taken in part", () => {
  const { feed, reader } = newFeed();
  feed.appended(run(Z(1, 1), Z(1, 2), Z(1, 3)));
  feed.appended(run(Z(1, 4)));
  expect(reader.next(Z(1, 0))).toBe(Z(1, 1));
  expect(taken(reader, Z(1, 1))).toEqual([Z(1, 1)]);
  feed.replaced();
  feed.appended(run(Z(2, 1)));
  expect(reader.next(Z(1, 1))).toBe(Z(2, 1));
  expect(taken(reader, Z(2, 1))).toEqual([Z(2, 1)]);
});
