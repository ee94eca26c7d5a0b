import { expect, test } from "vitest";
import { circleFaults, findCircles, relativeImports } from "./import-circles.ts";

const graph = (imports: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, readonly string[]> =>
  new Map(Object.entries(imports));

test("files that import downwards only are in no circle", () => {
  expect(findCircles(graph({ a: ["b", "c"], b: ["c"], c: [] }))).toEqual([]);
});

test("two files that import each other are a circle, and one that imports itself", () => {
  expect(findCircles(graph({ a: ["b"], b: ["a"], c: ["a"], d: ["d"] }))).toEqual([["a", "b"], ["d"]]);
});

test("a circle over several files is reported once, without the files that only reach it", () => {
  expect(findCircles(graph({ z: ["a"], a: ["b"], b: ["c", "d"], c: ["a"], d: [] }))).toEqual([["a", "b", "c"]]);
});

test("a circle that is not allowed is a fault, one that has grown, and an entry that is too large", () => {
  const entry = { name: "pair", file: "a", fileCount: 2, reason: "" };
  expect(circleFaults([["a", "b"]], [entry])).toEqual([]);
  expect(circleFaults([["c", "d"]], [])).toEqual(["these files import each other:\n  c\n  d"]);
  expect(circleFaults([["a", "b", "c"]], [entry])).toEqual(["pair has 3 files, was 2:\n  a\n  b\n  c"]);
  expect(circleFaults([], [entry])).toEqual(["pair has 0 files: lower its entry in tools/import-circles.ts"]);
});

test("imports, exports, types and dynamic imports are found, packages are not", () => {
  const text = `
import { a } from "./a.ts";
import type { B } from "../b.ts";
import {
  c,
} from "./deep/c.ts";
import "./side-effect.ts";
import { d } from "@zooid/model";
export { e } from "./e.ts";
const f = await import("./f.ts");
`;
  expect(relativeImports(text)).toEqual(["./a.ts", "../b.ts", "./deep/c.ts", "./side-effect.ts", "./e.ts", "./f.ts"]);
});
