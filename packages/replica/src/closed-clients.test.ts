import { type ClientAccess, CreateMode, epochOf, membersOf, OpCode, serverId, ZXID_NONE } from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { expect, test } from "vitest";
import { TEST_TICK_MS, TestEnsemble, type TestMember } from "./testing/ensemble.ts";
import { create } from "./testing/requests.ts";

// An ensemble whose configuration keeps clients out until an operator opens it.

function ensembleWith(clients: ClientAccess): TestEnsemble {
  const servers = [1, 2, 3].map((sid) => ({
    sid: serverId(sid),
    host: `h${sid}`,
    quorumPort: 2000 + sid,
    electionPort: 3000 + sid,
    isObserver: false,
    clientAddress: undefined,
    group: undefined,
    weight: 1,
  }));
  const members = membersOf(servers, ZXID_NONE, { clients });
  return new TestEnsemble(3, { members }, { levels: versionWith(1) });
}

const access = ({ replica }: TestMember): boolean => replica.zab.members.areClientsClosed;

function open(ensemble: TestEnsemble): void {
  expect(ensemble.leader.replica.openClients()).toBe("proposed");
  ensemble.advance(TEST_TICK_MS);
}

function close(ensemble: TestEnsemble): void {
  expect(ensemble.leader.replica.closeClients()).toBe("proposed");
  ensemble.advance(TEST_TICK_MS);
}

function hasNode({ replica }: TestMember, path: string): boolean {
  const bytes = Buffer.from(path);
  return replica.tree.find(bytes, 0, bytes.length) !== 0;
}

test("no server opens a session while clients are closed, and each does once that is committed", () => {
  const ensemble = ensembleWith("closed");
  expect(ensemble.members.map(access)).toEqual([true, true, true]);
  for (const member of ensemble.members) {
    const ref = member.connect();
    ensemble.advance(TEST_TICK_MS);
    expect([member.take(ref), member.replica.tree.sessionCount]).toEqual([["close"], 0]);
  }
  open(ensemble);
  expect(ensemble.members.map(access)).toEqual([false, false, false]);
  for (const member of ensemble.members)
    expect(member.ask(member.open(), OpCode.CREATE, create(`/of-${member.sid}`))).toBe(`path /of-${member.sid}`);
});

test("clients stay out while the opening is logged and not committed", () => {
  const ensemble = ensembleWith("closed");
  const { leader } = ensemble;
  const followers = [...ensemble.followers];
  for (const follower of followers) ensemble.cutOff(follower);
  expect(leader.replica.openClients()).toBe("proposed");
  ensemble.run();
  expect([leader.replica.zab.members.lastSeen?.clients, access(leader)]).toEqual(["open", true]);
  for (const follower of followers) ensemble.rejoin(follower);
  ensemble.advance(5000);
  expect(new Set(ensemble.members.map(access)).size).toBe(1);
});

test("an open ensemble says so, and a server that does not lead opens nothing", () => {
  const closed = ensembleWith("closed");
  const [follower] = closed.followers;
  expect(follower?.replica.openClients()).toBe("not-leading");
  expect(closed.leader.replica.openClients()).toBe("proposed");
  expect(closed.leader.replica.openClients()).toBe("busy");
  closed.advance(TEST_TICK_MS);
  expect(closed.leader.replica.openClients()).toBe("open");
  expect(ensembleWith("open").leader.replica.openClients()).toBe("open");
});

test("a closed ensemble keeps each session and its nodes however long, and opens with them", () => {
  const ensemble = ensembleWith("open");
  const [server] = ensemble.followers;
  const ref = server?.open({ timeoutMs: 1000 }) ?? expect.unreachable("there are followers");
  expect(server?.ask(ref, OpCode.CREATE, create("/held", "", CreateMode.EPHEMERAL))).toBe("path /held");
  const [session, password] = [server?.session, server?.password];
  const { epoch } = ensemble.leader.replica.zab;
  const local = ensemble.leader.open();
  close(ensemble);
  ensemble.advance(1000);
  expect([server?.take(ref), ensemble.leader.take(local)]).toEqual([["close"], ["close"]]);
  server?.disconnect(ref);
  expect(ensemble.leader.replica.zab.epoch).toBeGreaterThan(epoch);
  ensemble.advance(60_000);
  for (const member of ensemble.members) {
    expect([access(member), member.replica.isServing]).toEqual([true, true]);
    expect([member.replica.tree.sessionCount, hasNode(member, "/held")]).toEqual([2, true]);
  }
  open(ensemble);
  const [other] = ensemble.followers.filter((member) => member !== server);
  const again = other?.connect({ timeoutMs: 1000, ...(session && { session }), ...(password && { password }) });
  ensemble.advance(TEST_TICK_MS);
  expect(other?.take(again ?? ref)).toEqual([expect.stringContaining("connected")]);
  expect(hasNode(ensemble.leader, "/held")).toBe(true);
});

