import { isDeepStrictEqual } from "node:util";
import { OPEN_ACL } from "@zooid/model";
import { APACHE_STAT_BYTES } from "@zooid/wire/apache";
import { expect, test } from "vitest";
import { StoreError } from "../store/store-error.ts";
import { APACHE_SNAPSHOT } from "../testing/apache-snapshot.ts";
import { ApacheSnapshotDecoder } from "./apache-snapshot-decoder.ts";
import { ApacheTree } from "./apache-tree.ts";
import { apacheTreeSnapshot } from "./apache-tree-snapshot.ts";

const PIECE_BYTES = 256 * 1024;

/** The result of a decoder for pieces: the tree, and the last transaction's zxid. */
function read(pieces: Iterable<Buffer>): { readonly tree: ApacheTree; readonly lastZxid: bigint | undefined } {
  const tree = new ApacheTree();
  const decoder = new ApacheSnapshotDecoder(tree);
  for (const piece of pieces) decoder.add(piece);
  return { tree, lastZxid: decoder.end() };
}

function put(tree: ApacheTree, path: string, dataBytes: number, acl = OPEN_ACL): void {
  const stat = Buffer.alloc(APACHE_STAT_BYTES, path.length);
  tree.nodes.set(path, { data: Buffer.alloc(dataBytes, "x"), acl, stat });
}

/** One of each kind of node, and more than a piece of others. */
function newTree(): ApacheTree {
  const { tree } = read([APACHE_SNAPSHOT]);
  for (let i = 0; i < 50; i++) put(tree, `/n${i}`, 20_000);
  for (const size of [PIECE_BYTES - 100, PIECE_BYTES, 2 * PIECE_BYTES]) put(tree, `/n1/${size}`, size);
  for (let i = 0; i < 9; i++) put(tree, `/n3/${i}`, 9, [{ perms: 31, scheme: "digest", id: `user${i % 4}:x` }]);
  for (let i = 0; i < 2000; i++) put(tree, `/n2/small-${i}`, 100);
  return tree;
}

test("a tree that was written and read is the same tree, at the zxid that was given", () => {
  const tree = newTree();
  const { tree: again, lastZxid } = read(apacheTreeSnapshot(tree, 0x3_0000_0007n, "it"));
  expect([again.nodes.size, lastZxid]).toEqual([tree.nodes.size, 0x3_0000_0007n]);
  const others = [...tree.nodes].filter(([path, node]) => !isDeepStrictEqual(again.nodes.get(path), node));
  expect(others.map(([path]) => path)).toEqual([]);
});

test("pieces end behind the node that fills them, and nothing is kept for the next one", () => {
  const tree = newTree();
  const pieces = [...apacheTreeSnapshot(tree, 1n, "it")];
  const longest = 2 * PIECE_BYTES + 1000;
  const lengths = pieces.map(({ length }) => length);
  expect(lengths.slice(0, -1).filter((length) => length < PIECE_BYTES || length >= PIECE_BYTES + longest)).toEqual([]);
  expect(lengths.at(-1)).toBeLessThan(PIECE_BYTES);
  const dataBytes = [...tree.nodes.values()].reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
  const bytes = lengths.reduce((sum, length) => sum + length, 0);
  expect(bytes - dataBytes).toBeLessThan(tree.nodes.size * 150);
  // A small tree is one piece.
  expect([...apacheTreeSnapshot(read([APACHE_SNAPSHOT]).tree, 1n, "it")]).toHaveLength(1);
});

test("parents come before their children, whatever the order of the tree", () => {
  const tree = new ApacheTree();
  for (const path of ["/a/b/c", "/a/b", "/b", "/a", ""]) put(tree, path, 0);
  const { tree: again } = read(apacheTreeSnapshot(tree, 1n, "it"));
  expect([...again.nodes.keys()]).toEqual(["", "/b", "/a", "/a/b", "/a/b/c"]);
});

test.each([
  ["without an access list", "/a", (tree: ApacheTree) => void Object.assign(nodeOf(tree, "/a"), { acl: undefined })],
  ["without a parent", "/a/b", (tree: ApacheTree) => void tree.nodes.delete("/a")],
  ["without a root above it", "/a", (tree: ApacheTree) => void tree.nodes.delete("")],
])("a node %s is damage, with its path", (_name, path, spoil) => {
  const tree = new ApacheTree();
  for (const each of ["", "/a", "/a/b"]) put(tree, each, 10);
  spoil(tree);
  const write = (): unknown => [...apacheTreeSnapshot(tree, 1n, "the files of server 1")];
  expect(write).toThrow(StoreError);
  expect(write).toThrow(`the files of server 1 is damaged at the node "${path}"`);
});

function nodeOf(tree: ApacheTree, path: string): object {
  const node = tree.nodes.get(path);
  if (node === undefined) throw new Error(`${path} is missing`);
  return node;
}
