import { type Client, isZkError } from "@zooid/client";
import { ArgumentError, checkFit, found, type Rule, type Shape, shape } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, TRY, type WaitOptions } from "../leases/deadline.ts";
import { clientPause, unlessAborted, writable } from "../leases/waiting.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { orNull } from "../nodes/refusals.ts";
import { decodedValue } from "../nodes/values.ts";
import { bucketCodec } from "./bucket-codec.ts";
import { LocalTokens } from "./local-tokens.ts";
import { type Bucket, fullBucket, type Taken, take } from "./token-bucket.ts";

export interface RateLimiterOptions {
  /** Tokens a second, for all processes together. All of them should give the same. */
  readonly rate: number;
  /** Most tokens at once. Default: those of one second, at least 1. */
  readonly burst?: number;
  /**
   * How long a process may use the tokens that it has leased, in milliseconds: longer for fewer
   * requests. Leased tokens count as in the bucket for that time, so that it should be below half
   * of the time in which the burst fills. Default: a third of that time, from 100 ms to 10 s.
   */
  readonly leaseMs?: number;
}

const positiveRule: Rule = {
  expected: "a finite number above 0",
  accepts: (value) => typeof value === "number" && value > 0 && Number.isFinite(value),
};
const SHAPE: Shape<RateLimiterOptions> = shape<RateLimiterOptions>({
  rate: positiveRule,
  burst: {
    expected: "a finite number of at least 1",
    accepts: (value) => positiveRule.accepts(value) && Number(value) >= 1,
  },
  leaseMs: positiveRule,
});

/** Most of a pause after another process was faster. */
const AGAIN_MS_MAX = 200;

/**
 * Limits how often all processes together do something: a token bucket in one node. In every
 * interval they use at most `rate × interval + burst` tokens, whatever processes, sessions and
 * clocks do. A process leases tokens for a short time, so that most calls need no request.
 */
export class RateLimiter {
  readonly path: string;
  readonly #zk: Client;
  readonly #limits: { readonly rate: number; readonly burst: number };
  readonly #local = new LocalTokens();
  /** Grows where answers take long. */
  #leaseMs: number;
  /** The last credit, and since when this process has known it. */
  #known: { readonly credit: string; readonly atMs: number } | undefined;
  /** No request for as many tokens or more before: there were less. */
  #refused: { readonly least: number; readonly untilMs: number } = { least: 1, untilMs: Number.NEGATIVE_INFINITY };
  /** The version that this process wrote last; another one is of another process. */
  #ownVersion = -1;
  /** The tokens that calls wait for, in their order. */
  #waitingTokens = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #leasing: Promise<void> | undefined;

  constructor(zk: Client, path: string, options: RateLimiterOptions) {
    checkArguments("RateLimiter", zk, path, options, SHAPE, ["rate"]);
    const {
      rate,
      burst = Math.max(1, rate),
      leaseMs = Math.min(10_000, Math.max(100, (burst / rate) * 333)),
    } = options;
    this.#zk = zk;
    this.path = path;
    this.#limits = { rate, burst };
    this.#leaseMs = leaseMs;
  }

