import { counterOf, type Zxid } from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ARCHIVE_START, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { listArchive, logFolderOf } from "./archive-folder.ts";
import { isReadFor, timedFiles, timePlaces } from "./time-places.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

/** The counters of both places, in files with transactions of these times. */
function placesIn(files: readonly (readonly number[])[], timeMs: number): readonly (number | undefined)[] | undefined {
  let end = ARCHIVE_START;
  for (const times of files) end = fileBehind(place.path, end, times);
  const timed = files.length === 0 ? [] : timedFiles(listArchive(logFolderOf(place.path)));
  expect(timed.map(({ firstMs, lastMs }) => [firstMs, lastMs])).toEqual(
    files.map((times) => [Math.min(...times), Math.max(...times)]),
  );
  const places = timePlaces(timed, timeMs, new TxnReader());
  const counter = (zxid: Zxid | undefined): number | undefined => (zxid === undefined ? undefined : counterOf(zxid));
  return places && [counter(places.first), counter(places.last)];
}

const RISING = [
  [10, 20],
  [30, 40],
  [50, 60],
];

test.each([
  [9, [0, undefined]],
  [10, [1, 1]],
  [15, [1, 1]],
  [20, [2, 2]],
  [25, [2, 2]],
  [30, [3, 3]],
  [39, [3, 3]],
  [40, [4, 4]],
  [59, [5, 5]],
  [60, [6, 6]],
  [99, [6, 6]],
])("of rising times %d means one transaction", (timeMs, places) => {
  expect(placesIn(RISING, timeMs)).toEqual(places);
});

test.each([
  ["within a file", [[10, 40, 20, 50]], 30, [1, 3]],
  ["within a file, once more", [[10, 40, 20, 50]], 45, [3, 3]],
  [
    "from one file to the next",
    [
      [10, 40],
      [20, 50],
    ],
    30,
    [1, 3],
  ],
  ["to a file that is all earlier", [[10, 40], [20, 25], [50]], 30, [1, 4]],
  ["below the first of all", [[40], [10]], 30, [0, 2]],
  ["before that time", [[10, 5, 40], [50]], 30, [2, 2]],
])("where a clock went back %s, a time means the first and the last transaction", (_name, files, timeMs, places) => {
  expect(placesIn(files, timeMs)).toEqual(places);
});

test("without files there is no place", () => {
  expect(placesIn([], 5)).toBeUndefined();
});

test.each([
  [9, false],
  [10, true],
  [19, true],
  [20, false],
])("a file from 10 to 20 is read for %d: %s", (timeMs, isRead) => {
  expect(isReadFor({ firstMs: 10, lastMs: 20 }, timeMs)).toBe(isRead);
});
