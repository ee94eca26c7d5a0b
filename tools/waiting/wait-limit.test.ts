import { describe, expect, test } from "vitest";
import { type CoreTimes, WaitLimit } from "./wait-limit.ts";

const TICK_MS = 100;

/** Ticks of a machine with two cores, until the limit of one second passes. */
function ticksUntilLimit(idleShare: number, { everyMs = TICK_MS, workedShare = 0 } = {}): number {
  const at = (ticks: number): CoreTimes => ({
    count: 2,
    spentMs: 2 * everyMs * ticks,
    idleMs: 2 * everyMs * ticks * idleShare,
  });
  const limit = new WaitLimit(1000, TICK_MS, at(0));
  for (let ticks = 1; ticks <= 1000; ticks++) if (limit.tick(at(ticks), workedShare)) return ticks;
  return Number.POSITIVE_INFINITY;
}

describe("a wait passes its limit", () => {
  test.each([
    { machine: "nothing else runs", idleShare: 1, ticks: 10 },
    { machine: "one core is free", idleShare: 0.5, ticks: 10 },
    { machine: "half a core is free", idleShare: 0.25, ticks: 20 },
    { machine: "both cores are used", idleShare: 0, ticks: 100 },
  ])("after $ticks ticks while $machine", ({ idleShare, ticks }) => {
    expect(ticksUntilLimit(idleShare)).toBe(ticks);
  });

  test("by ticks, not by the clock, where the process is served seldom", () => {
    expect(ticksUntilLimit(1, { everyMs: 50 * TICK_MS })).toBe(10);
  });

  test("later where the test computes all the time, or half of it", () => {
    expect(ticksUntilLimit(1, { workedShare: 1 })).toBe(100);
    expect(ticksUntilLimit(1, { workedShare: 0.5 })).toBe(20);
  });

  test("as on a busy machine where the cores' times stand still", () => {
    const cores = { count: 2, idleMs: 5, spentMs: 10 };
    const limit = new WaitLimit(2 * 0.1 * TICK_MS, TICK_MS, cores);
    expect([limit.tick(cores, 0), limit.tick(cores, 0)]).toEqual([false, true]);
  });
});
