import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";

test("a tally without values is all zeros", () => {
  const { count, sum, min, max, average } = new Histogram();
  expect({ count, sum, min, max, average, p99: new Histogram().quantile(0.99) }).toEqual({
    ...{ count: 0, sum: 0, min: 0, max: 0, average: 0, p99: 0 },
  });
});

test("small values have exact quantiles", () => {
  const tally = new Histogram();
  for (let value = 1; value <= 100; value++) tally.note(value);
  expect([tally.min, tally.quantile(0.5), tally.quantile(0.99), tally.quantile(1), tally.max]).toEqual([
    1, 50, 99, 100, 100,
  ]);
  expect(tally.average).toBe(50.5);
});

test.each([127, 128, 129, 255, 256, 1000, 65_537, 10_000_000, 2 ** 31 - 1])(
  "the quantile of %d alone is near it",
  (value) => {
    const tally = new Histogram();
    tally.note(0);
    tally.note(value);
    const found = tally.quantile(1);
    expect(found).toBeLessThanOrEqual(value);
    expect(found).toBeGreaterThan(value * (1 - 1 / 64));
  },
);

test("a reset forgets everything", () => {
  const tally = new Histogram();
  tally.note(7);
  tally.reset();
  expect([tally.count, tally.sum, tally.min, tally.max, tally.quantile(0.5)]).toEqual([0, 0, 0, 0, 0]);
});
