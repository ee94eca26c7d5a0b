import type { ServerId } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import { FOUNDING_WAIT_MS } from "../cluster/server-options.ts";
import { isolateLeader, partAtOnce } from "./deposed-leaders.ts";
import { downTime, type FaultActions, type FaultWorld } from "./fault-world.ts";
import type { BlockedDirections } from "./links.ts";
import { repeatOldVotes } from "./wrong-elections.ts";

/** The disk of a server is lost. */
function wipe(world: FaultWorld, sid: ServerId, downMs: number): void {
  if (!mayWipe(world, sid)) return;
  world.report(sid, `loses its disk, for ${downMs} ms`);
  world.cluster.wipe(sid);
  world.cluster.startIn(sid, downMs);
}

/**
 * A lost disk is survived where every other voter has a history and never lost its own, by each
 * configuration that may count: an ensemble promises no more. The list in a server's files may
 * count at any moment: a leader that has not noticed the loss proposes it, and it then needs a
 * quorum. Nor may servers without a history be a quorum of such a list, even if it is an old one:
 * they would found another ensemble by it, with all others down.
 */
function mayWipe({ cluster, run: { files, invariants } }: FaultWorld, sid: ServerId): boolean {
  if (invariants.isNamingUnderWay) return false;
  const isLost = (other: ServerId): boolean =>
    other === sid || invariants.isWiped(other) || !invariants.isFormed(other);
  const lost = cluster.sids.filter(isLost);
  if (lost.some((other) => files.of(other)?.verifier.isQuorum(lost) === true)) return false;
  const kept = cluster.sids.filter((other) => !isLost(other));
  const wished = cluster.sids.map((other) => files.of(other)?.verifier).filter((verifier) => verifier !== undefined);
  if (wished.some((verifier) => verifier.voters.has(sid) && !verifier.isQuorum(kept))) return false;
  return invariants.configurations.every((verifier) => {
    if (!verifier.voters.has(sid)) return true;
    const others = [...verifier.voters].filter((other) => other !== sid);
    return invariants.newestEpoch > 0 && verifier.isQuorum(others) && !others.some(isLost);
  });
}

/**
 * The end of a server's log is lost, and the server knows that. While nothing is founded, such a
 * server, an observer too, forbids that one is: it may have lost a history, and waits for an
 * operator.
 */
function damage(world: FaultWorld, sid: ServerId, keepShare: number, downMs: number): void {
  if (!mayWipe(world, sid) || world.run.invariants.newestEpoch === 0) return;
  world.report(sid, `loses the end of its log, for ${downMs} ms`);
  world.run.coverage.reached("log damaged");
  world.cluster.damage(sid, keepShare);
  world.cluster.startIn(sid, downMs);
}

/**
 * A leader is isolated; when others have elected another one, a server loses its disk and finds the
 * deposed leader first, by old notifications of the others.
 */
function wipeBesideStaleLeader(world: FaultWorld, blocked: BlockedDirections, sid: ServerId, afterMs: number): void {
  const { leader, cluster } = world;
  if (leader === undefined || leader.sid === sid) return;
  isolateLeader(world, blocked, 3000, { returning: sid });
  partAtOnce(world, leader.sid);
  world.later(afterMs, () => {
    if (!leader.isLeading || !mayWipe(world, sid)) return;
    for (const other of world.sids) {
      if (other === sid || other === leader.sid) continue;
      blocked.block(sid, other, 1500);
      blocked.block(other, sid, 1500);
    }
    wipe(world, sid, 20);
    cluster.network.unclog(sid, leader.sid);
    repeatOldVotes(world, leader.sid, { forMs: 1000, by: [sid] });
  });
}

/**
 * A majority starts with empty disks, as where volumes are not mounted, and a server that has its
 * own is linked late. No ensemble may be founded beside it, if anything was logged there: one that
 * holds the epoch of an attempt may lead servers that have nothing. Then the disks are back. All of
 * it is over before a server could be taken for absent.
 */
function startWithoutDisks(world: FaultWorld, blocked: BlockedDirections, random: Prng): void {
  const { cluster, run } = world;
  const { invariants, plan } = run;
  const { voters } = cluster;
  if (plan.members !== undefined || plan.isStandalone || invariants.newestEpoch === 0) return;
  if (voters.some((sid) => invariants.isWiped(sid) || !invariants.isFormed(sid))) return;
  const survivor = random.pick(voters);
  const emptied = voters.filter((sid) => sid !== survivor && random.chance(0.8));
  const rest = voters.filter((sid) => !emptied.includes(sid));
  if (emptied.length === 0 || cluster.verifier.isQuorum(rest) || !invariants.hasLogged(survivor)) return;
  world.report(survivor, `is beside servers ${emptied.join(", ")}, whose disks are not mounted`);
  run.coverage.reached("majority started without its disks");
  for (const sid of emptied) {
    cluster.unmount(sid);
    cluster.startIn(sid, random.below(50));
  }
  const lateMs = random.below(FOUNDING_WAIT_MS / 2);
  for (const other of random.chance(0.7) ? emptied : []) {
    blocked.block(survivor, other, lateMs);
    blocked.block(other, survivor, lateMs);
  }
  // However soon the faults end.
  run.after((FOUNDING_WAIT_MS * 3) / 4, () => {
    for (const sid of emptied) {
      cluster.mount(sid);
      cluster.startIn(sid, random.below(50));
    }
  });
}

/**
 * A server runs on an empty disk for a while, as where its volume is not mounted, and on its own
 * again, which lacks what it has acked meanwhile.
 */
function bringBackOldDisk(world: FaultWorld, sid: ServerId, random: Prng): void {
  const { cluster, run } = world;
  if (!mayWipe(world, sid) || !run.invariants.hasLogged(sid) || cluster.oldDisk(sid) !== undefined) return;
  if (world.leader?.replica.zab.members.isAgreed !== true) return;
  world.report(sid, "runs on an empty disk");
  cluster.replaceDisk(sid);
  cluster.startIn(sid, downTime(random));
  run.after(1000 + random.below(6000), () => {
    // Without what the present disk has acked it is another lost disk; and so it is taken where
    // the present one is named, and has nothing yet.
    const old = cluster.oldDisk(sid);
    if (old === undefined || !mayWipe(world, sid) || !run.invariants.recognizesOldDisk(sid, old.log.log)) return;
    world.report(sid, "has its old disk back");
    if (!run.invariants.isWiped(sid)) run.coverage.reached("old disk came back");
    cluster.bringBackDisk(sid);
    cluster.startIn(sid, downTime(random));
  });
}

export function lostDisks(
  blocked: BlockedDirections,
): FaultActions<"wipe" | "damaged-log" | "wipe-beside-stale-leader" | "disks-not-mounted" | "old-disk"> {
  return {
    "old-disk": (world, random) => bringBackOldDisk(world, random.pick(world.cluster.voters), random),
    "disks-not-mounted": (world, random) => startWithoutDisks(world, blocked, random),
    wipe: (world, random) => wipe(world, random.pick(world.sids), downTime(random)),
    "damaged-log": (world, random) => damage(world, random.pick(world.sids), random.below(5) / 4, downTime(random)),
    "wipe-beside-stale-leader": (world, random) =>
      wipeBesideStaleLeader(world, blocked, random.pick(world.sids), 400 + random.below(1200)),
  };
}
