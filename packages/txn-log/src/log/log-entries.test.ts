import type { Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { formatSegmentName } from "../segments/segment-name.ts";
import { Z } from "../testing/append-batches.ts";
import { openFiles } from "../testing/open-files.ts";
import { SegmentHistory } from "../testing/segment-history.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { LogReader } from "./log-reader.ts";

/** Single entries here and there in the log. */

let place: TemporaryDirectory;
let history: SegmentHistory;
beforeEach(() => {
  place = new TemporaryDirectory();
  history = new SegmentHistory(place.path);
});
afterEach(() => {
  history.close();
  place[Symbol.dispose]();
});

const readerOf = (): LogReader => LogReader.ofClosed(place.path, history.head.sequence);

/** The zxids of the entries, as they were handed over call by call. */
function entriesOf(reader: LogReader, zxids: readonly Zxid[], bytesMax: number): Zxid[][] {
  const calls: Zxid[][] = [];
  for (let left = Float64Array.from(zxids); left.length > 0; ) {
    const call: Zxid[] = [];
    const count = reader.entries(left, bytesMax, (zxid) => call.push(zxid));
    expect(call).toHaveLength(count);
    calls.push(call);
    left = left.subarray(count);
  }
  return calls;
}

test("entries are handed over segment by segment, at most `bytesMax` at a time", () => {
  history.append(10);
  history.roll();
  history.append(10);
  using reader = readerOf();
  const wanted = [2, 3, 7, 10, 11, 12, 20].map((counter) => Z(1, counter));
  expect(entriesOf(reader, wanted, 1 << 20)).toEqual([wanted.slice(0, 4), wanted.slice(4)]);
  // An entry has 300 bytes at least.
  expect(entriesOf(reader, wanted, 1)).toEqual(wanted.map((zxid) => [zxid]));
});

test.each([
  ["that is gone", 5, Z(1, 5)],
  ["behind one that is gone", 4, Z(1, 4)],
  ["behind the one before the segment, which it does not follow", 1, Z(1, 1)],
])("an entry %s is damage", (_, removed, named) => {
  history.append(10);
  const file = `${place.path}/${formatSegmentName({ sequence: 1, after: Z(0, 0) })}`;
  const segment = new Sqlite(file);
  segment.pragma("wal_autocheckpoint = 0");
  segment.prepare("DELETE FROM log WHERE zxid = ?").run(Z(1, removed));
  using reader = readerOf();
  const where = `table log, row 0x${named.toString(16)}`;
  const wanted = removed === 1 ? [2] : [3, 5, 7];
  expect(() =>
    entriesOf(
      reader,
      wanted.map((counter) => Z(1, counter)),
      1 << 20,
    ),
  ).toThrow(expect.objectContaining({ detail: expect.objectContaining({ code: "DAMAGED", place: where }) }));
  segment.close();
});

test("a limited number of segments is open at a time, and only the newest once they are closed", () => {
  const openSegments = (): number =>
    new Set(openFiles().filter((file) => file.startsWith(place.path) && file.endsWith(".db"))).size;
  for (let i = 0; i < 45; i++) {
    history.append(2);
    history.roll();
  }
  history.append(2);
  using reader = readerOf();
  const before = openSegments();
  const wanted = Array.from({ length: 45 }, (_, i) => Z(1, 2 * i + 2));
  expect(entriesOf(reader, wanted, 1 << 20).flat()).toEqual(wanted);
  const during = openSegments() - before;
  expect(during).toBeGreaterThan(5);
  expect(during).toBeLessThanOrEqual(33);
  reader.closeSealed();
  expect(openSegments() - before).toBeLessThanOrEqual(1);
});
