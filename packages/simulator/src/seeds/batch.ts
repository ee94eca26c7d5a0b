import { type PlanChanges, planOf } from "./draw-plan.ts";
import { runPlan } from "./seed-run.ts";

/** Consecutive seeds that one worker runs. */
export interface BatchTask {
  readonly from: number;
  readonly count: number;
  /** Run each twice and compare. */
  readonly isTwice: boolean;
  /** Continue after a seed that fails. */
  readonly keepsGoing: boolean;
}

export interface SeedFailure {
  readonly seed: number;
  readonly rule: string;
  readonly what: string;
}

const SUMS = [
  "seeds",
  "virtualMs",
  "cpuMs",
  "steps",
  "messages",
  "committed",
  "acknowledged",
  "answers",
  "events",
  "faults",
  "crashes",
  "epochs",
  "expiries",
] as const;
type SumName = (typeof SUMS)[number];

/** The sums of the reports of seeds, as plain values for another process. */
export interface BatchResult extends Readonly<Record<SumName, number>> {
  readonly sometimes: Readonly<Record<string, number>>;
  readonly failures: readonly SeedFailure[];
}

export const NO_RESULT: BatchResult = {
  ...(Object.fromEntries(SUMS.map((name) => [name, 0])) as Record<SumName, number>),
  sometimes: {},
  failures: [],
};

export function addResults(a: BatchResult, b: BatchResult): BatchResult {
  const sometimes: Record<string, number> = { ...a.sometimes };
  for (const [what, count] of Object.entries(b.sometimes)) sometimes[what] = (sometimes[what] ?? 0) + count;
  return {
    ...(Object.fromEntries(SUMS.map((name) => [name, a[name] + b[name]])) as Record<SumName, number>),
    sometimes,
    failures: [...a.failures, ...b.failures],
  };
}

export function runBatch(task: BatchTask, changes: PlanChanges): BatchResult {
  let result = NO_RESULT;
  for (let seed = task.from; seed < task.from + task.count; seed++) {
    const before = process.cpuUsage();
    const plan = planOf(seed, changes);
    const report = runPlan(plan);
    const failures: SeedFailure[] = [];
    const { violation } = report;
    if (violation !== undefined) failures.push({ seed, rule: violation.rule, what: violation.message });
    else if (task.isTwice) {
      const again = runPlan(plan);
      if (again.traceHash !== report.traceHash || again.steps !== report.steps) {
        const what = `X1: two runs differ, ${report.traceHash} and ${again.traceHash}`;
        failures.push({ seed, rule: "X1", what });
      }
    }
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1000;
    result = addResults(result, { ...report, seeds: 1, cpuMs, failures });
    if (failures.length > 0 && !task.keepsGoing) break;
  }
  return result;
}
