import { type ConnectionRef, OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, onPath, read, setData, watchOn } from "../testing/requests.ts";

const RECURSIVE = 1;

describe("a transaction that takes more than one turn", () => {
  /** A multi of three creates that a client watches, of which each turn applies one. */
  function half(): { zk: TestReplica; writer: ConnectionRef; watcher: ConnectionRef; bystander: ConnectionRef } {
    const zk = new TestReplica({ applyWorkPerTurn: 3 });
    const [writer, watcher, bystander] = [zk.open(), zk.open(), zk.open()];
    zk.ask(watcher, OpCode.ADD_WATCH, watchOn("/", RECURSIVE));
    const parts = ["/a", "/b", "/c"].map((path) => [OpCode.CREATE, create(path)] as const);
    zk.send(writer, 1, OpCode.MULTI, multi(...parts));
    expect(zk.deliverOnce()).toBe(true);
    return { zk, writer, watcher, bystander };
  }

  test("is seen as a whole: reads wait for its end, pings do not", () => {
    const { zk, writer, watcher, bystander } = half();
    zk.send(bystander, 1, OpCode.PING);
    zk.send(bystander, 2, OpCode.EXISTS, read("/a"));
    zk.send(bystander, 3, OpCode.EXISTS, read("/c"));
    expect([zk.replica.isApplying, zk.take(bystander), zk.take(watcher), zk.take(writer)]).toEqual([
      true,
      ["-2 ok"],
      ["event 1 /a"],
      [],
    ]);
    expect([zk.deliverOnce(), zk.take(watcher), zk.take(bystander)]).toEqual([true, ["event 1 /b"], []]);
    zk.deliverOnce();
    expect(zk.replica.isApplying).toBe(false);
    expect(zk.take(watcher)).toEqual(["event 1 /c"]);
    expect(zk.take(bystander)).toEqual([expect.stringMatching(/^2 stat/), expect.stringMatching(/^3 stat/)]);
    expect(zk.take(writer)).toEqual([expect.stringContaining("path /c")]);
  });

  test("lets no sync be answered before its end, since the reads behind it would see a part", () => {
    const zk = new TestReplica({ applyWorkPerTurn: 3 });
    const [writer, other, reader] = [zk.open(), zk.open(), zk.open()];
    zk.send(other, 1, OpCode.CREATE, create("/w"));
    zk.send(reader, 1, OpCode.SYNC, onPath("/"));
    const parts = ["/a", "/b", "/c", "/d", "/e"].map((path) => [OpCode.CREATE, create(path)] as const);
    zk.send(writer, 1, OpCode.MULTI, multi(...parts));
    expect([zk.deliverOnce(), zk.replica.isApplying, zk.take(other)]).toEqual([true, true, ["1 path /w"]]);
    // The sync has been due since /w was applied.
    zk.send(reader, 2, OpCode.EXISTS, read("/a"));
    zk.send(reader, 3, OpCode.EXISTS, read("/e"));
    expect([zk.deliverOnce(), zk.replica.isApplying, zk.take(reader)]).toEqual([true, true, []]);
    zk.finish();
    zk.deliverOnce();
    expect(zk.take(reader)).toEqual(["1 path /", expect.stringMatching(/^2 stat/), expect.stringMatching(/^3 stat/)]);
  });

  test("is applied in part where its access lists are long", () => {
    const zk = new TestReplica({ applyWorkPerTurn: 20 });
    const ref = zk.open();
    const acl = Array.from({ length: 12 }, (_, i) => ({ perms: 31, scheme: "ip", id: `10.0.0.${i}` }));
    const parts = ["/a", "/b"].map((path) => [OpCode.CREATE, create(path, "", 0, acl)] as const);
    zk.send(ref, 1, OpCode.MULTI, multi(...parts));
    expect([zk.deliverOnce(), zk.replica.isApplying]).toEqual([true, true]);
    zk.deliverOnce();
    expect([zk.replica.isApplying, zk.take(ref)]).toEqual([false, [expect.stringContaining("path /b")]]);
  });

  test("is applied in part where watches are on all ancestors of its paths", () => {
    // 120 names of 100 bytes: the path costs some 300, and comparing it with its watched ancestors
    // 90 more.
    const deep = `/${"x".repeat(99)}`.repeat(120);
    const isInPart = (isWatched: boolean): boolean => {
      const zk = new TestReplica({ applyWorkPerTurn: 600 });
      const ref = zk.open();
      for (let length = 100; isWatched && length < deep.length; length += 100) {
        zk.ask(ref, OpCode.ADD_WATCH, watchOn(deep.slice(0, length), RECURSIVE));
      }
      const nodes = Array.from({ length: 120 }, (_, i) => deep.slice(0, (i + 1) * 100));
      for (const path of nodes) zk.ask(ref, OpCode.CREATE, create(path));
      const parts = ["1", "2"].map((data) => [OpCode.SET_DATA, setData(deep, data)] as const);
      zk.send(ref, 1, OpCode.MULTI, multi(...parts, [OpCode.SET_DATA, setData("/", "3")]));
      zk.deliverOnce();
      return zk.replica.isApplying;
    };
    expect([isInPart(false), isInPart(true)]).toEqual([false, true]);
  });

  test("is followed by the next one only at its end", () => {
    const { zk, bystander } = half();
    zk.send(bystander, 1, OpCode.CREATE, create("/d"));
    zk.send(bystander, 2, OpCode.EXISTS, read("/d"));
    while (zk.deliverOnce()) {
      // Until nothing is due.
    }
    expect(zk.take(bystander)).toEqual(["1 path /d", expect.stringMatching(/^2 stat/)]);
  });

  test("is applied to its end where the role ends meanwhile", () => {
    const { zk, watcher } = half();
    zk.replica.zab.resign({ kind: "quorum-lost" });
    expect([zk.replica.isApplying, zk.replica.tree.nodeCount]).toEqual([false, 8]);
    expect(zk.take(watcher)).toEqual(["event 1 /a", "event 1 /b", "event 1 /c", "close"]);
  });
});
