import { type ServerId, serverId } from "@zooid/model";
import { versionWith } from "@zooid/model/testing/versions";
import { expect, test } from "vitest";
import { Cluster } from "./cluster.ts";

/**
 * A leader logs a raise of the feature level that is not committed, with some followers or none;
 * all stop, and the other servers start again in the version before.
 */
function givenUp(count: number, holders: number): { readonly cluster: Cluster; readonly holding: readonly ServerId[] } {
  const sids = Array.from({ length: count }, (_, i) => serverId(i + 1));
  const highest = new Map(sids.map((sid) => [sid, 2]));
  const cluster = new Cluster({
    voters: sids,
    serverOptions: (sid) => ({ ensemble: {}, levels: versionWith(highest.get(sid) ?? 2) }),
  });
  const restart = (level: number, some: readonly ServerId[]): void => {
    for (const sid of some) {
      highest.set(sid, level);
      cluster.crash(sid, 0);
      cluster.start(sid);
    }
    cluster.run(10_000);
  };
  // The first entry of the history is that of level 2.
  restart(2, sids);
  restart(3, sids);
  const { leader } = cluster;
  if (leader === undefined) throw new Error("no server leads");
  const others = sids.filter((sid) => sid !== leader.sid);
  const holding = [leader.sid, ...others.slice(0, holders - 1)];
  const without = others.slice(holders - 1);
  for (const sid of without) cluster.network.block(leader.sid, sid);
  leader.input(() => expect(leader.replica.raiseLevel()).toMatchObject({ kind: "proposed", level: 3 }));
  cluster.run(50);
  for (const sid of without) cluster.network.unblock(leader.sid, sid);
  expect(sids.filter((sid) => cluster.levelOf(sid) === 3)).toEqual([...holding].sort());
  for (const sid of sids) cluster.crash(sid, 0);
  for (const sid of without) highest.set(sid, 2);
  // Those with the raise answer a leader first.
  for (const one of without) for (const other of without) if (one !== other) cluster.network.clog(one, other, 200);
  for (const sid of sids) cluster.start(sid);
  return { cluster, holding };
}

test.each([
  [3, 1],
  [5, 1],
  [5, 2],
  [7, 3],
])(
  "of %i servers %i with a raise that was given up do not keep the others from a leader, and follow it",
  (count, holders) => {
    const { cluster, holding } = givenUp(count, holders);
    cluster.run(30_000);
    const { leader } = cluster;
    expect(holding).not.toContain(leader?.sid);
    expect(cluster.running().filter(({ replica }) => replica.isServing)).toHaveLength(count);
    expect(cluster.running().map(({ replica }) => replica.zab.levelRaise.level)).toEqual(new Array(count).fill(2));
  },
);
