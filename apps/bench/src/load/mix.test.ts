import { expect, test } from "vitest";
import { CHOICE_COUNT, MIX_LENGTH, mixTable, nodeChoices } from "./mix.ts";

test.each([
  [[100], [MIX_LENGTH]],
  [
    [75, 25],
    [750, 250],
  ],
  [
    [1, 1, 1],
    [333, 334, 333],
  ],
  [
    [99.9, 0.1],
    [999, 1],
  ],
])("weights %j come as often as they say", (weights, expected) => {
  const table = mixTable(weights, 1);
  expect(weights.map((_, kind) => table.filter((one) => one === kind).length)).toEqual(expected);
});

test("kinds are mixed, not in runs, and a seed repeats the order", () => {
  const table = mixTable([50, 50], 1);
  expect(table.subarray(0, MIX_LENGTH / 2).filter((kind) => kind === 0).length).toBeLessThan(MIX_LENGTH / 3);
  expect(mixTable([50, 50], 1)).toEqual(table);
  expect(mixTable([50, 50], 2)).not.toEqual(table);
});

test("every node is chosen about as often as any other", () => {
  const counts = new Array<number>(16).fill(0);
  for (const node of nodeChoices(16, 1)) counts[node] = (counts[node] ?? 0) + 1;
  expect(Math.min(...counts)).toBeGreaterThan((CHOICE_COUNT / 16) * 0.9);
  expect(Math.max(...counts)).toBeLessThan((CHOICE_COUNT / 16) * 1.1);
});
