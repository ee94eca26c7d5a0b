import { expect, test } from "vitest";
import { DataPages } from "./data-pages.ts";

test("the collector frees pages that were dropped, though it does not count them", async () => {
  const pages = new DataPages(() => {});
  const MIB = 1024 * 1024;
  // The process keeps buffers of other tests.
  const before = process.memoryUsage().arrayBuffers;
  let mostMiB = 0;
  for (let round = 0; round < 100; round++) {
    // No size of an earlier round fits again.
    const value = Buffer.alloc(MIB - round * 1000, round);
    const refs = Array.from({ length: 20 }, (_, i) => pages.put(1 + i, value, 0, value.length));
    for (const ref of refs) pages.free(ref);
    // A collection that has begun ends between turns.
    await new Promise(setImmediate);
    mostMiB = Math.max(mostMiB, (process.memoryUsage().arrayBuffers - before) / MIB);
  }
  // 2000 MiB were put in.
  expect(mostMiB).toBeLessThan(1000);
});
