import { composeZxid, type Members, parseMembers, type ServerId, serverId, ZXID_NONE, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { ANY_DISK, KnownMembers } from "../known-members.ts";
import type { PeerPhase, RoleContext } from "../role.ts";
import { RecordingSinks } from "../testing/batch.ts";
import type { LearnerHandler } from "./learner-handler.ts";
import type { Learners } from "./learners.ts";
import { VoterDisks } from "./voter-disks.ts";

const VERSION = composeZxid(1, 5);

interface Follower {
  readonly sid: number;
  readonly disk?: string | undefined;
  readonly phase?: LearnerHandler["phase"];
  readonly isWhole?: boolean;
  readonly isOldDisk?: boolean;
}

function configuration(disks: Readonly<Record<number, string>>, version: Zxid = VERSION, voters = [1, 2, 3]): Members {
  const lines = [1, 2, 3, 4].map(
    (sid) => `server.${sid}=h${sid}:1:2:${voters.includes(sid) ? "participant" : "observer"}`,
  );
  const named = Object.entries(disks).map(([sid, disk]): [ServerId, string] => [serverId(Number(sid)), disk]);
  return { ...parseMembers(lines.join("\n")), version, disks: new Map(named) };
}

/** Server 1 leads, and has the disk `a1`. */
function leader(committed: Members, followers: readonly Follower[], phase: PeerPhase = "broadcast") {
  const { durable } = new RecordingSinks();
  const config = { sid: serverId(1), members: committed } as RoleContext["config"];
  const members = new KnownMembers(config, durable, () => {});
  const handlers = followers.map(
    ({ sid, disk, phase = "synced", isWhole = true, isOldDisk = false }) =>
      ({ sid: serverId(sid), phase, isWhole, isOldDisk, info: { diskId: disk } }) as LearnerHandler,
  );
  const log = { durable: { ...durable, identity: { ...durable.identity, diskId: "a1" } } };
  const disks = new VoterDisks({
    context: { members, config, log } as unknown as RoleContext,
    learners: { values: () => handlers.values() } as unknown as Learners,
    phase,
  });
  const areNamed = handlers.map((handler) => disks.isNamed(handler));
  return { disks, members, areNamed, due: Object.fromEntries(disks.due?.disks ?? []) };
}

const BLANK = { isWhole: false, phase: "syncing" } as const;
const OLD = { isWhole: false, isOldDisk: true } as const;

test.each<[title: string, named: Record<number, string>, follower: Follower, due: Record<number, string>]>([
  ["a whole voter without a name needs none", {}, { sid: 2, disk: "a2" }, {}],
  ["an empty disk is named before it has the history", {}, { sid: 2, disk: "b2", ...BLANK }, { 2: "b2" }],
  ["an empty disk takes the place of a named one", { 2: "a2" }, { sid: 2, disk: "b2", ...BLANK }, { 2: "b2" }],
  ["a named empty disk is named once", { 2: "b2" }, { sid: 2, disk: "b2", ...BLANK }, {}],
  ["an empty disk that has not come so far waits", {}, { sid: 2, disk: "b2", isWhole: false, phase: "waiting" }, {}],
  ["an old disk waits for the history", { 2: "b2" }, { sid: 2, disk: "a2", ...OLD, phase: "syncing" }, {}],
  ["an old disk with the history is named", { 2: "b2" }, { sid: 2, disk: "a2", ...OLD }, { 2: "a2" }],
  ["a voter that was away when it became one is named", { 2: ANY_DISK }, { sid: 2, disk: "a2" }, { 2: "a2" }],
  ["an observer is not named", {}, { sid: 4, disk: "b4", ...BLANK }, {}],
  ["the names of others stay", { 3: "c3" }, { sid: 2, disk: "b2", ...BLANK }, { 2: "b2", 3: "c3" }],
  ["a server that names no disk is not named", {}, { sid: 2, disk: undefined, ...BLANK }, {}],
])("%s", (_, named, follower, due) => {
  expect(leader(configuration(named), [follower]).due).toEqual(due);
});

test.each<[title: string, named: Record<number, string>, follower: Follower, isNamed: boolean]>([
  ["a whole one", { 2: "a2" }, { sid: 2, disk: "a2" }, true],
  ["an empty one with its name", { 2: "b2" }, { sid: 2, disk: "b2", ...BLANK }, true],
  ["an empty one without a name", {}, { sid: 2, disk: "b2", ...BLANK }, false],
  ["an empty one where any may come", { 2: ANY_DISK }, { sid: 2, disk: "b2", ...BLANK }, false],
  ["an old one beside the name of another", { 2: "b2" }, { sid: 2, disk: "a2", ...OLD }, false],
  ["that of an observer", {}, { sid: 4, disk: "b4", ...BLANK }, true],
  ["one that says no id, as an earlier version", {}, { sid: 2, disk: undefined, ...BLANK }, true],
])("whether a disk may count: %s", (_, named, follower, isNamed) => {
  expect(leader(configuration(named), [follower]).areNamed).toEqual([isNamed]);
});

test("a leader that was away when it became a voter is named", () => {
  expect(leader(configuration({ 1: ANY_DISK, 2: "a2" }), []).due).toEqual({ 1: "a1", 2: "a2" });
});

test("no name is due before the leader serves, before a configuration was agreed on, or beside a change", () => {
  const blank = { sid: 2, disk: "b2", ...BLANK };
  expect(leader(configuration({}), [blank], "synchronization").due).toEqual({});
  expect(leader(configuration({}, ZXID_NONE), [blank]).due).toEqual({});
  const { disks, members } = leader(configuration({}), [blank]);
  members.see(configuration({ 3: "c3" }, composeZxid(1, 6)));
  expect(disks.due).toBeUndefined();
});

test("no name is due beside a server that names no disk: it would not read the configuration", () => {
  const followers = [
    { sid: 2, disk: "b2", ...BLANK },
    { sid: 3, disk: undefined },
  ];
  const { due, areNamed } = leader(configuration({}), followers);
  expect([due, areNamed]).toEqual([{}, [true, true]]);
});

test("a change keeps the names of voters that stay, names those that join, and drops those that leave", () => {
  const { disks } = leader(configuration({ 2: "a2", 3: "a3" }, VERSION, [2, 3]), [
    { sid: 2, disk: "a2" },
    { sid: 4, disk: "a4" },
  ]);
  const named = (...voters: number[]): unknown => Object.fromEntries(disks.of(configuration({}, VERSION, voters)));
  expect(named(2, 3)).toEqual({ 2: "a2", 3: "a3" });
  expect(named(2, 4)).toEqual({ 2: "a2", 4: "a4" });
  expect(named(1, 2)).toEqual({ 1: "a1", 2: "a2" });
});

test("a change that makes a voter of a server that is away lets any disk of it come", () => {
  const { disks } = leader(configuration({}), [{ sid: 4, disk: "a4", phase: "syncing" }]);
  expect(Object.fromEntries(disks.of(configuration({}, VERSION, [1, 2, 3, 4])))).toEqual({ 4: ANY_DISK });
});
