import { expect, test } from "vitest";
import { atOnce } from "./in-slices.ts";
import { watchCountsOf } from "./watch-counts.ts";

test("sessions of all members are counted by node, the most watched first", () => {
  const { top, counts, isIncomplete } = atOnce(
    watchCountsOf(["/a\n\t0x1\n\t0x2\n/b\n\t0x1\n", "/b\n\t0x3\n/c\n\t0x3\n/b\n\t0x4\n"], 2),
  );
  expect(top).toEqual([
    { path: "/b", sessions: 3 },
    { path: "/a", sessions: 2 },
  ]);
  expect([counts.get("/c"), isIncomplete]).toEqual([1, false]);
});

test("an answer that is cut or missing is incomplete", () => {
  expect(atOnce(watchCountsOf(["/a\n\t0x1\n... truncated\n"], 9)).isIncomplete).toBe(true);
  expect(atOnce(watchCountsOf(["/a\n\t0x1\n", ""], 9)).isIncomplete).toBe(true);
});
