import { expect, test } from "vitest";
import { findCircles, relativeImports, unneededHubs } from "./import-circles.ts";

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

test("imports of an allowed file are not followed, and its own are", () => {
  const parts = graph({ hub: ["a", "b"], a: ["hub"], b: ["hub", "c"], c: ["b"] });
  expect(findCircles(parts, [{ file: "hub", reason: "" }])).toEqual([["b", "c"]]);
});

test("an allowed file that is in no circle is reported, and one that is missing", () => {
  const hubs = [
    { file: "hub", reason: "" },
    { file: "b", reason: "" },
    { file: "gone", reason: "" },
  ];
  const parts = graph({ hub: ["a"], a: ["hub"], b: [] });
  expect(unneededHubs(parts, hubs).map(({ file }) => file)).toEqual(["b", "gone"]);
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
