/**
 * The bucket of a rate limiter that several processes share: arithmetic without a clock.
 *
 * Processes lease tokens and use them without a request. For every real interval, all processes
 * together use at most `rate × interval + burst` tokens, by three rules:
 *
 * 1. The bucket's own clock is never faster than real time. It advances by credits, and a credit is
 *    the time for which its writer has known the previous credit, by a monotonic clock: the write
 *    succeeds only where that is the last one, so at least this time has passed between the two. No
 *    clock of a server or a calendar is used.
 * 2. Tokens of a lease may be used until its time is over, so they count as in the bucket until
 *    then: level and open leases together never exceed the burst.
 * 3. A lease counts as open for its time from the first credit after it, which is later than the
 *    lease itself.
 */

/** Leases that count as open until the bucket's clock has reached a time. */
export interface OpenLease {
  readonly untilMs: number;
  readonly tokens: number;
}

export interface Bucket {
  /** Tokens that can be leased. */
  readonly level: number;
  /** The bucket's clock: the sum of all credits. */
  readonly clockMs: number;
  /** The number of credits; identifies the last one. */
  readonly credits: number;
  /** Earliest first. */
  readonly open: readonly OpenLease[];
  /** Leases since the last credit: their tokens, and the longest of their times. */
  readonly fresh: { readonly tokens: number; readonly leaseMs: number };
}

export interface BucketLimits {
  /** Tokens a second. */
  readonly rate: number;
  readonly burst: number;
}

/** Tokens that were used, so that they cannot be used any more. */
export interface UsedTokens {
  readonly tokens: number;
  /** From when the process knew the last credit until their last use. */
  readonly afterMs: number;
}

export interface Taking extends BucketLimits {
  /** Tokens that the process can use in the time of the lease. */
  readonly wanted: number;
  /** Tokens without which it takes none. At most `wanted`. */
  readonly least: number;
  readonly leaseMs: number;
  /** How long the process has known the last credit. */
  readonly knownMs: number;
  /** The shortest credit. */
  readonly creditMsMin: number;
  /** The tokens of its leases that the process has used since the last credit. */
  readonly used: UsedTokens;
}

export interface Taken {
  /** The bucket to write; undefined where there is nothing to write. */
  readonly bucket: Bucket | undefined;
  readonly tokens: number;
  readonly isCredited: boolean;
  /** Time until `least` tokens are there, unless other processes take them. 0 with tokens. */
  readonly dueMs: number;
}

/** Entries of open leases; beyond, the earliest two become one. */
const OPEN_COUNT_MAX = 16;

export function fullBucket(burst: number): Bucket {
  return { level: burst, clockMs: 0, credits: 0, open: [], fresh: { tokens: 0, leaseMs: 0 } };
}

/** Takes tokens, as many as there are of those wanted. */
export function take(bucket: Bucket, taking: Taking): Taken {
  const { wanted, least, leaseMs, knownMs, creditMsMin } = taking;
  const isCredited = knownMs >= creditMsMin;
  const current = isCredited ? credited(bucket, knownMs, taking, taking.used) : bucket;
  const available = Math.floor(Math.min(wanted, current.level));
  const tokens = available >= least ? available : 0;
  if (tokens > 0) {
    return { bucket: withLease(current, { tokens, leaseMs, isCredited }), tokens, isCredited, dueMs: 0 };
  }
  // Fresh leases count as open until a credit is written.
  const isWritten = isCredited && bucket.fresh.tokens > 0;
  const dueMs = isCredited ? dueIn(current, taking) : Math.max(creditMsMin, dueIn(current, taking)) - knownMs;
  return { bucket: isWritten ? current : undefined, tokens, isCredited: isWritten, dueMs };
}

/**
 * The time until there are enough tokens, if no other process takes any; the next credit where
 * fresh leases must end first.
 */
