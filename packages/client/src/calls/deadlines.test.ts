import fc from "fast-check";
import { expect, test } from "vitest";
import { Deadlines } from "./deadlines.ts";

test("items come in the order of their times, and none before its time", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), fc.nat(1_000), (times, nowMs) => {
      const deadlines = new Deadlines<number>(() => false);
      for (const time of times) deadlines.add(time, time);
      const due: number[] = [];
      for (let item = deadlines.takeDue(nowMs); item !== undefined; item = deadlines.takeDue(nowMs)) due.push(item);
      expect(due).toEqual(times.filter((time) => time <= nowMs).sort((a, b) => a - b));
    }),
  );
});

test("stale entries are skipped and do not accumulate", () => {
  const stale = new Set<number>();
  const deadlines = new Deadlines<number>((item) => stale.has(item));
  for (let i = 0; i < 100_000; i++) {
    deadlines.add(1_000_000 + i, i);
    if (i % 1_000 !== 0) stale.add(i);
  }
  expect(deadlines.count).toBeLessThan(1_000);
  stale.add(0);
  expect(deadlines.nextMs).toBe(1_001_000);
});

test("half a million live entries come in order", () => {
  const due = new Deadlines<number>(() => false);
  for (let i = 0; i < 500_000; i++) due.add((i * 7_919) % 500_000, i);
  expect(due.count).toBe(500_000);
  expect([due.takeDue(1), due.takeDue(1)].map((i) => (Number(i) * 7_919) % 500_000)).toEqual([0, 1]);
});
