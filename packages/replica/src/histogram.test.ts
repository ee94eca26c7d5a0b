import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";

test("a histogram without values is all zeros", () => {
  const { count, sum, min, max, average } = new Histogram();
  expect({ count, sum, min, max, average, p99: new Histogram().quantile(0.99) }).toEqual({
    count: 0,
    sum: 0,
    min: 0,
    max: 0,
    average: 0,
    p99: 0,
  });
});

test("small values have exact quantiles", () => {
  const histogram = new Histogram();
  for (let value = 1; value <= 100; value++) histogram.note(value);
  expect([
    histogram.min,
    histogram.quantile(0.5),
    histogram.quantile(0.99),
    histogram.quantile(1),
    histogram.max,
  ]).toEqual([1, 50, 99, 100, 100]);
  expect(histogram.average).toBe(50.5);
});

test.each([127, 128, 129, 255, 256, 1000, 65_537, 10_000_000, 2 ** 31 - 1])(
  "the quantile of %d alone is near it",
  (value) => {
    const histogram = new Histogram();
    histogram.note(0);
    histogram.note(value);
    const found = histogram.quantile(1);
    expect(found).toBeLessThanOrEqual(value);
    expect(found).toBeGreaterThan(value * (1 - 1 / 64));
  },
);

test("a reset clears everything", () => {
  const histogram = new Histogram();
  histogram.note(7);
  histogram.reset();
  expect([histogram.count, histogram.sum, histogram.min, histogram.max, histogram.quantile(0.5)]).toEqual([
    0, 0, 0, 0, 0,
  ]);
});
