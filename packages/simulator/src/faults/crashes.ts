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

export const CRASHES: FaultActions<"crash" | "crash-loop" | "crash-all"> = {
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
};
