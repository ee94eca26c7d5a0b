import { expect, test } from "vitest";
import { LatencyRecorder } from "../load/latency-recorder.ts";
import { compareRuns, differenceOf, formatSpread } from "./comparison.ts";
import type { Measurement } from "./measurement.ts";
import { interquartileRange, spreadOf } from "./statistics.ts";

/** A measurement with one latency for each answer. */
function measurement(point: string, value: number, latencyMs: number): Measurement {
  const recorder = new LatencyRecorder();
  for (let i = 0; i < 100; i++) recorder.record(latencyMs);
  return {
    point,
    series: "",
    x: 0,
    loop: "closed loop, 1 × 1",
    isBlind: true,
    value,
    unit: "requests/s",
    better: "higher",
    latencies: { read: recorder.counts },
    lag: undefined,
    requests: 100,
    errors: {},
    generator: [],
    judgedBy: "nothing",
    figures: {},
    notes: [],
  };
}

test("ratios are taken within pairs: a machine that slows down changes neither", () => {
  const pairs = [1, 0.5, 0.25].map((speed) => ({
    a: [measurement("p", 200 * speed, 1 / speed)],
    b: [measurement("p", 100 * speed, 2 / speed)],
  }));
  const [point] = compareRuns(pairs);
  expect(point?.ratio).toEqual({ median: 2, min: 2, max: 2, all: [2, 2, 2] });
  expect(point?.p50Ratio?.median).toBeCloseTo(0.5, 3);
  expect(point?.difference).toBe("A is better");
  expect(point?.a.value).toMatchObject({ median: 100, min: 50, max: 200 });
});

test("points are matched by name, and one that a side lacks is left out", () => {
  const pairs = [{ a: [measurement("x", 1, 1), measurement("y", 4, 1)], b: [measurement("y", 2, 1)] }];
  expect(compareRuns(pairs).map(({ point, ratio }) => [point, ratio.median])).toEqual([["y", 2]]);
});

test.each([
  ["clearly more", [1.9, 2, 2.1], "higher", "A is better"],
  ["clearly less", [0.4, 0.5, 0.45], "higher", "B is better"],
  ["clearly less, where less is better", [0.4, 0.5, 0.45], "lower", "A is better"],
  ["now more, now less", [0.9, 1.1, 1.2, 1.15, 1.3], "higher", "no difference"],
  ["always a little more, but by less than it varies", [1.01, 1.02, 1.2, 1.01, 1.3], "higher", "no difference"],
  ["twice as much, with one outlier", [1.9, 2, 2.1, 2, 9], "higher", "A is better"],
  ["two pairs", [2, 2], "higher", "too few repeats to tell"],
] as const)("%s", (_, ratios, better, expected) => {
  expect(differenceOf(ratios, better)).toBe(expected);
});

test("the median of an even number lies between the two in the middle", () => {
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4, all: [4, 1, 3, 2] });
  expect(interquartileRange([1, 2, 3, 4, 5])).toBe(2);
});

test("a spread is shown where there is one", () => {
  expect(formatSpread(spreadOf([2]))).toBe("2");
  expect(formatSpread(spreadOf([2, 1, 3]))).toBe("2 (1–3)");
});
