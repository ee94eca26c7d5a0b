import { expect, test } from "vitest";
import { PlaceSet } from "./place-set.ts";

test("a set has the places that were added, however far apart", () => {
  const set = new PlaceSet();
  const added = [0, 7, 8, 8191, 8192, 1_000_000];
  for (const place of added) set.add(place);
  const near = added.flatMap((place) => [place - 1, place, place + 1]).filter((place) => place >= 0);
  expect(near.filter((place) => set.has(place))).toEqual(near.filter((place) => added.includes(place)));
});
