import { expect, test } from "vitest";
import { RetryPace } from "./retry-pace.ts";

/** Attempts that each fail at once. @returns when each is made */
function attempts(pace: RetryPace, count: number, startMs: number): readonly number[] {
  const times: number[] = [];
  for (let nowMs = startMs; times.length < count; ) {
    nowMs += pace.pauseMs(nowMs);
    times.push(nowMs);
  }
  return times;
}

test("the first attempt goes at once, and later ones after pauses that double up to 10 s", () => {
  expect(attempts(new RetryPace(), 11, 1000)).toEqual([
    1000, 1100, 1300, 1700, 2500, 4100, 7300, 13_700, 23_700, 33_700, 43_700,
  ]);
});

test("after a minute without an attempt the next goes at once", () => {
  const pace = new RetryPace();
  const last = attempts(pace, 9, 0).at(-1) ?? 0;
  expect(pace.pauseMs(last + 60_000)).toBe(10_000);
  expect(pace.pauseMs(last + 130_001)).toBe(0);
});
