import { expect, test } from "vitest";
import { FEATURE_LEVELS, OWN_LEVELS } from "./feature-level.ts";
import { formatsAt, levelOfFormat, readableFormats } from "./file-formats.ts";

test("each level that this version knows has its formats, and they are all readable", () => {
  for (const { level, formats } of FEATURE_LEVELS.filter((each) => each.level >= OWN_LEVELS.lowest)) {
    expect(formatsAt(level)).toEqual(formats);
    for (const kind of ["log", "state", "snapshot"] as const) {
      expect(readableFormats(kind)).toContain(formats[kind]);
      expect(levelOfFormat(kind, formats[kind])).toBeGreaterThanOrEqual(level);
    }
  }
});

test("a server without a history begins with the lowest level that its version knows", () => {
  expect(formatsAt(1)).toEqual(FEATURE_LEVELS[OWN_LEVELS.lowest - 1]?.formats);
});

test("formats of levels that are not known are not readable", () => {
  expect(readableFormats("log", { lowest: 0, highest: 0 })).toEqual([]);
  expect(levelOfFormat("log", 2)).toBeUndefined();
});

test("formats of later levels are higher, or the same", () => {
  for (const kind of ["log", "state", "snapshot"] as const) {
    const numbers = FEATURE_LEVELS.map(({ formats }) => formats[kind]);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
});
