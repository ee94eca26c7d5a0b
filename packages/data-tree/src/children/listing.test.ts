import { ErrorCode, sliceOf, sliceText } from "@zooid/model";
import { expect, test } from "vitest";
import { create, remove, TestTree } from "../testing/tree.ts";

/** The names of a node's children, in pages. */
function listed({ tree }: TestTree, path: string, size: number): string[] {
  const { bytes, start, end } = sliceOf(path);
  const node = tree.find(bytes, start, end);
  const names: string[] = [];
  const page: number[] = [];
  for (let isLast = false; !isLast; ) {
    isLast = tree.childrenAfter(node, sliceOf(names.at(-1) ?? ""), size, page);
    names.push(...page.map((child) => sliceText(tree.view(child).name)));
  }
  return names;
}

function nodeOf({ tree }: TestTree, path: string): number {
  const { bytes, start, end } = sliceOf(path);
  return tree.find(bytes, start, end);
}

test("children are listed in order while their number grows beyond what is kept in order, and shrinks again", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  const names = new Set<string>();
  const check = (): void => expect(listed(test, "/a", 97)).toEqual([...names].sort());
  for (let i = 0; i < 1_500; i++) {
    const name = `n${(i * 7919) % 3_001}`;
    test.commit(create(`/a/${name}`));
    names.add(name);
    if (i === 1_022 || i === 1_023 || i === 1_499) check();
  }
  for (const [i, name] of [...names].entries()) {
    test.commit(remove(`/a/${name}`));
    names.delete(name);
    if (i % 400 === 0 || names.size === 513 || names.size === 511 || names.size < 2) check();
  }
  test.commit(create("/a/again"));
  expect(listed(test, "/a", 5)).toEqual(["again"]);
});

test("few children with long names are kept in order too, while their names grow and shrink", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  const prefix = "p".repeat(3_000);
  const names = new Set<string>();
  const check = (): void => expect(listed(test, "/a", 7)).toEqual([...names].sort());
  for (let i = 0; i < 40; i++) {
    const name = `${prefix}${(i * 17) % 41}`;
    test.commit(create(`/a/${name}`));
    names.add(name);
    check();
  }
  for (const name of [...names]) {
    test.commit(remove(`/a/${name}`));
    names.delete(name);
    check();
  }
});

test("the size of a listing is known without a walk", () => {
  const test = new TestTree();
  for (const path of ["/a", "/a/x", "/a/longer", "/a/x/y"]) test.commit(create(path));
  expect(test.tree.listingBytes(nodeOf(test, "/a"))).toBe(4 + 1 + 4 + 6);
  test.commit(remove("/a/longer"));
  expect(test.tree.listingBytes(nodeOf(test, "/a"))).toBe(5);
  expect(test.tree.listingBytes(nodeOf(test, "/"))).toBe(4 + "zookeeper".length + 5);
});

test("a create that would make a listing too long is refused, also by what is proposed and not applied", () => {
  const test = new TestTree();
  Object.assign(test.context, { childrenBytesMax: 20 });
  test.commit(create("/a"));
  expect(["/a/1", "/a/2", "/a/3"].map((path) => test.propose(create(path)))).toEqual(Array(3).fill(ErrorCode.OK));
  expect(test.propose(create("/a/45"))).toBe(ErrorCode.QUOTA_EXCEEDED);
  expect(test.overQuota).toEqual([{ kind: "children-bytes", path: "/a", bytes: 21, bytesMax: 20 }]);
  expect(test.propose(create("/a/4"))).toBe(ErrorCode.OK);
  expect(test.propose(create("/a/4/x"))).toBe(ErrorCode.OK);
  test.applyAll();
  expect(test.commit(create("/a/5"))).toBe(ErrorCode.QUOTA_EXCEEDED);
  // A proposed deletion makes room at once.
  expect(test.propose(remove("/a/1"))).toBe(ErrorCode.OK);
  expect(test.propose(create("/a/5"))).toBe(ErrorCode.OK);
});

test("a refused multi takes back what its creates added to a listing", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  Object.assign(test.context, { childrenBytesMax: 15 });
  test.propose(create("/a/1"));
  expect(test.proposeMulti([create("/a/2"), create("/a/3"), create("/a/4")])).toEqual([
    ErrorCode.OK,
    ErrorCode.OK,
    ErrorCode.QUOTA_EXCEEDED,
  ]);
  expect(test.proposeMulti([create("/a/2"), create("/a/3")])).toEqual([ErrorCode.OK, ErrorCode.OK]);
});

test("the limit counts names at the root by their own length", () => {
  const test = new TestTree();
  const { tree } = test;
  Object.assign(test.context, { childrenBytesMax: tree.listingBytes(nodeOf(test, "/")) + 4 + 3 });
  expect(test.commit(create("/four"))).toBe(ErrorCode.QUOTA_EXCEEDED);
  expect(test.commit(create("/one"))).toBe(ErrorCode.OK);
});

test("a node whose listing comes to exceed stock limits is reported once, and counted until it shrinks", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  const name = (i: number): string => `/a/${"x".repeat(4_000)}${i}`;
  for (let i = 0; i < 261; i++) test.commit(create(name(i)));
  expect([test.tree.largeListingCount, test.tree.takeGrownListing()]).toEqual([0, 0]);
  test.commit(create(name(261)));
  expect(test.tree.largeListingCount).toBe(1);
  expect(test.tree.pathOf(test.tree.takeGrownListing())).toBe("/a");
  test.commit(create(name(262)));
  expect(test.tree.takeGrownListing()).toBe(0);
  for (let i = 0; i < 3; i++) test.commit(remove(name(i)));
  expect(test.tree.largeListingCount).toBe(0);
});

test("a loaded tree lists in order, and knows the sizes of its listings", () => {
  const test = new TestTree();
  test.commit(create("/a"));
  for (let i = 0; i < 1_100; i++) test.commit(create(`/a/n${(i * 17) % 1_103}`));
  const loaded = new TestTree(99);
  loaded.tree.loadSnapshot(test.tree.snapshot());
  expect(listed(loaded, "/a", 250)).toEqual(listed(test, "/a", 1_000));
  expect(loaded.tree.listingBytes(nodeOf(loaded, "/a"))).toBe(test.tree.listingBytes(nodeOf(test, "/a")));
});
