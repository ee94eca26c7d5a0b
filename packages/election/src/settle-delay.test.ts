import { serverId } from "@zooid/model";
import { expect, test } from "vitest";
import { SettleDelay } from "./settle-delay.ts";

const VOTERS = [1, 2, 3].map(serverId);

function settleDelay(roundTrips: readonly (readonly [sid: number, roundTripMs: number])[]): number {
  const settle = new SettleDelay({ settleMsMin: 20, settleMsMax: 200 });
  for (const [sid, roundTripMs] of roundTrips) settle.measured(serverId(sid), roundTripMs);
  return settle.delayMs(VOTERS);
}

test.each<[string, Parameters<typeof settleDelay>[0], number]>([
  ["nothing was measured: the longest", [], 200],
  ["close together: the shortest", [[2, 0.3]], 20],
  ["a round trip of no time", [[2, 0]], 20],
  ["four round trips, in whole milliseconds", [[2, 10.1]], 41],
  ["far away: the longest", [[2, 80]], 200],
  [
    "the slowest voter counts",
    [
      [2, 1],
      [3, 15],
    ],
    60,
  ],
  [
    "the newest measurement of a voter counts",
    [
      [2, 50],
      [2, 6],
    ],
    24,
  ],
  [
    "observers do not count",
    [
      [2, 6],
      [9, 50],
    ],
    24,
  ],
  ["only an observer was measured", [[9, 1]], 200],
  [
    "what is no measurement says nothing",
    [
      [2, Number.NaN],
      [3, -1],
    ],
    200,
  ],
])("%s", (_, roundTrips, expected) => {
  expect(settleDelay(roundTrips)).toBe(expected);
});
