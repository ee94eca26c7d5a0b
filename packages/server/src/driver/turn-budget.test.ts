import { expect, test } from "vitest";
import { TurnBudget } from "./turn-budget.ts";

function budgetAt(start: number) {
  const clock = { nowMs: start };
  const budget = new TurnBudget({ now: () => clock.nowMs, proxiesShare: 1 / 4 });
  budget.begin(0);
  return { budget, clock };
}

test("a turn has room until its time is over, and each connection a share of it", () => {
  const { budget, clock } = budgetAt(100);
  expect(budget.admits(0)).toBe(true);
  clock.nowMs = 100.5;
  expect(budget.isShareSpent(0, true)).toBe(false);
  clock.nowMs = 101;
  expect(budget.isShareSpent(0, true)).toBe(true);
  expect(budget.admits(0)).toBe(true);
  expect(budget.isShareSpent(0, true)).toBe(false);
  clock.nowMs = 108;
  expect([budget.admits(0), budget.isShareSpent(0, true)]).toEqual([false, true]);
  budget.begin(0);
  expect(budget.admits(0)).toBe(true);
});

test("a connection with small requests has a shorter share", () => {
  const { budget, clock } = budgetAt(100);
  budget.admits(0);
  const spentAfterEight = () => Array.from({ length: 8 }, () => budget.isShareSpent(0, false));
  clock.nowMs = 100.2;
  expect(spentAfterEight()).not.toContain(true);
  clock.nowMs = 100.25;
  expect(spentAfterEight().filter(Boolean)).toEqual([true]);
  expect(budget.isShareSpent(0, true)).toBe(false);
  // The turn's end comes first.
  clock.nowMs = 101.9;
  expect(budget.admits(0)).toBe(true);
  clock.nowMs = 102;
  expect(spentAfterEight().at(-1)).toBe(true);
});

test("a turn has no room once its answers are many bytes", () => {
  const { budget } = budgetAt(0);
  expect([budget.admits(2 ** 24 - 1), budget.admits(2 ** 24)]).toEqual([true, false]);
});

test("the clock is looked at for every eighth small request, and for each that costs much", () => {
  let looks = 0;
  const budget = new TurnBudget({ now: () => looks++, proxiesShare: 1 / 4 });
  budget.begin(0);
  budget.admits(0);
  const before = looks;
  for (let i = 0; i < 16; i++) budget.isShareSpent(i, false);
  expect(looks - before).toBe(2);
  budget.isShareSpent(1000, false);
  budget.isShareSpent(1001, true);
  expect(looks - before).toBe(4);
});

test("the ends of connections take no time from those that are read", () => {
  const { budget, clock } = budgetAt(100);
  budget.admits(0);
  clock.nowMs = 101;
  budget.pause();
  clock.nowMs = 150;
  budget.pause();
  clock.nowMs = 200;
  expect(budget.admits(0)).toBe(true);
  clock.nowMs = 200.9;
  expect(budget.admits(0)).toBe(true);
  clock.nowMs = 201;
  expect(budget.admits(0)).toBe(false);
});

test("a new turn is not longer for what the turn before did besides reading", () => {
  const { budget, clock } = budgetAt(100);
  budget.pause();
  clock.nowMs = 150;
  budget.begin(0);
  clock.nowMs = 154;
  expect(budget.admits(0)).toBe(false);
});

test("what a turn overshoots is taken from the next one, which keeps a part", () => {
  const { budget, clock } = budgetAt(100);
  budget.admits(0);
  clock.nowMs = 104;
  expect(budget.isShareSpent(0, true)).toBe(true);
  expect(budget.overshotMs).toBe(3);
  budget.begin(0);
  clock.nowMs = 104.4;
  expect(budget.admits(0)).toBe(true);
  clock.nowMs = 104.5;
  expect(budget.admits(0)).toBe(false);
  clock.nowMs = 200;
  budget.isShareSpent(0, true);
  budget.begin(0);
  clock.nowMs = 200.4;
  expect(budget.admits(0)).toBe(true);
  budget.begin(0);
  clock.nowMs = 202.3;
  expect(budget.admits(0)).toBe(true);
});

test("connections of proxies have a quarter of a turn before they wait for others", () => {
  const { budget, clock } = budgetAt(100);
  const read = (isProxied: boolean, ms: number): void => {
    budget.admits(0);
    budget.beginConnection(isProxied);
    clock.nowMs += ms;
    budget.admits(0);
  };
  read(false, 2);
  read(true, 0.25);
  expect(budget.hasRoomForProxies).toBe(true);
  read(true, 0.25);
  expect(budget.hasRoomForProxies).toBe(false);
  budget.begin(0);
  expect(budget.hasRoomForProxies).toBe(true);
});
