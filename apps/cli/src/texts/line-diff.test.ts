import { expect, test } from "vitest";
import { lineDiff } from "./line-diff.ts";

test("equal texts have no difference", () => {
  expect(lineDiff("a\nb\n", "a\nb\n")).toEqual([]);
});

test("changed lines have three lines around them, and far ones hunks of their own", () => {
  const before = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
  const after = before.with(1, "two").toSpliced(17, 1);
  expect(lineDiff(before.join("\n"), after.join("\n"))).toEqual([
    "@@ -1,5 +1,5 @@",
    " line 1",
    "-line 2",
    "+two",
    " line 3",
    " line 4",
    " line 5",
    "@@ -15,6 +15,5 @@",
    " line 15",
    " line 16",
    " line 17",
    "-line 18",
    " line 19",
    " line 20",
    "\\ No newline at end of file",
  ]);
});

test("a missing last line end is a difference", () => {
  expect(lineDiff("a\n", "a")).toEqual(["@@ -1,1 +1,1 @@", "-a", "+a", "\\ No newline at end of file"]);
});

test("from nothing, all is added", () => {
  expect(lineDiff("", "a\nb\n")).toEqual(["@@ -1,0 +1,2 @@", "+a", "+b"]);
});

test("texts with too many changes are replaced as a whole", () => {
  const before = Array.from({ length: 3000 }, (_, i) => `old ${i}`).join("\n");
  const after = Array.from({ length: 3000 }, (_, i) => `new ${i}`).join("\n");
  expect(lineDiff(before, after)).toHaveLength(6001);
});