function dueIn(bucket: Bucket, { least, creditMsMin, ...limits }: Taking): number {
  const ends = bucket.open.map(({ untilMs }) => untilMs - bucket.clockMs);
  for (const [i, fromMs] of [0, ...ends].entries()) {
    const { level, open } = grown(bucket, fromMs, limits);
    const untilMs = fromMs + (Math.max(0, least - level) / limits.rate) * 1000;
    if (
      limits.burst - openTokens(open) - bucket.fresh.tokens >= least &&
      untilMs <= (ends[i] ?? Number.POSITIVE_INFINITY)
    )
      return untilMs;
  }
  return creditMsMin;
}

/**
 * The bucket after a credit: used tokens are open until their use, and all others that are fresh
 * beyond it.
 */
function credited(bucket: Bucket, forMs: number, limits: BucketLimits, used?: UsedTokens): Bucket {
  const { tokens = 0, afterMs = 0 } = used ?? {};
  const atUse = tokens === 0 ? bucket : withoutUsed(grown(bucket, afterMs, limits), tokens);
  const { fresh, ...rest } = grown(atUse, forMs - (tokens === 0 ? 0 : afterMs), limits);
  const dated = { untilMs: rest.clockMs + fresh.leaseMs, tokens: fresh.tokens };
  return {
    ...rest,
    credits: bucket.credits + 1,
    open: withOpen(rest.open, dated),
    fresh: { tokens: 0, leaseMs: 0 },
  };
}

/**
 * The bucket after a time: each lease ends at its own moment, and the level is limited at every
 * moment.
 */
function grown(bucket: Bucket, forMs: number, { rate, burst }: BucketLimits): Bucket {
  const endMs = bucket.clockMs + forMs;
  let { level, clockMs } = bucket;
  let openCount = openTokens(bucket.open) + bucket.fresh.tokens;
  const grow = (untilMs: number): void => {
    level = Math.max(0, Math.min(burst - openCount, level + (rate * (untilMs - clockMs)) / 1000));
    clockMs = untilMs;
  };
  const open = bucket.open.filter(({ untilMs, tokens }) => {
    if (untilMs > endMs) return true;
    grow(untilMs);
    openCount -= tokens;
    return false;
  });
  grow(endMs);
  return { ...bucket, level, clockMs, open };
}

function withLease(
  bucket: Bucket,
  { tokens, leaseMs, isCredited }: { readonly tokens: number; readonly leaseMs: number; readonly isCredited: boolean },
): Bucket {
  const level = bucket.level - tokens;
  if (isCredited) {
    return { ...bucket, level, open: withOpen(bucket.open, { untilMs: bucket.clockMs + leaseMs, tokens }) };
  }
  const { fresh } = bucket;
  return {
    ...bucket,
    level,
    fresh: { tokens: fresh.tokens + tokens, leaseMs: Math.max(fresh.leaseMs, leaseMs) },
  };
}

/** Earliest first; entries that become one end with the later of them. */
function withOpen(open: readonly OpenLease[], added: OpenLease): readonly OpenLease[] {
  if (added.tokens === 0) return open;
  const same = open.find(({ untilMs }) => untilMs === added.untilMs);
  const others = open.filter((lease) => lease !== same);
  const entries = [...others, { ...added, tokens: added.tokens + (same?.tokens ?? 0) }];
  entries.sort((a, b) => a.untilMs - b.untilMs);
  const [first, second, ...rest] = entries;
  if (entries.length <= OPEN_COUNT_MAX || first === undefined || second === undefined) return entries;
  return [{ untilMs: second.untilMs, tokens: first.tokens + second.tokens }, ...rest];
}

/**
 * Used tokens are not open. They are taken from the leases that end first: if those are another
 * process's, its tokens are open for longer than they can be used.
 */
function withoutUsed(bucket: Bucket, used: number): Bucket {
  let left = used;
  const without = (tokens: number): number => {
    const removed = Math.min(tokens, left);
    left -= removed;
    return tokens - removed;
  };
  const open = bucket.open.map((lease) => ({ ...lease, tokens: without(lease.tokens) }));
  const fresh = { ...bucket.fresh, tokens: without(bucket.fresh.tokens) };
  return { ...bucket, open: open.filter(({ tokens }) => tokens > 0), fresh };
}

function openTokens(open: readonly OpenLease[]): number {
  return open.reduce((sum, { tokens }) => sum + tokens, 0);
}
