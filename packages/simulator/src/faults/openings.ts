import type { Prng } from "../cluster/prng.ts";
import { crash } from "./crashes.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

/** Time between two attempts to open the ensemble once the faults have ended. */
const RETRY_MS = 200;

/**
 * The operator opens the ensemble to clients; often the leader crashes before that is committed.
 */
function open(world: FaultWorld, random: Prng): void {
  const { cluster, leader, run } = world;
  if (leader === undefined || leader.isPaused) return;
  const thenCrash = random.chance(0.6);
  if (!opens(world)) return;
  world.report(leader.sid, "opens the ensemble to clients");
  if (!thenCrash) return;
  run.after(random.below(random.chance(0.5) ? 20 : 200), () => {
    if (cluster.server(leader.sid) === leader) crash(world, leader.sid, 300 + random.below(1500));
  });
}

/** The operator closes it again; often a server crashes before each one knows. */
function close(world: FaultWorld, random: Prng): void {
  const { cluster, leader, run } = world;
  if (leader === undefined || leader.isPaused) return;
  const isCrashing = random.chance(0.6);
  const sid = random.chance(0.5) ? leader.sid : random.pick(world.sids);
  const delayMs = random.below(random.chance(0.5) ? 20 : 200);
  const downMs = 300 + random.below(1500);
  let answer = "";
  leader.input(() => {
    answer = leader.replica.closeClients();
  });
  if (answer !== "proposed") return;
  world.report(leader.sid, "closes the ensemble to clients");
  const server = cluster.server(sid);
  if (!isCrashing || server === undefined) return;
  run.after(delayMs, () => {
    if (cluster.server(sid) === server) crash(world, sid, downMs);
  });
}

function opens({ leader }: FaultWorld): boolean {
  let answer = "";
  leader?.input(() => {
    answer = leader.replica.openClients();
  });
  return answer === "proposed";
}

/** Behind the faults: until the ensemble serves clients. */
export function openAtTheEnd(world: FaultWorld): void {
  const isOpen = world.leader?.replica.zab.members.areClientsClosed === false;
  if (isOpen) return;
  opens(world);
  world.run.after(RETRY_MS, () => openAtTheEnd(world));
}

export const OPENINGS: FaultActions<"open" | "close"> = { open, close };
