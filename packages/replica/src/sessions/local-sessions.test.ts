import { OpCode } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "../testing/ensemble.ts";
import { create, multi, read } from "../testing/requests.ts";

const EPHEMERAL = 1;

describe("a local session", () => {
  const local = (upgrading: boolean): [TestEnsemble, TestMember] => {
    const ensemble = new TestEnsemble(3, { localSessions: true, localSessionsUpgrading: upgrading });
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    return [ensemble, follower];
  };

  test("costs no write, and is unknown to other servers", () => {
    const [ensemble, follower] = local(false);
    const before = ensemble.leader.replica.zab.lastProposed;
    const client = follower.open();
    expect(ensemble.leader.replica.zab.lastProposed).toBe(before);
    expect(follower.replica.localSessionCount).toBe(1);
    expect(follower.ask(client, OpCode.CREATE, create("/a", "x"))).toBe("path /a");
    const { session, password } = follower;
    const moved = ensemble.leader.connect({ session, password });
    expect(ensemble.leader.take(moved)).toEqual(["expired", "close"]);
  });

  test("cannot create an ephemeral where it cannot be upgraded, and gets that answer in its place", () => {
    const [ensemble, follower] = local(false);
    const client = follower.open();
    follower.send(client, 1, OpCode.CREATE, create("/a"));
    follower.send(client, 2, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    follower.send(client, 3, OpCode.EXISTS, read("/a"));
    ensemble.run();
    expect(follower.take(client)).toEqual(["1 path /a", "2 EPHEMERAL_ON_LOCAL_SESSION", "3 stat"]);
  });

  test("gets the same answer for an ephemeral whether or not it waits behind a write", () => {
    const [, follower] = local(false);
    const client = follower.open();
    for (const op of [OpCode.CREATE, OpCode.CREATE2]) {
      expect(follower.ask(client, op, create("/eph", "", EPHEMERAL))).toBe("EPHEMERAL_ON_LOCAL_SESSION");
    }
    const part = multi([OpCode.CREATE, create("/eph", "", EPHEMERAL)]);
    expect(follower.ask(client, OpCode.MULTI, part)).toBe("EPHEMERAL_ON_LOCAL_SESSION");
  });

  test("of the leader is not renewed at a follower, where nothing would end it", () => {
    const [ensemble, follower] = local(true);
    const { leader } = ensemble;
    const client = leader.open();
    const { session, password } = leader;
    const moved = follower.connect({ session, password });
    ensemble.advance(TEST_TICK_MS);
    expect(follower.take(moved)).toEqual(["expired", "close"]);
    expect(leader.ask(client, OpCode.EXISTS, read("/"))).toBe("stat");
  });

  test("whose close waits behind a write ends when its client does not wait for that", () => {
    const [ensemble, follower] = local(false);
    const client = follower.open();
    follower.send(client, 1, OpCode.CREATE, create("/a"));
    follower.send(client, 2, OpCode.CLOSE_SESSION);
    follower.replica.disconnect(client);
    ensemble.run();
    expect(follower.replica.localSessionCount).toBe(0);
  });

  test("of the leader whose close waits behind a write is refused at a follower", () => {
    const [ensemble, follower] = local(false);
    const { leader } = ensemble;
    const client = leader.open();
    const { session, password } = leader;
    leader.send(client, 1, OpCode.CREATE, create("/a"));
    leader.send(client, 2, OpCode.CLOSE_SESSION);
    const moved = follower.connect({ session, password });
    ensemble.advance(TEST_TICK_MS);
    expect(follower.take(moved)).toEqual(["expired", "close"]);
    expect(leader.replica.waitingRenewalCount).toBe(0);
  });

  test("becomes one of the ensemble with its first ephemeral, keeps its id, and can be renewed anywhere", () => {
    const [ensemble, follower] = local(true);
    const client = follower.open();
    const { session, password } = follower;
    expect(follower.ask(client, OpCode.CREATE, create("/eph", "", EPHEMERAL))).toBe("path /eph");
    expect(follower.replica.localSessionCount).toBe(0);
    const moved = ensemble.leader.connect({ session, password });
    expect(ensemble.leader.take(moved)).toEqual(["connected 10000"]);
  });

  test("that is closed right after its upgrade loses its ephemeral", () => {
    const [ensemble, follower] = local(true);
    const client = follower.open();
    follower.send(client, 1, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    follower.send(client, 2, OpCode.CLOSE_SESSION);
    ensemble.run();
    expect(follower.take(client)).toEqual(["1 path /eph", "2 ok", "close"]);
    const { leader } = ensemble;
    expect(leader.ask(leader.open(), OpCode.EXISTS, read("/eph"))).toBe("NO_NODE");
    expect(leader.replica.tree.sessionCount).toBe(0);
  });

  test("ends by its own server's clock", () => {
    const [ensemble, follower] = local(false);
    const client = follower.open({ timeoutMs: 1000 });
    ensemble.advance(1000 + 2 * TEST_TICK_MS);
    expect(follower.take(client)).toEqual(["close"]);
    expect(follower.replica.localSessionCount).toBe(0);
  });
});
