import { OpCode, sessionIdHigh, sessionIdLow } from "@zooid/model";
import { JuteWriter } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "../testing/ensemble.ts";
import { create, onPath, read } from "../testing/requests.ts";
import { ForwardRun } from "./forward-run.ts";

const EPHEMERAL = 1;

describe("a learner's request", () => {
  test("is prepared in its order, some a turn, while the leader's own clients are served", () => {
    const ensemble = new TestEnsemble(3, {}, { forwardOpCountPerTurn: 2 });
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    const [client, own] = [follower.open(), leader.open()];
    for (let i = 0; i < 7; i++) follower.send(client, i, OpCode.CREATE, create(`/f${i}`));
    follower.send(client, 7, OpCode.SYNC, onPath("/"));
    follower.send(client, 8, OpCode.EXISTS, read("/f6"));
    ensemble.run();
    expect(leader.replica.nextTickMs()).toBe(leader.replica.nowMs);
    expect(leader.ask(own, OpCode.CREATE, create("/own"))).toBe("path /own");
    const early = follower.take(client);
    expect(early.length).toBeLessThan(7);
    ensemble.advance(TEST_TICK_MS);
    const all = [...early, ...follower.take(client)];
    expect(all).toEqual([...[0, 1, 2, 3, 4, 5, 6].map((i) => `${i} path /f${i}`), "7 path /", "8 stat"]);
  });

  test("counts as several ops where it is long", () => {
    const ensemble = new TestEnsemble(3, {}, { forwardOpCountPerTurn: 10 });
    const [follower] = ensemble.followers as [TestMember];
    const client = follower.open();
    const data = "d".repeat(20_000);
    for (let i = 0; i < 4; i++) follower.send(client, i, OpCode.CREATE, create(`/long${i}`, data));
    ensemble.run();
    const early = follower.take(client);
    expect(early.length).toBeLessThan(4);
    ensemble.advance(TEST_TICK_MS);
    expect([...early, ...follower.take(client)]).toEqual([0, 1, 2, 3].map((i) => `${i} path /long${i}`));
  });

  test("that waits for a later turn is dropped with the learner", () => {
    const ensemble = new TestEnsemble(3, {}, { forwardOpCountPerTurn: 1 });
    const [follower] = ensemble.followers as [TestMember];
    const client = follower.open();
    for (let i = 0; i < 5; i++) follower.send(client, i, OpCode.CREATE, create(`/f${i}`));
    ensemble.run();
    ensemble.cutOff(follower);
    ensemble.advance(TEST_TICK_MS);
    const { leader } = ensemble;
    expect(leader.ask(leader.open(), OpCode.EXISTS, read("/f4"))).toBe("NO_NODE");
  });

  test("for a local session creates no ephemeral, whatever the learner sends", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    const writer = new JuteWriter();
    writer.int(1);
    writer.int(OpCode.CREATE);
    create("/orphan", "", EPHEMERAL)(writer);
    const run = new ForwardRun();
    run.add(1e9, { idHigh: 1, idLow: 1, isLocal: true }, 0, { bytes: writer.bytes, start: 0, end: writer.end });
    const { bytes, end } = run;
    leader.replica.receivePeer(ensemble.linkOf(follower), { kind: "forward", count: 1, bytes, start: 0, end });
    ensemble.run();
    expect(leader.replica.tree.ephemeralCount).toBe(0);
    expect(leader.ask(leader.open(), OpCode.EXISTS, read("/orphan"))).toBe("NO_NODE");
  });

  test.each([true, false])(
    "of an operation of a later version is answered UNIMPLEMENTED: local session %s",
    (isLocal) => {
      const ensemble = new TestEnsemble(3);
      const [follower] = ensemble.followers as [TestMember];
      const client = follower.open();
      const { session } = follower;
      const { leader } = ensemble;
      const writer = new JuteWriter();
      writer.int(1);
      writer.int(1000);
      create("/of-a-later-version")(writer);
      const run = new ForwardRun();
      const sender = { idHigh: sessionIdHigh(session), idLow: sessionIdLow(session), isLocal };
      run.add(1e9, sender, 0, { bytes: writer.bytes, start: 0, end: writer.end });
      const { bytes, end } = run;
      leader.replica.receivePeer(ensemble.linkOf(follower), { kind: "forward", count: 1, bytes, start: 0, end });
      ensemble.run();
      expect(follower.replica.isServing).toBe(true);
      expect(follower.ask(client, OpCode.EXISTS, read("/of-a-later-version"))).toBe("NO_NODE");
    },
  );

  test("in a truncated run ends its link, and the leader continues", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    const link = ensemble.linkOf(follower);
    leader.replica.receivePeer(link, { kind: "forward", count: 1, bytes: new Uint8Array(30), start: 0, end: 29 });
    follower.notes.length = 0;
    ensemble.advance(10 * TEST_TICK_MS);
    expect(follower.notes).toContainEqual({ kind: "leader-link-lost", detail: "closed" });
    expect([leader.replica.isLeading, follower.replica.isServing]).toEqual([true, true]);
  });

  test("to open a session that exists ends its link, and the leader continues", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    leader.open();
    const { session } = leader;
    leader.replica.receivePeer(ensemble.linkOf(follower), {
      kind: "open-session",
      sequence: 1,
      sessionHigh: sessionIdHigh(session),
      sessionLow: sessionIdLow(session),
      timeoutMs: 1000,
      passwordHash: new Uint8Array(16),
    });
    follower.notes.length = 0;
    ensemble.advance(10 * TEST_TICK_MS);
    expect(follower.notes).toContainEqual({ kind: "leader-link-lost", detail: "closed" });
    expect([leader.replica.isLeading, follower.replica.isServing]).toEqual([true, true]);
  });
});
