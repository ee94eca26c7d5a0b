import { type AclEntry, type ConnectionRef, OpCode, ZXID_NONE } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import { create, multi, onPath, read, setData, TestReplica, versioned, watchOn } from "./testing/replica.ts";

const EPHEMERAL = 1;
const RECURSIVE = 1;

/** Turns until nothing is left over from an earlier one, and how many it took. */
function finish(zk: TestReplica): number {
  let turns = 0;
  for (; zk.replica.nextTickMs() === zk.replica.nowMs; turns++) {
    zk.replica.tick();
    zk.turn();
  }
  return turns;
}

/** One call of `deliver` after everything proposed is durable. */
function deliverOnce(zk: TestReplica): boolean {
  zk.replica.propose();
  zk.sync();
  return zk.replica.deliver(10);
}

function ephemerals(zk: TestReplica, ref: ConnectionRef, count: number): void {
  for (let i = 0; i < count; i++) zk.ask(ref, OpCode.CREATE, create(`/e${i}`, "", EPHEMERAL));
}

function childCount(zk: TestReplica, ref: ConnectionRef): number {
  return zk.ask(ref, OpCode.GET_CHILDREN, read("/")).split(",").length - 1;
}

function openWatches(...paths: string[]): (writer: JuteWriter) => void {
  return (writer) => {
    writer.zxid(ZXID_NONE);
    writer.int(0);
    writer.int(paths.length);
    for (const path of paths) writer.text(path);
    writer.int(0);
  };
}

describe("a session with more ephemerals than one transaction removes", () => {
  test("is closed by several, and its client is answered with the last", () => {
    const zk = new TestReplica({ closeOpCountMax: 2 });
    const [closing, other] = [zk.open(), zk.open()];
    ephemerals(zk, closing, 5);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    expect([zk.take(closing), childCount(zk, other), zk.replica.tree.sessionCount]).toEqual([[], 3, 2]);
    expect(finish(zk)).toBe(2);
    expect([zk.take(closing), childCount(zk, other), zk.replica.tree.sessionCount]).toEqual([["9 ok", "close"], 0, 1]);
  });

  test("is over with the first: its connection is closed, its password is refused at the end", () => {
    const zk = new TestReplica({ closeOpCountMax: 2 });
    const expiring = zk.open("127.0.0.1", 300);
    ephemerals(zk, expiring, 3);
    const { session, password } = zk;
    zk.advance(1000);
    zk.replica.expireSessions();
    zk.turn();
    expect(zk.take(expiring)).toEqual(["close"]);
    const back = zk.connect({ session, password });
    expect(zk.take(back)).toEqual([]);
    finish(zk);
    expect(zk.take(back)).toEqual(["expired", "close"]);
  });

  test("is removed by the next leader, where the first one ended between two parts", () => {
    const zk = new TestReplica({ closeOpCountMax: 2 });
    const closing = zk.open();
    ephemerals(zk, closing, 5);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    const next = new TestReplica({ closeOpCountMax: 2 }, {}, (replica) => {
      replica.tree.loadSnapshot(zk.replica.tree.snapshot());
      replica.lead(2, 2);
    });
    expect([next.replica.tree.sessionCount, next.replica.tree.ephemeralCount]).toEqual([1, 3]);
    finish(next);
    expect([next.replica.tree.sessionCount, next.replica.tree.ephemeralCount]).toEqual([0, 0]);
  });

  test("counts bytes of paths too, and removes one ephemeral at least", () => {
    const zk = new TestReplica({ closePathBytesMax: 2 });
    const closing = zk.open();
    ephemerals(zk, closing, 4);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    expect(finish(zk)).toBe(3);
    expect([zk.take(closing), zk.replica.tree.ephemeralCount]).toEqual([["9 ok", "close"], 0]);
  });

  test("answers nobody else where the number of its connection names another by then", () => {
    const zk = new TestReplica({ closeOpCountMax: 1 });
    const closing = zk.open();
    ephemerals(zk, closing, 3);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    zk.replica.disconnect(closing);
    const other = zk.open();
    expect(other).toBe(closing);
    finish(zk);
    expect([zk.take(other), zk.replica.tree.ephemeralCount]).toEqual([[], 0]);
  });
});

