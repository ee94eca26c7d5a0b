import { expect, test } from "vitest";
import { runStoredHistories } from "../testing/stored-histories.ts";

// The cheapest seed that stops, fills and restores a server; the slow tests have more.
test("whatever was written, a start finds it as the answers promised, without a repair", async () => {
  const { startCount, fullCount, restoreCount } = await runStoredHistories({ seed: 4, numRuns: 1 });
  expect(startCount).toBeGreaterThan(3);
  expect(fullCount).toBeGreaterThan(1);
  expect(restoreCount).toBe(1);
  // Threads and disks work for it, which are slow on a busy machine.
}, 240_000);
