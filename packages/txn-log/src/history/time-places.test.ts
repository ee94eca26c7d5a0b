import { counterOf } from "@zooid/model";
import { TxnReader } from "@zooid/wire/txn";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listArchive, logFolderOf } from "../archive/archive-folder.ts";
import { ARCHIVE_START, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { isReadFor, placeOfTime, timedFiles } from "./time-places.ts";

let place: TemporaryDirectory;
beforeEach(() => {
  place = new TemporaryDirectory();
});
afterEach(() => place[Symbol.dispose]());

/** The place of a time in files with transactions of these times: its kind, and counters. */
function placesIn(files: readonly (readonly number[])[], timeMs: number): readonly (number | string)[] {
  let end = ARCHIVE_START;
  for (const times of files) end = fileBehind(place.path, end, times);
  const timed = files.length === 0 ? [] : timedFiles(listArchive(logFolderOf(place.path)));
  expect(timed.map(({ times }) => times)).toEqual(
    files.map((times) => ({ firstMs: Math.min(...times), lastMs: Math.max(...times) })),
  );
  const found = placeOfTime(timed, timeMs, new TxnReader());
  if (found.kind === "twice") return [found.kind, counterOf(found.first), counterOf(found.last)];
  return found.kind === "zxid" || found.kind === "behind" ? [found.kind, counterOf(found.zxid)] : [found.kind];
}

const RISING = [
  [10, 20],
  [30, 40],
  [50, 60],
];

test.each([
  [9, ["before"]],
  [10, ["zxid", 1]],
  [15, ["zxid", 1]],
  [20, ["zxid", 2]],
  [25, ["zxid", 2]],
  [30, ["zxid", 3]],
  [39, ["zxid", 3]],
  [40, ["zxid", 4]],
  [59, ["zxid", 5]],
  [60, ["zxid", 6]],
  [99, ["behind", 6]],
])("of rising times %d means one transaction, or lies outside", (timeMs, places) => {
  expect(placesIn(RISING, timeMs)).toEqual(places);
});

test.each([
  ["within a file", [[10, 40, 20, 50]], 30, ["twice", 1, 3]],
  ["within a file, once more", [[10, 40, 20, 50]], 45, ["zxid", 3]],
  [
    "from one file to the next",
    [
      [10, 40],
      [20, 50],
    ],
    30,
    ["twice", 1, 3],
  ],
  ["to a file that is all earlier", [[10, 40], [20, 25], [50]], 30, ["twice", 1, 4]],
  ["below the first of all", [[40], [10]], 30, ["before"]],
  ["before that time", [[10, 5, 40], [50]], 30, ["zxid", 2]],
])("where a clock went back %s, a time means the first and the last transaction", (_name, files, timeMs, places) => {
  expect(placesIn(files, timeMs)).toEqual(places);
});

test("without files there is no place", () => {
  expect(placesIn([], 5)).toEqual(["none"]);
});

test.each([
  [9, false],
  [10, true],
  [19, true],
  [20, false],
])("a file from 10 to 20 is read for %d: %s", (timeMs, isRead) => {
  expect(isReadFor({ firstMs: 10, lastMs: 20 }, timeMs)).toBe(isRead);
});
