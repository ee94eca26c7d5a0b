/**
 * Tests that rounds leave nothing behind, by counts. `npm run tool -- leak-cycles` runs ten
 * thousand of each, where the heap is measured too.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { LEAK_CYCLES } from "./leak-cycles.ts";
import { LeakWorld } from "./leak-world.ts";

/** Tests each cycle with a number of rounds. Returns the world that they share. */
export function testLeaks(rounds: number): () => LeakWorld {
  let world: LeakWorld;
  beforeAll(async () => {
    world = await LeakWorld.start();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(LEAK_CYCLES.map((cycle, i) => [cycle.name, cycle, `/cycle-${i}`] as const))(
    "%s: rounds leave neither watch nor node, timer, handle, listener or subscriber",
    async (_, { begin, oneIn = 1 }, path) => {
      const { round, end } = await begin(world, path);
      const { leaked } = await world.run(Math.ceil(rounds / oneIn), round, { judgesHeap: false });
      await end?.();
      expect(leaked).toEqual([]);
      expect([world.a.watchCount, world.b.watchCount]).toEqual([0, 0]);
    },
  );
  return () => world;
}
