import { expect, test } from "vitest";
import type { Mutant } from "./generate.ts";
import { isReached } from "./reach.ts";

const MUTANT: Mutant = { file: "a.ts", line: 1, operator: "boolean", start: 20, end: 24, text: "false" };

test.each([
  ["nothing of the file ran", [], false],
  ["its function ran", [[0, 100, 1]], true],
  [
    "its block never ran in a function that did",
    [
      [0, 100, 1],
      [10, 30, 0],
    ],
    false,
  ],
  [
    "its block ran in a function that counts no call of itself",
    [
      [0, 100, 0],
      [10, 30, 4],
    ],
    true,
  ],
  [
    "another block never ran",
    [
      [0, 100, 1],
      [30, 60, 0],
    ],
    true,
  ],
] as const)("a mutation's place: %s", (_, ranges, expected) => {
  const reach = { "a.ts": ranges.map(([startOffset, endOffset, count]) => ({ startOffset, endOffset, count })) };
  expect(isReached(MUTANT, reach)).toBe(expected);
});
