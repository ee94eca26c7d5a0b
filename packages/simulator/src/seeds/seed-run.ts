import type { Zxid } from "@zooid/model";
import { FaultSchedule } from "../faults/fault-schedule.ts";
import { checkDigestCover } from "../invariants/digest-cover.ts";
import { checkFinalTrees } from "../invariants/final-trees.ts";
import { Violation } from "../invariants/violation.ts";
import { Convergence, whatIsMissing } from "../runs/convergence.ts";
import type { Plan } from "../runs/plan.ts";
import { type RunReport, reportOf } from "../runs/report.ts";
import { Run } from "../runs/run.ts";
import { Transfers } from "../runs/transfers.ts";

/** Time for which clients continue after the faults have ended. */
const CALM_MS = 1500;
/**
 * By then every server must be synced and every client answered. Learners that still receive what
 * they lack get longer.
 */
const HEAL_LIMIT_MS = 15_000;
const POLL_MS = 50;
const START_MS_MAX = 300;

/**
 * Runs a whole ensemble with its clients and its faults, in virtual time, from one plan.
 *
 * ```
 *  0 ──── start ──── faults ──────────────── faultsUntilMs ── calm ── last requests, all servers synced ── end
 * ```
 *
 * @param options.lines receives a transcript; without it none is made
 */
export function runPlan(plan: Plan, options: { readonly lines?: string[] } = {}): RunReport {
  const run = new Run(plan, options.lines);
  const faults = new FaultSchedule(run);
  run.hooks = faults;
  run.guard(() => {
    const { cluster, random, actions } = run;
    for (const sid of cluster.sids) cluster.startIn(sid, random.below(START_MS_MAX));
    actions.start();
    faults.start();
    runUntil(run, plan.faultsUntilMs);
    faults.end();
    converge(run);
    if (plan.observers.length > 0) run.coverage.reached("observer served");
    checkFinalTrees(cluster.running(), run.history);
    // The run is over: this changes a tree.
    const [any] = cluster.running();
    if (any !== undefined) checkDigestCover(any);
  });
  return reportOf(run);
}

function converge(run: Run): void {
  const { faultsUntilMs } = run.plan;
  const convergence = new Convergence(run);
  const transfers = new Transfers();
  run.transfers = transfers;
  const limitMs = faultsUntilMs + HEAL_LIMIT_MS;
  while (run.nowMs < limitMs || transfers.isMoving(run.nowMs)) {
    runUntil(run, run.nowMs + POLL_MS);
    if (run.nowMs < faultsUntilMs + CALM_MS) continue;
    run.actions.isClosing = true;
    if (convergence.isReached()) return;
    if (run.nowMs >= limitMs) transfers.limitTo(newestEntry(run));
  }
  throw new Violation("L5", `${run.nowMs - faultsUntilMs} ms after the last fault: ${whatIsMissing(run)}`);
}

function newestEntry({ cluster }: Run): Zxid {
  return Math.max(...cluster.running().map(({ disk }) => disk.durable.tail.zxid)) as Zxid;
}

function runUntil(run: Run, untilMs: number): void {
  while (run.violation === undefined && run.step(untilMs)) {
    // On to the next event.
  }
  if (run.violation !== undefined) throw run.violation;
}
