import { expect, test } from "vitest";
import { distance } from "./edit-distance.ts";

test.each([
  ["", "", 0],
  ["abc", "abc", 0],
  ["", "abc", 3],
  ["tickTime", "tickTimes", 1],
  ["dataDri", "dataDir", 2],
  ["kitten", "sitting", 3],
])("from %j to %j are %i steps, and as many back", (from, to, steps) => {
  expect([distance(from, to), distance(to, from)]).toEqual([steps, steps]);
});
