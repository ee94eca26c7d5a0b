import { type ConnectionRef, OpCode } from "@zooid/model";
import type { JuteWriter } from "@zooid/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TestEnsemble, type TestMember } from "../testing/ensemble.ts";
import { TestReplica } from "../testing/replica.ts";
import { create, multi, onPath, read, setData, versioned } from "../testing/requests.ts";

type Part = readonly [op: number, body: (writer: JuteWriter) => void];

const SEQUENTIAL = 2;

/** Each part is prepared in a turn of its own. */
const BY_PARTS = { prepareWorkPerTurn: 1 };

const created = (path: string, flags = 0): Part => [OpCode.CREATE, create(path, "", flags)];
const checked = (path: string): Part => [OpCode.CHECK, versioned(path)];

/** Turns until nothing is left over from an earlier one, and how many it took. */
function finish(zk: TestReplica): number {
  let turns = 0;
  for (; zk.replica.nextTickMs() === zk.replica.nowMs; turns++) {
    zk.replica.tick();
    zk.turn();
  }
  return turns;
}

describe("a multi that is prepared in several turns", () => {
  /** A multi of three creates whose first part is prepared. */
  function begun(last = created("/c")): Record<"writer" | "other" | "third", ConnectionRef> & { zk: TestReplica } {
    const zk = new TestReplica(BY_PARTS);
    const [writer, other, third] = [zk.open(), zk.open(), zk.open()];
    zk.send(writer, 1, OpCode.MULTI, multi(created("/a"), created("/b"), last));
    expect([zk.replica.isPreparing, zk.replica.hasPrepared]).toEqual([true, true]);
    return { zk, writer, other, third };
  }

  test("is proposed with its last part, and reads are answered meanwhile", () => {
    const { zk, writer, other } = begun();
    zk.turn();
    zk.send(other, 1, OpCode.EXISTS, read("/a"));
    expect([zk.take(writer), zk.take(other)]).toEqual([[], ["1 NO_NODE"]]);
    expect(finish(zk)).toBe(3);
    expect(zk.take(writer)).toEqual([expect.stringContaining("path /c")]);
  });

  test("takes fewer parts a turn where a short access list stands for many identities", () => {
    const zk = new TestReplica({ prepareWorkPerTurn: 50 });
    const ref = zk.open();
    for (let i = 0; i < 30; i++) zk.authenticate(ref, `user${i}:x`);
    const everybody = [{ perms: 31, scheme: "auth", id: "" }];
    const parts = (path: string) =>
      Array.from({ length: 6 }, (_, i): Part => [OpCode.CREATE, create(`${path}${i}`, "", 0, everybody)]);
    zk.send(ref, 1, OpCode.MULTI, multi(...parts("/a")));
    expect(zk.replica.isPreparing).toBe(true);
    // Two parts a turn.
    expect(finish(zk)).toBe(3);
    expect(zk.take(ref)).toEqual([expect.stringContaining("path /a5")]);
  });

  test("is followed by the writes that came meanwhile, in order", () => {
    const { zk, writer, other, third } = begun();
    expect(zk.send(other, 1, OpCode.CREATE, create("/a"))).toBe(false);
    zk.send(other, 2, OpCode.EXISTS, read("/c"));
    zk.send(third, 1, OpCode.MULTI, multi(checked("/c"), created("/c/1"), created("/c/2")));
    zk.send(third, 2, OpCode.CREATE, create("/a/1"));
    finish(zk);
    expect(zk.take(writer)).toEqual([expect.stringContaining("path /c")]);
    expect(zk.take(other)).toEqual(["1 NODE_EXISTS", expect.stringMatching(/^2 stat/)]);
    expect(zk.take(third)).toEqual([expect.stringContaining("path /c/2"), "2 path /a/1"]);
    expect(zk.resumed).toContain(other);
  });

  test("is taken back completely if its last part is refused", () => {
    const { zk, writer, other } = begun(checked("/nowhere"));
    zk.send(other, 1, OpCode.CREATE, create("/a"));
    finish(zk);
    expect(zk.take(writer)).toEqual([expect.stringContaining("NO_NODE")]);
    expect(zk.take(other)).toEqual(["1 path /a"]);
  });

  test("lets nothing be applied before its end, so that it can be taken back", () => {
    const zk = new TestReplica(BY_PARTS);
    const [writer, other] = [zk.open(), zk.open()];
    zk.ask(other, OpCode.CREATE, create("/a"));
    zk.send(other, 1, OpCode.SET_DATA, setData("/a", "one"));
    zk.replica.propose();
    zk.send(writer, 1, OpCode.MULTI, multi([OpCode.SET_DATA, setData("/a", "two")], checked("/a"), checked("/b")));
    zk.sync();
    expect([zk.replica.deliver(10), zk.take(other)]).toEqual([false, []]);
    finish(zk);
    expect(zk.take(other)).toEqual([expect.stringMatching(/^1 stat/)]);
    expect(zk.take(writer)).toEqual([expect.stringContaining("NO_NODE")]);
    expect(zk.ask(other, OpCode.SET_DATA, setData("/a", "three", 1))).toMatch(/^stat/);
  });

  test("delays a sync behind a write that waits for it", () => {
    const { zk, other, third } = begun();
    zk.send(other, 1, OpCode.CREATE, create("/d"));
    zk.send(third, 1, OpCode.SYNC, onPath("/"));
    zk.send(third, 2, OpCode.EXISTS, read("/d"));
    finish(zk);
    expect(zk.take(third)).toEqual(["1 path /", expect.stringMatching(/^2 stat/)]);
  });

  test("is proposed before ends of sessions", () => {
    const { zk, writer, other } = begun();
    zk.send(other, 1, OpCode.CLOSE_SESSION);
    const expiring = zk.connect({ timeoutMs: 300 });
    finish(zk);
    expect(zk.take(writer)).toEqual([expect.stringContaining("path /c")]);
    expect(zk.take(other)).toEqual(["1 ok", "close"]);
    expect(zk.take(expiring)).toHaveLength(1);
    zk.send(writer, 2, OpCode.MULTI, multi(created("/d"), created("/e")));
    zk.advance(1000);
    zk.replica.expireSessions();
    finish(zk);
    expect([zk.take(expiring), zk.replica.tree.sessionCount]).toEqual([["close"], 2]);
  });

  test("is dropped with the role, and so are the writes that wait for it", () => {
    const { zk, other } = begun();
    zk.send(other, 1, OpCode.CREATE, create("/d"));
    zk.replica.zab.resign({ kind: "quorum-lost" });
    expect([zk.replica.isPreparing, zk.replica.hasPrepared, zk.replica.tree.pendingCount]).toEqual([false, false, 0]);
    zk.replica.lead(2, 2);
    const later = zk.open();
    expect(zk.ask(later, OpCode.CREATE, create("/d"))).toBe("path /d");
    expect(zk.ask(later, OpCode.EXISTS, read("/a"))).toBe("NO_NODE");
  });

  test("is completed after its connection is lost", () => {
    const { zk, writer, other } = begun();
    zk.replica.disconnect(writer);
    finish(zk);
    expect(zk.ask(other, OpCode.EXISTS, read("/c"))).toMatch(/^stat/);
  });

  test("of a learner's client is followed by the learner's later requests", () => {
    const ensemble = new TestEnsemble(3, {}, BY_PARTS);
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    const [one, two, three] = [follower.open(), follower.open(), leader.open()];
    follower.send(one, 1, OpCode.MULTI, multi(created("/a"), created("/b"), created("/c")));
    follower.send(one, 2, OpCode.SYNC, onPath("/"));
    follower.send(two, 1, OpCode.CREATE, create("/c/1"));
    leader.send(three, 1, OpCode.MULTI, multi(created("/d"), created("/e")));
    ensemble.advance(500);
    expect(follower.take(one)).toEqual([expect.stringContaining("path /c"), "2 path /"]);
    expect([follower.take(two), leader.take(three)]).toEqual([["1 path /c/1"], [expect.stringContaining("path /e")]]);
  });
});

