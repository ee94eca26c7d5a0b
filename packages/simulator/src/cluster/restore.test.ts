import {
  emptySlice,
  epochOf,
  formatZxid,
  isFloorUncommitted,
  SESSION_NONE,
  type ServerId,
  ZXID_NONE,
} from "@zooid/model";
import type { RestoreEnd } from "@zooid/zab";
import { describe, expect, test } from "vitest";
import { Founding, S1, S2, S3 } from "../testing/founding.ts";
import type { SimServer } from "./server.ts";
import { type StateImage, stateImageOf } from "./state-image.ts";

/** An operator restores a state of the past in an ensemble that runs. */

const ALL: readonly ServerId[] = [S1, S2, S3];
const LATE_MS = 20_000;

/** Three servers with `/kept`, whose state is a backup, and then `/discarded`. Server 3 leads. */
function served(): { founding: Founding; backup: StateImage; leader: SimServer } {
  const founding = new Founding({ readOnlyMode: true });
  founding.start(...ALL);
  expect(founding.create(S1, "/kept")).toBe("/kept");
  founding.run();
  const leader = leaderOf(founding);
  const backup = backupOf(leader);
  expect(founding.create(S1, "/discarded")).toBe("/discarded");
  founding.run();
  return { founding, backup, leader };
}

function backupOf({ replica: { tree }, disk }: SimServer): StateImage {
  const chain = disk.log.chainNow(tree.applied);
  if (chain === undefined) throw new Error("the server has applied what its log holds");
  return stateImageOf(tree, { zxid: tree.applied, chain });
}

function leaderOf({ cluster }: Founding): SimServer {
  const { leader } = cluster;
  if (leader === undefined) throw new Error("no server leads");
  return leader;
}

function nodesOf(founding: Founding): string[] {
  return ALL.map((sid) => ["/kept", "/discarded"].filter((path) => founding.read(sid, path) === "1").join(" "));
}

const RESTORED = ["/kept", "/kept", "/kept"];
const UNCHANGED = ["/kept /discarded", "/kept /discarded", "/kept /discarded"];

/** Runs until the leader has the state on its disk, and no other server has it. */
function untilInstalled({ cluster }: Founding, leader: SimServer): void {
  while (!isFloorUncommitted(leader.disk.durable)) cluster.run(1);
  const { zxid } = leader.disk.durable.tail;
  expect(cluster.running().filter(({ disk }) => disk.durable.tail.zxid === zxid)).toEqual([leader]);
}

