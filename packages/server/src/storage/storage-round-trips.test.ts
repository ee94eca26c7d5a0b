import fc from "fast-check";
import { expect, test } from "vitest";
import { actsArbitrary } from "../testing/acts.ts";
import { STORED_ACTS, StoredHistory } from "../testing/stored-history.ts";

test("whatever was written, a start finds it as the answers promised, without a repair", async () => {
  const sums = { startCount: 0, fullCount: 0, restoreCount: 0 };
  const acts = actsArbitrary(STORED_ACTS, { minLength: 50, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(acts, async (history) => {
      const { startCount, fullCount, restoreCount } = await StoredHistory.run(history);
      sums.startCount += startCount;
      sums.fullCount += fullCount;
      sums.restoreCount += restoreCount;
    }),
    { numRuns: 4, seed: 15, endOnFailure: true },
  );
  expect(sums.startCount).toBeGreaterThan(8);
  expect(sums.fullCount).toBeGreaterThan(1);
  expect(sums.restoreCount).toBe(4);
  // Threads and disks work for it, which are slow on a busy machine.
}, 240_000);
