import { expect, test } from "vitest";
import { type DiskLevel, diskLevelOf, diskMarksOf } from "./disk-marks.ts";

const MIB = 1024 ** 2;

test.each([
  ["a large disk", 2 ** 40, { lowBytes: 1024 * MIB, reserveBytes: 128 * MIB }],
  ["a small one", 200 * MIB, { lowBytes: 20 * MIB, reserveBytes: 10 * MIB }],
])("%s has marks by its size, within bounds", (_, totalBytes, marks) => {
  expect(diskMarksOf(totalBytes, {})).toEqual(marks);
});

test("the low mark is not below the reserve, and a mark of 0 is never reached", () => {
  expect(diskMarksOf(200 * MIB, { reserveBytes: 50 * MIB })).toEqual({ lowBytes: 50 * MIB, reserveBytes: 50 * MIB });
  const none = { lowBytes: 0, reserveBytes: 0 };
  expect(diskLevelOf({ freeBytes: 0, totalBytes: MIB }, "roomy", none)).toBe("roomy");
});

test("a level is left only when there is an eighth more room than its mark", () => {
  const marks = { lowBytes: 800, reserveBytes: 80 };
  const levels: DiskLevel[] = [];
  let level: DiskLevel = "roomy";
  for (const freeBytes of [800, 799, 850, 80, 79, 85, 90, 850, 900]) {
    level = diskLevelOf({ freeBytes, totalBytes: 10_000 }, level, marks);
    levels.push(level);
  }
  expect(levels).toEqual(["roomy", "low", "low", "low", "reserve", "reserve", "low", "low", "roomy"]);
});
