import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("each piece is followed by the time that it takes at that pace", async () => {
  let nowMs = 1000;
  const pauses: number[] = [];
  const pace = new Pace(
    1000,
    () => nowMs,
    async (ms) => {
      pauses.push(ms);
      nowMs += ms;
    },
  );
  await pace.spend(500);
  nowMs += 100;
  await pace.spend(500);
  // A quiet time is not saved up.
  nowMs += 60_000;
  await pace.spend(2000);
  expect(pauses).toEqual([500, 500, 2000]);
});

test("0 is no limit", async () => {
  await new Pace(
    0,
    () => 0,
    () => expect.unreachable("it does not wait"),
  ).spend(1e9);
});

test("one byte a second is kept for more bytes than a timer has milliseconds", async () => {
  const pauses: number[] = [];
  const pace = new Pace(
    1,
    () => 0,
    async (ms) => void pauses.push(ms),
  );
  await pace.spend(4 * 1024 * 1024);
  expect(Math.max(...pauses)).toBe(2 ** 31 - 1);
  expect(pauses.reduce((sum, ms) => sum + ms, 0)).toBe(4 * 1024 * 1024 * 1000);
});