test("sessions that end at the same moment are ended some a turn, and none of them is served meanwhile", () => {
  const zk = new TestReplica({ endOpCountPerTurn: 10 });
  const refs = Array.from({ length: 35 }, () => zk.open("127.0.0.1", 300));
  zk.advance(1000);
  zk.replica.expireSessions();
  zk.turn();
  expect(zk.replica.tree.sessionCount).toBe(25);
  const last = refs[34] as ConnectionRef;
  zk.send(last, 1, OpCode.CREATE, create("/late"));
  expect(finish(zk)).toBe(3);
  expect([zk.replica.tree.sessionCount, zk.take(last)]).toEqual([0, ["close"]]);
});

test("sessions that end at the same moment are ended fewer a turn where the paths of their ephemerals are long", () => {
  const zk = new TestReplica({ closePathBytesMax: 300 });
  const refs = Array.from({ length: 6 }, () => zk.open("127.0.0.1", 300));
  for (const [i, ref] of refs.entries()) {
    zk.ask(ref, OpCode.CREATE, create(`/${"e".repeat(280)}${i}`, "", EPHEMERAL));
  }
  zk.advance(1000);
  zk.replica.expireSessions();
  zk.turn();
  expect([zk.replica.tree.sessionCount, zk.replica.tree.ephemeralCount]).toEqual([4, 4]);
  expect(finish(zk)).toBe(2);
  expect([zk.replica.tree.sessionCount, zk.replica.tree.ephemeralCount]).toEqual([0, 0]);
});

describe("a multi beyond what one transaction may hold is refused whole", () => {
  const one = [OpCode.CREATE, create("/a/b")] as const;

  test("by its parts, each counted", () => {
    const zk = new TestReplica({ multiOpCountMax: 2 });
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    const check = [OpCode.CHECK, versioned("/a")] as const;
    expect(zk.ask(ref, OpCode.MULTI, multi(check, one))).toContain("path /a/b");
    expect(zk.ask(ref, OpCode.MULTI, multi(check, check, check))).toBe("MARSHALLING_ERROR");
  });

  test("by the names in its paths", () => {
    const zk = new TestReplica({ multiPathNamesMax: 3 });
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    expect(zk.ask(ref, OpCode.MULTI, multi(one, [OpCode.CREATE, create("/a/c")]))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.MULTI, multi(one, [OpCode.CREATE, create("/c")]))).toContain("path /a/b");
  });

  test("by the entries of its different access lists, those of one list once", () => {
    const zk = new TestReplica({ multiAclCountMax: 4 });
    const ref = zk.open();
    const entries = (count: number, first: number) =>
      Array.from({ length: count }, (_, i) => ({ perms: 1, scheme: "ip", id: `10.0.0.${first + i}` }));
    const part = (path: string, acl: readonly AclEntry[]) => [OpCode.CREATE, create(path, "", 0, acl)] as const;
    const [a, b] = [entries(2, 0), entries(3, 9)];
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/a", a), part("/b", a), part("/c", a)))).toContain("path /c");
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/d", a), part("/e", b)))).toBe("MARSHALLING_ERROR");
    // What they become counts, too.
    for (let i = 0; i < 3; i++) zk.authenticate(ref, `user${i}:x`);
    const everybody = [{ perms: 31, scheme: "auth", id: "" }];
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/d", everybody), part("/e", everybody)))).toContain("path /e");
    expect(zk.ask(ref, OpCode.MULTI, multi(part("/f", everybody), part("/g", a)))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.EXISTS, read("/f"))).toBe("NO_NODE");
  });

  test("by the bytes that it becomes, where short access lists stand for many identities", () => {
    const zk = new TestReplica({ txnBytesMax: 4000 });
    const ref = zk.open();
    for (let i = 0; i < 20; i++) zk.authenticate(ref, `user${i}:${"x".repeat(20)}`);
    const everybody = [{ perms: 31, scheme: "auth", id: "" }];
    const parts = Array.from({ length: 10 }, (_, i) => [OpCode.CREATE, create(`/n${i}`, "", 0, everybody)] as const);
    expect(zk.ask(ref, OpCode.MULTI, multi(...parts.slice(0, 3)))).toContain("path /n2");
    expect(zk.ask(ref, OpCode.MULTI, multi(...parts.slice(3)))).toBe("MARSHALLING_ERROR");
    expect(zk.ask(ref, OpCode.EXISTS, read("/n3"))).toBe("NO_NODE");
    // What was taken back is not taken for there.
    expect(zk.ask(ref, OpCode.CREATE, create("/n3"))).toBe("path /n3");
  });
});

