import type { Workload } from "../bench.ts";
import type { BenchConfig } from "../bench-config.ts";
import type { ServerFacts } from "../connections/server-facts.ts";
import type { CheckCriterion, CheckLoad } from "./check-verdict.ts";
import type { ComparedPoint } from "./comparison.ts";
import { type MachineFacts, machineFacts } from "./machine-facts.ts";
import type { PointReport } from "./point-report.ts";

/** The conditions of a measurement, in every result. */
export interface ResultHead {
  /** One up when a field's meaning changes. */
  readonly format: 1;
  readonly workload: string;
  readonly startedAt: string;
  readonly machine: MachineFacts;
  readonly config: BenchConfig;
}

/** Latencies are in microseconds throughout. */
export interface RunResult extends ResultHead {
  readonly kind: "run";
  readonly servers: readonly (readonly ServerFacts[])[];
  readonly points: readonly PointReport[];
}

export interface CompareResult extends ResultHead {
  readonly kind: "compare";
  readonly a: { readonly name: string; readonly servers: readonly ServerFacts[] };
  readonly b: { readonly name: string; readonly servers: readonly ServerFacts[] };
  readonly points: readonly ComparedPoint[];
}

export interface CalibrateResult extends ResultHead {
  readonly kind: "calibrate";
  readonly servers: readonly (readonly ServerFacts[])[];
  /** Against the null server. */
  readonly generator: readonly PointReport[];
  /** Against the hosts, when there are any. */
  readonly measured: readonly PointReport[];
  /** The generator's throughput against the null server, as a multiple of the measured one. */
  readonly headroom: readonly { readonly point: string; readonly factor: number }[];
}

/** A run under the load of a size, with its verdict. */
export interface CheckResult extends ResultHead {
  readonly kind: "check";
  readonly load: CheckLoad;
  readonly servers: readonly (readonly ServerFacts[])[];
  readonly points: readonly PointReport[];
  readonly criteria: readonly CheckCriterion[];
  readonly isPassed: boolean;
}

export type Result = CheckResult | RunResult | CompareResult | CalibrateResult;

export function resultHead(workload: Workload, config: BenchConfig): ResultHead {
  return { format: 1, workload: workload.name, startedAt: new Date().toISOString(), machine: machineFacts(), config };
}

/** All reports of a result. */
export function reportsOf(result: Result): readonly PointReport[] {
  switch (result.kind) {
    case "run":
    case "check":
      return result.points;
    case "compare":
      return result.points.flatMap(({ a, b }) => [a, b]);
    case "calibrate":
      return [...result.generator, ...result.measured];
  }
}
