import { expect, test } from "vitest";
import type { WaitJson } from "../../../src/api/recipe-shapes.ts";
import { BOXES_MAX, waitLayout } from "./wait-layout.ts";

const wait = (from: string, to: string, path = "/l"): WaitJson => ({ from, to, path });
const places = (waits: readonly WaitJson[], cycle: readonly WaitJson[] = []) => {
  const { boxes } = waitLayout({ waits: [...waits], cycles: cycle.length === 0 ? [] : [{ waits: [...cycle] }] });
  return Object.fromEntries(boxes.map(({ session, column, row }) => [session, `${column},${row}`]));
};

test("a session stands behind the one that it waits for, and those that wait for one share a column", () => {
  expect(places([wait("b", "a"), wait("c", "b"), wait("d", "a")])).toEqual({ a: "0,0", b: "1,0", d: "1,1", c: "2,0" });
});

test("a cycle has a first column too, and its edges are marked", () => {
  const cycle = [wait("a", "b", "/1"), wait("b", "a", "/2")];
  expect(places([...cycle, wait("c", "a", "/2")], cycle)).toEqual({ a: "0,0", b: "1,0", c: "1,1" });
  const { edges } = waitLayout({ waits: [...cycle, wait("c", "a", "/2")], cycles: [{ waits: cycle }] });
  expect(edges.map(({ isInCycle }) => isInCycle)).toEqual([true, true, false]);
});

test("more sessions than a picture holds are counted", () => {
  const waits = Array.from({ length: 100 }, (_, i) => wait(`w${i}`, "a"));
  const { boxes, edges, restCount } = waitLayout({ waits, cycles: [] });
  expect([boxes.length, edges.length, restCount]).toEqual([BOXES_MAX, BOXES_MAX - 1, 101 - BOXES_MAX]);
});
