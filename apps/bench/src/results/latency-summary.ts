import { createRequire } from "node:module";
import type { Histogram } from "hdr-histogram-js";
import { bucketValue, LATENCY_US_MAX } from "../load/latency-recorder.ts";

// The library is CommonJS without named exports that Node.js could see.
const hdr = createRequire(import.meta.url)("hdr-histogram-js") as typeof import("hdr-histogram-js");

/** Latencies in microseconds, and the histogram that they were taken from. */
export interface LatencySummary {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
  readonly max: number;
  readonly mean: number;
  readonly standardDeviation: number;
  /** HDR histogram, version 2, compressed, base64: any HDR library reads it. */
  readonly histogram: string;
}

/**
 * Sums of buckets as latency-recorder.ts counts them: of threads, of repeats. Percentiles are taken
 * from sums, never averaged.
 */
export function mergeCounts(all: readonly Int32Array[]): Int32Array {
  const merged = new Int32Array(all[0]?.length ?? 0);
  for (const counts of all) {
    for (let i = 0; i < counts.length; i++) merged[i] = (merged[i] as number) + (counts[i] as number);
  }
  return merged;
}

export function summarize(counts: Int32Array): LatencySummary {
  const histogram = toHistogram(counts);
  const at = (percentile: number): number => histogram.getValueAtPercentile(percentile);
  const { totalCount } = histogram;
  return {
    count: totalCount,
    p50: at(50),
    p90: at(90),
    p99: at(99),
    p999: at(99.9),
    p9999: at(99.99),
    max: at(100),
    mean: totalCount === 0 ? 0 : histogram.mean,
    standardDeviation: totalCount === 0 ? 0 : histogram.stdDeviation,
    histogram: hdr.encodeIntoCompressedBase64(histogram),
  };
}

function toHistogram(counts: Int32Array): Histogram {
  const histogram = hdr.build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: LATENCY_US_MAX,
    numberOfSignificantValueDigits: 3,
  });
  counts.forEach((count, index) => {
    if (count > 0) histogram.recordValueWithCount(bucketValue(index), count);
  });
  return histogram;
}
