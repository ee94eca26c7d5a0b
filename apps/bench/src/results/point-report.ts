import { sumErrors } from "../load/error-counts.ts";
import { type GeneratorReport, judgeGenerator } from "../load/generator-verdict.ts";
import { type LatencySummary, mergeCounts, summarize } from "./latency-summary.ts";
import type { Measurement } from "./measurement.ts";
import { type Spread, spreadOf } from "./statistics.ts";
import type { Timeline } from "./timeline.ts";

/** One point over all of its repeats. */
export interface PointReport {
  readonly point: string;
  readonly series: string;
  readonly x: number;
  readonly loop: string;
  /** True for a closed loop: stalls of the server do not show in its percentiles. */
  readonly isBlindToStalls: boolean;
  readonly unit: string;
  readonly better: "higher" | "lower";
  readonly value: Spread;
  /**
   * Microseconds, by kind; the first kind is what the point is about. From the sum of the repeats'
   * histograms.
   */
  readonly latencies: Readonly<Record<string, LatencySummary>>;
  readonly requests: number;
  readonly errors: Readonly<Record<string, number>>;
  readonly errorPercent: number;
  readonly generator: GeneratorReport;
  /** Medians of the repeats. */
  readonly figures: Readonly<Record<string, number>>;
  readonly notes: readonly string[];
  /** One for each repeat, where the workload has them. */
  readonly timelines: readonly Timeline[];
}

/** @param repeats the same point, measured again and again; at least once */
export function reportPoint(repeats: readonly Measurement[]): PointReport {
  const [first] = repeats;
  if (first === undefined) throw new Error("a point that was not measured cannot be reported");
  const latencies = Object.fromEntries(
    Object.keys(first.latencies).map((kind) => [
      kind,
      summarize(mergeCounts(repeats.map((one) => one.latencies[kind] ?? new Int32Array()))),
    ]),
  );
  const errors = sumErrors(repeats.map((one) => one.errors));
  const requests = repeats.reduce((sum, one) => sum + one.requests, 0);
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0);
  const lags = repeats.flatMap(({ lag }) => (lag === undefined ? [] : [lag]));
  const main = mainLatency({ latencies });
  return {
    point: first.point,
    series: first.series,
    x: first.x,
    loop: first.loop,
    isBlindToStalls: first.isBlind,
    unit: first.unit,
    better: first.better,
    value: spreadOf(repeats.map(({ value }) => value)),
    latencies,
    requests,
    errors,
    errorPercent: failed === 0 ? 0 : (100 * failed) / Math.max(requests, failed),
    generator: judgeGenerator({
      repeats: repeats.map(({ generator }) => generator),
      judgedBy: first.judgedBy,
      lagMsP99: lags.length === 0 ? undefined : summarize(mergeCounts(lags)).p99 / 1000,
      latencyMsP99: main === undefined ? undefined : main.p99 / 1000,
    }),
    figures: Object.fromEntries(
      Object.keys(first.figures).map((name) => [name, spreadOf(repeats.map((one) => one.figures[name] ?? 0)).median]),
    ),
    notes: [...new Set(repeats.flatMap(({ notes }) => notes))],
    timelines: repeats.flatMap(({ timeline }) => (timeline === undefined ? [] : [timeline])),
  };
}

/** Repeats of a whole workload as its points. */
export function reportPoints(repeats: readonly (readonly Measurement[])[]): readonly PointReport[] {
  const byPoint = Map.groupBy(repeats.flat(), ({ point }) => point);
  return [...byPoint.values()].map(reportPoint);
}

/** The latencies that the point is about. */
export function mainLatency({ latencies }: Pick<PointReport, "latencies">): LatencySummary | undefined {
  return Object.values(latencies)[0];
}