describe("a multiRead beyond its limits is refused", () => {
  test.each([
    ["parts", { multiReadCountMax: 1 }],
    ["names", { multiReadNamesMax: 1 }],
    ["children", { multiReadChildrenMax: 1 }],
  ])("by its %s", (_, config) => {
    const zk = new TestReplica(config);
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create("/a"));
    const part = [OpCode.GET_CHILDREN, read("/")] as const;
    expect(zk.ask(ref, OpCode.MULTI_READ, multi(part, [OpCode.GET_DATA, read("/a")]))).toBe("MARSHALLING_ERROR");
  });
});

describe("a transaction that takes more than one turn", () => {
  /** A multi of three creates that a client watches, of which each turn applies one. */
  function half(): { zk: TestReplica; writer: ConnectionRef; watcher: ConnectionRef; bystander: ConnectionRef } {
    const zk = new TestReplica({ applyWorkPerTurn: 3 });
    const [writer, watcher, bystander] = [zk.open(), zk.open(), zk.open()];
    zk.ask(watcher, OpCode.ADD_WATCH, watchOn("/", RECURSIVE));
    const parts = ["/a", "/b", "/c"].map((path) => [OpCode.CREATE, create(path)] as const);
    zk.send(writer, 1, OpCode.MULTI, multi(...parts));
    expect(deliverOnce(zk)).toBe(true);
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
    expect([deliverOnce(zk), zk.take(watcher), zk.take(bystander)]).toEqual([true, ["event 1 /b"], []]);
    deliverOnce(zk);
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
    expect([deliverOnce(zk), zk.replica.isApplying, zk.take(other)]).toEqual([true, true, ["1 path /w"]]);
    // The sync has been due since /w was applied.
    zk.send(reader, 2, OpCode.EXISTS, read("/a"));
    zk.send(reader, 3, OpCode.EXISTS, read("/e"));
    expect([deliverOnce(zk), zk.replica.isApplying, zk.take(reader)]).toEqual([true, true, []]);
    finish(zk);
    deliverOnce(zk);
    expect(zk.take(reader)).toEqual(["1 path /", expect.stringMatching(/^2 stat/), expect.stringMatching(/^3 stat/)]);
  });

  test("is applied in part where its access lists are long", () => {
    const zk = new TestReplica({ applyWorkPerTurn: 20 });
    const ref = zk.open();
    const acl = Array.from({ length: 12 }, (_, i) => ({ perms: 31, scheme: "ip", id: `10.0.0.${i}` }));
    const parts = ["/a", "/b"].map((path) => [OpCode.CREATE, create(path, "", 0, acl)] as const);
    zk.send(ref, 1, OpCode.MULTI, multi(...parts));
    expect([deliverOnce(zk), zk.replica.isApplying]).toEqual([true, true]);
    deliverOnce(zk);
    expect([zk.replica.isApplying, zk.take(ref)]).toEqual([false, [expect.stringContaining("path /b")]]);
  });

  test("is followed by the next one only at its end", () => {
    const { zk, bystander } = half();
    zk.send(bystander, 1, OpCode.CREATE, create("/d"));
    zk.send(bystander, 2, OpCode.EXISTS, read("/d"));
    while (deliverOnce(zk)) {
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

describe("setWatches of more paths than one turn takes", () => {
  test("is answered with the last, and what its client sends behind it waits", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 4 });
    const [ref, writer] = [zk.open(), zk.open()];
    expect(zk.send(ref, 1, OpCode.SET_WATCHES, openWatches("/a", "/b", "/c", "/d", "/e"))).toBe(false);
    zk.send(ref, 2, OpCode.EXISTS, read("/"));
    zk.resumed.length = 0;
    expect([zk.take(ref), zk.replica.watches.watchCount]).toEqual([[], 2]);
    expect(finish(zk)).toBe(2);
    expect(zk.take(ref)).toEqual(["1 ok", expect.stringMatching(/^2 stat/)]);
    expect([zk.resumed, zk.replica.watches.watchCount]).toEqual([[ref], 5]);
    zk.ask(writer, OpCode.CREATE, create("/e"));
    expect(zk.take(ref)).toEqual(["event 1 /e"]);
  });

  test.each([
    ["deep", "/d".repeat(800)],
    ["long", `/${"n".repeat(8000)}`],
  ])("takes fewer paths a turn where they are %s", (_, path) => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 100 });
    const [deep, shallow] = [zk.open(), zk.open()];
    const paths = (prefix: string) => Array.from({ length: 7 }, (_, i) => `${prefix}/${i}`);
    zk.send(deep, 1, OpCode.SET_WATCHES, openWatches(...paths(path)));
    zk.send(shallow, 1, OpCode.SET_WATCHES, openWatches(...paths("")));
    expect([zk.replica.watches.countOf(deep), zk.replica.watches.countOf(shallow)]).toEqual([2, 7]);
    expect(finish(zk)).toBe(3);
    expect([zk.take(deep), zk.replica.watches.countOf(deep)]).toEqual([["1 ok"], 7]);
  });

  test("of many connections share a turn, and those that had none of it go first in the next", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 4 });
    const refs = [zk.open(), zk.open(), zk.open()] as const;
    for (const ref of refs) zk.send(ref, 1, OpCode.SET_WATCHES, openWatches("/a", "/b", "/c", "/d"));
    const counts = () => refs.map((ref) => zk.replica.watches.countOf(ref));
    expect(counts()).toEqual([2, 2, 2]);
    zk.replica.tick();
    expect(counts()).toEqual([3, 3, 2]);
    zk.replica.tick();
    expect(counts()).toEqual([4, 3, 3]);
    finish(zk);
    expect(refs.map((ref) => zk.take(ref))).toEqual([["1 ok"], ["1 ok"], ["1 ok"]]);
  });

  test("of very many paths has them all read first, in slices too", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 10 });
    const ref = zk.open();
    zk.send(ref, 1, OpCode.SET_WATCHES, openWatches(...Array.from({ length: 800 }, (_, i) => `/${i}`)));
    // 320 paths are read in a turn, and 5 are taken.
    const counts = [0, 0, 2, 7].map(() => {
      const { watchCount } = zk.replica.watches;
      zk.replica.tick();
      return watchCount;
    });
    expect(counts).toEqual([0, 0, 3, 8]);
    finish(zk);
    expect([zk.take(ref), zk.replica.watches.watchCount]).toEqual([["1 ok"], 800]);
  });

  test("of which a later path cannot be read arms none", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 2 });
    const ref = zk.open();
    zk.send(ref, 1, OpCode.SET_WATCHES, (writer) => {
      writer.zxid(ZXID_NONE);
      writer.int(200);
      for (let i = 0; i < 199; i++) writer.text(`/${i}`);
      writer.null();
    });
    zk.send(ref, 2, OpCode.EXISTS, read("/"));
    expect(finish(zk)).toBe(3);
    expect([zk.take(ref), zk.replica.watches.watchCount]).toEqual([
      ["1 MARSHALLING_ERROR", expect.stringMatching(/^2 stat/)],
      0,
    ]);
  });

  test("ends with its connection", () => {
    const zk = new TestReplica({ setWatchesWorkPerTurn: 2 });
    const ref = zk.open();
    zk.send(ref, 1, OpCode.SET_WATCHES, openWatches("/a", "/b", "/c"));
    zk.replica.disconnect(ref);
    finish(zk);
    expect(zk.replica.watches.watchCount).toBe(0);
  });
});

