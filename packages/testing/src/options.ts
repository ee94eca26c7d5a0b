import { ArgumentError, fits, found, misfits, rules, type Shape, shape } from "@zooid/model";

/** A range of durations, in virtual milliseconds. */
export interface DurationRange {
  readonly minMs: number;
  readonly maxMs: number;
}

/** The parts of a {@link TestEnsemble}. Every field has a default. */
export interface TestEnsembleOptions {
  /** Servers that vote, numbered from 1. Default 3. */
  readonly servers?: number;
  /** Servers that do not vote, numbered after those that do. Default 0. */
  readonly observers?: number;
  /**
   * Decides everything random: delays, the order of simultaneous events, faults, `Math.random()`.
   * Default 1.
   */
  readonly seed?: number;
  /**
   * A server's `tickTime`: heartbeats, election and synchronization limits are multiples of it.
   * Default 2000.
   */
  readonly tickMs?: number;
  /** The shortest session timeout that servers grant. Default: 2 ticks. */
  readonly minSessionTimeoutMs?: number;
  /** The longest session timeout that servers grant. Default: 20 ticks. */
  readonly maxSessionTimeoutMs?: number;
  /**
   * Latency of every message, between servers and between clients and servers. Default 0.2 to 4 ms.
   */
  readonly latency?: DurationRange;
  /** How long a disk takes to make writes durable. Default 0.5 to 6 ms. */
  readonly diskSync?: DurationRange;
  /**
   * Wall-clock time when the ensemble starts, in milliseconds since 1970. Default: 2030-01-01, UTC.
   */
  readonly startTimeMs?: number;
  /**
   * How much virtual time a `run` may take before it fails, in milliseconds. Default 600000, ten
   * minutes.
   */
  readonly deadlineMs?: number;
}

/**
 * How long a fault lasts, in virtual milliseconds. Default: until `heal`, or until it is ended by
 * its counterpart.
 */
export interface FaultDuration {
  readonly forMs?: number;
}

/** The condition that is waited for, and the greatest time. */
export interface RunOptions {
  /** Default: the ensemble's `deadlineMs`. */
  readonly deadlineMs?: number;
  /** In the error at the deadline. Default `run`. */
  readonly name?: string;
}

export type TestEnsembleConfig = Required<TestEnsembleOptions>;

const SERVER_COUNT_MAX = 9;

/** Checked one by one below, with their limits. */
const checked = rules.anything;
const ENSEMBLE: Shape<TestEnsembleOptions> = shape<TestEnsembleOptions>({
  servers: checked,
  observers: checked,
  seed: checked,
  tickMs: checked,
  minSessionTimeoutMs: checked,
  maxSessionTimeoutMs: checked,
  latency: checked,
  diskSync: checked,
  startTimeMs: checked,
  deadlineMs: checked,
});
export const RUN: Shape<RunOptions> = shape<RunOptions>({ deadlineMs: rules.duration, name: rules.text });
export const FAULT: Shape<FaultDuration> = shape<FaultDuration>({ forMs: rules.duration });

/** Checks options. @throws ArgumentError with every problem */
export function checkFit<T>(where: string, options: unknown, expected: Shape<T>): void {
  if (!fits(options, expected)) throw new ArgumentError(where, misfits(options, expected));
}

/** Checks a time in virtual milliseconds. @throws ArgumentError */
export function checkMs(where: string, name: string, ms: unknown): void {
  if (typeof ms === "number" && Number.isFinite(ms)) return;
  throw new ArgumentError(where, [`${name} is a number of milliseconds, found ${found(ms)}`]);
}

/** Checks work that is called. @throws ArgumentError */
export function checkWork(where: string, work: unknown): void {
  if (typeof work !== "function") throw new ArgumentError(where, [`the work is a function, found ${found(work)}`]);
}

/** @throws ArgumentError that lists every problem at once */
export function parseOptions(options: TestEnsembleOptions): TestEnsembleConfig {
  const problems: string[] = [...misfits(options ?? null, ENSEMBLE)];
  if (!rules.record.accepts(options)) throw new ArgumentError("test ensemble options", problems);
  const whole = (name: keyof TestEnsembleOptions, fallback: number, least: number, most: number): number => {
    const value = options[name] ?? fallback;
    if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
    problems.push(`${name} is a whole number from ${least} to ${most}, found ${found(value)}`);
    return fallback;
  };
  const range = (name: "latency" | "diskSync", fallback: DurationRange): DurationRange => {
    const value: unknown = options[name] ?? fallback;
    if (isRange(value)) return value;
    problems.push(`${name} ${rangeProblem(value)}`);
    return fallback;
  };
  const tickMs = whole("tickMs", 2000, 10, 3_600_000);
  const minSessionTimeoutMs = whole("minSessionTimeoutMs", 2 * tickMs, 1, 2 ** 31 - 1);
  const maxSessionTimeoutMs = whole("maxSessionTimeoutMs", Math.max(20 * tickMs, minSessionTimeoutMs), 1, 2 ** 31 - 1);
  if (minSessionTimeoutMs > maxSessionTimeoutMs) {
    problems.push(
      `minSessionTimeoutMs is at most maxSessionTimeoutMs, found ${minSessionTimeoutMs} and ${maxSessionTimeoutMs}`,
    );
  }
  const config: TestEnsembleConfig = {
    servers: whole("servers", 3, 1, SERVER_COUNT_MAX),
    observers: whole("observers", 0, 0, SERVER_COUNT_MAX),
    seed: whole("seed", 1, 0, 2 ** 32 - 1),
    tickMs,
    minSessionTimeoutMs,
    maxSessionTimeoutMs,
    latency: range("latency", { minMs: 0.2, maxMs: 4 }),
    diskSync: range("diskSync", { minMs: 0.5, maxMs: 6 }),
    startTimeMs: whole("startTimeMs", Date.UTC(2030, 0, 1), 0, 8.64e15),
    deadlineMs: whole("deadlineMs", 600_000, 1, Number.MAX_SAFE_INTEGER),
  };
  if (problems.length > 0) throw new ArgumentError("test ensemble options", problems);
  return config;
}

/** The problem of a range, behind its name. */
export function rangeProblem(value: unknown): string {
  const given = rules.record.accepts(value) ? (value as Partial<DurationRange>) : undefined;
  const shown = given === undefined ? found(value) : `{ minMs: ${found(given.minMs)}, maxMs: ${found(given.maxMs)} }`;
  return `is { minMs, maxMs } with 0 <= minMs <= maxMs, found ${shown}`;
}

export function isRange(value: unknown): value is DurationRange {
  if (typeof value !== "object" || value === null) return false;
  const { minMs, maxMs } = value as Partial<DurationRange>;
  return typeof minMs === "number" && typeof maxMs === "number" && minMs >= 0 && maxMs >= minMs && maxMs < Infinity;
}
