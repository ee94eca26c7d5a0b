import type { ServerId } from "@zooid/model";
import { downTime, type FaultActions, type FaultWorld } from "./fault-world.ts";

/** A server crashes and starts again after a while. */
export function crash(world: FaultWorld, sid: ServerId, downMs: number): void {
  const { cluster } = world;
  if (cluster.server(sid) === undefined) return;
  world.report(sid, `crashes for ${downMs} ms`);
  cluster.crash(sid);
  cluster.startIn(sid, downMs);
}

/** The disk of a server is lost. */
function wipe(world: FaultWorld, sid: ServerId, downMs: number): void {
  if (!mayWipe(world, sid)) return;
  world.report(sid, `loses its disk, for ${downMs} ms`);
  world.cluster.wipe(sid);
  world.cluster.startIn(sid, downMs);
}

/**
 * A lost disk is survived where every other voter has a history and never lost its own: an ensemble
 * promises no more.
 */
function mayWipe({ cluster, run: { invariants } }: FaultWorld, sid: ServerId): boolean {
  const { verifier, voters } = cluster;
  if (!voters.includes(sid)) return true;
  const others = voters.filter((other) => other !== sid);
  return (
    invariants.newestEpoch > 0 &&
    verifier.isQuorum(others) &&
    others.every((other) => !invariants.isWiped(other) && invariants.isFormed(other))
  );
}

export const CRASHES: FaultActions<"crash" | "crash-loop" | "crash-all" | "wipe"> = {
  crash: (world, random) => {
    const sid = random.pick(world.sids);
    crash(world, sid, downTime(random));
  },
  "crash-loop": (world, random) => {
    const sid = random.pick(world.sids);
    const times = 2 + random.below(4);
    const loop = (left: number): void => {
      if (left === 0) return;
      crash(world, sid, random.below(60));
      world.later(100 + random.below(400), () => loop(left - 1));
    };
    loop(times);
  },
  "crash-all": (world, random) => {
    for (const sid of world.sids) crash(world, sid, random.below(1500));
  },
  wipe: (world, random) => wipe(world, random.pick(world.sids), downTime(random)),
};
