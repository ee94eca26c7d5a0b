import { describe, expect, test } from "vitest";
import { effectsOf, SliceCounter, type Timeline, timelineOf } from "./timeline.ts";

describe("slices", () => {
  const options = { kinds: 2, fromMs: 1000, durationMs: 250, sliceMs: 100 };

  test("an answer counts in the slice in which it came, and nowhere outside of the measured time", () => {
    const counter = new SliceCounter(options);
    for (const nowMs of [999.9, 1000, 1099.9, 1100, 1299, 1300]) counter.answer(1, nowMs, 1);
    expect([...(counter.answered[0] ?? [])]).toEqual([0, 0, 0]);
    expect([...(counter.answered[1] ?? [])]).toEqual([2, 1, 1]);
  });

  test("the longest wait is kept, errors are counted apart, and threads are summed", () => {
    const counters = [new SliceCounter(options), new SliceCounter(options)];
    counters[0]?.answer(0, 1010, 5);
    counters[0]?.answer(0, 1020, 3);
    counters[1]?.answer(0, 1030, 7);
    counters[1]?.error(1150);
    counters[1]?.error(5000);
    expect(timelineOf(counters, { kinds: ["read", "write"], sliceMs: 100, events: [] })).toEqual({
      sliceMs: 100,
      answered: { read: [3, 0, 0], write: [0, 0, 0] },
      errors: [0, 1, 0],
      worstMs: [7, 0, 0],
      events: [],
    });
  });
});

describe("what an event did", () => {
  function timeline(counts: readonly number[], ...atMs: readonly number[]): Timeline {
    const events = atMs.map((at, i) => ({ atMs: at, label: `event ${i}`, failure: undefined }));
    const none = counts.map(() => 0);
    return { sliceMs: 100, answered: { write: counts }, errors: none, worstMs: none, events };
  }
  const level = (count: number, slices: number): readonly number[] => Array.from({ length: slices }, () => count);

  test("a stall is as long as its empty slices, and over when the level of before is reached again", () => {
    const counts = [...level(100, 10), 40, 0, 0, 0, 50, ...level(90, 10)];
    expect(effectsOf(timeline(counts, 1000), "write")).toEqual([{ label: "event 0", stillMs: 300, backMs: 500 }]);
  });

  test("the longest stall counts, not the sum of all", () => {
    const counts = [...level(100, 10), 0, 100, 0, 0, ...level(100, 10)];
    expect(effectsOf(timeline(counts, 1000), "write")[0]?.stillMs).toBe(200);
  });

  test("a burst of what had gathered is not yet the level of before", () => {
    const counts = [...level(100, 10), 0, 120, 0, 0, 0, 0, ...level(100, 10)];
    expect(effectsOf(timeline(counts, 1000), "write")[0]?.backMs).toBe(600);
  });

  test("an event that changes nothing is over at once", () => {
    expect(effectsOf(timeline(level(100, 30), 1000), "write")).toEqual([{ label: "event 0", stillMs: 0, backMs: 0 }]);
  });

  test("what is not back before the next event is not back", () => {
    const counts = [...level(100, 10), ...level(20, 10), ...level(100, 20)];
    const [first, second] = effectsOf(timeline(counts, 1000, 2000), "write");
    expect(first?.backMs).toBeUndefined();
    // By then the level of before is the lower one of the first event.
    expect(second).toEqual({ label: "event 1", stillMs: 0, backMs: 0 });
  });
});
