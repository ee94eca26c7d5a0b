import { type ConnectionRef, sliceOf, sliceText, WatchMode, WatchSelector, WatchTableKind } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { create, remove, setAcl, setData, TestTree } from "../testing/tree.ts";
import type { WatchEntry } from "./watch-table.ts";

const ONE = 1 as ConnectionRef;
const TWO = 2 as ConnectionRef;
type Kind = "data" | "child" | "persistent" | "recursive";

function arm(test: TestTree, kind: Kind, path: string, connection = ONE): void {
  const { watches } = test.tree;
  const { bytes, start, end } = sliceOf(path);
  if (kind === "persistent") watches.armPersistent(bytes, start, end, connection);
  else if (kind === "recursive") watches.armRecursive(bytes, start, end, connection);
  else {
    const table = kind === "data" ? WatchTableKind.DATA : WatchTableKind.CHILD;
    watches.arm(table, bytes, start, end, connection, WatchMode.STANDARD);
  }
}

test("long paths that differ in their last byte are different paths", () => {
  const test = new TestTree();
  const long = `/${"x".repeat(1000)}`;
  arm(test, "data", `${long}a`);
  arm(test, "data", `${long}b`, TWO);
  test.commit(create(`${long}b`));
  expect(test.takeEvents()).toEqual([`2 created ${long}b`]);
});

function shownWatch({ path, dataModes, childModes }: WatchEntry): string {
  return `${sliceText(path)} ${dataModes} ${childModes}`;
}

type Step = "create X" | "delete X" | "setData X" | "create child" | "delete child" | "setData child" | "create deeper";

/** The last column of each: whether the watch is still there afterwards. */
const table: [Kind, Step, string[], boolean][] = [
  ["data", "create X", ["1 created /x"], false],
  ["data", "delete X", ["1 deleted /x"], false],
  ["data", "setData X", ["1 data /x"], false],
  ["data", "create child", [], true],
  ["data", "delete child", [], true],
  ["data", "setData child", [], true],
  ["data", "create deeper", [], true],
  ["child", "create X", [], true],
  ["child", "delete X", ["1 deleted /x"], false],
  ["child", "setData X", [], true],
  ["child", "create child", ["1 children /x"], false],
  ["child", "delete child", ["1 children /x"], false],
  ["child", "setData child", [], true],
  ["child", "create deeper", [], true],
  ["persistent", "create X", ["1 created /x"], true],
  ["persistent", "delete X", ["1 deleted /x"], true],
  ["persistent", "setData X", ["1 data /x"], true],
  ["persistent", "create child", ["1 children /x"], true],
  ["persistent", "delete child", ["1 children /x"], true],
  ["persistent", "setData child", [], true],
  ["persistent", "create deeper", [], true],
  ["recursive", "create X", ["1 created /x"], true],
  ["recursive", "delete X", ["1 deleted /x"], true],
  ["recursive", "setData X", ["1 data /x"], true],
  ["recursive", "create child", ["1 created /x/c"], true],
  ["recursive", "delete child", ["1 deleted /x/c"], true],
  ["recursive", "setData child", ["1 data /x/c"], true],
  ["recursive", "create deeper", ["1 created /x/c/d"], true],
];

test.each(table)("a %s watch on X, %s", (kind, step, events, stays) => {
  const test = new TestTree();
  if (step !== "create X") test.commit(create("/x"));
  if (step === "delete child" || step === "setData child" || step === "create deeper") test.commit(create("/x/c"));
  arm(test, kind, "/x");
  const request = {
    "create X": create("/x"),
    "delete X": remove("/x"),
    "setData X": setData("/x", "1"),
    "create child": create("/x/c"),
    "delete child": remove("/x/c"),
    "setData child": setData("/x/c", "1"),
    "create deeper": create("/x/c/d"),
  }[step];
  expect(test.commit(request)).toBe(0);
  expect(test.takeEvents()).toEqual(events);
  expect(test.tree.watches.isEmpty).toBe(!stays);
});

