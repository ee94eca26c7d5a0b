import type { ServerId } from "@zooid/model";
import { writeBy } from "./deposed-leaders.ts";
import type { DiskFaults } from "./disks.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

/**
 * A learner loses its link to the leader while writes of its clients wait for slow disks: it is
 * synchronized and serves again before they are committed.
 */
function resetBehindSlowDisks(world: FaultWorld, disks: DiskFaults, learner: ServerId, slowMs: number): void {
  const { leader, run, cluster } = world;
  if (leader === undefined || leader.sid === learner) return;
  for (const sid of cluster.voters) {
    if (sid !== learner && sid !== leader.sid) disks.slow(sid, slowMs, 1500);
  }
  for (const client of run.errands.free()) {
    if (client.random.chance(0.3)) continue;
    run.errands.send(client, { server: () => learner, request: () => writeBy(client.name), forMs: 2000 });
  }
  world.later(150 + run.random.below(250), () => {
    world.report(learner, `loses its links to server ${leader.sid}`);
    cluster.network.reset(learner, leader.sid);
  });
}

export function slowCommits(disks: DiskFaults): FaultActions<"reset-behind-slow-disks"> {
  return {
    "reset-behind-slow-disks": (world, random) => {
      const observers = world.sids.filter((sid) => !world.cluster.voters.includes(sid));
      const learner = random.pick(observers.length > 0 && random.chance(0.7) ? observers : world.sids);
      resetBehindSlowDisks(world, disks, learner, 600 + random.below(1500));
    },
  };
}
