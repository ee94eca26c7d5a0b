import { expect, test } from "vitest";
import { PendingWaits } from "./pending-waits.ts";

test("a wait is named with its place in the test and what was last seen, until it ends", () => {
  let nowMs = 0;
  const waits = new PendingWaits(() => nowMs);
  const first = waits.begin('once "close" of Socket', new Error("here").stack);
  const second = waits.begin("expect.poll", new Error("here").stack);
  second.saw({ nodes: 3 });
  second.saw({ nodes: 2 });
  expect(waits.describe()).toEqual([
    expect.stringMatching(/^once "close" of Socket at \/[^?]*\/pending-waits\.test\.ts:7$/),
    expect.stringMatching(/^expect\.poll at \/[^?]*\/pending-waits\.test\.ts:8, last seen \{ nodes: 2 \}$/),
  ]);
  nowMs = 1001;
  expect(waits.describe()).toEqual([expect.stringContaining("once")]);
  first.end();
  expect(waits.describe()).toEqual([]);
});

test("a wait that no test begins is not named, nor one of the test before", () => {
  const waits = new PendingWaits(() => 0);
  waits.begin("once", "Error: here\n    at file:///zooid/packages/server/src/driver.ts:5:3");
  expect(waits.describe()).toEqual([]);
  waits.begin("once", new Error("here").stack);
  waits.clear();
  expect(waits.describe()).toEqual([]);
});

test("a value that is promised is shown", async () => {
  const waits = new PendingWaits(() => 0);
  const value = Promise.resolve(5);
  waits.begin("expect.poll", new Error("here").stack).saw(value);
  await value;
  expect(waits.describe()).toEqual([expect.stringMatching(/, last seen 5$/)]);
});

test("a large value is shown in part", () => {
  const waits = new PendingWaits(() => 0);
  waits.begin("expect.poll", new Error("here").stack).saw("x".repeat(10_000));
  expect(waits.describe().join("").length).toBeLessThan(600);
});
