import type { ZkError } from "../errors.ts";

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
export interface RetryPolicy {
  (attempt: RetryAttempt): number | false;
  /** Whether a call that waits, or is to be tried again, fails with SESSION_EXPIRED when the session is lost, and is not asked in the next. */
  readonly endsWithSession?: boolean;
}

/** Curator's bound: beyond it the factor would overflow. */
const EXPONENT_MAX = 29;

export interface ExponentialOptions {
  readonly baseMs?: number;
  readonly maxMs?: number;
  readonly attempts?: number;
  /** Between 0 and 1; for tests. */
  readonly random?: () => number;
}

export interface KazooOptions {
  /** Before the second try. Default 100. */
  readonly delayMs?: number;
  /** What the delay grows by each time. Default 2. */
  readonly backoff?: number;
  /** The part of a delay, from 0 to 1, by which it may be longer or shorter. Default 0.4. */
  readonly jitter?: number;
  /** Default 60000. */
  readonly maxMs?: number;
  /** Default: no end. */
  readonly attempts?: number;
  /** No try begins later than so many milliseconds after the call. Default: no end. */
  readonly deadlineMs?: number;
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

/** So many tries in all: one more than Curator's `RetryNTimes`, which counts those behind the first. */
function times(attempts: number, delayMs = 0): RetryPolicy {
  return ({ count }) => (count >= attempts ? false : delayMs);
}

/** A second try, and no third: Curator's `RetryOneTime`. */
function once(delayMs = 0): RetryPolicy {
  return times(2, delayMs);
}

function forever(delayMs: number): RetryPolicy {
  return () => delayMs;
}

function untilElapsed(elapsedMsMax: number, delayMs: number): RetryPolicy {
  return ({ elapsedMs }) => (elapsedMs >= elapsedMsMax ? false : delayMs);
}

/** As kazoo's `KazooRetry` waits: a delay that grows by a factor, give or take a random part of it. */
function kazoo({
  delayMs = 100,
  backoff = 2,
  jitter = 0.4,
  maxMs = 60_000,
  attempts = Number.POSITIVE_INFINITY,
  deadlineMs = Number.POSITIVE_INFINITY,
  random = Math.random,
}: KazooOptions = {}): RetryPolicy {
  return ({ count, elapsedMs }) => {
    if (count >= attempts) return false;
    const plainMs = Math.min(maxMs, delayMs * backoff ** (count - 1));
    const waitMs = Math.min(maxMs, plainMs * (1 + jitter * (2 * random() - 1)));
    return elapsedMs + waitMs > deadlineMs ? false : waitMs;
  };
}

/** As another policy, but for calls of one session only: Curator's `SessionFailedRetryPolicy`. Default: `exponential()`. */
function failOnSessionLoss(inner: RetryPolicy = exponential()): RetryPolicy {
  return Object.assign((attempt: RetryAttempt) => inner(attempt), { endsWithSession: true });
}

/** Ready-made policies. */
export const retry: {
  readonly none: RetryPolicy;
  readonly once: typeof once;
  readonly times: typeof times;
  readonly exponential: typeof exponential;
  readonly kazoo: typeof kazoo;
  readonly forever: typeof forever;
  readonly untilElapsed: typeof untilElapsed;
  readonly failOnSessionLoss: typeof failOnSessionLoss;
} = { none, once, times, exponential, kazoo, forever, untilElapsed, failOnSessionLoss };
