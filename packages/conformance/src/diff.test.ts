import { expect, test } from "vitest";
import { diffLines, printDiff } from "./diff.ts";

test("equal transcripts have no difference", () => {
  expect(printDiff(diffLines(["a", "b"], ["a", "b"]))).toBe("");
});

test("a changed line shows what was expected, then what came", () => {
  expect(printDiff(diffLines(["a", "b", "c"], ["a", "x", "c"]))).toBe("  a\n- b\n+ x\n  c");
});

test("far from any difference, equal lines are left out", () => {
  const before = ["1", "2", "3", "4", "5"];
  expect(printDiff(diffLines(before, [...before, "6"]), 1)).toBe("  5\n+ 6");
});

test("a transcript that ends early lacks its rest", () => {
  expect(printDiff(diffLines(["a", "b"], ["a"]))).toBe("  a\n- b");
});
