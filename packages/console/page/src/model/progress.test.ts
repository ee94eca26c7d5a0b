import { expect, test } from "vitest";
import { restMs, shareOf } from "./progress.ts";

test.each([
  [{ doneCount: 50, total: 200, elapsedMs: 1_000 }, 0.25, 3_000],
  [{ doneCount: 1, total: 200, elapsedMs: 1_000 }, 0.005, undefined],
  [{ doneCount: 1, total: 200, elapsedMs: 10_000 }, 0.005, 1_990_000],
  [{ doneCount: 5, total: undefined, elapsedMs: 10_000 }, undefined, undefined],
  [{ doneCount: 9, total: 8, elapsedMs: 10_000 }, 1, 0],
])("%o", (progress, share, rest) => {
  expect([shareOf(progress), restMs(progress)]).toEqual([share, rest]);
});
