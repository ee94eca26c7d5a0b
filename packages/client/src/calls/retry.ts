import { checkArgument, checkFit, type Rule, rules, type Shape, shape } from "@zooid/model";
import type { ZkError } from "../errors.ts";

/** The input of a policy. */
export interface RetryAttempt {
  /** Number of attempts so far, 1 after the first failure. */
  readonly count: number;
  /** Since the call was made, in milliseconds. */
  readonly elapsedMs: number;
  readonly error: ZkError;
}

/**
 * The delay before the next attempt in milliseconds, or false to give up. Called only where a retry
 * is safe: for reads whose connection was lost, for requests that never left this process, and for
 * transient refusals. After a lost connection the wait ends early when there is a new one.
 */
export interface RetryPolicy {
  (attempt: RetryAttempt): number | false;
  /**
   * Whether a waiting or postponed call fails with SESSION_EXPIRED when the session is lost,
   * instead of being sent in the next session.
   */
  readonly endsWithSession?: boolean;
}

/** Curator's bound: beyond it the factor would overflow. */
const EXPONENT_MAX = 29;

export interface ExponentialOptions {
  readonly baseMs?: number;
  readonly maxMs?: number;
  readonly attempts?: number;
  /** A random number in [0, 1), for tests. */
  readonly random?: () => number;
}

export interface KazooOptions {
  /** Delay before the second attempt. Default 100. */
  readonly delayMs?: number;
  /** Growth factor of the delay. Default 2. */
  readonly backoff?: number;
  /** Maximum random deviation of the delay, from 0 to 1. Default 0.4. */
  readonly jitter?: number;
  /** Default 60000. */
  readonly maxMs?: number;
  /** Default: no limit. */
  readonly attempts?: number;
  /** No attempt begins later than this time after the call, in milliseconds. Default: no limit. */
  readonly deadlineMs?: number;
  /** A random number in [0, 1), for tests. */
  readonly random?: () => number;
}

/** Infinity for no limit. */
const countRule: Rule = {
  expected: "a whole number of attempts, or Infinity",
  accepts: (value) => value === Number.POSITIVE_INFINITY || (Number.isInteger(value) && (value as number) >= 0),
};
const { duration, callable } = rules;
const EXPONENTIAL: Shape<ExponentialOptions> = shape<ExponentialOptions>({
  baseMs: duration,
  maxMs: duration,
  attempts: countRule,
  random: callable,
});
const KAZOO: Shape<KazooOptions> = shape<KazooOptions>({
  delayMs: duration,
  backoff: { expected: "a number of at least 1", accepts: (value) => typeof value === "number" && value >= 1 },
  jitter: {
    expected: "a number from 0 to 1",
    accepts: (value) => typeof value === "number" && value >= 0 && value <= 1,
  },
  maxMs: duration,
  attempts: countRule,
  deadlineMs: duration,
  random: callable,
});

/** The first failure is final. */
const none: RetryPolicy = () => false;

/**
 * base × a random factor between 1 and 2^(n+1), at most `maxMs`. Defaults: 100 ms, 5 s, 8 attempts.
 */
function exponential(options: ExponentialOptions = {}): RetryPolicy {
  checkFit("retry.exponential", options, EXPONENTIAL);
  const { baseMs = 100, maxMs = 5_000, attempts = 8, random = Math.random } = options;
  return ({ count }) => {
    if (count >= attempts) return false;
    const span = 2 ** Math.min(count + 1, EXPONENT_MAX);
    return Math.min(maxMs, baseMs * Math.max(1, Math.floor(random() * span)));
  };
}

/**
 * A number of attempts in all: one more than in Curator's `RetryNTimes`, which does not count the
 * first.
 */
function times(attempts: number, delayMs = 0): RetryPolicy {
  checkArgument("retry.times", "attempts", attempts, countRule);
  checkArgument("retry.times", "delayMs", delayMs, duration);
  return ({ count }) => (count >= attempts ? false : delayMs);
}

/** A second attempt and no third: Curator's `RetryOneTime`. */
function once(delayMs = 0): RetryPolicy {
  checkArgument("retry.once", "delayMs", delayMs, duration);
  return times(2, delayMs);
}

function forever(delayMs: number): RetryPolicy {
  checkArgument("retry.forever", "delayMs", delayMs, duration);
  return () => delayMs;
}

function untilElapsed(elapsedMsMax: number, delayMs: number): RetryPolicy {
  checkArgument("retry.untilElapsed", "elapsedMsMax", elapsedMsMax, duration);
  checkArgument("retry.untilElapsed", "delayMs", delayMs, duration);
  return ({ elapsedMs }) => (elapsedMs >= elapsedMsMax ? false : delayMs);
}

/** As kazoo's `KazooRetry`: a delay that grows by a factor, with jitter. */
function kazoo(options: KazooOptions = {}): RetryPolicy {
  checkFit("retry.kazoo", options, KAZOO);
  const { delayMs = 100, backoff = 2, jitter = 0.4, maxMs = 60_000, random = Math.random } = options;
  const { attempts = Number.POSITIVE_INFINITY, deadlineMs = Number.POSITIVE_INFINITY } = options;
  return ({ count, elapsedMs }) => {
    if (count >= attempts) return false;
    const plainMs = Math.min(maxMs, delayMs * backoff ** (count - 1));
    const waitMs = Math.min(maxMs, plainMs * (1 + jitter * (2 * random() - 1)));
    return elapsedMs + waitMs > deadlineMs ? false : waitMs;
  };
}

/**
 * Another policy, limited to one session: Curator's `SessionFailedRetryPolicy`. Default:
 * `exponential()`.
 */
function failOnSessionLoss(inner: RetryPolicy = exponential()): RetryPolicy {
  checkArgument("retry.failOnSessionLoss", "the inner policy", inner, callable);
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
