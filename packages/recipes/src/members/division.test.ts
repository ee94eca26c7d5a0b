import { expect, test } from "vitest";
import { type Divide, inTurn, shareOf } from "./division.ts";

const SET = { members: ["b", "a", "c"], items: ["3", "1", "2", "4"] };

test("each item has one member by default", () => {
  const shares = SET.members.map((id) => shareOf(inTurn, id, SET));
  expect(shares).toEqual([["2"], ["1", "4"], ["3"]]);
});

test("a function that sorts its arguments in place changes no other call", () => {
  const divide: Divide = (id, members, items) => {
    const place = (members as string[]).sort().indexOf(id);
    return (items as string[]).sort().filter((_, i) => i % 3 === place);
  };
  expect(SET.members.map((id) => shareOf(divide, id, SET))).toEqual([["2"], ["1", "4"], ["3"]]);
  expect(SET.items).toEqual(["3", "1", "2", "4"]);
});

const WRONG: Readonly<Record<string, readonly [result: () => unknown, message: RegExp]>> = {
  "all items for each member": [() => SET.items, /each item to one member, found "3" for "b" and "a"/],
  "an item twice for one member": [() => ["1", "1"], /each item to one member, found "1" for "b" and "b"/],
  "no items": [() => [], /each item to a member, found none for "3"/],
  "another item": [() => ["5"], /items of the set to "b", found "5"/],
  "no text": [() => [1], /items of the set to "b", found 1/],
  "a text": [() => "1", /an array of items for "b", found "1"/],
  nothing: [() => undefined, /an array of items for "b", found undefined/],
  "a promise": [() => Promise.reject(new Error("late")), /an array of items for "b", found/],
};

test.each(Object.entries(WRONG))("a division into %s is refused by name", (_, [result, message]) => {
  const divide = result as Divide;
  expect(() => shareOf(divide, "a", SET)).toThrow(message);
});
