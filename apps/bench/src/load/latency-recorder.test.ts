import fc from "fast-check";
import { expect, test } from "vitest";
import { BUCKET_COUNT, bucketOf, bucketValue, LATENCY_US_MAX, LatencyRecorder } from "./latency-recorder.ts";

const anyLatencyUs = fc.integer({ min: 1, max: LATENCY_US_MAX });

test("a value's bucket begins at or below it and is narrower than a thousandth of it", () => {
  fc.assert(
    fc.property(anyLatencyUs, (us) => {
      const index = bucketOf(us);
      expect(index).toBeLessThan(BUCKET_COUNT);
      expect(bucketValue(index)).toBeLessThanOrEqual(us);
      expect(us - bucketValue(index)).toBeLessThanOrEqual(us / 1000);
    }),
  );
});

test("buckets follow each other without a gap", () => {
  const last = bucketOf(LATENCY_US_MAX);
  for (let index = 1; index <= last; index++) {
    expect(bucketOf(bucketValue(index))).toBe(index);
    expect(bucketOf(bucketValue(index) - 1)).toBe(index - 1);
  }
});

test.each([
  ["nothing at all counts as a microsecond", 0, 1],
  ["a clock that stepped back counts as a microsecond", -5, 1],
  ["half a microsecond is rounded up", 0.0015, 2],
  ["a minute is the most", 60_000, LATENCY_US_MAX],
  ["a day counts as a minute", 86_400_000, LATENCY_US_MAX],
])("%s", (_, ms, us) => {
  const recorder = new LatencyRecorder();
  recorder.record(ms);
  expect(recorder.counts[bucketOf(us)]).toBe(1);
});