describe("a restore of a running ensemble", () => {
  test("gives every server the state, and takes away what was written since", () => {
    const { founding, backup, leader } = served();
    const { currentEpoch } = leader.disk.durable;
    expect(leader.restore(backup)).toBe(true);
    founding.run();
    expect(nodesOf(founding)).toEqual(RESTORED);
    expect(leader.isLeading).toBe(true);
    expect(leader.replica.zab.epoch).toBe(currentEpoch + 2);
    expect(formatZxid(leader.disk.durable.floor.zxid)).toBe(`0x${(currentEpoch + 1).toString(16)}00000001`);
    expect(founding.noted(leader.sid)).toEqual(expect.arrayContaining(["restore-begins", "state-restored"]));
    expect(founding.create(S2, "/later")).toBe("/later");
  });

  test.each([
    ["end", 0],
    ["keep", 1],
  ] as const)("is asked to %s the sessions of that time, and leaves %j", (sessions, left) => {
    const { founding, leader, backup } = served();
    const ref = leader.accept();
    leader.connect(ref, {
      protocolVersion: 0,
      lastZxidSeen: ZXID_NONE,
      timeoutMs: 1_000_000,
      sessionId: SESSION_NONE,
      password: emptySlice(),
      readOnly: false,
    });
    founding.run(100);
    leader.disconnect(ref);
    founding.run(10);
    expect(leader.replica.tree.sessionCount).toBe(1);
    leader.restore(backupOf(leader), sessions);
    // Less than the session's timeout.
    while (epochOf(leader.replica.tree.applied) === epochOf(backup.position.zxid)) founding.run(10);
    founding.run(500);
    for (const { replica } of founding.cluster.running()) expect(replica.tree.sessionCount).toBe(left);
  });

  test("reaches a server that was down meanwhile, whose log is longer", () => {
    const { founding, backup, leader } = served();
    founding.cluster.crash(S1);
    leader.restore(backup);
    founding.run();
    founding.cluster.start(S1);
    founding.run();
    expect(nodesOf(founding)).toEqual(RESTORED);
  });

  test("changes nothing where the leader dies before a quorum has promised the epoch", () => {
    const { founding, backup, leader } = served();
    leader.restore(backup);
    founding.cluster.crash(leader.sid);
    founding.cluster.startIn(leader.sid, 3000);
    founding.run(LATE_MS);
    expect(nodesOf(founding)).toEqual(UNCHANGED);
  });

  test("is undone at a leader that alone had the state, where the others continued without it", () => {
    const { founding, backup, leader } = served();
    leader.restore(backup);
    untilInstalled(founding, leader);
    founding.cluster.isolate(leader.sid, 2 * LATE_MS);
    founding.run(LATE_MS);
    expect(founding.create(S1, "/later")).toBe("/later");
    expect(isFloorUncommitted(leader.disk.durable)).toBe(true);
    // It has had no role for long: with another state it would serve reads.
    expect(leader.replica.isReadOnly).toBe(false);
    founding.run(2 * LATE_MS);
    expect(isFloorUncommitted(leader.disk.durable)).toBe(false);
    expect(nodesOf(founding)).toEqual(UNCHANGED);
    expect(founding.read(leader.sid, "/later")).toBe("1");
  });

  test("is undone there even if the server restarts in between, and the others keep their whole logs", () => {
    const { founding, backup, leader } = served();
    leader.restore(backup);
    untilInstalled(founding, leader);
    founding.cluster.crash(leader.sid);
    founding.run(LATE_MS);
    founding.cluster.start(leader.sid);
    founding.run(LATE_MS);
    expect(nodesOf(founding)).toEqual(UNCHANGED);
    expect(founding.serving()).toEqual(ALL);
  });

  test("is completed by the next leader where the others cannot continue without that one", () => {
    const { founding, backup, leader } = served();
    leader.restore(backup);
    untilInstalled(founding, leader);
    founding.cluster.crash(S1);
    founding.cluster.crash(S2);
    founding.run(LATE_MS);
    founding.cluster.start(S1);
    founding.run(LATE_MS);
    founding.cluster.start(S2);
    founding.run();
    expect(nodesOf(founding)).toEqual(RESTORED);
    expect(founding.cluster.running().map(({ disk }) => isFloorUncommitted(disk.durable))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("waits until the leader has on its disk what it proposed: learners vote for it with their own", () => {
    const { founding, backup, leader } = served();
    leader.disk.hold();
    const ref = leader.accept();
    leader.connect(ref, {
      protocolVersion: 0,
      lastZxidSeen: ZXID_NONE,
      timeoutMs: 1000,
      sessionId: SESSION_NONE,
      password: emptySlice(),
      readOnly: false,
    });
    founding.run(100);
    expect(leader.replica.zab.lastProposed).toBeGreaterThan(leader.disk.durable.tail.zxid);
    expect(leader.restore(backup)).toBe(false);
    leader.disconnect(ref);
    leader.disk.release();
    founding.run(100);
    expect(leader.restore(backup)).toBe(true);
    founding.run();
    expect(nodesOf(founding)).toEqual(RESTORED);
  });

  test("is refused by a server that does not lead", () => {
    const { founding, backup } = served();
    const follower = founding.cluster.running().find(({ isLeading }) => !isLeading);
    expect(follower?.restore(backup)).toBe(false);
    founding.run();
    expect(nodesOf(founding)).toEqual(UNCHANGED);
  });

  test("is given up with the reason where the state cannot be made, and the leader serves again", () => {
    const { founding, leader } = served();
    const ends: RestoreEnd[] = [];
    leader.replica.zab.restore({
      standAt: (_zxid, _epochs, done) =>
        founding.cluster.after(1, () => leader.input(() => done({ failed: "the disk is full" }))),
      ended: (end) => ends.push(end),
    });
    founding.run();
    expect(ends).toEqual([{ kind: "given-up", detail: "restore-given-up" }]);
    expect(founding.events).toContainEqual([leader.sid, { kind: "restore-given-up", detail: "the disk is full" }]);
    expect(nodesOf(founding)).toEqual(UNCHANGED);
  });
});

test("a server alone is restored as well", () => {
  const founding = new Founding();
  founding.alone.add(S1);
  founding.start(S1);
  expect(founding.create(S1, "/kept")).toBe("/kept");
  const server = leaderOf(founding);
  const backup = backupOf(server);
  expect(founding.create(S1, "/discarded")).toBe("/discarded");
  expect(server.restore(backup)).toBe(true);
  founding.run();
  expect([founding.read(S1, "/kept"), founding.read(S1, "/discarded")]).toEqual(["1", expect.not.stringMatching("1")]);
  founding.cluster.crash(S1);
  founding.start(S1);
  expect(founding.read(S1, "/kept")).toBe("1");
});
