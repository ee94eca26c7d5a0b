import { expect, test } from "vitest";
import type { NodeState } from "./node-state.ts";
import { NodeTable } from "./node-table.ts";

function state(more: Partial<NodeState> = {}): NodeState {
  return {
    czxid: 1,
    ctimeMs: 2,
    owner: 0n,
    version: 3,
    mzxid: 4,
    mtimeMs: 5,
    data: { byteCount: 6, sha256: "ab" },
    aversion: 7,
    acl: "[]",
    pzxid: 8,
    creates: 10,
    ...more,
  };
}

test("ten thousand nodes are found again, in a table that has grown", () => {
  const table = new NodeTable(2);
  for (let i = 0; i < 10_000; i++) table.add(`/${i}`, state({ version: i }));
  expect(table.size).toBe(10_000);
  for (let i = 0; i < 10_000; i += 2) expect(table.see(`/${i}`, state({ version: i }), 1)).toBe("same");
  expect([table.unseenCount(0), table.unseenCount(1)]).toEqual([10_000, 5000]);
  expect([table.isUnseen("/2", 0), table.isUnseen("/2", 1), table.isUnseen("/3", 1)]).toEqual([true, false, true]);
  expect([table.see("/x", state(), 0), table.isUnseen("/x", 0)]).toEqual(["missing", false]);
});

test("a node that is seen twice counts once", () => {
  const table = new NodeTable(1);
  table.add("/a", state());
  for (let i = 0; i < 2; i++) table.see("/a", state(), 0);
  expect(table.unseenCount(0)).toBe(0);
});

test.each<[string, Partial<NodeState>]>([
  ["czxid", { czxid: 2 }],
  ["ctime", { ctimeMs: 3 }],
  ["owner", { owner: 1n }],
  ["version", { version: 4 }],
  ["mzxid", { mzxid: 5 }],
  ["mtime", { mtimeMs: 6 }],
  ["length", { data: { byteCount: -1, sha256: "ab" } }],
  ["hash", { data: { byteCount: 6, sha256: "ac" } }],
  ["aversion", { aversion: 8 }],
  ["list", { acl: "[1]" }],
  ["pzxid", { pzxid: 9 }],
  ["creates", { creates: 12 }],
])("another %s is another node", (_, more) => {
  const table = new NodeTable(1);
  table.add("/a", state());
  expect(table.see("/a", state(more), 0)).toBe("other");
});

test("a list that is not shown is neither the same nor another one", () => {
  const table = new NodeTable(1);
  table.add("/a", state());
  expect(table.see("/a", state({ acl: undefined }), 0)).toBe("list-unknown");
  expect(table.see("/a", state({ acl: undefined, version: 9 }), 0)).toBe("other");
});

test("a path that comes twice is not taken for the same as either", () => {
  const table = new NodeTable(1);
  table.add("/a", state());
  table.add("/a", state({ version: 9 }));
  expect(table.size).toBe(1);
  expect([table.see("/a", state(), 0), table.see("/a", state({ version: 9 }), 0)]).toEqual(["other", "other"]);
});

test("a million nodes have 59 MB", () => {
  const table = new NodeTable(1);
  for (let i = 0; i < 3000; i++) table.add(`/${i}`, state());
  // A table doubles when three quarters of its slots are taken: 4096 for these, 2^21 for a million.
  expect(table.byteCount).toBe(4096 * 28);
  expect(2 ** 21 * 28).toBe(58_720_256);
});
