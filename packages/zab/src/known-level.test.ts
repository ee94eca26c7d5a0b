import { composeZxid, levelInForce, NO_RAISE, ZXID_NONE } from "@zooid/model";
import { expect, test } from "vitest";
import { KnownLevel } from "./known-level.ts";
import { RecordingSinks } from "./testing/batch.ts";

const V2 = { lowest: 1, highest: 2 };
const RAISE = composeZxid(1, 5);

function knownWith(levelRaise = NO_RAISE): KnownLevel {
  return new KnownLevel(V2, { ...new RecordingSinks().durable, levelRaise });
}

test("a level is in force from its commit on, and never falls", () => {
  const level = knownWith();
  expect(level.see(2, RAISE)).toEqual({ level: 2, zxid: RAISE, replaced: 1 });
  expect([level.inForce(ZXID_NONE), level.inForce(composeZxid(1, 4)), level.inForce(RAISE)]).toEqual([1, 1, 2]);
  expect(level.inForce(composeZxid(1, 4))).toBe(2);
});

test("an entry that repeats the level, or is of a lower one, changes nothing", () => {
  const level = knownWith();
  level.see(2, RAISE);
  for (const again of [2, 1]) expect(level.see(again, composeZxid(2, 1))).toMatchObject({ level: 2, zxid: RAISE });
});

test("a raise that a leader's history lacks is cut with its entry", () => {
  const level = knownWith({ level: 2, zxid: RAISE, replaced: 1 });
  level.install(NO_RAISE);
  expect([level.raise, level.inForce(composeZxid(2, 9))]).toEqual([NO_RAISE, 1]);
});

test("the log says at a start how far the level is known", () => {
  expect(knownWith(levelInForce(2)).inForce(ZXID_NONE)).toBe(2);
  expect([0, 1, 2, 3].map((level) => knownWith().knows(level))).toEqual([true, true, true, false]);
});
