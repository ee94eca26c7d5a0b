import { type Members, type ServerId, ZXID_NONE } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import { membersWith } from "../seeds/draw-plan.ts";
import { crash } from "./crashes.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

/** Between two restarts of an operator who waits for nothing. */
const NEXT_MS_MAX = 600;

/**
 * An operator gives servers another list in their files, and restarts them one after another: a
 * server comes, leaves or changes its role, or all are chosen again. Not all servers may get the
 * list, and another one may follow before.
 */
function editFiles(world: FaultWorld, random: Prng): void {
  const { leader, run } = world;
  const { committed } = leader?.replica.zab.members ?? {};
  // Servers of version 0.1.0 count by their files: those stay as they are until the ensemble has
  // agreed on a list.
  if (committed === undefined || committed.version === ZXID_NONE || run.files.earlier.size > 0) return;
  const { voters, observers } = listAfter(world, committed.verifier.voters, random);
  const list = membersWith(voters, observers);
  const listed = [...voters, ...observers].filter((sid) => run.plan.fileServers.includes(sid));
  const share = random.pick([0.5, 0.8, 1, 1]);
  const edited = shuffled(
    listed.filter(() => random.chance(share)),
    random,
  );
  world.reportTo("files", `! of ${edited.join(", ")} list ${voters.join(", ")} and observers ${observers.join(", ")}`);
  let afterMs = 0;
  for (const sid of edited) {
    world.later(afterMs, () => {
      if (!isReady(world, sid, list)) return;
      run.files.edit(sid, list);
      crash(world, sid, random.below(200));
    });
    afterMs += random.below(NEXT_MS_MAX);
  }
}

/**
 * Operators wait until a server knows the list in force: one that has data of version 0.1.0 counts
 * by its file. Nor do they give new servers a list of which those are a quorum: they would found
 * another ensemble by it.
 */
function isReady({ cluster, run: { invariants } }: FaultWorld, sid: ServerId, list: Members): boolean {
  const server = cluster.server(sid);
  if (server === undefined) return false;
  if (server.disk.durable.committedConfig !== undefined) return true;
  const without = cluster.sids.filter((other) => invariants.isWiped(other) || !invariants.isFormed(other));
  return without.includes(sid) && !list.verifier.isQuorum(without);
}

function listAfter(
  { sids }: FaultWorld,
  now: ReadonlySet<ServerId>,
  random: Prng,
): { readonly voters: readonly ServerId[]; readonly observers: readonly ServerId[] } {
  const voters = new Set(now);
  const dice = random.below(100);
  const some = random.pick(sids);
  if (dice < 30) voters.add(some);
  else if (dice < 60) voters.delete(some);
  else if (dice < 75) {
    voters.delete(random.pick([...now]));
    voters.add(some);
  } else if (dice < 90) for (const sid of sids) voters.add(sid);
  else for (const sid of sids) if (random.chance(0.5)) voters.delete(sid);
  if (voters.size === 0) voters.add(some);
  const observers = sids.filter((sid) => !voters.has(sid) && random.chance(0.3));
  return { voters: [...voters], observers };
}

function shuffled<T>(items: readonly T[], random: Prng): readonly T[] {
  const rest = [...items];
  const taken: T[] = [];
  while (rest.length > 0) taken.push(...rest.splice(random.below(rest.length), 1));
  return taken;
}

/** A server of version 0.1.0 starts again as one of the present version. */
function upgrade(world: FaultWorld, random: Prng): void {
  const { run } = world;
  const { earlier } = run.files;
  if (earlier.size === 0) return;
  const sid = random.pick([...earlier]);
  run.files.upgrade(sid);
  run.coverage.reached("server upgraded");
  crash(world, sid, random.below(300));
}

export const EDITED_FILES: FaultActions<"edit-files" | "upgrade"> = { "edit-files": editFiles, upgrade };
