import {
  composeZxid,
  MajorityQuorum,
  type Members,
  membersText,
  parseMembers,
  serverId,
  type Zxid,
} from "@zooid/model";
import { expect, test } from "vitest";
import { PEER_DEFAULTS } from "./config.ts";
import { decodeMembers, encodeMembers, KnownMembers } from "./known-members.ts";
import { ZabPeer } from "./peer.ts";
import { RecordingSinks } from "./testing/batch.ts";

function membersWith(version: Zxid, ...sids: readonly number[]): Members {
  const lines = sids.map((sid) => `server.${sid}=h${sid}:1:2`);
  return { ...parseMembers(lines.join("\n")), version };
}

const FIRST = membersWith(0 as Zxid, 1, 2, 3);
const CHANGE = membersWith(composeZxid(1, 5), 3, 4, 5);
const LATER = membersWith(composeZxid(2, 1), 4, 5, 6);

function known(stored: { readonly committed?: Members; readonly lastSeen?: Members } = {}, members = FIRST) {
  let changes = 0;
  const { durable } = new RecordingSinks();
  const config = { ...PEER_DEFAULTS, sid: serverId(4), verifier: new MajorityQuorum([]), members };
  const { committed, lastSeen } = stored;
  const configs = {
    committedConfig: committed === undefined ? undefined : encodeMembers(committed),
    lastSeenConfig: lastSeen === undefined ? undefined : encodeMembers(lastSeen),
  };
  const it = new KnownMembers(config, { ...durable, ...configs }, () => changes++);
  return { it, changes: () => changes };
}

const quorum = (it: KnownMembers, ...sids: readonly number[]): boolean => it.verifier.isQuorum(sids.map(serverId));

test("while a change is under way, both configurations count, and the present voters elect", () => {
  const { it, changes } = known();
  it.see(CHANGE);
  expect([it.isChanging, changes()]).toEqual([true, 1]);
  expect([quorum(it, 1, 2), quorum(it, 4, 5), quorum(it, 1, 2, 4, 5)]).toEqual([false, false, true]);
  expect(it.electors.isQuorum([1, 2].map(serverId))).toBe(true);
  const written: Uint8Array[] = [];
  it.commit(composeZxid(1, 4), (committed) => written.push(committed));
  expect([it.isChanging, written]).toEqual([true, []]);
  it.commit(composeZxid(1, 5), (committed) => written.push(committed));
  expect(written).toEqual([encodeMembers(CHANGE)]);
  expect([it.isChanging, quorum(it, 4, 5), quorum(it, 1, 2)]).toEqual([false, true, false]);
});

const withDisk = (members: Members, diskId: string): Members => ({
  ...members,
  disks: new Map([[serverId(4), diskId]]),
});

test.each<[committed: string | undefined, lastSeen: string | undefined, counts: readonly string[]]>([
  [undefined, undefined, ["a", "b"]],
  ["a", "a", ["a"]],
  [undefined, "b", ["b"]],
  ["a", "b", []],
  ["b", "a", []],
  ["a", undefined, ["a"]],
  ["0", "0", ["a", "b"]],
])("with %s named as committed and %s logged, the disks that count are %o", (committed, lastSeen, counts) => {
  const named = (members: Members, diskId: string | undefined) =>
    diskId === undefined ? members : withDisk(members, diskId);
  const { it } = known({ committed: named(CHANGE, committed), lastSeen: named(LATER, lastSeen) });
  expect(["a", "b"].filter((diskId) => it.hasDisk(serverId(4), diskId))).toEqual(counts);
  expect(it.hasDisk(serverId(5), "any")).toBe(true);
});

test("the names of disks are those of the log, where the files have the same version", () => {
  const { it } = known({ committed: withDisk(CHANGE, "a"), lastSeen: withDisk(CHANGE, "a") }, CHANGE);
  expect([it.hasDisk(serverId(4), "a"), it.hasDisk(serverId(4), "b")]).toEqual([true, false]);
  const { it: emptied } = known({}, CHANGE);
  emptied.see(withDisk(CHANGE, "b"));
  expect([emptied.hasDisk(serverId(4), "a"), emptied.hasDisk(serverId(4), "b")]).toEqual([false, true]);
});

