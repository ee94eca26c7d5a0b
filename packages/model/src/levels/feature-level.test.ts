import { expect, test } from "vitest";
import { OpCode } from "../protocol/op-code.ts";
import { composeZxid } from "../protocol/zxid.ts";
import { FEATURE_LEVELS, knowsLevel, levelsUpTo, OWN_LEVELS, unknownLevelText } from "./feature-level.ts";
import { levelAt, levelInForce, NO_RAISE, raiseUpTo } from "./level-raise.ts";

test("levels are numbered from 1 on without gaps, and each operation and message belongs to one", () => {
  expect(FEATURE_LEVELS.map(({ level }) => level)).toEqual(FEATURE_LEVELS.map((_, i) => i + 1));
  const ops = FEATURE_LEVELS.flatMap((each) => each.ops);
  expect(new Set(ops).size).toBe(ops.length);
  const messages = FEATURE_LEVELS.flatMap((each) => each.messages);
  expect(new Set(messages).size).toBe(messages.length);
});

test("this version knows its own level, which is 1 in version 0.1.0", () => {
  expect(FEATURE_LEVELS.map(({ level, since }) => [level, since])).toEqual([[1, "0.1.0"]]);
  expect([OWN_LEVELS.lowest, OWN_LEVELS.highest]).toEqual([1, 1]);
});

test("a later version knows its own level and the one before", () => {
  const table = [
    { level: 1, ops: [OpCode.SET_DATA] },
    { level: 2, ops: [OpCode.SET_ACL] },
    { level: 3, ops: [OpCode.CREATE_TTL] },
  ];
  const levels = levelsUpTo(3, table);
  expect([1, 2, 3, 4].filter((level) => knowsLevel(levels, level))).toEqual([2, 3]);
  expect(levels.opLevels.get(OpCode.CREATE_TTL)).toBe(3);
  expect(levelsUpTo(2, table).opLevels.has(OpCode.CREATE_TTL)).toBe(false);
});

test("a raise is in force from its commit on", () => {
  const raise = { level: 2, zxid: composeZxid(1, 5), replaced: 1 };
  expect(levelAt(raise, composeZxid(1, 4))).toBe(1);
  expect(levelAt(raise, composeZxid(1, 5))).toBe(2);
  expect(levelAt(NO_RAISE, composeZxid(0, 0))).toBe(1);
  expect(levelAt(levelInForce(3), composeZxid(0, 0))).toBe(3);
});

test("a history that ends before a raise has the level before it", () => {
  const raise = { level: 3, zxid: composeZxid(1, 5), replaced: 2 };
  expect(raiseUpTo(raise, composeZxid(1, 5))).toBe(raise);
  expect(raiseUpTo(raise, composeZxid(1, 4))).toEqual(levelInForce(2));
});

test.each([
  [
    2,
    { lowest: 1, highest: 1 },
    "the data has feature level 2, and this version knows level 1; a version that knows level 2 is needed: a level that was raised is never lowered",
  ],
  [
    1,
    { lowest: 2, highest: 3 },
    "the data has feature level 1, and this version knows levels 2 to 3; run a version between the two first, and raise the level there (zooid-cli upgrade finalize)",
  ],
] as const)("level %i is refused in a sentence", (level, range, text) => {
  expect(unknownLevelText("the data", level, range)).toBe(text);
});
