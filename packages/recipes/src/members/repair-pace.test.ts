import { expect, test } from "vitest";
import { RepairPace } from "./repair-pace.ts";

/** Repairs that are each undone at once. @returns when each is made */
function repairs(pace: RepairPace, count: number, startMs: number): readonly number[] {
  const times: number[] = [];
  for (let nowMs = startMs; times.length < count; ) {
    nowMs += pace.pauseMs(nowMs);
    times.push(nowMs);
  }
  return times;
}

test("the first repair goes at once, and later ones after pauses that double up to 10 s", () => {
  expect(repairs(new RepairPace(), 11, 1000)).toEqual([
    1000, 1100, 1300, 1700, 2500, 4100, 7300, 13_700, 23_700, 33_700, 43_700,
  ]);
});

test("after a minute without a repair the next goes at once", () => {
  const pace = new RepairPace();
  const last = repairs(pace, 9, 0).at(-1) ?? 0;
  expect(pace.pauseMs(last + 60_000)).toBe(10_000);
  expect(pace.pauseMs(last + 130_001)).toBe(0);
});
