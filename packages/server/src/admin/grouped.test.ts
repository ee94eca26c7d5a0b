import { expect, test } from "vitest";
import { grouped } from "./grouped.ts";

type Pair = readonly [key: string, value: number];

function* given(...pairs: readonly (Pair | undefined)[]): Generator<Pair | undefined, void, undefined> {
  yield* pairs;
}

const PAIRS: readonly (Pair | undefined)[] = [undefined, ["a", 1], undefined, ["a", 2], ["b", 3], undefined, ["a", 4]];

test("neighbours of one key are a group, and steps that made nothing are passed on", () => {
  const groups: unknown[] = [];
  for (const group of grouped(given(...PAIRS))) groups.push(group === undefined ? group : [group[0], [...group[1]]]);
  expect(groups).toEqual([undefined, ["a", [1, undefined, 2]], ["b", [3, undefined]], ["a", [4]]]);
});

test("nothing has no group", () => {
  expect([...grouped(given())]).toEqual([]);
});
