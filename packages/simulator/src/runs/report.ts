import type { Violation } from "../invariants/violation.ts";
import type { Run } from "./run.ts";

/** The report of one run. */
export interface RunReport {
  readonly seed: number;
  /** Equal for equal runs. */
  readonly traceHash: string;
  readonly virtualMs: number;
  readonly steps: number;
  readonly messages: number;
  readonly committed: number;
  readonly acknowledged: number;
  readonly answers: number;
  readonly events: number;
  readonly faults: number;
  readonly crashes: number;
  readonly expiries: number;
  readonly epochs: number;
  readonly logSteps: number;
  readonly sometimes: Readonly<Record<string, number>>;
  readonly violation: Violation | undefined;
}

export function reportOf({ plan, trace, cluster, invariants, checker, coverage, counts, violation }: Run): RunReport {
  const { network } = cluster;
  return {
    seed: plan.seed,
    traceHash: trace.hash,
    virtualMs: Math.round(cluster.nowMs),
    steps: counts.steps,
    messages: network.messageCount + network.electionCount,
    committed: invariants.committedCount,
    acknowledged: checker.acknowledged,
    answers: checker.answers,
    events: checker.events,
    faults: counts.faults,
    crashes: counts.crashes,
    expiries: counts.expiries,
    epochs: invariants.newestEpoch,
    logSteps: counts.logSteps,
    sometimes: coverage.toJSON(),
    violation,
  };
}
