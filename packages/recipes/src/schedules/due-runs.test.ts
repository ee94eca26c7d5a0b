import { expect, test } from "vitest";
import { dueRuns, MISSED_COUNT_MAX, type Times } from "./due-runs.ts";

const everySecond = (afterMs: number): number => (Math.floor(afterMs / 1_000) + 1) * 1_000;

const POLICIES = [
  { missed: "skip", lateMs: 500 },
  { missed: "skip", lateMs: 400 },
  { missed: "latest", lateMs: 0 },
  { missed: "all", lateMs: 0 },
] as const;

test.each([
  [POLICIES[0], [5_000]],
  [POLICIES[1], []],
  [POLICIES[2], [5_000]],
  [POLICIES[3], [3_000, 4_000, 5_000]],
])("of three missed times, with %j", (policy, dueMs) => {
  expect(dueRuns(everySecond, { lastMs: 2_000, nowMs: 5_500 }, policy)).toEqual({ dueMs, nextMs: 6_000 });
});

test.each(POLICIES)(
  "a time has a run when it has come, and none again, also where the clock was set back: %j",
  (policy) => {
    expect(dueRuns(everySecond, { lastMs: 1_000, nowMs: 1_999 }, policy)).toEqual({ dueMs: [], nextMs: 2_000 });
    expect(dueRuns(everySecond, { lastMs: 1_000, nowMs: 2_000 }, policy)).toEqual({ dueMs: [2_000], nextMs: 3_000 });
    expect(dueRuns(everySecond, { lastMs: 9_500, nowMs: 2_000 }, policy)).toEqual({ dueMs: [], nextMs: 10_000 });
  },
);

test("after a year the last times are found without looking at each of them", () => {
  let calls = 0;
  const counted = (afterMs: number): number => {
    calls++;
    return everySecond(afterMs);
  };
  const year = { lastMs: 0, nowMs: 365 * 86_400_000 };
  expect(dueRuns(counted, year, POLICIES[2]).dueMs).toEqual([year.nowMs]);
  const all = dueRuns(counted, year, POLICIES[3]);
  expect([all.dueMs.length, all.dueMs.at(-1)]).toEqual([MISSED_COUNT_MAX, year.nowMs]);
  expect(calls).toBeLessThan(10 * MISSED_COUNT_MAX);
});

test("a schedule that has an end has no next time, and one that does not advance is refused", () => {
  const ends = (afterMs: number): number => (afterMs < 5 ? 5 : Number.POSITIVE_INFINITY);
  expect(dueRuns(ends, { lastMs: 0, nowMs: 10 }, POLICIES[3])).toEqual({
    dueMs: [5],
    nextMs: Number.POSITIVE_INFINITY,
  });
  for (const wrong of [(atMs: number) => atMs, () => Number.NaN, () => "20", () => new Date(20)])
    expect(() => dueRuns(wrong as Times, { lastMs: 0, nowMs: 10 }, POLICIES[3])).toThrow(RangeError);
});
