import { expect, test } from "vitest";
import { atOnce } from "./in-slices.ts";
import { watchesOf } from "./watch-text.ts";

const TEXT = "0x1\n\t/a\n\t/b\n0x2\n\t/c\n\t/d\n\t/e\n\n";
const FIRST = { from: 0, countMax: 10 };

test("a session's watched paths are those below its line, of all members", () => {
  expect(atOnce(watchesOf([TEXT, "0x1\n\t/z\n"], "0x1", FIRST))).toEqual({
    paths: ["/a", "/b", "/z"],
    total: 3,
    isCut: false,
  });
  expect(atOnce(watchesOf([TEXT], "0x3", FIRST))).toEqual({ paths: [], total: 0, isCut: false });
});

test("a long list has pages and a count", () => {
  const page = (from: number) => atOnce(watchesOf([TEXT, "0x2\n\t/f\n"], "0x2", { from, countMax: 2 }));
  expect([0, 2, 4].map((from) => page(from).paths)).toEqual([["/c", "/d"], ["/e", "/f"], []]);
  expect([page(0).total, page(2).isCut]).toEqual([4, false]);
});

test("a list that a member has cut says so", () => {
  expect(atOnce(watchesOf([`${TEXT}... truncated\n`], "0x1", FIRST)).isCut).toBe(true);
});
