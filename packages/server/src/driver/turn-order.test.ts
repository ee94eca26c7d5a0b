import { expect, test } from "vitest";
import { TurnOrder } from "./turn-order.ts";

function orderAt(startMs: number) {
  const clock = { nowMs: startMs };
  return { clock, order: new TurnOrder({ now: () => clock.nowMs, proxiesShare: 1 / 4 }) };
}

test("an address that took too long is passed over until the others have had as much", () => {
  const { order } = orderAt(100);
  order.charge("a", 3.5);
  expect([order.owes("b"), order.owes("a"), order.owes("b")]).toEqual([false, true, false]);
  expect([order.passOver("a"), order.passOver("a"), order.passOver("a"), order.passOver("a")]).toEqual([
    3.5, 2.5, 1.5, 0,
  ]);
  expect(order.passOver("b")).toBe(0);
});

test("an address that is alone does not wait, and waits again once another one asks", () => {
  const { order, clock } = orderAt(100);
  order.charge("a", 100);
  expect([order.owes("a"), order.owes("a")]).toEqual([false, false]);
  expect(order.owes("b")).toBe(false);
  clock.nowMs += 10;
  expect(order.owes("a")).toBe(true);
  order.charge("a", 1000);
  clock.nowMs += 1000;
  order.charge("a", 1000);
  expect(order.owes("a")).toBe(false);
});

test("a debt is paid as time passes, adds up, and has a bound", () => {
  const { order, clock } = orderAt(100);
  order.charge("a", 10);
  clock.nowMs += 20;
  expect(order.passOver("a")).toBe(5);
  order.charge("a", 500);
  expect(order.passOver("a")).toBe(100);
  expect([order.owes("b"), order.owes("a")]).toEqual([false, true]);
  clock.nowMs += 400;
  expect([order.owes("a"), order.debtCount]).toEqual([false, 0]);
});

test("debts that are paid are not kept", () => {
  const { order, clock } = orderAt(100);
  for (let i = 0; i < 5000; i++) {
    order.charge(`a${i}`, 1.5);
    clock.nowMs += 1;
  }
  expect(order.debtCount).toBeLessThanOrEqual(1025);
});

test("connections of proxies have a quarter of the turns while others wait", () => {
  const { order } = orderAt(100);
  const turns = Array.from({ length: 8 }, () => order.isTurnOfProxies());
  expect(turns).toEqual([false, false, false, true, false, false, false, true]);
});
