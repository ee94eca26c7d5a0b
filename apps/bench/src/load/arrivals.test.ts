import { expect, test } from "vitest";
import { type ArrivalOptions, ArrivalSchedule } from "./arrivals.ts";

const COUNT = 20_000;

function timesOf(options: Partial<ArrivalOptions>): readonly number[] {
  const schedule = new ArrivalSchedule({
    arrivals: "constant",
    ratePerSecond: 3000,
    startMs: 100,
    seed: 1,
    ...options,
  });
  return Array.from({ length: COUNT }, () => {
    const time = schedule.nextMs;
    schedule.advance();
    return time;
  });
}

test("constant arrivals are evenly spread from the start and do not drift", () => {
  const times = timesOf({});
  expect(times[0]).toBe(100);
  expect(times[1]).toBeCloseTo(100 + 1 / 3, 9);
  expect(times[15_000]).toBe(100 + 15_000 * (1000 / 3000));
});

test("random arrivals have the requested rate, and gaps whose deviation equals their mean", () => {
  const times = timesOf({ arrivals: "poisson" });
  const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  expect(mean).toBeGreaterThan(0.97 / 3);
  expect(mean).toBeLessThan(1.03 / 3);
  expect(deviation / mean).toBeGreaterThan(0.95);
  expect(deviation / mean).toBeLessThan(1.05);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(0);
});

test("a seed determines its schedule", () => {
  expect(timesOf({ arrivals: "poisson", seed: 7 })).toEqual(timesOf({ arrivals: "poisson", seed: 7 }));
  expect(timesOf({ arrivals: "poisson", seed: 8 })).not.toEqual(timesOf({ arrivals: "poisson", seed: 7 }));
});

test("a late caller gets every request that was due meanwhile", () => {
  const schedule = new ArrivalSchedule({ arrivals: "constant", ratePerSecond: 1000, startMs: 0, seed: 1 });
  let due = 0;
  for (; schedule.nextMs <= 1000; schedule.advance()) due++;
  expect(due).toBe(1001);
});
