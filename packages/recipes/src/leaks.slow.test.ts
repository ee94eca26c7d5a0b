import { expect, test } from "vitest";
import { LEAK_CYCLES } from "./testing/leak-cycles.ts";
import { testLeaks } from "./testing/leak-rounds.ts";
import { BYTES_PER_ROUND_MAX } from "./testing/leak-world.ts";

const world = testLeaks(64);

test("the heap does not grow", async () => {
  const cycle = LEAK_CYCLES.find(({ name }) => name === "mutex");
  const { round } = (await cycle?.begin(world(), "/heap")) ?? expect.unreachable();
  // Enough that the heap's own bookkeeping does not matter.
  expect((await world().run(2_000, round)).bytesPerRound).toBeLessThan(BYTES_PER_ROUND_MAX);
});
