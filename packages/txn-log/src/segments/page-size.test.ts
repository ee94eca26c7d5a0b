import { expect, test } from "vitest";
import { LARGE_PAGE_BYTES, pageBytesFor, SMALL_PAGE_BYTES } from "./page-size.ts";

test("small commits get small pages, large ones large pages", () => {
  expect(pageBytesFor({ entryBytes: 0, syncCount: 0 })).toBe(SMALL_PAGE_BYTES);
  expect(pageBytesFor({ entryBytes: 16 * 1100 * 50, syncCount: 50 })).toBe(SMALL_PAGE_BYTES);
  expect(pageBytesFor({ entryBytes: 64 * 1100 * 50, syncCount: 50 })).toBe(LARGE_PAGE_BYTES);
  expect(pageBytesFor({ entryBytes: 65_536, syncCount: 1 })).toBe(LARGE_PAGE_BYTES);
});
