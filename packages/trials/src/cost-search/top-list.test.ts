import { expect, test } from "vitest";
import type { Cost } from "./cost.ts";
import type { Shape } from "./shape.ts";
import { TopList } from "./top-list.ts";

function cost(txnBytes: number, data = txnBytes): Cost {
  const shape: Shape = { op: "setData", path: { of: "big", size: 0 }, data };
  return { shape, frameBytes: 10, heldMs: 0, memoryBytes: 0, txnBytes };
}

test("a list keeps the most expensive requests, few of each kind", () => {
  const list = new TopList(4, ({ txnBytes }) => txnBytes);
  for (const bytes of [3, 9, 5, 7, 8]) list.add(cost(bytes));
  list.add({ ...cost(4), shape: { op: "reconfig", size: 1 } });
  expect(list.costs.map(({ txnBytes }) => txnBytes)).toEqual([9, 8, 7, 4]);
  expect([list.admits(cost(4)), list.admits(cost(5))]).toEqual([false, true]);
});

test("a list keeps one of those that read the same, the most expensive", () => {
  const list = new TopList(4, ({ txnBytes }) => txnBytes);
  for (const bytes of [5, 7, 6]) list.add(cost(bytes, 1));
  expect(list.costs.map(({ txnBytes }) => txnBytes)).toEqual([7]);
});
