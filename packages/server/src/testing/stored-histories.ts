import fc from "fast-check";
import { actsArbitrary } from "./acts.ts";
import { STORED_ACTS, type StoredCounts, StoredHistory } from "./stored-history.ts";

/** Runs random histories of fifty acts each, and sums up what happened in them. */
export async function runStoredHistories({ seed, numRuns }: Record<"seed" | "numRuns", number>): Promise<StoredCounts> {
  const sums = { startCount: 0, fullCount: 0, restoreCount: 0 };
  const acts = actsArbitrary(STORED_ACTS, { minLength: 50, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(acts, async (history) => {
      const { startCount, fullCount, restoreCount } = await StoredHistory.run(history);
      sums.startCount += startCount;
      sums.fullCount += fullCount;
      sums.restoreCount += restoreCount;
    }),
    { numRuns, seed, endOnFailure: true },
  );
  return sums;
}
