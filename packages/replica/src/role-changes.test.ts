import { type ConnectionRef, OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create, onPath, read } from "./testing/requests.ts";

const readData = (member: TestMember, ref: ConnectionRef, name: string): string =>
  member.ask(ref, OpCode.GET_DATA, read(name));

describe("a server without a quorum", () => {
  test("disconnects its clients and serves none until it is back", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    const client = follower.open();
    ensemble.cutOff(follower);
    expect(follower.take(client)).toEqual(["close"]);
    ensemble.advance(5000);
    const refused = follower.connect();
    expect(follower.take(refused)).toEqual(["close"]);
    ensemble.rejoin(follower);
    ensemble.advance(2000);
    expect(follower.take(follower.connect())).toEqual(["connected 10000"]);
  });

  test("that led commits nothing, and its uncommitted writes are gone when it is back", () => {
    const ensemble = new TestEnsemble(3);
    const { leader } = ensemble;
    const client = leader.open();
    leader.send(client, 1, OpCode.CREATE, create("/skipped"));
    leader.replica.propose();
    ensemble.cutOff(leader);
    ensemble.advance(2000);
    expect(leader.take(client)).toEqual(["close"]);
    ensemble.rejoin(leader);
    ensemble.advance(3000);
    for (const member of ensemble.members) {
      expect(member.ask(member.open(), OpCode.EXISTS, read("/skipped"))).toBe("NO_NODE");
    }
  });

  test("serves reads to clients that accept read-only service, if enabled, and refuses writes", () => {
    const ensemble = new TestEnsemble(3, { readOnlyMode: true });
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    const owner = follower.open();
    const { session, password } = follower;
    follower.ask(owner, OpCode.CREATE, create("/a", "kept"));
    ensemble.cutOff(follower);
    ensemble.advance(3000);
    expect(follower.take(follower.connect())).toEqual(["close"]);
    const reader = follower.connect({ readOnly: true });
    expect(follower.take(reader)).toEqual(["connected 10000"]);
    expect(readData(follower, reader, "/a")).toBe("data kept");
    expect(follower.ask(reader, OpCode.CREATE, create("/b"))).toBe("NOT_READ_ONLY");
    expect(follower.ask(reader, OpCode.SYNC, onPath("/"))).toBe("NOT_READ_ONLY");
    // A session of the ensemble may be alive on the other side.
    expect(follower.take(follower.connect({ readOnly: true, session, password }))).toEqual(["close"]);
    ensemble.rejoin(follower);
    ensemble.advance(3000);
    expect(follower.take(reader)).toEqual(["close"]);
    expect(follower.take(follower.connect({ session, password }))).toEqual(["connected 10000"]);
  });
});

test("a leader that serves no clients of its own refuses them", () => {
  const ensemble = new TestEnsemble(3, { leaderServes: false });
  const { leader } = ensemble;
  expect(leader.take(leader.connect())).toEqual(["close"]);
  const [follower] = ensemble.followers;
  expect(follower?.take(follower.connect())).toEqual(["connected 10000"]);
});

test("an epoch whose counter is used up is followed by the next one, and no write is lost", () => {
  const ensemble = new TestEnsemble(3, { counterMax: 20 });
  const { leader } = ensemble;
  const epoch = leader.replica.zab.epoch;
  const client = leader.open();
  let written = 0;
  for (let xid = 1; leader.send(client, xid, OpCode.CREATE, create(`/n${xid}`)); xid++) {
    ensemble.run();
    written++;
    if (xid > 100) throw new Error("the counter has no end");
  }
  ensemble.advance(3000);
  expect(ensemble.leader.replica.zab.epoch).toBeGreaterThan(epoch);
  const reader = ensemble.leader.open();
  for (let xid = 1; xid <= written; xid++) {
    expect(ensemble.leader.ask(reader, OpCode.EXISTS, read(`/n${xid}`))).toBe("stat");
  }
});

test("a leader transfers its leadership to a synchronized follower, without an election", () => {
  const ensemble = new TestEnsemble(3);
  const { leader } = ensemble;
  const rounds = ensemble.members.map(({ replica }) => replica.membership.round);
  expect(leader.replica.zab.transferLeadership()).toBe(2);
  ensemble.run();
  expect(ensemble.leader.sid).toBe(2);
  const others = ensemble.members.filter((member) => member !== leader);
  expect(others.map(({ replica }) => replica.membership.round)).toEqual(rounds.slice(0, 2));
});
