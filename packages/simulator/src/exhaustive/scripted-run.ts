import { assertNever } from "@zooid/model";
import { checkFinalTrees } from "../invariants/final-trees.ts";
import { Violation } from "../invariants/violation.ts";
import { whatIsMissing } from "../runs/convergence.ts";
import type { Plan } from "../runs/plan.ts";
import { type RunReport, reportOf } from "../runs/report.ts";
import { Run } from "../runs/run.ts";
import { type ChoicePoint, ChoicePoints, type Deviation } from "./choice-points.ts";

const DOWN_MS = 30;
const CUT_MS = 1500;
/** Events may change places within this time of each other. */
const LATER_WINDOW_MS = 3;
const LIMIT_MS = 15_000;

export interface ScriptedRunOptions {
  readonly plan: Plan;
  /** How many writes each client makes. */
  readonly writes: number;
  readonly deviations: readonly Deviation[];
  /** Whether the places at which the run could deviate further are wanted. */
  readonly findsPoints: boolean;
  /** Receives a transcript. */
  readonly lines?: string[];
}

export interface ScriptedRunResult {
  readonly points: readonly ChoicePoint[];
  readonly report: RunReport;
}

/**
 * A short run of a few writes with given deviations and no other faults. It ends when their effects
 * have ended.
 */
export function runScript(options: ScriptedRunOptions): ScriptedRunResult {
  const { plan, writes, deviations, findsPoints, lines } = options;
  const run = new Run(plan, lines);
  const points = findsPoints ? new ChoicePoints(run.cluster.network) : undefined;
  if (points !== undefined) run.hooks = { visible: (sid) => points.visible(sid) };
  run.actions.writeCount = writes;
  run.guard(() => {
    const { cluster, counts } = run;
    for (const sid of cluster.sids) cluster.startIn(sid, 1);
    run.actions.start();
    const last = deviations.at(-1)?.step ?? -1;
    while (run.nowMs < LIMIT_MS && (counts.steps <= last || !isDone(run))) {
      const due = deviations.filter(({ step }) => step === counts.steps);
      stepWith(run, due);
      points?.endStep(counts.steps, cluster.running());
    }
    points?.end(counts.steps, cluster.running());
    if (!isDone(run)) throw new Violation("L5", `${LIMIT_MS} ms from the start: ${whatIsMissing(run)}`);
    checkFinalTrees(cluster.running(), run.history);
  });
  return { points: points?.all ?? [], report: reportOf(run) };
}

/** Carries out what deviates here, and then the next event, or a later one. */
function stepWith(run: Run, deviations: readonly Deviation[]): void {
  const { cluster, trace, counts } = run;
  let laterBy = 0;
  for (const deviation of deviations) {
    if (trace.hasLines) trace.say("world", `! ${JSON.stringify(deviation)}`);
    switch (deviation.kind) {
      case "crash":
        cluster.crash(deviation.sid, deviation.kept);
        cluster.startIn(deviation.sid, DOWN_MS);
        break;
      case "cut":
        cluster.isolate(deviation.sid, CUT_MS);
        break;
      case "later":
        laterBy = deviation.by;
        break;
      default:
        assertNever(deviation);
    }
  }
  counts.steps++;
  const isLater = laterBy > 0 && cluster.scheduler.runLater(laterBy, LATER_WINDOW_MS);
  if (!isLater) cluster.scheduler.runNext(LIMIT_MS);
  if (run.violation !== undefined) throw run.violation;
}

/** Every server runs and is synced, and every client has found its session again. */
function isDone(run: Run): boolean {
  const { cluster, clients } = run;
  if (cluster.network.blockedCount > 0 || cluster.members.some(({ server }) => server === undefined)) return false;
  const isServed = clients.every(({ isDone, connection }) => isDone && connection?.isReady === true);
  return isServed && whatIsMissing(run) === "";
}