describe("one trigger", () => {
  test("sends a connection one packet, however it watches", () => {
    const test = new TestTree();
    test.commit(create("/x"));
    for (const kind of ["data", "child", "persistent", "recursive"] as const) arm(test, kind, "/x");
    arm(test, "recursive", "/");
    arm(test, "child", "/");
    test.commit(remove("/x"));
    expect(test.takeEvents()).toEqual(["1 deleted /x", "1 children /"]);
    expect(test.tree.watches.watchCount).toBe(3);
  });

  test("of a delete serves the child table's others after the data table's", () => {
    const test = new TestTree();
    test.commit(create("/x"));
    arm(test, "child", "/x", ONE);
    arm(test, "data", "/x", TWO);
    test.commit(remove("/x"));
    expect(test.takeEvents()).toEqual(["2 deleted /x", "1 deleted /x"]);
    expect(test.tree.watches.isEmpty).toBe(true);
  });

  test("in a multi comes for each op, in order", () => {
    const test = new TestTree();
    arm(test, "recursive", "/");
    arm(test, "persistent", "/a", TWO);
    test.proposeMulti([create("/a"), create("/a/b"), setData("/a", "x"), remove("/a/b"), remove("/a")]);
    test.applyAll();
    expect(test.takeEvents()).toEqual([
      "2 created /a",
      "1 created /a",
      "1 created /a/b",
      "2 children /a",
      "2 data /a",
      "1 data /a",
      "1 deleted /a/b",
      "2 children /a",
      "2 deleted /a",
      "1 deleted /a",
    ]);
  });

  test("is not pulled by setAcl, nor by an op applied without a sink", () => {
    const test = new TestTree();
    test.commit(create("/x"));
    arm(test, "persistent", "/x");
    test.commit(setAcl("/x", [{ perms: 31, scheme: "world", id: "anyone" }]));
    expect(test.takeEvents()).toEqual([]);
  });
});

test("a client without read permission gets no event, and its one-shot watch is consumed", () => {
  const test = new TestTree();
  const acl = [{ perms: 31, scheme: "digest", id: "me" }];
  test.context.identities = [{ scheme: "digest", id: "me" }];
  test.identitiesOf = (connection) => (connection === TWO ? test.context.identities : []);
  test.commit(create("/x", { acl }));
  for (const connection of [ONE, TWO]) for (const kind of ["data", "child"] as const) arm(test, kind, "/x", connection);
  arm(test, "recursive", "/", ONE);
  test.commit(setData("/x", "1"));
  test.commit(create("/x/open"));
  test.commit(remove("/x/open"));
  test.commit(remove("/x"));
  expect(test.takeEvents()).toEqual(["2 data /x", "1 created /x/open", "2 children /x", "1 deleted /x/open"]);
  expect(test.tree.watches.watchCount).toBe(1);
});

test("a connection that goes takes its watches along", () => {
  const test = new TestTree();
  for (let i = 0; i < 1000; i++) {
    arm(test, "data", `/n-${i}`, ONE);
    arm(test, "child", `/n-${i}`, i % 2 === 0 ? ONE : TWO);
  }
  const { watches } = test.tree;
  expect(watches.watchCount).toBe(2000);
  expect([watches.dataWatchCount, watches.dataPathCount, watches.dataConnectionCount]).toEqual([1000, 1000, 1]);
  expect([watches.countOf(ONE), watches.countOf(TWO)]).toEqual([1000, 500]);
  watches.removeConnection(ONE);
  expect([watches.watchCount, watches.dataWatchCount, watches.dataPathCount, watches.dataConnectionCount]).toEqual([
    500, 0, 0, 0,
  ]);
  expect([watches.countOf(ONE), watches.countOf(TWO)]).toEqual([0, 500]);
  watches.removeConnection(ONE);
  watches.removeConnection(TWO);
  expect(watches.isEmpty).toBe(true);
});

describe("removeWatches and checkWatches", () => {
  const { CHILDREN, DATA, ANY, PERSISTENT, PERSISTENT_RECURSIVE } = WatchSelector;
  const cases: [Kind, WatchSelector[]][] = [
    ["data", [DATA, ANY]],
    ["child", [CHILDREN, ANY]],
    ["persistent", [ANY, PERSISTENT]],
    ["recursive", [ANY, PERSISTENT_RECURSIVE]],
  ];
  test.each(cases)("a %s watch answers to %j alone", (kind, selectors) => {
    for (const selector of [CHILDREN, DATA, ANY, PERSISTENT, PERSISTENT_RECURSIVE]) {
      const test = new TestTree();
      const { watches } = test.tree;
      const { bytes, start, end } = sliceOf("/x");
      arm(test, kind, "/x");
      const isNamed = selectors.includes(selector);
      expect(watches.contains(bytes, start, end, ONE, selector)).toBe(isNamed);
      expect(watches.contains(bytes, start, end, TWO, selector)).toBe(false);
      expect(watches.remove(bytes, start, end, TWO, selector)).toBe(false);
      expect(watches.remove(bytes, start, end, ONE, selector)).toBe(isNamed);
      expect(watches.isEmpty).toBe(isNamed);
    }
  });

  test("modes on one path are removed one by one", () => {
    const test = new TestTree();
    for (const kind of ["data", "child", "persistent", "recursive"] as const) arm(test, kind, "/x");
    const { watches } = test.tree;
    const { bytes, start, end } = sliceOf("/x");
    expect(watches.watchCount).toBe(2);
    for (const selector of [PERSISTENT_RECURSIVE, DATA, CHILDREN]) watches.remove(bytes, start, end, ONE, selector);
    expect(watches.contains(bytes, start, end, ONE, PERSISTENT)).toBe(true);
    test.commit(create("/x"));
    test.commit(create("/x/y"));
    expect(test.takeEvents()).toEqual(["1 created /x", "1 children /x"]);
    expect(watches.remove(bytes, start, end, ONE, ANY)).toBe(true);
    expect(watches.isEmpty).toBe(true);
  });
});

