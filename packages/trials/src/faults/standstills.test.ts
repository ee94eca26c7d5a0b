import { expect, test } from "vitest";
import { longestGapMs, type Write } from "./ensemble-history.ts";
import { stoodStill } from "./standstills.ts";

const ms = (count: number): bigint => BigInt(count) * 1_000_000n;

function answeredAt(count: number): Write {
  const at = ms(count);
  return {
    kind: "set",
    client: "c",
    sid: 0,
    path: "/k",
    value: "v",
    sentAt: at,
    answeredAt: at,
    zxid: at,
    outcome: "done",
  };
}

test.each([
  [0, 10, 0],
  [15, 30, 5],
  [0, 100, 15],
  [52, 53, 1],
])("from %i to %i ms the process stood still for %i ms", (from, to, expected) => {
  const standstills = [
    { from: ms(10), to: ms(20) },
    { from: ms(50), to: ms(55) },
  ];
  expect(stoodStill(standstills, ms(from), ms(to))).toBe(ms(expected));
});

test("a time without writes does not count where the process stood still", () => {
  const writes = [0, 10, 500, 600].map(answeredAt);
  expect(longestGapMs(writes, { after: 0n })).toBe(490);
  const standstills = [{ from: ms(20), to: ms(480) }];
  expect(longestGapMs(writes, { after: 0n, standstills })).toBe(100);
});