describe("watches", () => {
  test("of a connection that is gone are removed some a turn, and its number is free after the last", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    for (let i = 0; i < 6000; i++) zk.send(ref, i, OpCode.EXISTS, read(`/w${i}`, true));
    zk.replica.disconnect(ref);
    expect(zk.replica.watches.watchCount).toBe(6000 - 256);
    expect(zk.open()).not.toBe(ref);
    expect(finish(zk)).toBe(2);
    expect([zk.replica.watches.watchCount, zk.open()]).toEqual([0, ref]);
  });

  test("of many connections that go at the same time are removed some a turn, however few each has", () => {
    const zk = new TestReplica();
    const refs = Array.from({ length: 20 }, () => zk.open());
    for (const ref of refs) for (let i = 0; i < 250; i++) zk.send(ref, i, OpCode.EXISTS, read(`/w${i}`, true));
    for (const ref of refs) zk.replica.disconnect(ref);
    expect(zk.replica.watches.watchCount).toBe(5000 - 4096);
    expect(finish(zk)).toBe(1);
    const again = new Set(refs.map(() => zk.open()));
    expect([zk.replica.watches.watchCount, again]).toEqual([0, new Set(refs)]);
  });

  test("of all connections have a bound, at which the one with the most is closed", () => {
    const zk = new TestReplica({ watchBytesMax: 450_000 });
    const [many, few] = [zk.open(), zk.open()];
    for (let i = 0; i < 3000; i++) zk.send(many, i, OpCode.EXISTS, read(`/w${i}`, true));
    zk.take(many);
    for (let i = 0; i < 3000 && !zk.take(many).includes("close"); i++) {
      zk.send(few, i, OpCode.EXISTS, read(`/v${i}`, true));
    }
    expect(zk.refusals).toEqual(["watch-limit"]);
    expect(zk.take(few)).not.toContain("close");
    expect(zk.replica.watches.countOf(few)).toBeLessThan(2000);
  });

  test("beyond the bound close the connection that asks, where it has the most", () => {
    const zk = new TestReplica({ watchBytesMax: 300_000 });
    const [many] = [zk.open(), zk.open()];
    const heard: string[] = [];
    for (let i = 0; i < 20_000 && !heard.includes("close"); i++) {
      zk.send(many, i, OpCode.EXISTS, read(`/w${i}`, true));
      heard.push(...zk.take(many).slice(-1));
    }
    expect([heard.at(-1), zk.refusals]).toEqual(["close", ["watch-limit"]]);
  });
});