  /**
   * Takes tokens if there are enough of them now. Without a request in most cases: from the lease,
   * or because there were none a moment ago. False while calls of `acquire` wait. A call that needs
   * a request waits for the connection, until its signal.
   *
   * @throws the signal's reason; permanent errors of the client
   */
  async tryAcquire(count = 1, options: Pick<WaitOptions, "signal"> = {}): Promise<boolean> {
    this.#check(count);
    checkFit("tryAcquire", options, TRY);
    const { signal = new AbortController().signal } = options;
    signal.throwIfAborted();
    while (this.#waitingTokens === 0) {
      if (this.#local.use(count, performance.now())) return true;
      if (this.#refusedForMs(count) > 0) return false;
      await unlessAborted(this.#lease(count), signal);
    }
    return false;
  }

  /**
   * Waits for tokens. Calls of one process take turns; a call for many tokens may wait for long
   * while other processes take few at a time. A lost connection is waited for, and tokens whose
   * answer was lost are not used.
   *
   * @throws LOCK_TIMEOUT or the signal's reason; then none is taken. Permanent errors of the client
   */
  async acquire(count = 1, options: WaitOptions = {}): Promise<void> {
    this.#check(count);
    using deadline = new Deadline(options, `acquire from ${this.path}`);
    if (this.#waitingTokens === 0 && this.#local.use(count, performance.now())) return;
    this.#waitingTokens += count;
    const turn = this.#turn;
    const done = Promise.withResolvers<void>();
    this.#turn = turn.then(() => done.promise);
    try {
      await unlessAborted(turn, deadline.signal);
      while (!this.#local.use(count, performance.now())) {
        const waitMs = this.#refusedForMs(count);
        if (waitMs > 0) await clientPause(this.#zk, Math.ceil(waitMs), deadline.signal);
        else await unlessAborted(this.#lease(count), deadline.signal);
      }
    } finally {
      this.#waitingTokens -= count;
      done.resolve();
    }
  }

  #check(count: number): void {
    if (Number.isInteger(count) && count >= 1 && count <= this.#limits.burst) return;
    throw new ArgumentError("RateLimiter", [
      `the tokens are a whole number from 1 to the burst, ${this.#limits.burst}, found ${found(count)}`,
    ]);
  }

  #refusedForMs(count: number): number {
    const { least, untilMs } = this.#refused;
    return count >= least ? untilMs - performance.now() : 0;
  }

  /** One request at a time for all calls of the process. */
  #lease(least: number): Promise<void> {
    this.#leasing ??= this.#takeWhenConnected(least).finally(() => {
      this.#leasing = undefined;
    });
    return this.#leasing;
  }

  /**
   * Over lost connections: tokens whose answer was lost are not used, and the bucket is read again.
   */
  async #takeWhenConnected(least: number): Promise<void> {
    // Each call waits for it within its own limits.
    const never = new AbortController().signal;
    for (;;) {
      try {
        return await this.#takeFromBucket(least);
      } catch (error) {
        if (!isZkError(error, "CONNECTION_LOSS")) throw error;
      }
      await writable(this.#zk, never);
    }
  }

  /** Leases tokens, or notes until when there are none. */
  async #takeFromBucket(least: number): Promise<void> {
    const expected = this.#local.expected(this.#leaseMs);
    const { burst } = this.#limits;
    const wanted = Math.floor(Math.min(burst, Math.max(least, expected, this.#waitingTokens)));
    for (let tries = 1; ; tries++) {
      const node = await this.#zk.getOrNull(this.path);
      if (node === null) {
        await makeNamed(this.#zk, { path: this.path, data: bucketCodec.encode(fullBucket(burst)), mode: "persistent" });
        continue;
      }
      const { version, czxid } = node.stat;
      const bucket = decodedValue(bucketCodec, { path: this.path, ...node });
      const credit = `${czxid} ${bucket.credits}`;
      const sentMs = performance.now();
      if (this.#known?.credit !== credit) this.#known = { credit, atMs: sentMs };
      const leaseMs = this.#leaseMs;
      const taken = take(bucket, {
        ...this.#limits,
        wanted,
        least,
        leaseMs,
        creditMsMin: leaseMs / 4,
        knownMs: sentMs - this.#known.atMs,
        used: this.#local.usedSince(credit, this.#known.atMs),
      });
      if (taken.tokens === 0) this.#refuse({ least, dueMs: taken.dueMs, version }, sentMs);
      if (taken.bucket === undefined) return;
      if (await this.#write({ bucket: taken.bucket, version })) {
        this.#note(taken, { credit: `${czxid} ${taken.bucket.credits}`, sentMs });
        return;
      }
      await clientPause(this.#zk, Math.random() * Math.min(AGAIN_MS_MAX, 5 * 2 ** tries));
    }
  }

  /** False if another process was faster. */
  async #write({ bucket, version }: { readonly bucket: Bucket; readonly version: number }): Promise<boolean> {
    const setting = this.#zk.set(this.path, bucketCodec.encode(bucket), { version });
    const stat = await orNull(setting, "BAD_VERSION", "NO_NODE");
    this.#ownVersion = stat?.version ?? this.#ownVersion;
    return stat !== null;
  }

  #note({ tokens, isCredited }: Taken, { credit, sentMs }: { readonly credit: string; readonly sentMs: number }): void {
    const answeredMs = performance.now();
    if (isCredited) this.#known = { credit, atMs: answeredMs };
    // From before the request: the bucket counts them as open from a later moment.
    if (tokens > 0) this.#local.add({ tokens, endMs: sentMs + this.#leaseMs, credit }, answeredMs);
    // A lease that is over when the answer arrives is of no use.
    this.#leaseMs = Math.max(this.#leaseMs, 4 * (answeredMs - sentMs));
  }

  /** Processes that compete ask again at different moments. */
  #refuse(
    { least, dueMs, version }: { readonly least: number; readonly dueMs: number; readonly version: number },
    nowMs: number,
  ): void {
    const isAlone = version === this.#ownVersion;
    const leastMs = this.#leaseMs * (isAlone ? 0.1 : 0.25 + Math.random() / 4);
    this.#refused = { least, untilMs: nowMs + Math.max(dueMs, leastMs) };
  }
}
