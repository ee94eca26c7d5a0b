import { expect, test } from "vitest";
import { LatencyRecorder } from "../load/latency-recorder.ts";
import { checkLines, judgeCheck } from "./check-verdict.ts";
import type { Measurement } from "./measurement.ts";
import { type PointReport, reportPoint } from "./point-report.ts";

/** A minute of an open loop with these latencies. */
function pointOf(latenciesMs: readonly number[], more: Partial<Measurement> = {}): PointReport {
  const recorder = new LatencyRecorder();
  for (const ms of latenciesMs) recorder.record(ms);
  return reportPoint([
    {
      point: "sets",
      series: "",
      x: 150,
      loop: "open loop",
      isBlind: false,
      value: 149.8,
      unit: "requests/s",
      better: "higher",
      latencies: { write: recorder.counts },
      lag: undefined,
      requests: 9000,
      errors: {},
      generator: [],
      judgedBy: "lag",
      figures: {},
      notes: [],
      ...more,
    },
  ]);
}

const STEADY = Array.from({ length: 1000 }, (_, i) => 1 + (i % 3));

test.each<[string, PointReport, string]>([
  ["a steady run", pointOf(STEADY), ""],
  ["a run with too few answers", pointOf(STEADY, { value: 134 }), "throughput"],
  ["a run with a stall", pointOf([...STEADY, 501]), "slowest request"],
  ["a run with widely spread latencies", pointOf([...STEADY, ...Array<number>(300).fill(480)]), "standard deviation"],
  ["a run with lost requests", pointOf(STEADY, { errors: { CONNECTION_LOSS: 1 } }), "errors"],
])("%s fails at: %s", (_, point, failed) => {
  const criteria = judgeCheck(point, 150);
  expect(criteria.filter(({ isMet }) => !isMet).map(({ name }) => name)).toEqual(failed === "" ? [] : [failed]);
  const lines = checkLines(criteria);
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toBe(failed === "" ? "PASS" : "FAIL");
});