test("syncs that wait count with the bytes that wait of their connection", () => {
  const zk = new TestReplica({ inFlightBytesMax: 2000 });
  const ref = zk.open();
  zk.send(ref, 1, OpCode.CREATE, create("/a"));
  expect(zk.send(ref, 2, OpCode.SYNC, onPath(`/${"x".repeat(900)}`))).toBe(true);
  expect(zk.send(ref, 3, OpCode.SYNC, onPath(`/${"x".repeat(1900)}`))).toBe(false);
  zk.resumed.length = 0;
  zk.turn();
  expect([zk.take(ref).length, zk.resumed]).toEqual([3, [ref]]);
});

test("a connection is read no further once the answers that wait for one write are large", () => {
  const zk = new TestReplica({ waitingAnswerBytesMax: 6000 });
  const ref = zk.open();
  zk.ask(ref, OpCode.CREATE, create("/big", "x".repeat(2000)));
  zk.send(ref, 1, OpCode.SET_DATA, setData("/", ""));
  const goesOn = [2, 3, 4].map((xid) => zk.send(ref, xid, OpCode.GET_DATA, read("/big")));
  expect(goesOn).toEqual([true, true, false]);
  zk.resumed.length = 0;
  zk.turn();
  expect([zk.take(ref).length, zk.resumed]).toEqual([4, [ref]]);
});