test("a file that is newer than the log says nothing of disks, until another server names them", () => {
  const { it } = known({ committed: withDisk(CHANGE, "a"), lastSeen: withDisk(CHANGE, "a") }, LATER);
  expect([it.areDisksKnown, it.committed]).toEqual([false, LATER]);
  expect(it.adopt(LATER, { hasDisks: false })).toBe(false);
  expect(it.adopt(withDisk(LATER, "b"))).toBe(true);
  expect([it.areDisksKnown, it.hasDisk(serverId(4), "a"), it.hasDisk(serverId(4), "b")]).toEqual([true, false, true]);
  expect(it.adopt(withDisk(LATER, "c"))).toBe(false);
  const { it: behind } = known({ committed: CHANGE, lastSeen: CHANGE }, CHANGE);
  expect(behind.areDisksKnown).toBe(true);
  expect([behind.adopt(LATER, { hasDisks: false }), behind.areDisksKnown]).toEqual([true, false]);
  behind.see(withDisk(LATER, "b"));
  expect([behind.areDisksKnown, behind.hasDisk(serverId(4), "a")]).toEqual([true, false]);
});

test("a server has a vote from the moment on that it has logged the change that gives it one", () => {
  const { it } = known();
  expect(it.isObserver).toBe(true);
  it.see(CHANGE);
  expect(it.isObserver).toBe(false);
});

test("a change that a leader's history lacks is forgotten", () => {
  const { it } = known();
  it.see(CHANGE);
  it.see(FIRST);
  expect([it.isChanging, quorum(it, 1, 2)]).toEqual([false, true]);
});

test("what is committed is never replaced by what is older", () => {
  const { it } = known();
  expect([it.adopt(LATER), it.adopt(CHANGE)]).toEqual([true, false]);
  it.see(CHANGE);
  expect([it.committed, it.lastSeen, it.isChanging]).toEqual([LATER, LATER, false]);
});

test("a change that another server has logged names candidates and servers to ask, and counts nowhere", () => {
  const { it, changes } = known();
  const mayLead = (): readonly boolean[] => [1, 4, 6].map((sid) => it.mayLead(serverId(sid)));
  expect(mayLead()).toEqual([true, false, false]);
  expect([it.hear(CHANGE), it.hear(CHANGE), changes()]).toEqual([true, false, 1]);
  expect([mayLead(), [...it.acquaintances]]).toEqual([[true, true, false], [1, 2, 3, 4, 5].map(serverId)]);
  expect([it.isChanging, it.isObserver, quorum(it, 1, 2)]).toEqual([false, true, true]);
  it.see(FIRST);
  expect([it.heard, ...mayLead()]).toEqual([undefined, true, false, false]);
});

test("before a change is logged, the one that it replaces is written, also where another server said that it is committed", () => {
  const { it } = known();
  const written: Uint8Array[] = [];
  const next = membersWith(composeZxid(3, 1), 5, 6);
  const follows = (change: Members): void => {
    it.changeFollows((committed) => written.push(committed));
    it.see(change);
  };
  follows(CHANGE);
  expect([written, it.committed]).toEqual([[], FIRST]);
  // Only a leader that knows the former to be committed proposes another one.
  follows(LATER);
  expect([written, it.committed, it.isChanging]).toEqual([[encodeMembers(CHANGE)], CHANGE, true]);
  it.adopt(LATER);
  follows(next);
  expect(written.slice(1)).toEqual([encodeMembers(LATER)]);
  expect([it.committed, it.lastSeen]).toEqual([LATER, next]);
});

test("a history that ends with a change comes with the configuration that it replaces", () => {
  const { it } = known();
  it.see(LATER, CHANGE);
  expect([it.committed, it.lastSeen, quorum(it, 1, 2)]).toEqual([CHANGE, LATER, false]);
  const written: Uint8Array[] = [];
  expect([it.isWrittenWithHistory(CHANGE), it.isWrittenWithHistory(FIRST)]).toEqual([true, false]);
  it.commit(composeZxid(2, 0), (committed) => written.push(committed));
  expect(written).toEqual([]);
  it.commit(composeZxid(2, 1), (committed) => written.push(committed));
  expect(written).toEqual([encodeMembers(LATER)]);
});

