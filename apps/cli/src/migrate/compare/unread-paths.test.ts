import { expect, test } from "vitest";
import { UnreadPaths } from "./unread-paths.ts";

test("a path covers itself and all below it", () => {
  const unread = new UnreadPaths();
  for (const path of ["/a/b", "/c", "/c"]) unread.add(path);
  expect(["/a/b", "/a/b/c/d", "/c/x"].map((path) => unread.covers(path))).toEqual([true, true, true]);
  expect(["/", "/a", "/a/bc", "/x"].map((path) => unread.covers(path))).toEqual([false, false, false, false]);
  expect([unread.count, unread.first]).toEqual([2, "/a/b"]);
});

test("the root covers all", () => {
  const unread = new UnreadPaths();
  unread.add("/");
  expect(["/", "/a/b"].map((path) => unread.covers(path))).toEqual([true, true]);
});

test("with more than are kept any node may be covered", () => {
  const unread = new UnreadPaths(2);
  for (const path of ["/a", "/b", "/c"]) unread.add(path);
  expect([unread.covers("/x"), unread.count]).toEqual([true, 3]);
});
