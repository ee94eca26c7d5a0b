import { expect, test } from "vitest";
import { reachLimitMs } from "./reach-limit.ts";

test("the limit doubles after four silent attempts, and again after four more", () => {
  expect([0, 3, 4, 7, 8, 12].map((count) => reachLimitMs(count))).toEqual([500, 500, 1000, 1000, 2000, 4000]);
});

test("the limit stays a number after any count of attempts", () => {
  expect(Number.isSafeInteger(reachLimitMs(Number.MAX_SAFE_INTEGER))).toBe(true);
});