test("a configuration that was learned is written once the log is committed up to it", () => {
  const { it } = known();
  it.adopt(CHANGE);
  const written: Uint8Array[] = [];
  for (const counter of [4, 5, 6]) it.commit(composeZxid(1, counter), (committed) => written.push(committed));
  expect(written).toEqual([encodeMembers(CHANGE)]);
});

test("a server that a change makes a voter leads when a quorum of the present voters waits to follow it", () => {
  const { it } = known();
  it.see(CHANGE);
  const by = (...sids: readonly number[]): boolean => it.isElectedBy(sids.map(serverId));
  expect([by(1), by(3, 5), by(1, 2)]).toEqual([false, false, true]);
  it.commit(composeZxid(1, 5), () => {});
  expect([by(), by(1, 2), by(5)]).toEqual([false, false, true]);
});

test("a change that is not newer than what a server knows is not heard", () => {
  const { it } = known({ committed: CHANGE, lastSeen: LATER });
  expect([it.hear(CHANGE), it.hear(LATER), it.heard]).toEqual([false, false, undefined]);
});

test("the newest configuration of the log counts at a start, and the file's where it is newer", () => {
  const { it } = known({ committed: CHANGE, lastSeen: LATER });
  expect([it.committed?.version, it.lastSeen?.version]).toEqual([CHANGE.version, LATER.version]);
  const newer = known({ committed: CHANGE, lastSeen: CHANGE }, LATER).it;
  expect([newer.committed?.version, newer.isChanging]).toEqual([LATER.version, false]);
});

test("the configuration at a zxid is the last one that is not newer", () => {
  const { it } = known();
  it.see(CHANGE);
  expect(it.at(composeZxid(1, 4))).toBe(FIRST);
  expect(it.at(composeZxid(1, 5))).toBe(CHANGE);
});

test("bytes that are no configuration are none", () => {
  expect(membersText(decodeMembers(encodeMembers(CHANGE)) as Members)).toBe(membersText(CHANGE));
  for (const bytes of [Uint8Array.of(255, 254), new TextEncoder().encode("server.1=h:1")]) {
    expect(decodeMembers(bytes)).toBeUndefined();
  }
});

test("a learned configuration is one that another server knew, and its servers are not the only ones to ask", () => {
  const { it } = known({}, FIRST);
  expect([it.isLearned, it.acquaintances]).toEqual([false, it.verifier.voters]);
  it.adopt(LATER);
  expect(it.isLearned).toBe(true);
  expect(it.acquaintances).toContain(serverId(6));
});

test("a server without a history has no vote by a configuration that it learned", () => {
  const [members, later] = [membersWith(0 as Zxid, 1, 2), membersWith(composeZxid(3, 1), 2)];
  const peer = new ZabPeer({ sid: serverId(2), verifier: members.verifier, members }, new RecordingSinks());
  expect(peer.mayVote).toBe(true);
  expect(peer.adoptMembers(serverId(2), encodeMembers(later))).toBe(true);
  expect(peer.members.electors.isQuorum([serverId(2)])).toBe(true);
  expect(peer.mayVote).toBe(false);
});

test("the list of files counts once each voter has the same one from its files", () => {
  const { it } = known({ committed: FIRST, lastSeen: FIRST }, LATER);
  const other = { ...LATER, version: composeZxid(3, 1) };
  const areKnown = [undefined, LATER, other, LATER].map((list) => {
    it.hearFile(serverId(5), list);
    it.hearFile(serverId(6), LATER);
    return it.areDisksKnown;
  });
  expect(areKnown).toEqual([false, true, true, true]);
  const { it: again } = known({ committed: FIRST, lastSeen: FIRST }, LATER);
  again.hearFile(serverId(5), other);
  again.hearFile(serverId(6), LATER);
  expect(again.areDisksKnown).toBe(false);
  again.hearFile(serverId(6), undefined);
  again.hearFile(serverId(5), LATER);
  expect(again.areDisksKnown).toBe(false);
});
