import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonRule } from "./json-value.ts";

test("what JSON reads again is accepted", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => jsonRule.accepts(value)));
  const shared = { a: 1 };
  expect(jsonRule.accepts({ one: shared, two: [shared, shared], none: undefined })).toBe(true);
});

test("depth costs no more than length", () => {
  let deep: unknown = () => 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  expect(jsonRule.accepts(deep)).toBe(false);
});