test("writes before the closing are answered, and the entry behind it is of the next epoch", () => {
  const ensemble = ensembleWith("open");
  const [follower] = ensemble.followers;
  const ref = follower?.open() ?? expect.unreachable("there are followers");
  follower?.send(ref, 7, OpCode.CREATE, create("/before"));
  follower?.replica.flush();
  ensemble.run();
  expect(ensemble.leader.replica.closeClients()).toBe("proposed");
  ensemble.advance(1000);
  expect(follower?.take(ref)).toEqual([expect.stringContaining("/before"), "close"]);
  const { committed } = ensemble.leader.replica.zab.members;
  const closed = committed?.version ?? expect.unreachable("the ensemble has a configuration");
  open(ensemble);
  const opened = ensemble.leader.replica.zab.members.committed?.version ?? closed;
  expect(epochOf(opened)).toBeGreaterThan(epochOf(closed));
});

test("clients are served while the closing is logged and not committed", () => {
  const ensemble = ensembleWith("open");
  const { leader } = ensemble;
  const followers = [...ensemble.followers];
  for (const follower of followers) ensemble.cutOff(follower);
  expect(leader.replica.closeClients()).toBe("proposed");
  ensemble.run();
  expect([leader.replica.zab.members.lastSeen?.clients, access(leader)]).toEqual(["closed-again", false]);
  for (const follower of followers) ensemble.rejoin(follower);
  ensemble.advance(5000);
  expect(new Set(ensemble.members.map(access)).size).toBe(1);
});

test("a leader whose learners lack the closing's commit tells no client that its session has expired", () => {
  const ensemble = ensembleWith("open");
  const [one, two] = ensemble.followers;
  const late = two ?? expect.unreachable("there are two followers");
  const ref = one?.open() ?? expect.unreachable("there are two followers");
  const session = one?.session ?? expect.unreachable("it has a session");
  const password = one?.password ?? new Uint8Array(16);
  one?.disconnect(ref);
  expect(ensemble.leader.replica.closeClients()).toBe("proposed");
  const renewal = late.connect({ session, password });
  ensemble.advance(5000);
  expect(late.take(renewal)).not.toContain("expired");
  expect(ensemble.members.map(access)).toEqual([true, true, true]);
});

test("an ensemble is closed once, by its leader, and no server alone is", () => {
  const ensemble = ensembleWith("open");
  const [follower] = ensemble.followers;
  expect(follower?.replica.closeClients()).toBe("not-leading");
  expect(ensemble.leader.replica.closeClients()).toBe("proposed");
  expect(ensemble.leader.replica.closeClients()).toBe("busy");
  ensemble.advance(1000);
  expect(ensemble.leader.replica.closeClients()).toBe("closed");
  expect(ensembleWith("closed").leader.replica.closeClients()).toBe("closed");
  expect(new TestEnsemble(1).leader.replica.closeClients()).toBe("alone");
});

test("a leader of a closed ensemble opens no session that a learner asks for", () => {
  const ensemble = ensembleWith("closed");
  const [follower] = ensemble.followers;
  follower?.replica.zab.sendToLeader({
    kind: "open-session",
    sequence: 1,
    sessionHigh: 1,
    sessionLow: 2,
    timeoutMs: 5000,
    passwordHash: new Uint8Array(16),
  });
  ensemble.advance(1000);
  expect(ensemble.members.map(({ replica }) => replica.tree.sessionCount)).toEqual([0, 0, 0]);
});