describe("reads that wait for a write", () => {
  test("are answered some a turn, and all of them before the next write of their client", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    for (let xid = 2; xid <= 600; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
    zk.turn();
    expect(zk.take(ref)).toHaveLength(257);
    zk.send(ref, 601, OpCode.CREATE, create("/b"));
    zk.send(ref, 602, OpCode.EXISTS, read("/b"));
    finish(zk);
    const xids = zk.take(ref).map((answer) => Number(/^\d+/.exec(answer)?.[0]));
    expect(xids).toEqual(Array.from({ length: 345 }, (_, i) => 258 + i));
    expect(zk.replica.nextTickMs()).toBeUndefined();
  });

  test("of many connections behind one transaction share a turn", () => {
    const zk = new TestReplica({ applyWorkPerTurn: 1 });
    const [writer, ...readers] = [zk.open(), zk.open(), zk.open(), zk.open()] as const;
    zk.send(writer, 1, OpCode.MULTI, multi([OpCode.CREATE, create("/a")], [OpCode.CREATE, create("/b")]));
    deliverOnce(zk);
    expect(zk.replica.isApplying).toBe(true);
    for (const ref of readers) for (let xid = 1; xid <= 200; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/b"));
    while (zk.replica.isApplying) zk.replica.deliver(10);
    expect(readers.map((ref) => zk.take(ref).length)).toEqual([200, 56, 0]);
    finish(zk);
    expect(readers.map((ref) => zk.take(ref).length)).toEqual([0, 144, 200]);
  });

  test("are answered before a sync that came behind them", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    for (let xid = 2; xid <= 300; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
    zk.send(ref, 301, OpCode.SYNC, onPath("/a"));
    zk.turn();
    finish(zk);
    expect(zk.take(ref).map((answer) => Number(/^\d+/.exec(answer)?.[0]))).toEqual(
      Array.from({ length: 301 }, (_, i) => i + 1),
    );
  });

  test("of listings count with the longest name that there ever was", () => {
    const zk = new TestReplica({ waitingAnswerBytesMax: 6000 });
    const ref = zk.open();
    zk.ask(ref, OpCode.CREATE, create(`/${"n".repeat(2000)}`));
    zk.send(ref, 1, OpCode.SET_DATA, setData("/", ""));
    expect(zk.send(ref, 2, OpCode.GET_CHILDREN, read("/"))).toBe(true);
    expect(zk.send(ref, 3, OpCode.GET_CHILDREN, read("/"))).toBe(false);
  });

  test("wait in no greater number than one moment answers", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    let xid = 2;
    while (zk.send(ref, xid, OpCode.EXISTS, read("/a"))) xid++;
    expect(xid).toBeLessThan(2100);
  });

  test("go with their connection", () => {
    const zk = new TestReplica();
    const ref = zk.open();
    zk.send(ref, 1, OpCode.CREATE, create("/a"));
    for (let xid = 2; xid <= 600; xid++) zk.send(ref, xid, OpCode.EXISTS, read("/a"));
    zk.turn();
    zk.replica.disconnect(ref);
    zk.take(ref);
    finish(zk);
    expect([zk.take(ref), zk.open()]).toEqual([[], ref]);
  });
});
