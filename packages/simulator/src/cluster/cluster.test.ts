import { type ServerId, serverId } from "@zooid/model";
import { describe, expect, test } from "vitest";
import { Cluster, type ClusterWatcher } from "./cluster.ts";

const [S1, S2, S3, S4] = [1, 2, 3, 4].map(serverId) as [ServerId, ServerId, ServerId, ServerId];
/** Longer than an election takes, and than a leader takes to notice that its quorum is lost. */
const ELECTION_MS = 4000;

function started(watcher: ClusterWatcher = {}): Cluster {
  const cluster = new Cluster({ voters: [S1, S2, S3], observers: [S4], watcher });
  for (const sid of cluster.sids) cluster.start(sid);
  cluster.run(ELECTION_MS);
  return cluster;
}

function leaderOf(cluster: Cluster): ServerId {
  const { leader } = cluster;
  if (leader === undefined) throw new Error("no server leads");
  return leader.sid;
}

describe("a cluster", () => {
  test("elects a leader, and every server serves", () => {
    const cluster = started();
    expect(leaderOf(cluster)).toBe(S3);
    expect(cluster.running().map(({ isServing }) => isServing)).toEqual([true, true, true, true]);
  });

  test("elects another leader when it crashes, and the old one follows when it starts again", () => {
    const cluster = started();
    const old = leaderOf(cluster);
    cluster.crash(old);
    cluster.startIn(old, ELECTION_MS);
    cluster.run(ELECTION_MS - 1);
    expect(cluster.server(old)).toBeUndefined();
    expect(leaderOf(cluster)).not.toBe(old);
    cluster.run(ELECTION_MS);
    expect(cluster.server(old)?.replica.zab.state).toBe("following");
    expect(cluster.member(old).lives).toBe(2);
  });

  test("has no leader on the side of a lost quorum, and one again when links are healed", () => {
    const cluster = started();
    for (const sid of [S1, S2, S3]) cluster.isolate(sid, 2 * ELECTION_MS);
    cluster.run(ELECTION_MS);
    expect(cluster.leader).toBeUndefined();
    cluster.healLinks();
    cluster.run(ELECTION_MS);
    expect(cluster.leader).toBeDefined();
  });

  test("keeps a server's disk over a crash and empties it when it is wiped", () => {
    const cluster = started();
    cluster.crash(S1);
    expect(cluster.member(S1).image?.log.log.currentEpoch).toBe(1);
    cluster.wipe(S1);
    expect(cluster.member(S1).image).toBeUndefined();
  });

  test("damages the end of a server's log, which it knows, and the leader makes it whole", () => {
    const cluster = started();
    cluster.crash(S1);
    const before = cluster.member(S1).image?.log.log;
    cluster.damage(S1, 0);
    const after = cluster.member(S1).image?.log;
    expect([before?.amnesiac, after?.log.amnesiac]).toEqual([false, true]);
    expect(after?.entries).toEqual([]);
    expect(after?.log.tail).toEqual(after?.log.floor);
    cluster.startIn(S1, 0);
    cluster.run(ELECTION_MS);
    expect(cluster.server(S1)?.disk.durable.amnesiac).toBe(false);
  });

  test("handles what arrived during a pause when it resumes", () => {
    const cluster = started();
    cluster.pause(S1, 100);
    expect(cluster.server(S1)?.isPaused).toBe(true);
    cluster.run(101);
    expect(cluster.server(S1)?.isPaused).toBe(false);
    expect(cluster.server(S1)?.isServing).toBe(true);
  });

  test("reports starts and crashes to its watcher", () => {
    const seen: string[] = [];
    const cluster = started({
      started: ({ sid }) => seen.push(`start ${sid}`),
      crashed: ({ sid }, { pendingCount }) => seen.push(`crash ${sid} with ${pendingCount} unsynced writes`),
      wiped: (sid) => seen.push(`wipe ${sid}`),
    });
    cluster.wipe(S4);
    expect(seen).toEqual(["start 1", "start 2", "start 3", "start 4", "crash 4 with 0 unsynced writes", "wipe 4"]);
  });

  test("throws what a server throws when no watcher takes it", () => {
    const cluster = started();
    const fail = (): never => {
      throw new Error("a defect");
    };
    expect(() => cluster.server(S1)?.input(fail)).toThrow("a defect");
  });

  test("of equal options makes equal runs", () => {
    const [first, second] = [started(), started()];
    expect(first.network.messageCount).toBe(second.network.messageCount);
  });
});
