import type { Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { basePartName, logName, manifestName, parseListing } from "./backup-listing.ts";
import { planRetention, type TakenAt } from "./retention.ts";

const Z = (zxid: number): Zxid => zxid as Zxid;

/** Bases at 10, 20 and 30, taken at 1000, 2000 and 3000, and files of five. */
const NAMES = [
  ...[10, 20, 30].flatMap((zxid) => [basePartName(Z(zxid), 0), manifestName(Z(zxid))]),
  ...[0, 5, 10, 15, 20, 25, 30].map((after) => logName(Z(after), Z(after + 5))),
];
const TAKEN = new Map([
  [10, 1000],
  [20, 2000],
  [30, 3000],
]);

interface Differences {
  readonly more?: readonly string[];
  readonly taken?: TakenAt;
}

function removed(fromMs: number, { more = [], taken = TAKEN }: Differences = {}): readonly string[] {
  const listing = parseListing([...NAMES, ...more].map((name) => ({ name, bytes: 1 })));
  return planRetention(listing, taken, fromMs);
}

test.each([0, 999, 1000, 1999])("from %s on, all states need the first base", (fromMs) => {
  expect(removed(fromMs).filter((name) => name.startsWith("base/"))).toEqual([]);
  // Of the files before it no state is made.
  const files = fromMs < 1000 ? [] : [logName(Z(0), Z(5)), logName(Z(5), Z(10))];
  expect(removed(fromMs)).toEqual(files);
});

test("a base goes with the files before the next one, its manifest first", () => {
  expect(removed(2000)).toEqual([
    manifestName(Z(10)),
    basePartName(Z(10), 0),
    ...[0, 5, 10, 15].map((after) => logName(Z(after), Z(after + 5))),
  ]);
});

test("the newest base stays, however old it is", () => {
  expect(removed(Number.MAX_SAFE_INTEGER)).not.toContain(manifestName(Z(30)));
  expect(removed(Number.MAX_SAFE_INTEGER)).not.toContain(logName(Z(30), Z(35)));
});

test("a base whose time cannot be read is no base to begin with", () => {
  const taken = new Map<number, number | undefined>([...TAKEN, [20, undefined]]);
  expect(removed(2500, { taken })).toEqual([logName(Z(0), Z(5)), logName(Z(5), Z(10))]);
});

test("an upload that lasts stays, and what an earlier one left goes", () => {
  const [left, lasting] = [basePartName(Z(7), 0), basePartName(Z(40), 0)];
  const names = removed(2000, { more: [left, lasting] });
  expect(names).toContain(left);
  expect(names).not.toContain(lasting);
});

test("a file that reaches over the first base stays", () => {
  const across = logName(Z(18), Z(22));
  expect(removed(2000, { more: [across] })).not.toContain(across);
});
