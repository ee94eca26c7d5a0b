import { expect, test } from "vitest";
import { counted } from "./counted.ts";

test("a noun agrees with its number", () => {
  expect([0, 1, 2].map((count) => counted(count, "node"))).toEqual(["0 nodes", "1 node", "2 nodes"]);
  expect([1, 3].map((count) => counted(count, "watch", "watches"))).toEqual(["1 watch", "3 watches"]);
});