test("connections are read no further while transactions that are not applied concern many paths", () => {
  const zk = new TestReplica({ outstandingPathCountMax: 4 });
  const [ref, other] = [zk.open(), zk.open()];
  expect(zk.send(ref, 1, OpCode.MULTI, multi(created("/a"), created("/b")))).toBe(true);
  expect(zk.send(ref, 2, OpCode.CREATE, create("/c"))).toBe(false);
  expect(zk.send(other, 1, OpCode.EXISTS, read("/"))).toBe(false);
  zk.resumed.length = 0;
  zk.turn();
  expect([zk.take(ref).length, zk.resumed]).toEqual([2, expect.arrayContaining([ref, other])]);
});

test("a learner's writes wait while transactions that are not applied concern many paths", () => {
  const ensemble = new TestEnsemble(3, {}, { outstandingPathCountMax: 3 });
  const [follower] = ensemble.followers as [TestMember];
  const ref = follower.open();
  for (let xid = 1; xid <= 10; xid++) follower.send(ref, xid, OpCode.CREATE, create(`/n${xid}`));
  ensemble.advance(500);
  expect(follower.take(ref)).toHaveLength(10);
});

// What clients hear and what the tree holds must not depend on how much of a multi one turn
// prepares.
test("requests have the same effects whether multis are prepared in one piece or by parts", () => {
  const names = ["/a", "/b", "/a/x", "/b/y"];
  const write = fc.oneof(
    fc.constantFrom(...names).map((path): Part => created(path)),
    fc.constantFrom(...names).map((path): Part => created(path, SEQUENTIAL)),
    fc.constantFrom(...names).map((path): Part => [OpCode.DELETE, versioned(path)]),
    fc.tuple(fc.constantFrom(...names), fc.integer({ min: -1, max: 2 })).map(([path, version]): Part => {
      return [OpCode.SET_DATA, setData(path, "x", version)];
    }),
  );
  const part = fc.oneof(
    { arbitrary: write, weight: 4 },
    fc.constantFrom(...names).map((path): Part => checked(path)),
    // No multi may hold it.
    fc.constant<Part>([OpCode.SYNC, onPath("/")]),
  );
  const request = fc.oneof(
    { arbitrary: fc.array(part, { maxLength: 6 }).map((parts): Part => [OpCode.MULTI, multi(...parts)]), weight: 2 },
    { arbitrary: write, weight: 1 },
  );
  const step = fc.record({ client: fc.nat(2), request, endsTurn: fc.boolean() });
  const limits = fc.record({
    multiOpCountMax: fc.constantFrom(3, 100),
    multiPathNamesMax: fc.constantFrom(5, 100),
    txnBytesMax: fc.constantFrom(200, 10_000),
  });
  const run = (steps: readonly { client: number; request: Part; endsTurn: boolean }[], config: object) => {
    const zk = new TestReplica(config);
    const refs = [zk.open(), zk.open(), zk.open()];
    for (const [i, { client, request, endsTurn }] of steps.entries()) {
      const [op, body] = request;
      zk.send(refs[client] as ConnectionRef, i, op, body);
      if (endsTurn) zk.turn();
    }
    zk.turn();
    finish(zk);
    return {
      heard: refs.map((ref) => zk.take(ref)),
      digest: zk.replica.tree.digestLow,
      prepared: zk.replica.visibleZxid,
    };
  };
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), limits, fc.integer({ min: 1, max: 30 }), (steps, config, work) => {
      const pieces = run(steps, { ...config, prepareWorkPerTurn: work });
      expect(pieces).toEqual(run(steps, { ...config, prepareWorkPerTurn: 1e9 }));
    }),
    { numRuns: 150 },
  );
});
