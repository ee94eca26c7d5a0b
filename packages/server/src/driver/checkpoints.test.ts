import { describe, expect, test } from "vitest";
import { Checkpoints } from "./checkpoints.ts";
import type { DriverGround } from "./driver-ground.ts";

interface Taken {
  readonly zxid: number;
  readonly bytes: number;
}

/** Checkpoints of a tree whose position a test sets. */
function fake() {
  const taken: Taken[] = [];
  const replica = { isApplying: false, tree: { applied: 5, digestHigh: 1, digestLow: 2 } };
  const hooks = { checkpoint: ({ zxid, bytes }: Taken) => void taken.push({ zxid, bytes }) };
  const checkpoints = new Checkpoints({ replica, hooks } as unknown as DriverGround);
  checkpoints.loaded();
  return { checkpoints, replica, taken };
}

describe("a checkpoint is due", () => {
  test.each([
    ["one entry of 16 MiB", 1, 16 * 1024 * 1024, true],
    ["50,000 small entries", 50_000, 60, true],
    ["fewer small entries", 49_999, 60, false],
    ["nothing", 0, 0, false],
    ["one small entry", 1, 1, false],
  ])("after %s: %#", (_, count, bytes, isDue) => {
    const { checkpoints } = fake();
    for (let i = 0; i < count; i++) checkpoints.appended(bytes);
    expect([checkpoints.isDue, checkpoints.hasAppended]).toEqual([isDue, count > 0]);
  });
});

test("the state file follows what is applied, once, with all bytes since the last time", () => {
  const { checkpoints, replica, taken } = fake();
  checkpoints.appended(100);
  checkpoints.take();
  expect(taken).toEqual([]);
  checkpoints.appended(23);
  replica.tree.applied = 7;
  replica.isApplying = true;
  checkpoints.take();
  expect(taken).toEqual([]);
  replica.isApplying = false;
  checkpoints.take();
  checkpoints.take();
  expect([taken, checkpoints.hasAppended]).toEqual([[{ zxid: 7, bytes: 123 }], false]);
  replica.tree.applied = 8;
  checkpoints.appended(1);
  checkpoints.loaded();
  checkpoints.take();
  expect(taken).toHaveLength(1);
});

test("an entry that is appended before a checkpoint, and applied after it, has one of its own", () => {
  const { checkpoints, replica, taken } = fake();
  checkpoints.appended(10);
  checkpoints.appended(20);
  replica.tree.applied = 6;
  checkpoints.take();
  expect(checkpoints.hasAppended).toBe(false);
  replica.tree.applied = 7;
  expect(checkpoints.hasAppended).toBe(true);
  checkpoints.take();
  expect(taken.map(({ zxid }) => zxid)).toEqual([6, 7]);
  expect(checkpoints.hasAppended).toBe(false);
});
