import { expect, test } from "vitest";
import {
  isEnoughToJudge,
  LARGE_PAGE_BYTES,
  NOTHING_SEEN,
  pageBytesFor,
  type SegmentLoad,
  SMALL_PAGE_BYTES,
} from "./page-size.ts";

function load(bytesPerEntry: number, entryCount: number, syncCount: number): SegmentLoad {
  return { entryBytes: bytesPerEntry * entryCount, entryCount, syncCount };
}

test("small commits get small pages, large ones large pages", () => {
  expect(pageBytesFor(NOTHING_SEEN)).toBe(SMALL_PAGE_BYTES);
  expect(pageBytesFor(load(1100, 16 * 50, 50))).toBe(SMALL_PAGE_BYTES);
  expect(pageBytesFor(load(1100, 64 * 50, 50))).toBe(LARGE_PAGE_BYTES);
});

test.each([
  [16_000, 8192],
  [65_536, 16_384],
  [1_047_000, 32_768],
])("entries of %i bytes get pages of %i bytes", (entryBytes, pageBytes) => {
  expect(pageBytesFor(load(entryBytes, 40, 10))).toBe(pageBytes);
});

test("a segment of a few large entries tells as much as one of many syncs", () => {
  expect(isEnoughToJudge(NOTHING_SEEN)).toBe(false);
  expect(isEnoughToJudge(load(1100, 15, 15))).toBe(false);
  expect(isEnoughToJudge(load(1100, 16, 16))).toBe(true);
  expect(isEnoughToJudge(load(1024 * 1024, 3, 3))).toBe(true);
});
