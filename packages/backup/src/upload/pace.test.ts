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
