import { type ChangeRequest, ErrorCode, type ServerId } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import type { SimServer } from "../cluster/server.ts";
import { memberLine } from "../seeds/draw-plan.ts";
import { crash } from "./crashes.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

/**
 * The operator's change: one server that joins, leaves or changes its role, or a new list of all.
 */
function changeOf(world: FaultWorld, leader: SimServer, random: Prng): ChangeRequest {
  const { sids } = world;
  const voters = leader.replica.zab.members.committed?.verifier.voters ?? new Set<ServerId>();
  const any = { joining: undefined, leaving: undefined, members: undefined, fromVersion: -1 };
  const dice = random.below(100);
  if (dice < 30) return { ...any, joining: memberLine(random.pick(sids), random.chance(0.15)) };
  if (dice < 50) return { ...any, leaving: String(random.pick([...voters])) };
  if (dice < 60) return { ...any, leaving: String(leader.sid) };
  if (dice < 75) {
    const outside = sids.filter((sid) => !voters.has(sid));
    const [joins, leaves] = [random.pick(outside.length > 0 ? outside : sids), random.pick([...voters])];
    return { ...any, joining: memberLine(joins, false), leaving: joins === leaves ? undefined : String(leaves) };
  }
  const chosen = sids.filter(() => random.chance(0.6));
  const members = (chosen.length > 0 ? chosen : [leader.sid]).map((sid) => memberLine(sid, random.chance(0.15)));
  return { ...any, members: members.join() };
}

function reconfigure(world: FaultWorld, random: Prng): void {
  const { cluster, leader, run } = world;
  if (leader === undefined || leader.isPaused) return;
  // The leader does not know yet that such a server has lost its disk. A quorum of the next
  // configuration may need it, and nothing could bring the ensemble back.
  if (world.sids.some((sid) => cluster.server(sid) === undefined && run.invariants.isWiped(sid))) return;
  const change = changeOf(world, leader, random);
  const thenCrash = random.chance(0.25);
  leader.input(() => {
    if (!leader.isLeading) return;
    const code = leader.replica.reconfigure(change);
    if (code !== ErrorCode.OK) return;
    const { joining = "", leaving = "", members = "" } = change;
    world.report(leader.sid, `changes the configuration: ${members} +${joining} -${leaving}`);
  });
  if (!thenCrash) return;
  run.after(random.below(60), () => {
    if (cluster.server(leader.sid) === leader) crash(world, leader.sid, 300 + random.below(500));
  });
}

export const RECONFIGURATIONS: FaultActions<"reconfig"> = { reconfig: reconfigure };
