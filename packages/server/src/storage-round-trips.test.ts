import fc from "fast-check";
import { expect, test } from "vitest";
import { actsArbitrary } from "./testing/acts.ts";
import { STORED_ACTS, StoredHistory } from "./testing/stored-history.ts";

test("whatever was written, a start finds it as the answers promised, without a repair", async () => {
  let startCount = 0;
  const acts = actsArbitrary(STORED_ACTS, { minLength: 50, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(acts, async (history) => {
      startCount += (await StoredHistory.run(history)).startCount;
    }),
    { numRuns: 4, seed: 1, endOnFailure: true },
  );
  expect(startCount).toBeGreaterThan(8);
  // Threads and disks work for it, which are slow on a busy machine.
}, 240_000);
