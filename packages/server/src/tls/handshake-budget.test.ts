import { expect, test } from "vitest";
import { HandshakeBudget } from "./handshake-budget.ts";

/** How many handshakes of a cost are begun in a second. */
function begunIn(totalMs: number, costMs: number): number {
  let nowMs = 0;
  const budget = new HandshakeBudget(() => nowMs);
  let count = 0;
  while (nowMs < totalMs) {
    const waitMs = budget.waitMs();
    nowMs += waitMs;
    if (waitMs > 0) continue;
    nowMs += costMs;
    budget.spend(costMs);
    count++;
  }
  return count;
}

test.each([0.25, 1, 4, 8])("handshakes of %s ms take a quarter of the time, and some saved time at most", (costMs) => {
  const spentMs = begunIn(10_000, costMs) * costMs;
  expect(spentMs).toBeGreaterThan(2000);
  expect(spentMs).toBeLessThanOrEqual(2500 + 4 + costMs);
});

test("a handshake that the machine holds up does not hold others up for long", () => {
  let nowMs = 0;
  const budget = new HandshakeBudget(() => nowMs);
  nowMs = 500;
  budget.spend(500);
  expect(budget.waitMs()).toBeLessThanOrEqual(16);
});

test("time that is not used is not saved for long", () => {
  let nowMs = 0;
  const budget = new HandshakeBudget(() => nowMs);
  nowMs = 1_000_000;
  expect(budget.waitMs()).toBe(0);
  budget.spend(6);
  expect(budget.waitMs()).toBe(8);
});
