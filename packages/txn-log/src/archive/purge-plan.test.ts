import { afterEach, beforeEach, expect, test } from "vitest";
import type { LogPosition } from "../log/txn-log.ts";
import { Z } from "../testing/append-batches.ts";
import { ARCHIVE_START, baseOf, fileBehind } from "../testing/archive-pieces.ts";
import { TemporaryDirectory } from "../testing/temporary-directory.ts";
import { listBases } from "./archive-base.ts";
import { basesFolderOf, listArchive, logFolderOf } from "./archive-folder.ts";
import { carryOutPurge, planPurge } from "./purge-plan.ts";

let place: TemporaryDirectory;
/** The ends of three files of three transactions each. */
let ends: readonly LogPosition[];
beforeEach(async () => {
  place = new TemporaryDirectory();
  const first = fileBehind(place.path, ARCHIVE_START, [1, 2, 3]);
  const second = fileBehind(place.path, first, [4, 5, 6]);
  const third = fileBehind(place.path, second, [7, 8, 9]);
  ends = [first, second, third];
  for (const position of ends) await baseOf(place.path, position, 1);
});
afterEach(() => place[Symbol.dispose]());

const counterOf = (zxid: number): number => zxid % 2 ** 32;
const files = (): readonly number[] => listArchive(logFolderOf(place.path)).map(({ end }) => counterOf(end));
const bases = (): readonly number[] => listBases(basesFolderOf(place.path)).map(({ zxid }) => counterOf(zxid));

test.each<readonly [through: number, files: readonly number[]]>([
  [1, [6, 9]],
  [3, [6, 9]],
  [4, [9]],
  [9, []],
])("a purge through %i removes each file with a transaction up to there, and all bases but the newest", (to, left) => {
  carryOutPurge(place.path, planPurge(place.path, Z(1, to)));
  expect([files(), bases()]).toEqual([left, [9]]);
});

test("a purge through no transaction removes nothing", () => {
  expect(planPurge(place.path, Z(0, 0))).toEqual({ files: [], bases: [] });
});

test("before the base that stays is taken, all others are planned to go", () => {
  const planned = (left: number): readonly number[] =>
    planPurge(place.path, Z(1, 1), Z(1, left)).bases.map(({ zxid }) => counterOf(zxid));
  expect([planned(10), planned(9)]).toEqual([
    [3, 6, 9],
    [3, 6],
  ]);
});

test("what is gone already is no obstacle, and without a base nothing is planned for bases", () => {
  const plan = planPurge(place.path, Z(1, 9));
  carryOutPurge(place.path, plan);
  carryOutPurge(place.path, plan);
  expect(planPurge(place.path, Z(1, 9))).toEqual({ files: [], bases: [] });
  expect(planPurge(`${place.path}/none`, Z(1, 9))).toEqual({ files: [], bases: [] });
});
