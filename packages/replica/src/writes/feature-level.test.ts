import { OpCode, serverId } from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { expect, test } from "vitest";
import { TestEnsemble, type TestMember } from "../testing/ensemble.ts";
import { create, createTtl, multi, read, setAcl } from "../testing/requests.ts";

// The levels are those of `versionWith`: setACL is of level 2, createTTL of level 3.

const OPEN = [{ perms: 31, scheme: "world", id: "anyone" }];

/** Three voters, perhaps observers, of the version that knows a level. */
function ensembleOf(highest: number, observers = 0): TestEnsemble {
  return new TestEnsemble(3, { observers }, { levels: versionWith(highest) });
}

const levelsOf = ({ members }: TestEnsemble): readonly number[] => members.map(({ replica }) => replica.zab.level);

function raise(ensemble: TestEnsemble): string {
  const { leader } = ensemble;
  const answer = leader.replica.raiseLevel();
  ensemble.advance(1000);
  if (answer.kind !== "blocked") return `${answer.kind} ${"level" in answer ? answer.level : ""}`.trim();
  return `blocked ${answer.level}: ${answer.blockers.map(({ sid, reason }) => `${sid} ${reason}`).join(", ")}`;
}

function upgradeAll(ensemble: TestEnsemble, highest: number, but?: TestMember): void {
  for (const member of ensemble.members) if (member !== but) ensemble.upgrade(member, highest);
}

test("an ensemble is founded at the level that each founder knows, with the first entry of its history", () => {
  expect(levelsOf(ensembleOf(1))).toEqual([1, 1, 1]);
  const ensemble = ensembleOf(3);
  expect(levelsOf(ensemble)).toEqual([3, 3, 3]);
  expect(ensemble.leader.replica.zab.levelRaise).toEqual({ level: 3, zxid: 0x1_0000_0001, replaced: 1 });
  expect(ensemble.leader.ask(ensemble.leader.open(), OpCode.GET_DATA, read("/zookeeper/zooid"))).toContain("level-3");
});

test("requests of a higher level than the one in force are refused, alone and as a part of a multi", () => {
  const ensemble = ensembleOf(1);
  upgradeAll(ensemble, 2);
  for (const member of [ensemble.leader, ...ensemble.followers]) {
    const ref = member.open();
    expect(member.ask(ref, OpCode.SET_ACL, setAcl("/", OPEN))).toBe("UNIMPLEMENTED");
    expect(member.ask(ref, OpCode.CREATE_TTL, createTtl("/ttl", 1000))).toBe("UNIMPLEMENTED");
    const body = multi([OpCode.CREATE, create("/in")], [OpCode.CREATE_TTL, createTtl("/ttl", 1000)]);
    expect(member.ask(ref, OpCode.MULTI, body)).toContain("UNIMPLEMENTED");
    expect(member.ask(ref, OpCode.EXISTS, read("/in"))).toBe("NO_NODE");
  }
  expect(raise(ensemble)).toBe("proposed 2");
  const { leader } = ensemble;
  const ref = leader.open();
  expect(leader.ask(ref, OpCode.SET_ACL, setAcl("/", OPEN))).toBe("stat");
  expect(leader.ask(ref, OpCode.CREATE_TTL, createTtl("/ttl", 1000))).toBe("UNIMPLEMENTED");
});

test("a raise waits for each member: absent, of the earlier version, voter or observer", () => {
  const ensemble = ensembleOf(1, 1);
  expect(raise(ensemble)).toBe("in-force 1");
  const [, second, third, observer] = ensemble.members;
  if (second === undefined || third === undefined || observer === undefined) throw new Error("four members");
  upgradeAll(ensemble, 2, observer);
  expect(raise(ensemble)).toBe("blocked 2: 4 older");
  ensemble.upgrade(observer, 2);
  const absent = ensemble.followers[0] as TestMember;
  ensemble.cutOff(absent);
  expect(raise(ensemble)).toBe(`blocked 2: ${absent.sid} absent`);
  ensemble.rejoin(absent);
  ensemble.advance(2000);
  expect(levelsOf(ensemble)).toEqual([1, 1, 1, 1]);
  expect(raise(ensemble)).toBe("proposed 2");
  expect(levelsOf(ensemble)).toEqual([2, 2, 2, 2]);
  expect(raise(ensemble)).toBe("in-force 2");
});

test("without a list of servers each observer that follows counts", () => {
  const ensemble = ensembleOf(1, 1);
  expect(ensemble.leader.replica.levelStatus()?.members).toMatchObject([
    { sid: 1, isObserver: false },
    { sid: 2, isObserver: false },
    { sid: 3, isObserver: false },
    { sid: 4, isObserver: true, levels: { lowest: 1, highest: 1 }, isSynced: true },
  ]);
});

test("a level is in force once a quorum has its entry, and not before", () => {
  const ensemble = ensembleOf(1);
  upgradeAll(ensemble, 2);
  const { leader, followers } = ensemble;
  const ref = leader.open();
  const release = followers.map((follower) => ensemble.holdBack(follower));
  expect(leader.replica.raiseLevel()).toMatchObject({ kind: "proposed", level: 2, from: 1 });
  ensemble.run();
  expect(leader.replica.zab.levelRaise.level).toBe(2);
  expect(levelsOf(ensemble)).toEqual([1, 1, 1]);
  leader.send(ref, 1, OpCode.SET_ACL, setAcl("/", OPEN));
  ensemble.run();
  expect(leader.replica.raiseLevel()).toEqual({ kind: "under-way", level: 2 });
  for (const each of release) each();
  ensemble.advance(200);
  expect(levelsOf(ensemble)).toEqual([2, 2, 2]);
  expect(leader.take(ref)).toEqual(["1 UNIMPLEMENTED"]);
});

test("a member without the entry of the last raise on its disk keeps the next one from being raised", () => {
  const ensemble = ensembleOf(1);
  upgradeAll(ensemble, 2);
  const [follower] = ensemble.followers as [TestMember];
  follower.fillDisk();
  const { leader } = ensemble;
  expect(leader.replica.raiseLevel()).toMatchObject({ kind: "proposed", level: 2 });
  ensemble.run();
  expect(leader.replica.zab.level).toBe(2);
  const found = leader.replica.levelStatus()?.members.find(({ sid }) => sid === follower.sid);
  expect(found).toMatchObject({ levels: { lowest: 1, highest: 2 }, isSynced: false });
});

test("a server of an earlier version is refused once the level is raised, and knows why", () => {
  const ensemble = ensembleOf(1);
  upgradeAll(ensemble, 2);
  raise(ensemble);
  const [follower] = ensemble.followers as [TestMember];
  Object.assign(follower.levels, versionWith(1));
  ensemble.cutOff(follower);
  ensemble.rejoin(follower);
  ensemble.advance(1000);
  expect(follower.replica.isServing).toBe(false);
  const { sid } = ensemble.leader;
  expect(follower.notes.at(-1)).toEqual({ kind: "refused-by-leader", sid, reason: "level", text: "learners-level" });
});

test("only the leader raises the level, and knows the members", () => {
  const ensemble = ensembleOf(1);
  upgradeAll(ensemble, 2);
  expect(ensemble.followers[0]?.replica.raiseLevel()).toEqual({ kind: "not-leading" });
  expect(ensemble.followers[0]?.replica.levelStatus()).toBeUndefined();
  expect(ensemble.member(serverId(1)).replica.zab.level).toBe(1);
});
