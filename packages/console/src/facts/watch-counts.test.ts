import { expect, test } from "vitest";
import { atOnce } from "./in-slices.ts";
import { watchCountsOf } from "./watch-counts.ts";

test("sessions of all members are counted by node, the most watched first", () => {
  const { top, counts, bySession, isIncomplete } = atOnce(
    watchCountsOf(["/a\n\t0x1\n\t0x2\n/b\n\t0x1\n", "/b\n\t0x3\n/c\n\t0x3\n/b\n\t0x4\n"], 2),
  );
  expect(top).toEqual([
    { path: "/b", sessions: 3 },
    { path: "/a", sessions: 2 },
  ]);
  expect([counts.get("/c"), isIncomplete]).toEqual([1, false]);
  expect(Object.fromEntries(bySession)).toEqual({ "0x1": 2, "0x2": 1, "0x3": 2, "0x4": 1 });
});

test("an answer that is cut or missing is incomplete", () => {
  expect(atOnce(watchCountsOf(["/a\n\t0x1\n... truncated\n"], 9)).isIncomplete).toBe(true);
  expect(atOnce(watchCountsOf(["/a\n\t0x1\n", ""], 9)).isIncomplete).toBe(true);
});
