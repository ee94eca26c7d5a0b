import { OpCode, SESSION_NONE, sessionIdHigh, sessionIdLow } from "@zooid/model";
import { JuteWriter } from "@zooid/wire";
import { describe, expect, test } from "vitest";
import { ForwardRun } from "./forwarding/forward-run.ts";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create, multi } from "./testing/replica.ts";

const EPHEMERAL = 1;

function path(name: string): (writer: { text(value: string): void; bool(value: boolean): void }) => void {
  return (writer) => {
    writer.text(name);
    writer.bool(false);
  };
}

const read = (member: TestMember, ref: ReturnType<TestMember["open"]>, name: string): string =>
  member.ask(ref, OpCode.GET_DATA, path(name));

function syncPath(writer: { text(value: string): void }): void {
  writer.text("/");
}

describe("three servers and an observer", () => {
  test("have one leader, and all serve", () => {
    const ensemble = new TestEnsemble(3, { observers: 1 });
    expect(ensemble.members.map(({ replica }) => [replica.isServing, replica.zab.state])).toEqual([
      [true, "following"],
      [true, "following"],
      [true, "leading"],
      [true, "observing"],
    ]);
  });

  test("hold what was written at any of them", () => {
    const ensemble = new TestEnsemble(3, { observers: 1 });
    for (const member of ensemble.members) {
      const client = member.open();
      expect(member.ask(client, OpCode.CREATE, create(`/by-${member.sid}`, "here"))).toBe(`path /by-${member.sid}`);
    }
    for (const member of ensemble.members) {
      const client = member.open();
      for (const { sid } of ensemble.members) expect(read(member, client, `/by-${sid}`)).toBe("data here");
    }
    const digests = new Set(ensemble.members.map(({ replica }) => replica.tree.digestLow));
    expect(digests.size).toBe(1);
  });

  test("show their configuration, all the same text, whichever leads", () => {
    const ensemble = new TestEnsemble(3, { observers: 1, configuration: "server.1=here" });
    const shown = () => ensemble.members.map((member) => read(member, member.open(), "/zookeeper/config"));
    expect(new Set(shown())).toEqual(new Set(["data server.1=here"]));
    const { leader } = ensemble;
    ensemble.cutOff(leader);
    ensemble.advance(50 * TEST_TICK_MS);
    ensemble.rejoin(leader);
    ensemble.advance(50 * TEST_TICK_MS);
    expect(ensemble.leader).not.toBe(leader);
    expect(new Set(shown())).toEqual(new Set(["data server.1=here"]));
  });

  test("reap a container together", () => {
    const ensemble = new TestEnsemble(3, { observers: 1 });
    const [follower] = ensemble.followers as [TestMember];
    const client = follower.open();
    const onPath = (name: string) => (writer: { text(value: string): void; int(value: number): void }) => {
      writer.text(name);
      writer.int(-1);
    };
    expect(follower.ask(client, OpCode.CREATE_CONTAINER, create("/c", "", 4))).toBe("path /c");
    follower.ask(client, OpCode.CREATE, create("/c/x"));
    follower.ask(client, OpCode.DELETE, onPath("/c/x"));
    ensemble.advance(60_000);
    for (const member of ensemble.members) expect(read(member, member.open(), "/c")).toBe("NO_NODE");
    const digests = new Set(ensemble.members.map(({ replica }) => replica.tree.digestLow));
    expect(digests.size).toBe(1);
  });

  test("answer what is pipelined at a follower in its order, reads, syncs and refusals too", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    const client = follower?.open();
    if (follower === undefined || client === undefined) throw new Error("no follower");
    follower.send(client, 1, OpCode.CREATE, create("/a", "one"));
    follower.send(client, 2, OpCode.GET_DATA, path("/a"));
    follower.send(client, 3, OpCode.CREATE, create("/a", "again"));
    follower.send(client, 4, OpCode.SYNC, syncPath);
    follower.send(client, 5, OpCode.CREATE, create("/b", "two"));
    follower.send(client, 6, OpCode.GET_DATA, path("/b"));
    ensemble.run();
    expect(follower.take(client)).toEqual([
      "1 path /a",
      "2 data one",
      "3 NODE_EXISTS",
      "4 path /",
      "5 path /b",
      "6 data two",
    ]);
  });

  test("refuse at a follower what its client may not do, by the identities that the follower vouches for", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    const client = follower?.open();
    if (follower === undefined || client === undefined) throw new Error("no follower");
    const mine = [{ perms: 31, scheme: "auth", id: "" }];
    const authenticate = (writer: { int(value: number): void; text(value: string): void }): void => {
      writer.int(0);
      writer.text("digest");
      writer.text("ann:secret");
    };
    expect(follower.ask(client, OpCode.AUTH, authenticate)).toBe("ok");
    expect(follower.ask(client, OpCode.CREATE, create("/mine", "", 0, mine))).toBe("path /mine");
    expect(follower.ask(client, OpCode.CREATE, create("/mine/too"))).toBe("path /mine/too");
    const stranger = follower.open();
    expect(follower.ask(stranger, OpCode.CREATE, create("/mine/not"))).toBe("NO_AUTH");
    // No follower of this version sends so many: the leader believes none of them.
    const ann = [...follower.replica.connections()].find(({ ref }) => ref === client)?.identities ?? [];
    const more = Array.from({ length: 64 }, (_, i) => ({ scheme: "digest", id: `other${i}:hash` }));
    const identities = [...ann, ...more];
    ensemble.leader.replica.receivePeer(ensemble.linkOf(follower), { kind: "identities", client, identities });
    expect(follower.ask(client, OpCode.CREATE, create("/mine/more"))).toBe("NO_AUTH");
  });
});

