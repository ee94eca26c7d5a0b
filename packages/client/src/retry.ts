import type { ZkError } from "./errors.ts";

/** What a policy decides by. */
export interface RetryAttempt {
  /** How many times the request was tried, 1 after the first failure. */
  readonly count: number;
  /** Since the call was made, in milliseconds. */
  readonly elapsedMs: number;
  readonly error: ZkError;
}

/**
 * How long to wait before the next try, in milliseconds, or false to give up. It is asked only where a retry is safe: for reads whose
 * connection was lost, for what never left this process, and for refusals of the moment. After a lost connection the wait ends early
 * when there is one again.
 */
export type RetryPolicy = (attempt: RetryAttempt) => number | false;

/** Curator's bound: beyond it the factor would overflow. */
const EXPONENT_MAX = 29;

export interface ExponentialOptions {
  readonly baseMs?: number;
  readonly maxMs?: number;
  readonly attempts?: number;
  /** Between 0 and 1; for tests. */
  readonly random?: () => number;
}

/** The first failure is final. */
const none: RetryPolicy = () => false;

/** base × a random factor between 1 and 2^(n+1), at most `maxMs`. Defaults: 100 ms, 5 s, 8 attempts. */
function exponential({
  baseMs = 100,
  maxMs = 5_000,
  attempts = 8,
  random = Math.random,
}: ExponentialOptions = {}): RetryPolicy {
  return ({ count }) => {
    if (count >= attempts) return false;
    const span = 2 ** Math.min(count + 1, EXPONENT_MAX);
    return Math.min(maxMs, baseMs * Math.max(1, Math.floor(random() * span)));
  };
}

function times(attempts: number, delayMs = 0): RetryPolicy {
  return ({ count }) => (count >= attempts ? false : delayMs);
}

function forever(delayMs: number): RetryPolicy {
  return () => delayMs;
}

function untilElapsed(elapsedMsMax: number, delayMs: number): RetryPolicy {
  return ({ elapsedMs }) => (elapsedMs >= elapsedMsMax ? false : delayMs);
}

/** Ready-made policies. */
export const retry: {
  readonly none: RetryPolicy;
  readonly exponential: typeof exponential;
  readonly times: typeof times;
  readonly forever: typeof forever;
  readonly untilElapsed: typeof untilElapsed;
} = { none, exponential, times, forever, untilElapsed };
