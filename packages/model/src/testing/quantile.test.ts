import { expect, test } from "vitest";
import { quantile } from "./quantile.ts";

test.each([
  [[], 0.5, 0],
  [[7], 0.99, 7],
  [[1, 2, 3, 4], 0, 1],
  [[1, 2, 3, 4], 0.5, 2],
  [[1, 2, 3, 4], 0.51, 3],
  [[1, 2, 3, 4], 1, 4],
])("of %j the quantile %d is %d", (sorted, share, expected) => {
  expect(quantile(sorted, share)).toBe(expected);
});