describe("a session", () => {
  test("goes on at another server, and what its old connection asks is not done", () => {
    const ensemble = new TestEnsemble(3);
    const [first, second] = ensemble.followers;
    if (first === undefined || second === undefined) throw new Error("two followers");
    const before = first.open();
    const { session, password } = first;
    expect(first.ask(before, OpCode.CREATE, create("/eph", "", EPHEMERAL))).toBe("path /eph");
    const after = second.connect({ session, password });
    expect(second.take(after)).toEqual(["connected 10000"]);
    expect(first.ask(before, OpCode.CREATE, create("/late"))).toBe("close");
    expect(second.ask(after, OpCode.EXISTS, path("/late"))).toBe("NO_NODE");
    expect(second.ask(after, OpCode.EXISTS, path("/eph"))).toBe("stat");
  });

  test("is served again where its end was asked for in vain, while it was elsewhere", () => {
    const ensemble = new TestEnsemble(3);
    const [first, second] = ensemble.followers;
    if (first === undefined || second === undefined) throw new Error("two followers");
    const before = first.open();
    const { session, password } = first;
    second.take(second.connect({ session, password }));
    // Its connection from before asks for its end, and the leader refuses: the session is not that server's any more.
    expect(first.ask(before, OpCode.CLOSE_SESSION)).toBe("close");
    const again = first.connect({ session, password });
    expect(first.take(again)).toEqual(["connected 10000"]);
    expect(first.ask(again, OpCode.EXISTS, path("/"))).toBe("stat");
    expect(first.ask(again, OpCode.CREATE, create("/a"))).toBe("path /a");
  });

  test("is not given to who does not know its password", () => {
    const ensemble = new TestEnsemble(3);
    const [first, second] = ensemble.followers;
    if (first === undefined || second === undefined) throw new Error("two followers");
    first.open();
    const thief = second.connect({ session: first.session, password: new Uint8Array(16).fill(9) });
    expect(second.take(thief)).toEqual(["expired", "close"]);
    const owner = second.connect({ session: first.session, password: first.password });
    expect(second.take(owner)).toEqual(["connected 10000"]);
  });

  test("lives while its client is heard of at a follower, and its ephemerals go when it is not", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    const client = follower.open({ timeoutMs: 1000 });
    follower.ask(client, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    for (let i = 0; i < 10; i++) {
      ensemble.advance(500);
      expect(follower.ask(client, OpCode.EXISTS, path("/eph"))).toBe("stat");
    }
    follower.disconnect(client);
    ensemble.advance(900);
    const other = ensemble.leader.open();
    expect(ensemble.leader.ask(other, OpCode.EXISTS, path("/eph"))).toBe("stat");
    ensemble.advance(300 + 2 * TEST_TICK_MS);
    expect(ensemble.leader.ask(other, OpCode.EXISTS, path("/eph"))).toBe("NO_NODE");
  });

  test("survives its leader", () => {
    const ensemble = new TestEnsemble(3);
    const { leader } = ensemble;
    const client = leader.open();
    const { session, password } = leader;
    leader.ask(client, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    ensemble.cutOff(leader);
    ensemble.advance(2000);
    expect(ensemble.leader).not.toBe(leader);
    const again = ensemble.leader.connect({ session, password });
    expect(ensemble.leader.take(again)).toEqual(["connected 10000"]);
    expect(ensemble.leader.ask(again, OpCode.EXISTS, path("/eph"))).toBe("stat");
  });
});

describe("a server without a quorum", () => {
  test("lets its clients go and serves nobody, until it is back", () => {
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

  test("that led commits nothing, and what it could not commit is gone when it is back", () => {
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
      expect(member.ask(member.open(), OpCode.EXISTS, path("/skipped"))).toBe("NO_NODE");
    }
  });

  test("serves reads to who asks for that, where that is on, and changes nothing", () => {
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
    expect(read(follower, reader, "/a")).toBe("data kept");
    expect(follower.ask(reader, OpCode.CREATE, create("/b"))).toBe("NOT_READ_ONLY");
    expect(follower.ask(reader, OpCode.SYNC, syncPath)).toBe("NOT_READ_ONLY");
    // A session of the ensemble may be alive on the other side.
    expect(follower.take(follower.connect({ readOnly: true, session, password }))).toEqual(["close"]);
    ensemble.rejoin(follower);
    ensemble.advance(3000);
    expect(follower.take(reader)).toEqual(["close"]);
    expect(follower.take(follower.connect({ session, password }))).toEqual(["connected 10000"]);
  });
});

describe("a local session", () => {
  const local = (upgrading: boolean): [TestEnsemble, TestMember] => {
    const ensemble = new TestEnsemble(3, { localSessions: true, localSessionsUpgrading: upgrading });
    const [follower] = ensemble.followers;
    if (follower === undefined) throw new Error("no follower");
    return [ensemble, follower];
  };

  test("costs no write, and is unknown elsewhere", () => {
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

  test("may have no ephemeral where it cannot be upgraded, and is told so in its place", () => {
    const [ensemble, follower] = local(false);
    const client = follower.open();
    follower.send(client, 1, OpCode.CREATE, create("/a"));
    follower.send(client, 2, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    follower.send(client, 3, OpCode.EXISTS, path("/a"));
    ensemble.run();
    expect(follower.take(client)).toEqual(["1 path /a", "2 EPHEMERAL_ON_LOCAL_SESSION", "3 stat"]);
  });

  test("is told the same of an ephemeral whether or not it waits behind a write", () => {
    const [, follower] = local(false);
    const client = follower.open();
    for (const op of [OpCode.CREATE, OpCode.CREATE2]) {
      expect(follower.ask(client, op, create("/eph", "", EPHEMERAL))).toBe("EPHEMERAL_ON_LOCAL_SESSION");
    }
    const part = multi([OpCode.CREATE, create("/eph", "", EPHEMERAL)]);
    expect(follower.ask(client, OpCode.MULTI, part)).toBe("EPHEMERAL_ON_LOCAL_SESSION");
  });

  test("of the leader is not taken over by a follower, where nothing would end it", () => {
    const [ensemble, follower] = local(true);
    const { leader } = ensemble;
    const client = leader.open();
    const { session, password } = leader;
    const moved = follower.connect({ session, password });
    ensemble.advance(TEST_TICK_MS);
    expect(follower.take(moved)).toEqual(["expired", "close"]);
    expect(leader.ask(client, OpCode.EXISTS, path("/"))).toBe("stat");
  });

  test("becomes one of the ensemble with its first ephemeral, keeps its id, and goes on anywhere", () => {
    const [ensemble, follower] = local(true);
    const client = follower.open();
    const { session, password } = follower;
    expect(follower.ask(client, OpCode.CREATE, create("/eph", "", EPHEMERAL))).toBe("path /eph");
    expect(follower.replica.localSessionCount).toBe(0);
    const moved = ensemble.leader.connect({ session, password });
    expect(ensemble.leader.take(moved)).toEqual(["connected 10000"]);
  });

  test("that is closed behind its upgrade takes its ephemeral along", () => {
    const [ensemble, follower] = local(true);
    const client = follower.open();
    follower.send(client, 1, OpCode.CREATE, create("/eph", "", EPHEMERAL));
    follower.send(client, 2, OpCode.CLOSE_SESSION);
    ensemble.run();
    expect(follower.take(client)).toEqual(["1 path /eph", "2 ok", "close"]);
    const { leader } = ensemble;
    expect(leader.ask(leader.open(), OpCode.EXISTS, path("/eph"))).toBe("NO_NODE");
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

test("a leader that serves no clients of its own refuses them", () => {
  const ensemble = new TestEnsemble(3, { leaderServes: false });
  const { leader } = ensemble;
  expect(leader.take(leader.connect())).toEqual(["close"]);
  const [follower] = ensemble.followers;
  expect(follower?.take(follower.connect())).toEqual(["connected 10000"]);
});

test("an epoch whose counter nears its end gives way to the next, and no write is lost", () => {
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
    expect(ensemble.leader.ask(reader, OpCode.EXISTS, path(`/n${xid}`))).toBe("stat");
  }
});

test("a leader hands over to a follower that is level, without an election", () => {
  const ensemble = new TestEnsemble(3);
  const { leader } = ensemble;
  const rounds = ensemble.members.map(({ replica }) => replica.membership.round);
  expect(leader.replica.zab.transferLeadership()).toBe(2);
  ensemble.run();
  expect(ensemble.leader.sid).toBe(2);
  const others = ensemble.members.filter((member) => member !== leader);
  expect(others.map(({ replica }) => replica.membership.round)).toEqual(rounds.slice(0, 2));
});

test("nobody gets a session that no server knows", () => {
  const ensemble = new TestEnsemble(3);
  for (const member of ensemble.members) {
    const client = member.connect({ session: (SESSION_NONE + 77n) as typeof SESSION_NONE });
    expect(member.take(client)).toEqual(["expired", "close"]);
  }
});

describe("what learners ask", () => {
  test("is prepared some a turn, in the order of each, and the leader's own clients have theirs meanwhile", () => {
    const ensemble = new TestEnsemble(3, {}, { forwardOpCountPerTurn: 2 });
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    const [client, own] = [follower.open(), leader.open()];
    for (let i = 0; i < 7; i++) follower.send(client, i, OpCode.CREATE, create(`/f${i}`));
    follower.send(client, 7, OpCode.SYNC, syncPath);
    follower.send(client, 8, OpCode.EXISTS, path("/f6"));
    ensemble.run();
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

  test("and is left over is gone with the learner", () => {
    const ensemble = new TestEnsemble(3, {}, { forwardOpCountPerTurn: 1 });
    const [follower] = ensemble.followers as [TestMember];
    const client = follower.open();
    for (let i = 0; i < 5; i++) follower.send(client, i, OpCode.CREATE, create(`/f${i}`));
    ensemble.run();
    ensemble.cutOff(follower);
    ensemble.advance(TEST_TICK_MS);
    const { leader } = ensemble;
    expect(leader.ask(leader.open(), OpCode.EXISTS, path("/f4"))).toBe("NO_NODE");
  });

  test("for a session that only they know makes no ephemeral, whatever they say", () => {
    const ensemble = new TestEnsemble(3);
    const [follower] = ensemble.followers as [TestMember];
    const { leader } = ensemble;
    const writer = new JuteWriter();
    writer.int(1);
    writer.int(OpCode.CREATE);
    create("/orphan", "", EPHEMERAL)(writer);
    const run = new ForwardRun();
    run.add(1e9, { idHigh: 1, idLow: 1, isLocal: true }, 0, writer.bytes, 0, writer.end);
    const { bytes, end } = run;
    leader.replica.receivePeer(ensemble.linkOf(follower), { kind: "forward", count: 1, bytes, start: 0, end });
    ensemble.run();
    expect(leader.replica.tree.ephemeralCount).toBe(0);
    expect(leader.ask(leader.open(), OpCode.EXISTS, path("/orphan"))).toBe("NO_NODE");
  });

  test("in a run that breaks off ends its link, and the leader goes on", () => {
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

  test("to open a session that exists ends its link, and the leader goes on", () => {
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
