import type { ServerId } from "@zooid/model";
import { SYNC_LIMIT, TICK_MS } from "../cluster/server-options.ts";
import { crash } from "./crashes.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

function pause(world: FaultWorld, sid: ServerId, forMs: number): void {
  const { cluster, run } = world;
  const server = cluster.server(sid);
  if (server === undefined || server.isPaused) return;
  world.report(sid, `pauses for ${forMs} ms`);
  if (server.isLeading && forMs > SYNC_LIMIT * TICK_MS) run.coverage.reached("leader paused beyond the limit");
  cluster.pause(sid, forMs);
}

function stepClock(world: FaultWorld, sid: ServerId, byMs: number): void {
  world.report(sid, `has its wall clock moved by ${byMs} ms`);
  world.cluster.skewWallClock(sid, byMs);
}

/** The leader names a successor; it may crash right afterwards. */
function transferLeadership(world: FaultWorld, sid: ServerId, thenCrash: boolean): void {
  const { cluster, run } = world;
  const server = cluster.server(sid);
  if (server === undefined || server.isPaused) return;
  server.input(() => {
    const successor = server.replica.zab.transferLeadership();
    if (successor === undefined) return;
    world.report(sid, `transfers leadership to server ${successor}`);
    run.coverage.reached("leadership transferred");
  });
  if (!thenCrash) return;
  run.after(run.random.below(40), () => {
    if (cluster.server(sid) === server) crash(world, sid, 300 + run.random.below(500));
  });
}

export const PROCESS_FAULTS: FaultActions<"pause" | "clock-step" | "leadership-transfer"> = {
  pause: (world, random) => {
    const { leader } = world;
    const sid = leader !== undefined && random.chance(0.4) ? leader.sid : random.pick(world.sids);
    pause(world, sid, random.chance(0.4) ? 1000 + random.below(4000) : random.below(700));
  },
  "clock-step": (world, random) => stepClock(world, random.pick(world.sids), random.below(200_000) - 100_000),
  "leadership-transfer": (world, random) => {
    const { leader } = world;
    if (leader !== undefined) transferLeadership(world, leader.sid, random.chance(0.6));
  },
};
