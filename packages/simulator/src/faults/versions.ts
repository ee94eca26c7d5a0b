import type { ServerId } from "@zooid/model";
import type { Prng } from "../cluster/prng.ts";
import { LEVEL_MAX } from "../runs/versions.ts";
import { crash } from "./crashes.ts";
import type { FaultActions, FaultWorld } from "./fault-world.ts";

/** Between two servers of a rolling upgrade. */
const NEXT_MS_MAX = 500;

/** A server starts again in another version. */
function restartAs(world: FaultWorld, sid: ServerId, highest: number, downMs: number): void {
  const { cluster, run } = world;
  run.versions.change(sid, highest);
  world.report(sid, `has the version of level ${run.versions.highestOf(sid)}`);
  run.coverage.reached("server of another version");
  if (cluster.server(sid) === undefined) cluster.startIn(sid, downMs);
  else crash(world, sid, downMs);
}

/** One server changes its version, or all do, one after another: forth or back. */
function changeVersion(world: FaultWorld, random: Prng): void {
  const { run, sids } = world;
  const level = world.leader?.replica.zab.level ?? 1;
  if (random.chance(0.4)) {
    const sid = random.pick(sids);
    const by = random.chance(0.6) ? 1 : -1;
    const highest = random.chance(0.15) ? 1 + random.below(LEVEL_MAX) : run.versions.highestOf(sid) + by;
    restartAs(world, sid, highest, random.below(400));
    return;
  }
  const highest = random.chance(0.75) ? level + 1 : level;
  const share = random.pick([0.6, 0.9, 1, 1]);
  // Servers that are no members yet, or not any longer, are often forgotten.
  const listed = world.leader?.replica.zab.members.committed?.servers.map((server) => server.sid) ?? sids;
  let afterMs = 0;
  for (const sid of sids) {
    const isDrawn = random.chance(listed.includes(sid) ? share : 0.3);
    if (run.versions.highestOf(sid) === highest || !isDrawn) continue;
    world.later(afterMs, () => restartAs(world, sid, highest, random.below(200)));
    afterMs += random.below(NEXT_MS_MAX);
  }
}

/** An operator raises the level; then often the leader crashes, or a server goes back. */
function finalize(world: FaultWorld, random: Prng): void {
  const { cluster, leader, run } = world;
  if (leader === undefined || leader.isPaused) return;
  const victim = random.chance(0.6) ? leader.sid : random.pick(world.sids);
  const follows = random.below(10);
  leader.input(() => {
    if (!leader.isLeading) return;
    const answer = leader.replica.raiseLevel();
    if (answer.kind === "blocked") run.coverage.reached("raise of the level blocked");
    if (answer.kind !== "proposed") return;
    world.report(leader.sid, `raises level ${answer.from} to ${answer.level}`);
    run.coverage.reached("level raised");
    if (follows === 5) giveUp(world, leader.sid, answer.from, random);
    if (follows > 4) return;
    run.after(random.below(60), () => {
      if (cluster.server(victim) === undefined || world.isOver) return;
      if (follows < 2) restartAs(world, victim, answer.from, random.below(300));
      else crash(world, victim, 100 + random.below(500));
    });
  });
}

/** The leader crashes while its raise may be on no other disk, and the others go back. */
function giveUp(world: FaultWorld, leader: ServerId, level: number, random: Prng): void {
  const { run, sids } = world;
  run.after(random.below(8), () => {
    if (world.isOver) return;
    crash(world, leader, 300 + random.below(1500));
    for (const sid of sids) if (sid !== leader) restartAs(world, sid, level, random.below(200));
  });
}

export const VERSIONS: FaultActions<"version" | "finalize"> = { version: changeVersion, finalize };
