import { expect, test } from "vitest";
import { readAge, readCount, readSize } from "./amount.ts";

test.each([
  ["+1k", 1024, false],
  ["+1k", 1025, true],
  ["-1k", 1023, true],
  ["-1k", 1024, false],
  ["1024", 1024, true],
  ["0", 0, true],
  ["0", 1, false],
])("size %s and %i bytes: %s", (text, bytes, expected) => {
  expect(readSize("--size", text)(bytes)).toBe(expected);
});

test.each([
  ["-1h", 3_599_999, true],
  ["-1h", 3_600_000, false],
  ["+2d", 172_800_001, true],
  ["3m", 239_999, true],
  ["3m", 240_000, false],
])("age %s and %i ms: %s", (text, ageMs, expected) => {
  expect(readAge("--mtime", text)(ageMs)).toBe(expected);
});

test.each([
  () => readSize("--size", "1x"),
  () => readSize("--size", ""),
  () => readAge("--mtime", "5"),
  () => readCount("--children", "-"),
])("an invalid amount is refused", (read) => {
  expect(read).toThrow(expect.objectContaining({ code: "USAGE" }));
});
