import { createRequire } from "node:module";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LATENCY_US_MAX, LatencyRecorder } from "../load/latency-recorder.ts";
import { mergeCounts, summarize } from "./latency-summary.ts";

const hdr = createRequire(import.meta.url)("hdr-histogram-js") as typeof import("hdr-histogram-js");

function countsOf(latenciesUs: readonly number[]): Int32Array {
  const recorder = new LatencyRecorder();
  for (const us of latenciesUs) recorder.record(us / 1000);
  return recorder.counts;
}

test("percentiles of known data", () => {
  const summary = summarize(countsOf(Array.from({ length: 2000 }, (_, i) => i + 1)));
  expect(summary).toMatchObject({ count: 2000, p50: 1000, p90: 1800, p99: 1980, p999: 1998, p9999: 2000, max: 2000 });
  expect(summary.mean).toBeCloseTo(1000.5, 1);
});

test("one slow answer among ten thousand is seen from p99.99 on", () => {
  const summary = summarize(countsOf([...Array.from({ length: 9998 }, () => 100), 1_000_000, 1_000_000]));
  expect(summary.p999).toBe(100);
  expect(summary.p9999 / 1_000_000).toBeCloseTo(1, 3);
});

test("nothing measured is all zeros", () => {
  expect(summarize(countsOf([]))).toMatchObject({ count: 0, p50: 0, p99: 0, max: 0, mean: 0 });
});

test("what the recorder counted is what the library would have counted", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: LATENCY_US_MAX }), { minLength: 1, maxLength: 200 }),
      (latencies) => {
        const own = hdr.build({ lowestDiscernibleValue: 1, highestTrackableValue: LATENCY_US_MAX });
        for (const us of latencies) own.recordValue(us);
        const summary = summarize(countsOf(latencies));
        expect([summary.count, summary.p50, summary.p90, summary.p99, summary.max]).toEqual([
          own.totalCount,
          ...[50, 90, 99, 100].map((percentile) => own.getValueAtPercentile(percentile)),
        ]);
      },
    ),
    { numRuns: 30 },
  );
});

test("merged counts have the percentiles of all latencies together, not the mean of percentiles", () => {
  const fast = Array.from({ length: 9900 }, () => 100);
  const slow = Array.from({ length: 100 }, () => 2000);
  const merged = mergeCounts([countsOf(fast), countsOf(slow)]);
  expect(merged).toEqual(countsOf([...fast, ...slow]));
  expect(summarize(merged)).toMatchObject({ count: 10_000, p99: 100, p999: 2000 });
});

test("any HDR library reads the compressed histogram", () => {
  const summary = summarize(countsOf([10, 20, 30]));
  const decoded = hdr.decodeFromCompressedBase64(summary.histogram);
  expect([decoded.totalCount, decoded.getValueAtPercentile(50), decoded.maxValue]).toEqual([3, 20, 30]);
});
