import type { Zxid } from "@zooid/model";
import { expect, test } from "vitest";
import { Z } from "../testing/append-batches.ts";
import { CheckpointPlan } from "./checkpoint-plan.ts";
import { DataWrites } from "./data-writes.ts";

type Write = readonly [zxid: Zxid, node: number];

/**
 * Bytes of an entry so small that a checkpoint goes in node order where it may, and ranges of four
 * are worth it.
 */
const SMALL = 4000;
/**
 * Bytes of an entry so large that a checkpoint goes in the order of the log, and any range is worth
 * it.
 */
const LARGE = 1 << 20;

function recorded(writes: readonly Write[]): Float64Array<ArrayBuffer> {
  const recorder = new DataWrites();
  for (const [zxid, node] of writes) recorder.add(zxid, node);
  return recorder.take();
}

/** Writes with consecutive zxids. */
const run = (first: Zxid, nodes: readonly number[]): Write[] => nodes.map((node, i) => [(first + i) as Zxid, node]);

/** The plan for one mark with each of these. */
function planOf(entryBytes: number, after: Zxid, upTo: Zxid, ...marks: readonly (readonly Write[])[]): CheckpointPlan {
  const given = marks.map((writes) => ({ bytes: writes.length * entryBytes, dataWrites: recorded(writes) }));
  return new CheckpointPlan(given, { after, upTo, rowBytesMax: 2 * SMALL });
}

const lastWritesOf = (plan: CheckpointPlan, groupBytes = Number.MAX_SAFE_INTEGER): readonly (readonly number[])[] =>
  [...plan.lastWrites(groupBytes)].map((group) => [...group]);

test("log order skips superseded writes, also across marks", () => {
  const marks = [run(Z(1, 2), [7, 7, 8]), run(Z(1, 6), [7, 7, 9])];
  const plan = planOf(LARGE, Z(1, 0), Z(1, 10), ...marks);
  expect(plan.skipped).toEqual([
    { first: Z(1, 2), last: Z(1, 3) },
    { first: Z(1, 6), last: Z(1, 6) },
  ]);
  expect(plan.hasLastWrites).toBe(false);
});

test("few nodes are checkpointed in log order, many small ones in node order", () => {
  const few = planOf(SMALL, Z(1, 0), Z(1, 10), run(Z(1, 2), [7, 8, 7, 8, 7, 8]));
  expect(few.skipped).toEqual([{ first: Z(1, 2), last: Z(1, 5) }]);
  expect(few.hasLastWrites).toBe(false);
  const many = planOf(SMALL, Z(1, 0), Z(1, 10), run(Z(1, 2), [7, 8, 9, 8, 7, 6]));
  expect(many.skipped).toEqual([{ first: Z(1, 2), last: Z(1, 7) }]);
  expect(lastWritesOf(many)).toEqual([[Z(1, 4), Z(1, 5), Z(1, 6), Z(1, 7)]]);
});

test("entries already in the state, the last entry of a checkpoint and the first of an epoch are not skipped", () => {
  const plan = planOf(LARGE, Z(1, 1), Z(2, 5), run(Z(1, 1), [7, 7, 7]), run(Z(2, 1), [7, 7, 7, 7, 7]));
  expect(plan.skipped).toEqual([
    { first: Z(1, 2), last: Z(1, 3) },
    { first: Z(2, 2), last: Z(2, 3) },
  ]);
});

test("a later write to a node drops its last data write", () => {
  const plan = planOf(SMALL, Z(1, 0), Z(1, 10), run(Z(1, 2), [7, 8, 9, 8, 7, 6]));
  plan.drop(7, Z(1, 8));
  plan.drop(9, Z(1, 3));
  plan.drop(5, Z(1, 8));
  expect(lastWritesOf(plan)).toEqual([[Z(1, 4), Z(1, 5), Z(1, 7)]]);
});

test("short ranges are not skipped", () => {
  const plan = planOf(SMALL, Z(1, 0), Z(1, 30), [...run(Z(1, 2), [5, 6, 7, 8, 9]), ...run(Z(1, 20), [7, 8, 4])]);
  expect(plan.skipped).toEqual([{ first: Z(1, 2), last: Z(1, 6) }]);
  expect(lastWritesOf(plan)).toEqual([[Z(1, 2), Z(1, 3), Z(1, 6)]]);
});

test("last writes come in groups of nodes, each in log order", () => {
  const plan = planOf(SMALL, Z(1, 0), Z(1, 30), run(Z(1, 2), [9, 3, 8, 3, 5, 2, 9, 4]));
  // 2 and 3, 4 and 5, 8 and 9.
  expect(lastWritesOf(plan, 2 * SMALL)).toEqual([
    [Z(1, 5), Z(1, 7)],
    [Z(1, 6), Z(1, 9)],
    [Z(1, 4), Z(1, 8)],
  ]);
});

test("without data writes, or with node ids above 2^32, nothing is skipped", () => {
  const bounds = { after: Z(1, 0), upTo: Z(1, 40), rowBytesMax: 0 };
  for (const plan of [
    new CheckpointPlan([{ bytes: SMALL }], bounds),
    planOf(SMALL, Z(1, 0), Z(1, 40), run(Z(1, 2), Array(9).fill(2 ** 32))),
  ]) {
    expect([plan.skipped, plan.hasLastWrites]).toEqual([[], false]);
  }
});

test("the recorder ignores writes beyond its limit", () => {
  const recorder = new DataWrites();
  for (let i = 1; i <= 70_000; i++) recorder.add(Z(1, i), 7);
  expect(recorder.take()).toHaveLength(2 * 65_536);
  recorder.add(Z(1, 70_001), 7);
  expect([...recorder.take()]).toEqual([Z(1, 70_001), 7]);
  recorder.add(Z(1, 70_002), 7);
  recorder.clear();
  expect(recorder.take()).toHaveLength(0);
});
