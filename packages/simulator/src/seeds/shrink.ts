import { type PlanChanges, planOf } from "./draw-plan.ts";
import { runPlan } from "./seed-run.ts";

const RUNS_MAX = 80;

/**
 * Shrinks a failing seed: leaves out faults, then clients, then servers, then time, as long as the
 * rest fails by the same rule. Each fault has its own random stream, so that without one the others
 * happen as before.
 */
export function shrink(seed: number, rule: string, changes: PlanChanges): PlanChanges {
  let runs = 0;
  let kept = changes;
  const fails = (candidate: PlanChanges): boolean =>
    runs++ < RUNS_MAX && runPlan(planOf(seed, candidate)).violation?.rule === rule;
  const attempt = (candidate: PlanChanges): boolean => {
    const isStillFailing = fails(candidate);
    if (isStillFailing) kept = candidate;
    return isStillFailing;
  };
  for (const fault of planOf(seed, kept).faults.keys()) {
    attempt({ ...kept, without: [...(kept.without ?? []), fault] });
  }
  if (planOf(seed, kept).members !== undefined) attempt({ ...kept, isChangeable: false });
  if (planOf(seed, kept).fileServers.length > 0) attempt({ ...kept, hasFiles: false });
  if (planOf(seed, kept).hasNodeKinds) attempt({ ...kept, hasNodeKinds: false });
  attempt({ ...kept, hasPlainManners: true });
  if (planOf(seed, kept).hasShortTurns) attempt({ ...kept, hasSmallLimits: false });
  if (planOf(seed, kept).sessions !== "replicated") attempt({ ...kept, sessions: "replicated" });
  for (let tenants = planOf(seed, kept).tenants - 1; tenants >= 0; tenants--) attempt({ ...kept, tenants });
  for (let clients = planOf(seed, kept).clients - 1; clients >= 0; clients--) {
    if (!attempt({ ...kept, clients })) break;
  }
  if (planOf(seed, kept).observers.length > 0) attempt({ ...kept, observers: 0 });
  for (let voters = planOf(seed, kept).voters.length - 1; voters >= 1; voters--) attempt({ ...kept, voters });
  for (let untilMs = planOf(seed, kept).faultsUntilMs; untilMs > 1000; ) {
    const half = Math.floor(untilMs / 2);
    if (!attempt({ ...kept, faultsUntilMs: half })) break;
    untilMs = half;
  }
  return kept;
}

/** The command line options for a plan's changes. */
export function optionsOf(changes: PlanChanges): string {
  const options: string[] = [];
  if ((changes.without?.length ?? 0) > 0) options.push(`--without ${changes.without?.join(",")}`);
  if (changes.only !== undefined) options.push(`--only ${changes.only.join(",")}`);
  if (changes.voters !== undefined) options.push(`--voters ${changes.voters}`);
  if (changes.observers !== undefined) options.push(`--observers ${changes.observers}`);
  if (changes.clients !== undefined) options.push(`--clients ${changes.clients}`);
  if (changes.hasNodeKinds !== undefined) options.push(`--kinds ${changes.hasNodeKinds ? "yes" : "no"}`);
  if (changes.hasPlainManners === true) options.push("--manners plain");
  if (changes.hasSmallLimits !== undefined) options.push(`--limits ${changes.hasSmallLimits ? "small" : "default"}`);
  if (changes.sessions !== undefined) options.push(`--sessions ${changes.sessions}`);
  if (changes.isChangeable !== undefined) options.push(`--reconfig ${changes.isChangeable ? "yes" : "no"}`);
  if (changes.hasRestores === true) options.push("--restores");
  if (changes.hasClosedClients === true) options.push("--closed");
  if (changes.hasLevels === true) options.push("--levels");
  if (changes.hasFiles !== undefined) options.push(`--files ${changes.hasFiles ? "yes" : "no"}`);
  if (changes.tenants !== undefined) options.push(`--tenants ${changes.tenants}`);
  if (changes.faultsUntilMs !== undefined) options.push(`--until ${changes.faultsUntilMs}`);
  if (changes.crashAtLogStep !== undefined) options.push(`--crash-at-log-step ${changes.crashAtLogStep}`);
  return options.join(" ");
}
