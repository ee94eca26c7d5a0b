import { type ConnectionRef, OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestEnsemble, type TestMember } from "../testing/ensemble.ts";
import { TestReplica } from "../testing/replica.ts";
import { create, read } from "../testing/requests.ts";

const EPHEMERAL = 1;

function ephemerals(zk: TestReplica, ref: ConnectionRef, count: number): void {
  for (let i = 0; i < count; i++) zk.ask(ref, OpCode.CREATE, create(`/e${i}`, "", EPHEMERAL));
}

function childCount(zk: TestReplica, ref: ConnectionRef): number {
  return zk.ask(ref, OpCode.GET_CHILDREN, read("/")).split(",").length - 1;
}

describe("a session with more ephemerals than one transaction removes", () => {
  test("is closed by several transactions, and its client is answered with the last", () => {
    const zk = new TestReplica({ closeOpCountMax: 2 });
    const [closing, other] = [zk.open(), zk.open()];
    ephemerals(zk, closing, 5);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    expect([zk.take(closing), childCount(zk, other), zk.replica.tree.sessionCount]).toEqual([[], 3, 2]);
    expect(zk.finish()).toBe(2);
    expect([zk.take(closing), childCount(zk, other), zk.replica.tree.sessionCount]).toEqual([["9 ok", "close"], 0, 1]);
  });

  test("loses its connection with the first transaction; its password is refused at the end", () => {
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
    zk.finish();
    expect(zk.take(back)).toEqual(["expired", "close"]);
  });

  test("is removed by the next leader, if the first one lost its role between two parts", () => {
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
    next.finish();
    expect([next.replica.tree.sessionCount, next.replica.tree.ephemeralCount]).toEqual([0, 0]);
  });

  test("is ended in parts of a limited number of path bytes, with at least one ephemeral in each", () => {
    const zk = new TestReplica({ closePathBytesMax: 2 });
    const closing = zk.open();
    ephemerals(zk, closing, 4);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    expect(zk.finish()).toBe(3);
    expect([zk.take(closing), zk.replica.tree.ephemeralCount]).toEqual([["9 ok", "close"], 0]);
  });

  test("sends its answer to no other connection that has the same number by then", () => {
    const zk = new TestReplica({ closeOpCountMax: 1 });
    const closing = zk.open();
    ephemerals(zk, closing, 3);
    zk.send(closing, 9, OpCode.CLOSE_SESSION);
    zk.turn();
    zk.replica.disconnect(closing);
    const other = zk.open();
    expect(other).toBe(closing);
    zk.finish();
    expect([zk.take(other), zk.replica.tree.ephemeralCount]).toEqual([[], 0]);
  });
});

test("sessions that end at the same moment are ended some a turn, and none of them is served any more", () => {
  const zk = new TestReplica({ endOpCountPerTurn: 10 });
  const refs = Array.from({ length: 35 }, () => zk.open("127.0.0.1", 300));
  zk.advance(1000);
  zk.replica.expireSessions();
  zk.turn();
  expect(zk.replica.tree.sessionCount).toBe(25);
  const last = refs[34] as ConnectionRef;
  zk.send(last, 1, OpCode.CREATE, create("/late"));
  expect(zk.finish()).toBe(3);
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
  expect(zk.finish()).toBe(2);
  expect([zk.replica.tree.sessionCount, zk.replica.tree.ephemeralCount]).toEqual([0, 0]);
});

describe("a session that an operator ends", () => {
  test("loses its ephemerals and its connection, and does not come back", () => {
    const zk = new TestReplica();
    const ended = zk.open();
    const id = zk.session;
    const other = zk.open();
    ephemerals(zk, ended, 2);
    expect(zk.replica.endSession(id)).toBe("ending");
    expect(zk.replica.endSession(id)).toBe("ending");
    zk.turn();
    expect([zk.take(ended), childCount(zk, other), zk.replica.tree.sessionCount]).toEqual([["close"], 0, 1]);
    expect(zk.replica.endSession(id)).toBe("unknown");
  });
});

test("a write that is refused for a decided end is ordered behind the end", () => {
  // Turns propose no end, as while a multi is prepared.
  const ensemble = new TestEnsemble(3, {}, { endOpCountPerTurn: 0 });
  const [follower] = ensemble.followers as [TestMember];
  const { leader } = ensemble;
  const ref = follower.open();
  const { session } = follower;
  expect(leader.replica.endSession(session)).toBe("ending");
  ensemble.run();
  const sessions = () => [leader, follower].map(({ replica }) => replica.tree.sessionCount);
  expect(sessions()).toEqual([1, 1]);
  follower.send(ref, 1, OpCode.CREATE, create("/late"));
  ensemble.run();
  expect([...sessions(), follower.take(ref)]).toEqual([0, 0, ["close", "1 SESSION_EXPIRED"]]);
});
