import { composeZxid, type Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { CommitMarks } from "./commit-marks.ts";

const z = (counter: number): Zxid => composeZxid(1, counter);

test("a zxid was reached with the first mark at or above it", () => {
  const marks = new CommitMarks();
  marks.reached(z(3), 10);
  marks.reached(z(5), 20);
  marks.reached(z(5), 30);
  marks.reached(z(4), 40);
  expect([1, 3, 4, 5].map((counter) => marks.timeOf(z(counter)))).toEqual([10, 10, 20, 20]);
  expect(marks.timeOf(z(6))).toBeUndefined();
});

test("marks that were overwritten leave the time unknown, never a later one", () => {
  const marks = new CommitMarks();
  for (let i = 1; i <= 5000; i++) marks.reached(z(i), i * 10);
  expect(marks.timeOf(z(1))).toBeUndefined();
  expect(marks.timeOf(z(904))).toBeUndefined();
  expect(marks.timeOf(z(905))).toBeUndefined();
  expect(marks.timeOf(z(906))).toBe(9060);
  expect(marks.timeOf(z(5000))).toBe(50_000);
});
