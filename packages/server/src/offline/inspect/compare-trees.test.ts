import { type ApacheChange, ApacheTree } from "@zooid/txn-log/sqlite";
import { expect, test } from "vitest";
import { compareTrees, comparisonText } from "./compare-trees.ts";

const OPEN = [{ perms: 31, scheme: "world", id: "anyone" }];
const READ = [{ perms: 1, scheme: "ip", id: "127.0.0.1" }];

/** A tree after some changes, by zxids 1, 2, … */
function treeOf(...changes: readonly ApacheChange[]): ApacheTree {
  const tree = new ApacheTree();
  tree.addBuiltIn();
  for (const [i, change] of changes.entries()) {
    const effects = { error: 0, changes: [change], digest: undefined };
    tree.apply({ session: 7n, cxid: 1, type: 0, zxid: BigInt(i + 1), timeMs: BigInt(1000 * i), ...effects });
  }
  return tree;
}

function create(path: string, data: string, owner = 0n): ApacheChange {
  return { kind: "create", path, data: Buffer.from(data), acl: OPEN, owner, parentCversion: -1 };
}

const BEFORE = treeOf(create("/a", "one"), create("/gone", "1"), create("/same", ""));
const AFTER = treeOf(
  create("/a", "one"),
  create("/gone", "1"),
  create("/same", ""),
  { kind: "set", path: "/a", data: Buffer.from("two\n"), version: 1 },
  { kind: "delete", path: "/gone" },
  { kind: "set-acl", path: "/a", acl: READ, aversion: 1 },
  create("/a/\u001b[2J", "new"),
);

function compared(one: ApacheTree, other: ApacheTree, hasData = false): readonly string[] {
  const lines: string[] = [];
  const text = comparisonText(compareTrees([one, other], hasData, (line) => lines.push(line)));
  return [...lines, text];
}

test("nodes of one tree alone, and nodes that differ, are listed by path without values", () => {
  expect(compared(BEFORE, AFTER)).toEqual([
    '! "/" pzxid 0x3 -> 0x5',
    '! "/a" data 3 bytes -> 4 bytes, acl, version 0 -> 1, aversion 0 -> 1, children ever 0 -> 1, mzxid 0x1 -> 0x4, ' +
      "pzxid 0x1 -> 0x7, mtime 1970-01-01T00:00:00.000Z -> 1970-01-01T00:00:03.000Z",
    '+ "/a/\\u001b[2J" 3 bytes',
    '- "/gone" 1 byte',
    "1 znode in the first one alone, 1 in the second one alone, 2 with another content, 4 equal",
  ]);
});

test("values and access lists are shown where they are asked for", () => {
  const lines = compared(AFTER, BEFORE, true);
  expect(lines[1]).toContain('data "two\\n" -> "one", acl ip:"127.0.0.1":1 -> world:"anyone":31, version 1 -> 0');
  expect(lines.slice(2, 4)).toEqual(['- "/a/\\u001b[2J" "new"', '+ "/gone" "1"']);
});

test("a value that is absent is another one than an empty value, and so is another owner", () => {
  const absent: ApacheChange = { kind: "set", path: "/a", data: null, version: 0 };
  const [line] = compared(treeOf(create("/a", "")), treeOf(create("/a", "", 0x10n), absent));
  expect(line).toContain("data 0 bytes -> null");
  expect(line).toContain("owner 0x0 -> 0x10");
});

test("equal trees have no line but the last one", () => {
  expect(compared(BEFORE, BEFORE)).toEqual([
    "0 znodes in the first one alone, 0 in the second one alone, 0 with another content, 7 equal",
  ]);
});
