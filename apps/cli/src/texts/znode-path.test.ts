import { expect, test } from "vitest";
import { checkedPath } from "./znode-path.ts";

test.each(["/", "/a", "/a/b.c", "/a/...", "/grüße €", "/zookeeper/config"])("%s is a path", (path) => {
  expect(checkedPath(path)).toBe(path);
});

test.each([
  ["", "Path length must be > 0"],
  ["a", "Path must start with / character"],
  ["/a/", "Path must not end with / character"],
  ["//", "Path must not end with / character"],
  ["/a//b", 'Invalid path string "/a//b" caused by empty node name specified @3'],
  ["/a/./b", 'Invalid path string "/a/./b" caused by relative paths not allowed @3'],
  ["/a/../b", 'Invalid path string "/a/../b" caused by relative paths not allowed @4'],
  ["/..", 'Invalid path string "/.." caused by relative paths not allowed @2'],
  ["/a\u0000b", 'Invalid path string "/a\u0000b" caused by null character not allowed @2'],
  ["/a\u0001b", 'Invalid path string "/a\u0001b" caused by invalid character @2'],
  ["/a\u{1f600}", 'Invalid path string "/a\u{1f600}" caused by invalid character @2'],
  ["/\ufff0", 'Invalid path string "/\ufff0" caused by invalid character @1'],
])("%j is refused in zkCli's words", (path, text) => {
  expect(() => checkedPath(path)).toThrow(text);
});

test("a sequential node's path may end in a slash, since digits follow", () => {
  expect(checkedPath("/queue/", { isSequential: true })).toBe("/queue/");
  expect(() => checkedPath("/queue//", { isSequential: true })).toThrow("empty node name");
});
