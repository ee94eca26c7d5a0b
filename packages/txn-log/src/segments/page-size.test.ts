import { expect, test } from "vitest";
import { isEnoughToJudge, LARGE_PAGE_BYTES, NOTHING_SEEN, pageBytesFor, SMALL_PAGE_BYTES } from "./page-size.ts";

test("small commits get small pages, large ones large pages", () => {
  expect(pageBytesFor({ entryBytes: 0, syncCount: 0 })).toBe(SMALL_PAGE_BYTES);
  expect(pageBytesFor({ entryBytes: 16 * 1100 * 50, syncCount: 50 })).toBe(SMALL_PAGE_BYTES);
  expect(pageBytesFor({ entryBytes: 64 * 1100 * 50, syncCount: 50 })).toBe(LARGE_PAGE_BYTES);
  expect(pageBytesFor({ entryBytes: 65_536, syncCount: 1 })).toBe(LARGE_PAGE_BYTES);
});

test("a segment of a few large entries tells as much as one of many syncs", () => {
  expect(isEnoughToJudge(NOTHING_SEEN)).toBe(false);
  expect(isEnoughToJudge({ entryBytes: 15 * 1100, syncCount: 15 })).toBe(false);
  expect(isEnoughToJudge({ entryBytes: 16 * 1100, syncCount: 16 })).toBe(true);
  expect(isEnoughToJudge({ entryBytes: 3 * 1024 * 1024, syncCount: 3 })).toBe(true);
});
