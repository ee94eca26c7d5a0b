import { expect, test } from "vitest";
import { type CallCounts, callCountsOf, common, keyOf, union } from "./call-counts.ts";

const REPLICA = new URL("../../../replica/src/replica.ts", import.meta.url).href;

function intervalOf(counts: Readonly<Record<string, number>>): CallCounts {
  return new Map(Object.entries(counts).map(([name, count]) => [`a.ts:${name}`, { file: "a.ts", name, count }]));
}

test("functions that ran are counted, but for modules and for files outside the packages", () => {
  const ran = (functionName: string, startOffset: number, count: number) => ({
    functionName,
    isBlockCoverage: false,
    ranges: [{ startOffset, endOffset: startOffset + 1, count }],
  });
  const functions = [ran("", 0, 1), ran("deliver", 10, 2), ran("tick", 20, 0)];
  const result = [
    { scriptId: "1", url: REPLICA, functions },
    { scriptId: "2", url: "node:net", functions },
  ];
  const calls = [...callCountsOf({ result }).values()];
  expect(calls).toEqual([{ file: "replica/replica.ts", name: "deliver", count: 2 }]);
  expect(calls.map(keyOf)).toEqual(["replica/replica.ts:deliver"]);
});

test("intervals have in common what all have, and together what any has", () => {
  const intervals = [intervalOf({ a: 3, b: 1 }), intervalOf({ a: 2, c: 4 })];
  const countsOf = (calls: CallCounts) => [...calls.values()].map(({ name, count }) => [name, count]);
  expect(countsOf(common(intervals))).toEqual([["a", 2]]);
  expect(countsOf(union(intervals))).toEqual([
    ["a", 3],
    ["b", 1],
    ["c", 4],
  ]);
});
