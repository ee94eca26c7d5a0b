import { expect, test } from "vitest";
import { Backoff } from "./backoff.ts";

test.each([
  [1, [50, 100, 175, 175, 50]],
  [0.5, [75, 150, 262.5, 262.5, 75]],
])(
  "waits double up to the limit, and begin again after a success; the share %d of each is random",
  (jitter, expected) => {
    const backoff = new Backoff({ leastMs: 100, mostMs: 350, jitter, random: () => 0.5 });
    const first = [backoff.nextDelayMs(), backoff.nextDelayMs(), backoff.nextDelayMs(), backoff.nextDelayMs()];
    backoff.reset();
    expect([...first, backoff.nextDelayMs()]).toEqual(expected);
  },
);
