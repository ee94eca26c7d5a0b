/**
 * What rounds leave behind, counted: nothing. `npm run leak-cycles` does ten thousand of each, where the heap tells too.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { LEAK_CYCLES } from "./testing/leak-cycles.ts";
import { BYTES_PER_ROUND_MAX, LeakWorld } from "./testing/leak-world.ts";

const ROUNDS = 64;
/** Where the heap's own bookkeeping does not matter any more. */
const ROUNDS_FOR_HEAP = 2_000;

let world: LeakWorld;

beforeAll(async () => {
  world = await LeakWorld.start();
});

afterAll(() => world[Symbol.asyncDispose]());

test.each(LEAK_CYCLES.map((cycle, i) => [cycle.name, cycle, `/cycle-${i}`] as const))(
  "%s: whoever comes and goes leaves neither watch nor node, timer, handle, listener or subscriber",
  async (_, { begin, oneIn = 1 }, path) => {
    const { round, end } = await begin(world, path);
    const { leaked } = await world.run(Math.ceil(ROUNDS / oneIn), round);
    await end?.();
    expect(leaked).toEqual([]);
    expect([world.a.watchCount, world.b.watchCount]).toEqual([0, 0]);
  },
);

test("the heap is what it was, too", async () => {
  const cycle = LEAK_CYCLES.find(({ name }) => name === "mutex");
  const { round } = (await cycle?.begin(world, "/heap")) ?? expect.unreachable();
  expect((await world.run(ROUNDS_FOR_HEAP, round)).bytesPerRound).toBeLessThan(BYTES_PER_ROUND_MAX);
});
