import { formatNumber } from "./format.ts";
import { mainLatency, type PointReport } from "./point-report.ts";

/** Loads of `check`, as those of `etcdctl check perf`. */
export const CHECK_LOADS = {
  small: { connections: 50, ratePerSecond: 150 },
  medium: { connections: 200, ratePerSecond: 1000 },
  large: { connections: 500, ratePerSecond: 8000 },
} as const;
export type CheckLoad = keyof typeof CHECK_LOADS;

export interface CheckCriterion {
  readonly name: "throughput" | "slowest request" | "standard deviation" | "errors";
  readonly isMet: boolean;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
}

/** The limits of `etcdctl check perf`, and no errors. */
const THROUGHPUT_SHARE_MIN = 0.9;
const SLOWEST_MS_MAX = 500;
const DEVIATION_MS_MAX = 100;

/** Judges a run of `check` by each of its criteria. */
export function judgeCheck(point: PointReport, ratePerSecond: number): readonly CheckCriterion[] {
  const latency = mainLatency(point);
  const [slowestMs, deviationMs] = [(latency?.max ?? 0) / 1000, (latency?.standardDeviation ?? 0) / 1000];
  const throughput = point.value.median;
  const throughputMin = ratePerSecond * THROUGHPUT_SHARE_MIN;
  const errors = Object.values(point.errors).reduce((sum, count) => sum + count, 0);
  const most = (name: CheckCriterion["name"], value: number, limit: number, unit: string): CheckCriterion => ({
    name,
    isMet: value <= limit,
    value,
    limit,
    unit,
  });
  return [
    { name: "throughput", isMet: throughput >= throughputMin, value: throughput, limit: throughputMin, unit: "sets/s" },
    most("slowest request", slowestMs, SLOWEST_MS_MAX, "ms"),
    most("standard deviation", deviationMs, DEVIATION_MS_MAX, "ms"),
    most("errors", errors, 0, "requests"),
  ];
}

/** A line for each criterion, and the verdict. */
export function checkLines(criteria: readonly CheckCriterion[]): readonly string[] {
  const word = (isMet: boolean): string => (isMet ? "PASS" : "FAIL");
  return [
    ...criteria.map(({ name, isMet, value, limit, unit }) => {
      const bound = name === "throughput" ? "at least" : "at most";
      return `${word(isMet)}: ${name} ${formatNumber(value)} ${unit} (${bound} ${formatNumber(limit)})`;
    }),
    word(criteria.every(({ isMet }) => isMet)),
  ];
}
