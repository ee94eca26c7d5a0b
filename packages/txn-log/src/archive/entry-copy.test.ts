import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { FRAME_HEADER_BYTES, type TxnDecoder, type Zxid } from "@zooid/model";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import { putEntry } from "../log/entry-batch.ts";
import { LogReader } from "../log/log-reader.ts";
import { range, Z } from "../testing/append-batches.ts";
import { recordOf, SegmentHistory } from "../testing/segment-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { ArchiveFile } from "./archive-file.ts";
import { ArchiveFileWriter } from "./archive-file-writer.ts";
import { EntryCopy } from "./entry-copy.ts";
import { EntryFeed, EntryFeedReader, newFeedMemory } from "./entry-feed.ts";

const FEED_BYTES = 64 * 1024;
/** The records of these logs are no transactions. */
const DECODER: TxnDecoder = { open: () => {}, next: () => false, hasNext: false };

let place: TemporaryDirectory;
let history: SegmentHistory;
let feed: EntryFeed;
let reader: EntryFeedReader;
let log: LogReader;
beforeEach(() => {
  place = new TemporaryDirectory();
  mkdirSync(join(place.path, "data"));
  history = new SegmentHistory(join(place.path, "data"));
  const memory = newFeedMemory(FEED_BYTES);
  feed = new EntryFeed(memory);
  reader = new EntryFeedReader(memory);
});
afterEach(() => {
  log[Symbol.dispose]();
  history.close();
  place[Symbol.dispose]();
});

/** Appends to the log, and to the feed. */
function append(count: number, epoch = 1): void {
  const before = history.zxids.length;
  history.append(count, epoch);
  feedEntries(history.zxids.slice(before));
}

function feedEntries(zxids: readonly Zxid[], record = recordOf): void {
  const bytes = Buffer.alloc(zxids.reduce((sum, zxid) => sum + FRAME_HEADER_BYTES + record(zxid).length, 0));
  let end = 0;
  for (const zxid of zxids) end = putEntry(bytes, end, zxid, record(zxid));
  feed.appended({ bytes, start: 0, end });
}

function newCopy(): EntryCopy {
  log = LogReader.ofClosed(history.directory, history.head.sequence);
  return new EntryCopy(log, reader);
}

function newWriter(): ArchiveFileWriter {
  return new ArchiveFileWriter(DECODER, { zxid: Z(0, 0), chain: CHAIN_NONE });
}

function copyThrough(copy: EntryCopy, writer: ArchiveFileWriter, upTo: Zxid): void {
  while (writer.last < upTo) copy.copySome(writer, upTo);
}

/** Ends the file, and reads it whole. */
function entriesOf(copy: EntryCopy, writer: ArchiveFileWriter): readonly Zxid[] {
  copy.prove(writer);
  const { end } = writer.finish(place.path, "", { zxid: writer.last, bytes: 0, digestHigh: 0, digestLow: 0 });
  expect(end).toEqual(writer.end);
  using file = new ArchiveFile(join(place.path, `0000000000000000-${end.zxid.toString(16).padStart(16, "0")}`));
  file.verify();
  const zxids: Zxid[] = [];
  file.walk(Z(0, 0), (zxid, bytes, start, stop) => {
    expect(recordOf(zxid).equals(bytes.subarray(start, stop))).toBe(true);
    zxids.push(zxid);
  });
  return zxids;
}

test("what the feed has is not read back from the log, and none behind the mark is copied", () => {
  for (let i = 0; i < 10; i++) append(7);
  const [copy, writer] = [newCopy(), newWriter()];
  copyThrough(copy, writer, Z(1, 10));
  copyThrough(copy, writer, Z(1, 65));
  expect(entriesOf(copy, writer)).toEqual(range(1, 65));
  // The log says that nothing comes before the first entry of an epoch.
  expect(copy).toMatchObject({ fedCount: 65, readBackCount: 0 });
});

test("entries that the feed has left out are read back, and those behind them come from it again", () => {
  history.append(5);
  append(20);
  // The ring has room for 100 of them.
  for (let i = 0; i < 20; i++) append(20);
  const [copy, writer] = [newCopy(), newWriter()];
  copyThrough(copy, writer, Z(1, 425));
  const { fedCount, readBackCount } = copy;
  expect(fedCount).toBeGreaterThan(20);
  expect(readBackCount).toBeGreaterThan(200);
  append(30);
  copyThrough(copy, writer, Z(1, 455));
  expect(copy).toMatchObject({ fedCount: fedCount + 30, readBackCount });
  expect(entriesOf(copy, writer)).toEqual(range(1, 455));
});

test("entries that a new leader cut are in no file, though the feed has them", () => {
  append(10);
  feedEntries(range(11, 13));
  history.append(3);
  history.cut(Z(1, 10));
  feed.replaced();
  append(5, 2);
  const [copy, writer] = [newCopy(), newWriter()];
  copyThrough(copy, writer, Z(2, 5));
  expect(entriesOf(copy, writer)).toEqual([...range(1, 10), ...[1, 2, 3, 4, 5].map((counter) => Z(2, counter))]);
  expect(copy).toMatchObject({ fedCount: 5, readBackCount: 10 });
});

test("entries of an epoch that came by another way than an append are read back", () => {
  append(10);
  history.append(4);
  append(5, 2);
  const [copy, writer] = [newCopy(), newWriter()];
  copyThrough(copy, writer, Z(2, 5));
  expect(entriesOf(copy, writer)).toEqual([...range(1, 14), ...[1, 2, 3, 4, 5].map((counter) => Z(2, counter))]);
  expect(copy).toMatchObject({ fedCount: 15, readBackCount: 4 });
});

test("a file that is begun again has what the feed gave before, from the log", () => {
  append(10);
  const copy = newCopy();
  copyThrough(copy, newWriter(), Z(1, 8));
  const writer = newWriter();
  append(10);
  copyThrough(copy, writer, Z(1, 20));
  expect(entriesOf(copy, writer)).toEqual(range(1, 20));
  expect(copy).toMatchObject({ fedCount: 20, readBackCount: 8 });
});

test("entries that are not those of the log are refused, at the next one that is read back and before the file ends", () => {
  history.append(10);
  feedEntries(range(1, 10), (zxid) => (zxid === Z(1, 4) ? recordOf(Z(1, 5)) : recordOf(zxid)));
  const [copy, writer] = [newCopy(), newWriter()];
  copyThrough(copy, writer, Z(1, 10));
  expect(() => copy.prove(writer)).toThrow("up to 0x10000000a the log has other entries than were copied");
  history.append(2);
  expect(() => copyThrough(copy, writer, Z(1, 12))).toThrow("the log has other entries than were copied");
});

test("a log that ends before what is committed is refused", () => {
  append(3);
  const [copy, writer] = [newCopy(), newWriter()];
  expect(() => copyThrough(copy, writer, Z(1, 4))).toThrow("the log ends before 0x100000004, which is committed");
});
