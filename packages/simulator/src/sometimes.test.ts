import { expect, test } from "vitest";
import { Ensemble } from "./ensemble.ts";
import { planOf } from "./plan.ts";
import { SometimesCounts } from "./sometimes.ts";

/** Seeds that reach all of it between them. When behaviour changes they may not any more; then others do. */
const SEEDS = [638, 649, 262, 534, 784, 331, 868, 622, 597];
const OTHER_SEEDS_MAX = 400;

test("all that a long run must have seen can be reached", () => {
  const counts = new SometimesCounts();
  for (const seed of [...SEEDS, ...Array.from({ length: OTHER_SEEDS_MAX }, (_, i) => i + 1)]) {
    if (counts.unreached.length === 0) return;
    counts.addAll(new Ensemble(planOf(seed)).run().sometimes);
  }
  expect.fail(`${SEEDS.length + OTHER_SEEDS_MAX} seeds never reached: ${counts.unreached.join(", ")}`);
});
