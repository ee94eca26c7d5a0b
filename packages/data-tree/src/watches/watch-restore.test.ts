import { type ConnectionRef, sliceOf } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { create, TestTree } from "../testing/tree.ts";
import { WatchList } from "./watch-restore.ts";

describe("setWatches", () => {
  const connection = 4 as ConnectionRef;
  const cases: [string, WatchList, string, string[]][] = [
    ["data: gone", WatchList.DATA, "/gone", ["4 deleted /gone"]],
    ["data: changed since", WatchList.DATA, "/new", ["4 data /new"]],
    ["data: unchanged", WatchList.DATA, "/old", []],
    ["exist: there", WatchList.EXIST, "/old", ["4 created /old"]],
    ["exist: still missing", WatchList.EXIST, "/gone", []],
    ["child: gone", WatchList.CHILD, "/gone", ["4 deleted /gone"]],
    ["child: changed since", WatchList.CHILD, "/new", ["4 children /new"]],
    ["child: unchanged", WatchList.CHILD, "/old", []],
  ];
  test.each(cases)("%s", (_, list, path, events) => {
    const test = new TestTree();
    test.commit(create("/old"));
    const seen = test.history[0].header.zxid;
    test.commit(create("/new"));
    test.tree.restoreWatch(list, sliceOf(path), connection, seen, test.sink);
    expect(test.takeEvents()).toEqual(events);
    expect(test.tree.watches.watchCount).toBe(events.length === 0 ? 1 : 0);
  });

  test.each([WatchList.DATA, WatchList.EXIST, WatchList.CHILD])(
    "of list %i: a change of a node that the client may not read sends no event, and consumes the watch",
    (list) => {
      const test = new TestTree();
      const seen = test.tree.applied;
      test.commit(create("/hidden", { acl: [{ perms: 30, scheme: "world", id: "anyone" }] }));
      test.tree.restoreWatch(list, sliceOf("/hidden"), connection, seen, test.sink);
      expect(test.takeEvents()).toEqual([]);
      expect(test.tree.watches.watchCount).toBe(0);
    },
  );

  test("persistent ones are armed without an event", () => {
    const test = new TestTree();
    test.tree.restoreWatch(WatchList.PERSISTENT, sliceOf("/a"), connection, 0, test.sink);
    test.tree.restoreWatch(WatchList.PERSISTENT_RECURSIVE, sliceOf("/a"), connection, 0, test.sink);
    test.commit(create("/a"));
    test.commit(create("/a/b"));
    expect(test.takeEvents()).toEqual(["4 created /a", "4 created /a/b", "4 children /a"]);
    expect(test.tree.watches.watchCount).toBe(2);
  });
});