test("watches are listed by path and by connection", () => {
  const test = new TestTree();
  arm(test, "data", "/a", ONE);
  arm(test, "child", "/a", TWO);
  arm(test, "persistent", "/b", ONE);
  const listed: string[] = [];
  for (const order of ["paths", "connections"] as const) {
    for (const watch of test.tree.watches.list(order)) {
      if (watch !== undefined) listed.push(`${order} ${watch.connection} ${shownWatch(watch)}`);
    }
  }
  expect(listed.sort()).toEqual([
    ...["connections 1 /a 1 0", "connections 1 /b 2 2", "connections 2 /a 0 1"],
    ...["paths 1 /a 1 0", "paths 1 /b 2 2", "paths 2 /a 0 1"],
  ]);
});

describe("a listing that others change meanwhile", () => {
  test.each(["paths", "connections"] as const)("by %s meets what stays, once", (order) => {
    const test = new TestTree();
    const paths = Array.from({ length: 6 }, (_, i) => `/${i}`);
    for (const path of paths) for (const connection of [ONE, TWO]) arm(test, "data", path, connection);
    // Each other watch is removed while the listing stands before it or behind it.
    for (let moment = 0; moment < 12; moment++) {
      const { watches } = test.tree;
      const met: string[] = [];
      let steps = 0;
      for (const watch of watches.list(order)) {
        if (watch !== undefined) met.push(`${watch.connection} ${shownWatch(watch)}`);
        if (steps++ !== moment) continue;
        for (const path of ["/1", "/3", "/5"]) {
          const { bytes, start, end } = sliceOf(path);
          watches.remove(bytes, start, end, TWO, WatchSelector.ANY);
        }
      }
      const staying = paths.flatMap((path) => [
        `1 ${path} 1 0`,
        ...(Number(path[1]) % 2 === 0 ? [`2 ${path} 1 0`] : []),
      ]);
      expect(met).toEqual(expect.arrayContaining(staying));
      expect(new Set(met).size).toBe(met.length);
      for (const path of ["/1", "/3", "/5"]) arm(test, "data", path, TWO);
    }
  });
});

test("watches that a change of a path may fire are those on it, on its parent, and recursive ones above", () => {
  const test = new TestTree();
  const connections = Array.from({ length: 20 }, (_, i) => (100 + i) as ConnectionRef);
  for (const connection of connections) {
    arm(test, "data", "/a/b", connection);
    arm(test, "child", "/a", connection);
  }
  arm(test, "child", "/a/b", ONE);
  arm(test, "recursive", "/", ONE);
  arm(test, "recursive", "/a", TWO);
  const { watches } = test.tree;
  const watchersOf = (path: string): number => {
    const bytes = Buffer.from(path);
    return watches.watchersOf({ bytes, start: 0, end: bytes.length });
  };
  expect(["/a/b", "/a/c", "/a", "/a/b/c", "/x", "/", ""].map(watchersOf)).toEqual([43, 22, 22, 3, 1, 1, 0]);
  test.commit(create("/a"));
  expect(watchersOf("/a/c")).toBe(22);
  for (const connection of connections) watches.removeConnection(connection);
  expect(watchersOf("/a/b")).toBe(0);
});

test("watches that are passed over on an ancestor with recursive ones count, 64 as one", () => {
  const test = new TestTree();
  const { watches } = test.tree;
  const bytes = Buffer.from("/a/b");
  const count = (): number => watches.watchersOf({ bytes, start: 0, end: bytes.length });
  for (let i = 0; i < 640; i++) arm(test, "data", "/", (100 + i) as ConnectionRef);
  expect(count()).toBe(0);
  arm(test, "recursive", "/", ONE);
  expect(count()).toBe(11);
});
