import { formatNumber } from "./format.ts";
import { summarize } from "./latency-summary.ts";
import type { Measurement } from "./measurement.ts";
import { type PointReport, reportPoint } from "./point-report.ts";
import { interquartileRange, type Spread, spreadOf } from "./statistics.ts";

/**
 * One point on both sides. Ratios are of A to B, taken within each pair of runs, so that slow
 * drifts cancel out.
 */
export interface ComparedPoint {
  readonly point: string;
  readonly a: PointReport;
  readonly b: PointReport;
  readonly ratio: Spread;
  /** Ratio of the point's main latencies, if it has any. */
  readonly p50Ratio: Spread | undefined;
  readonly p99Ratio: Spread | undefined;
  readonly difference: Difference;
}

export type Difference = "A is better" | "B is better" | "no difference" | "too few repeats to tell";

/** Minimum number of pairs to detect a difference. */
const PAIRS_MIN = 3;

/**
 * @param pairs for each repeat, the workload's points on A and on B
 */
export function compareRuns(
  pairs: readonly { readonly a: readonly Measurement[]; readonly b: readonly Measurement[] }[],
): readonly ComparedPoint[] {
  const points = [...new Set(pairs.flatMap(({ a }) => a.map(({ point }) => point)))];
  return points.flatMap((point) => {
    const both = pairs.flatMap(({ a, b }) => {
      const ofA = a.find((one) => one.point === point);
      const ofB = b.find((one) => one.point === point);
      return ofA === undefined || ofB === undefined ? [] : [{ a: ofA, b: ofB }];
    });
    return both.length === 0 ? [] : [comparePoint(point, both)];
  });
}

function comparePoint(
  point: string,
  pairs: readonly { readonly a: Measurement; readonly b: Measurement }[],
): ComparedPoint {
  const ratios = pairs.map(({ a, b }) => a.value / b.value);
  const latency = (of: "p50" | "p99"): Spread | undefined => {
    const values = pairs.map(({ a, b }) => mainPercentile(a, of) / mainPercentile(b, of));
    return values.every(Number.isFinite) ? spreadOf(values) : undefined;
  };
  const a = reportPoint(pairs.map((pair) => pair.a));
  const b = reportPoint(pairs.map((pair) => pair.b));
  return {
    point,
    a,
    b,
    ratio: spreadOf(ratios),
    p50Ratio: latency("p50"),
    p99Ratio: latency("p99"),
    difference: differenceOf(ratios, a.better),
  };
}

/**
 * A difference counts when every pair agrees on the better side, and the median ratio is further
 * from 1 than the interquartile range of the ratios. Smaller ones are the machine's noise.
 */
export function differenceOf(ratios: readonly number[], better: "higher" | "lower"): Difference {
  const { median, min, max } = spreadOf(ratios);
  const isOneSided = min > 1 || max < 1;
  const isClear = Math.abs(median - 1) > interquartileRange(ratios);
  if (ratios.length < PAIRS_MIN) return "too few repeats to tell";
  if (!isOneSided || !isClear) return "no difference";
  return median > 1 === (better === "higher") ? "A is better" : "B is better";
}

export function describeDifference(difference: Difference, names: { readonly a: string; readonly b: string }): string {
  switch (difference) {
    case "A is better":
      return `${names.a} is better`;
    case "B is better":
      return `${names.b} is better`;
    case "no difference":
    case "too few repeats to tell":
      return difference;
  }
}

/** `1.89 (1.82–1.95)`. */
export function formatSpread({ median, min, max, all }: Spread): string {
  return all.length === 1
    ? formatNumber(median)
    : `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`;
}

function mainPercentile({ latencies }: Measurement, percentile: "p50" | "p99"): number {
  const [counts] = Object.values(latencies);
  return counts === undefined ? Number.NaN : summarize(counts)[percentile];
}
