import { expect, test } from "vitest";
import { timersOf } from "./timer-count.ts";

test("each timer that is made is counted, also one that is taken back", async () => {
  const count = await timersOf(async () => {
    for (let i = 0; i < 10; i++) clearTimeout(setTimeout(() => {}, 60_000));
  });
  expect(count).toBe(10);
});

test("promises, turns and ticks are no timers", async () => {
  const count = await timersOf(async () => {
    await new Promise<void>((resolve) => setImmediate(resolve));
    await new Promise<void>((resolve) => process.nextTick(resolve));
  });
  expect(count).toBe(0);
});
