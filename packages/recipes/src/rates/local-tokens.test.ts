import { expect, test } from "vitest";
import { LocalTokens } from "./local-tokens.ts";

test("tokens that end first are used first, all of those asked for or none, and none after their time", () => {
  const local = new LocalTokens();
  local.add({ tokens: 2, endMs: 200, credit: "b" }, 0);
  local.add({ tokens: 2, endMs: 100, credit: "a" }, 0);
  expect([local.use(5, 50), local.use(3, 50), local.use(1, 100), local.use(1, 100)]).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test("the use of tokens of one credit is known, with the last moment of it", () => {
  const local = new LocalTokens();
  local.add({ tokens: 3, endMs: 100, credit: "old" }, 0);
  local.add({ tokens: 4, endMs: 200, credit: "new" }, 0);
  local.use(4, 50);
  local.use(1, 60);
  expect(local.usedSince("new", 40)).toEqual({ tokens: 2, afterMs: 20 });
  expect(local.usedSince("none", 40)).toEqual({ tokens: 0, afterMs: 0 });
  local.add({ tokens: 1, endMs: 300, credit: "later" }, 250);
  expect(local.usedSince("new", 40)).toEqual({ tokens: 0, afterMs: 0 });
});

test("as many uses are expected as since the last lease, in proportion to the time, up to twice the lease", () => {
  const local = new LocalTokens();
  expect(local.expected(100)).toBe(0);
  local.add({ tokens: 30, endMs: 10_000, credit: "a" }, 1_000);
  expect(local.expected(100)).toBe(0);
  for (let i = 1; i <= 20; i++) local.use(1, 1_000 + i * 50);
  expect([local.expected(100), local.expected(1_000), local.expected(10_000)]).toEqual([2, 20, 60]);
  local.add({ tokens: 4, endMs: 10_000, credit: "b" }, 3_000);
  local.use(4, 3_000);
  expect(local.expected(100)).toBe(8);
});
