import type { LatencyBuckets } from "@zooid/model";

/** A summary of many whole numbers. Unknown values are left out. */
export interface Summary {
  readonly count: number;
  readonly sum: number;
  readonly max?: number;
  readonly min?: number;
  quantile?(share: number): number;
}

/** One value shown to operators, under Apache's name without its prefix. */
export type Metric =
  | { readonly kind: "gauge" | "counter"; readonly name: string; readonly value: number; readonly isDecimal?: true }
  /** `label` is the part of the name that distinguishes several metrics of one kind. */
  | {
      readonly kind: "gauge set" | "counter set";
      readonly name: string;
      readonly values: readonly (readonly [label: string, value: number])[];
    }
  /**
   * An advanced summary has quantiles everywhere, a basic one has its median in Prometheus only.
   */
  | { readonly kind: "summary" | "advanced summary"; readonly name: string; readonly summary: Summary }
  /** For Prometheus alone, in seconds; `mntr` has the summaries. */
  | { readonly kind: "histogram"; readonly name: string; readonly values: readonly LabelledBuckets[] };

export interface LabelledBuckets {
  readonly labels: Readonly<Record<string, string>>;
  readonly buckets: LatencyBuckets;
}

export function gauge(name: string, value: number): Metric {
  return { kind: "gauge", name, value };
}

export function decimalGauge(name: string, value: number): Metric {
  return { kind: "gauge", name, value, isDecimal: true };
}

/** A duration, in whole milliseconds. */
export function secondsGauge(name: string, durationMs: number): Metric {
  return decimalGauge(name, Math.round(durationMs) / 1000);
}

export function counter(name: string, value: number): Metric {
  return { kind: "counter", name, value };
}

export function summary(name: string, of: Summary): Metric {
  return { kind: "summary", name, summary: of };
}

export function advancedSummary(name: string, of: Summary): Metric {
  return { kind: "advanced summary", name, summary: of };
}
