import { formatZxid } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import { crash } from "./crashes.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

const ATTEMPTS = 100;
const RETRY_MS = 5;

/**
 * The leader's state is kept as a backup, or an earlier one is restored, with its sessions or
 * without. Then often the leader crashes, or another server, while the epoch is promised and the
 * state installed.
 */
function restore(world: FaultWorld, random: Prng): void {
  const { cluster, leader, run } = world;
  if (leader === undefined || leader.isPaused) return;
  if (run.restores.areNone || random.chance(0.5)) {
    if (run.restores.keep(leader)) world.report(leader.sid, "has its state kept as a backup");
    return;
  }
  const image = run.restores.pick(random);
  const victim = random.chance(0.7) ? leader.sid : random.pick(world.sids);
  const thenCrash = random.chance(0.6);
  const sessions = random.chance(0.4) ? "keep" : "end";
  const attempt = (left: number): void => {
    leader.input(() => {
      if (!leader.isLeading || left === 0) return;
      // Not while anything is proposed and not committed.
      if (!leader.restore(image, sessions)) world.later(RETRY_MS, () => attempt(left - 1));
      else begun();
    });
  };
  const begun = (): void => {
    world.report(leader.sid, `restores the state of ${formatZxid(image.position.zxid)}, to ${sessions} its sessions`);
    if (!thenCrash) return;
    run.after(random.below(random.chance(0.5) ? 100 : 1000), () => {
      if (cluster.server(victim) !== undefined) crash(world, victim, 300 + random.below(1500));
    });
  };
  attempt(ATTEMPTS);
}

export const RESTORES: FaultActions<"restore"> = { restore };
