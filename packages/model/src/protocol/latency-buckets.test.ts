import { expect, test } from "vitest";
import { LATENCY_BOUNDS_MS, LATENCY_WORDS, LatencyBuckets } from "./latency-buckets.ts";

test("durations are counted up to the bound that they do not exceed", () => {
  const buckets = new LatencyBuckets();
  for (const ms of [0, 0.1, 0.11, 1, 1.5, 10_000, 10_001]) buckets.note(ms);
  const counts = Object.fromEntries(buckets.cumulative().map((count, i) => [LATENCY_BOUNDS_MS[i] ?? "all", count]));
  expect(counts).toMatchObject({ 0.1: 2, 0.2: 3, 0.5: 3, 1: 4, 2: 5, 5000: 5, 10000: 6, all: 7 });
  expect(buckets.sumMs).toBeCloseTo(20_003.71);
});

test("several share one array", () => {
  const words = new Float64Array(2 * LATENCY_WORDS);
  new LatencyBuckets(words).note(3);
  new LatencyBuckets(words, LATENCY_WORDS).note(30_000);
  expect(new LatencyBuckets(words).cumulative().at(-1)).toBe(1);
  expect(new LatencyBuckets(words, LATENCY_WORDS).cumulative().slice(-2)).toEqual([0, 1]);
});
