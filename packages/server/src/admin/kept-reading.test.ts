import { expect, test } from "vitest";
import { keptFor } from "./kept-reading.ts";

test("a reading is taken again once it is old", () => {
  let nowMs = 5;
  let count = 0;
  const read = keptFor(
    10,
    () => ++count,
    () => nowMs,
  );
  expect([read(), read()]).toEqual([1, 1]);
  nowMs = 14;
  expect(read()).toBe(1);
  nowMs = 15;
  expect([read(), read()]).toEqual([2, 2]);
});
