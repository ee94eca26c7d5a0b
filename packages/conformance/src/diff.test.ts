import { expect, test } from "vitest";
import { printDiff } from "./diff.ts";

test("equal transcripts have no difference", () => {
  expect(printDiff(["a", "b"], ["a", "b"])).toBe("");
});

test("a changed line shows what was expected, then what came", () => {
  expect(printDiff(["a", "b", "c"], ["a", "x", "c"])).toBe("  a\n- b\n+ x\n  c");
});

test("far from any difference, equal lines are left out", () => {
  const before = ["1", "2", "3", "4", "5"];
  expect(printDiff(before, [...before, "6"], 1)).toBe("  5\n+ 6");
});

test("a transcript that ends early lacks its rest", () => {
  expect(printDiff(["a", "b"], ["a"])).toBe("  a\n- b");
});
