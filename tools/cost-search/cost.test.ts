import { expect, test } from "vitest";
import { costOf, type Try } from "./cost.ts";
import { TopList } from "./top-list.ts";

function tried(heldMs: number, disturbedMs: number, txnBytes = 0): Try {
  return { shape: { op: "whoAmI", size: 0 }, frameBytes: 10, heldMs, disturbedMs, memoryBytes: 0, txnBytes };
}

test("a request costs the least of what it took in tries that nothing disturbed", () => {
  const tries = [tried(9, 0), tried(1, 30), tried(7, 2), tried(8, 1)] as const;
  expect(costOf([...tries])).toMatchObject({ heldMs: 7, isEstimate: false });
});

test("where each try was disturbed, a request costs what its median try took without the disturbance", () => {
  expect(costOf([tried(5, 90), tried(2, 40), tried(3, 60)])).toMatchObject({ heldMs: 3, isEstimate: true });
});

test("a list keeps the most expensive requests, few of each kind", () => {
  const list = new TopList(4, ({ txnBytes }) => txnBytes);
  for (const bytes of [3, 9, 5, 7, 8]) list.add(costOf([tried(0, 0, bytes)]));
  list.add({ ...costOf([tried(0, 0, 4)]), shape: { op: "reconfig", size: 1 } });
  expect(list.costs.map(({ txnBytes }) => txnBytes)).toEqual([9, 8, 7, 4]);
  expect(list.admits(costOf([tried(0, 0, 4)]))).toBe(false);
});
