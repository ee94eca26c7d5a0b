import type { Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { basePartName, logName, manifestName, missingRanges, parseListing } from "./backup-listing.ts";

const Z = (zxid: number): Zxid => zxid as Zxid;
const listed = (...names: readonly string[]) => parseListing(names.map((name, i) => ({ name, bytes: i })));

test("bases with a manifest are bases, others are unfinished", () => {
  const names = [basePartName(Z(9), 0), basePartName(Z(5), 0), basePartName(Z(5), 1), manifestName(Z(5))];
  const { bases, unfinished, strangers } = listed(...names);
  expect(bases).toEqual([
    {
      zxid: 5,
      parts: new Map([
        [0, 1],
        [1, 2],
      ]),
      names: [manifestName(Z(5)), basePartName(Z(5), 0), basePartName(Z(5), 1)],
    },
  ]);
  expect(unfinished.map(({ zxid }) => zxid)).toEqual([9]);
  expect(strangers).toEqual([]);
});

test("files are listed by their end, and names that no backup has apart", () => {
  const strange = [
    "log/../../etc/passwd",
    "log/0000000000000005-0000000000000005",
    "log/5-9",
    "log/ffffffffffffffff-fffffffffffffff0",
    "base/0000000000000005/0000/0000",
    "base/0000000000000005/12345678",
    "base/manifest.json",
    "base/\u001b[31m/0000",
    "lease.json",
  ];
  const { files, strangers, bases, unfinished } = listed(logName(Z(5), Z(9)), ...strange, logName(Z(0), Z(5)));
  expect(files.map(({ after, end }) => [after, end])).toEqual([
    [0, 5],
    [5, 9],
  ]);
  expect([bases, unfinished]).toEqual([[], []]);
  expect(strangers).toEqual(strange);
});

test.each<readonly [ranges: readonly (readonly [number, number])[], missing: readonly (readonly [number, number])[]]>([
  [[], []],
  [
    [
      [0, 5],
      [5, 9],
    ],
    [],
  ],
  // Files of two members, which overlap.
  [
    [
      [0, 5],
      [3, 9],
      [0, 12],
    ],
    [],
  ],
  [
    [
      [0, 5],
      [6, 9],
      [9, 10],
      [20, 21],
    ],
    [
      [5, 6],
      [10, 20],
    ],
  ],
])("of %j, %j are missing", (ranges, missing) => {
  const listing = listed(...ranges.map(([after, end]) => logName(Z(after), Z(end))));
  expect(missingRanges(listing)).toEqual(missing.map(([after, end]) => ({ after, end })));
});

test.each<readonly [bases: readonly number[], missing: readonly (readonly [number, number])[]]>([
  [[5, 10], []],
  [[3], [[3, 5]]],
  [[7, 12], [[10, 12]]],
  // Where an epoch begins.
  [[7, 2 ** 32], []],
])("with bases at %j and files from 5 to 10, %j are missing", (bases, missing) => {
  const listing = listed(logName(Z(5), Z(10)), ...bases.map((zxid) => manifestName(Z(zxid))));
  expect(missingRanges(listing)).toEqual(missing.map(([after, end]) => ({ after, end })));
});
