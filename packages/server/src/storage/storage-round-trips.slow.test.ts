import { expect, test } from "vitest";
import { runStoredHistories } from "../testing/stored-histories.ts";

test("whatever was written, a start finds it as the answers promised, without a repair, in four histories", async () => {
  const { startCount, fullCount, restoreCount } = await runStoredHistories({ seed: 15, numRuns: 4 });
  expect(startCount).toBeGreaterThan(8);
  expect(fullCount).toBeGreaterThan(1);
  expect(restoreCount).toBe(4);
  // Threads and disks work for it, which are slow on a busy machine.
}, 240_000);
