import { expect, test } from "vitest";
import { firstMark, mergeLines } from "./line-merge.ts";

const BASE = "one\ntwo\nthree\nfour\nfive";

test.each([
  [
    "changes of different lines",
    "ONE\ntwo\nthree\nfour\nfive",
    "one\ntwo\nthree\nfour\nFIVE",
    "ONE\ntwo\nthree\nfour\nFIVE",
  ],
  [
    "an insertion and a removal",
    "one\ntwo\nand\nthree\nfour\nfive",
    "one\ntwo\nthree\nfour",
    "one\ntwo\nand\nthree\nfour",
  ],
  [
    "the same change of both",
    "one\nTWO\nthree\nfour\nfive",
    "one\nTWO\nthree\nfour\nfive",
    "one\nTWO\nthree\nfour\nfive",
  ],
  ["a change of one side", "one\ntwo", BASE, "one\ntwo"],
])("%s are merged without a conflict", (_, mine, theirs, merged) => {
  expect(mergeLines(BASE, mine, theirs)).toEqual({ text: merged, conflictCount: 0 });
  expect(firstMark(merged)).toBeUndefined();
});

test("changes that touch are a conflict, with both sides between marks and the rest merged", () => {
  const { text, conflictCount } = mergeLines(BASE, "one\nmine\nthree\nfour\nFIVE", "one\ntheirs\nthree\nfour\nfive");
  expect(text).toBe("one\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> theirs\nthree\nfour\nFIVE");
  expect([conflictCount, firstMark(text)]).toEqual([1, 2]);
  expect(mergeLines("", "a", "b").conflictCount).toBe(1);
  expect(mergeLines(BASE, `${BASE}\na`, `${BASE}\nb`).conflictCount).toBe(1);
});
