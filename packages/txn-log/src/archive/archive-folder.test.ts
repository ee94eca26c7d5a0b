import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CHAIN_NONE } from "../log/chain.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { Z } from "../testing/append-batches.ts";
import { baseAt, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { listBases } from "./archive-base.ts";
import { basesFolderOf, listArchive, logFolderOf, retainArchive } from "./archive-folder.ts";

const START: LogPosition = { zxid: Z(0, 0), chain: CHAIN_NONE };
/** Two entries each, at these times; bases are at 0, 4 and 8. */
const TIMES_MS = [1000, 2000, 3000, 4000, 5000];

let place: TemporaryDirectory;
let archive: string;
beforeEach(() => {
  place = new TemporaryDirectory();
  archive = join(place.path, "archive");
});
afterEach(() => place[Symbol.dispose]());

/** Five files, and bases that were taken as their entries were made. */
async function fill(bases: readonly (readonly [counter: number, takenMs: number])[]): Promise<void> {
  let end = START;
  for (const timeMs of TIMES_MS) end = fileBehind(archive, end, [timeMs, timeMs + 1]);
  for (const [counter, takenMs] of bases) await baseAt(archive, counter, takenMs);
}

/** The kept files and bases: the ends of files, and the places of bases. */
function retain(retainMs: number, retainBytes = Number.POSITIVE_INFINITY): readonly (readonly number[])[] {
  const files = retainArchive(archive, { retainMs, retainBytes, nowMs: 6000 });
  const listed = listArchive(logFolderOf(archive));
  expect(files).toEqual({ count: listed.length, bytes: listed.reduce((sum, { bytes }) => sum + bytes, 0) });
  return [listed.map(({ end }) => end - Z(1, 0)), basesLeft()];
}

function basesLeft(): readonly number[] {
  return listBases(basesFolderOf(archive)).map(({ zxid }) => (zxid === 0 ? 0 : zxid - Z(1, 0)));
}

test.each([
  [
    "all of the time",
    10_000,
    [
      [2, 4, 6, 8, 10],
      [0, 4, 8],
    ],
  ],
  // The state of 2000 ms is made from the base of 900 ms.
  [
    "from a moment between two bases",
    4000,
    [
      [2, 4, 6, 8, 10],
      [0, 4, 8],
    ],
  ],
  [
    "from a moment behind the second base",
    3400,
    [
      [6, 8, 10],
      [4, 8],
    ],
  ],
  ["from a moment behind the last base", 1000, [[10], [8]]],
  ["of no time", 0, [[10], [8]]],
] as const)("of a history %s the base before it stays, with what follows it", async (_, retainMs, kept) => {
  await fill([
    [0, 900],
    [4, 2500],
    [8, 4500],
  ]);
  expect(retain(retainMs)).toEqual(kept);
  expect(retain(retainMs)).toEqual(kept);
});

test("where no base is older than the retained time all bases stay, and what follows the first one", async () => {
  await fill([
    [4, 5900],
    [8, 5950],
  ]);
  expect(retain(1000)).toEqual([
    [6, 8, 10],
    [4, 8],
  ]);
});

test("without a base files go by their age alone, and the last one stays", async () => {
  await fill([]);
  expect(retain(3500)).toEqual([[6, 8, 10], []]);
  expect(retain(0)).toEqual([[10], []]);
});

test("a damaged base does not stand for the states that an older one gives", async () => {
  await fill([
    [0, 900],
    [4, 2500],
    [8, 2600],
  ]);
  const last = listBases(basesFolderOf(archive)).at(-1);
  truncateSync(join(last?.folder ?? "", "manifest.json"), 10);
  expect(retain(1000)).toEqual([
    [6, 8, 10],
    [4, 8],
  ]);
});

test("bases of a clock that was set back are not older than the retained time", async () => {
  await fill([
    [0, 900],
    [4, 1_000_000],
    [8, 2600],
  ]);
  expect(retain(4000)).toEqual([
    [2, 4, 6, 8, 10],
    [0, 4, 8],
  ]);
});

test("a damaged file is kept, with all behind it, until there is no room for it", async () => {
  await fill([[8, 2600]]);
  const [, second] = listArchive(logFolderOf(archive));
  writeFileSync(second?.file ?? "", "cut short");
  expect(retain(1000)).toEqual([[4, 6, 8, 10], [8]]);
  expect(retain(1000, 1)).toEqual([[10], [8]]);
});

test("the oldest files go while all of them have more bytes, however young they are", async () => {
  await fill([[0, 900]]);
  const files = listArchive(logFolderOf(archive));
  const last = files.slice(-2).reduce((sum, { bytes }) => sum + bytes, 0);
  expect(retain(2 ** 40, last)).toEqual([[8, 10], [0]]);
  expect(retain(2 ** 40, last - 1)).toEqual([[10], [0]]);
  expect(retain(2 ** 40, 0)).toEqual([[10], [0]]);
});
