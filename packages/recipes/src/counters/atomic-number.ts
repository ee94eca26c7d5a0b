import { type Client, type Codec, type RetryPolicy, retry, type ZkError, ZkNodeError } from "@zooid/client";
import {
  ArgumentError,
  checkArgument,
  checkFit,
  checkRecord,
  found,
  misfit,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
} from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { clientPause } from "../leases/waiting.ts";
import { Mutex } from "../locks/mutex.ts";
import { isMade } from "../nodes/refusals.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import { int32, int64 } from "./integers.ts";

export interface AtomicOptions {
  /**
   * Retries when other clients change the number first. Default: exponential, 10 times, from 5 ms
   * on.
   */
  readonly retry?: RetryPolicy;
  /** A lock to take when the retries were not enough: it serializes the clients that use it. */
  readonly promote?: { readonly lockPath: string; readonly timeoutMs: number };
}

/** The result of a change. */
export interface Changed<N extends number | bigint = bigint> {
  /**
   * False when other clients were faster each time, or the value was not the expected one; then
   * nothing was changed.
   */
  readonly succeeded: boolean;
  readonly before: N;
  /** The last known value: the new one, or if nothing was changed the current one. */
  readonly after: N;
  readonly stats: { readonly tries: number; readonly promotedTries: number };
}

/** Arithmetic and encoding of one kind of number. */
export interface Arithmetic<N> {
  readonly zero: N;
  readonly one: N;
  readonly codec: Codec<N>;
  sum(a: N, b: N): N;
  negative(value: N): N;
  wrapped(value: N): N;
}

const LONG: Arithmetic<bigint> = {
  zero: 0n,
  one: 1n,
  codec: int64,
  sum: (a, b) => a + b,
  negative: (value) => -value,
  wrapped: (value) => BigInt.asIntN(64, value),
};

const INTEGER: Arithmetic<number> = {
  zero: 0,
  one: 1,
  codec: int32,
  sum: (a, b) => a + b,
  negative: (value) => -value,
  wrapped: (value) => value | 0,
};

const BIGINT: Rule = { expected: "a bigint, such as 1n", accepts: (value) => typeof value === "bigint" };
const WHOLE: Rule = wholeNumberRule(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

const PROMOTE: Shape<NonNullable<AtomicOptions["promote"]>> = shape<NonNullable<AtomicOptions["promote"]>>({
  lockPath: rules.path,
  timeoutMs: rules.duration,
});
const DELAY: Rule = { ...rules.duration, expected: `${rules.duration.expected}, or false` };
const SHAPE: Shape<AtomicOptions> = shape<AtomicOptions>({ retry: rules.callable, promote: rules.record });

/**
 * A number that clients change optimistically; {@link AtomicLong} and {@link AtomicInteger} are its
 * kinds. It wraps around as Java's do; a missing or empty node counts as zero.
 *
 * A change whose answer was lost fails with the client's CONNECTION_LOSS, `outcome` unknown: it may
 * have been applied. Reading the number does not decide that, since another client may have made
 * the same change.
 */
export class AtomicNumber<N extends number | bigint> {
  readonly path: string;
  readonly #zk: Client;
  readonly #arithmetic: Arithmetic<N>;
  readonly #retry: RetryPolicy;
  readonly #promote: AtomicOptions["promote"];

  constructor(
    zk: Client,
    path: string,
    { arithmetic, ...options }: AtomicOptions & { readonly arithmetic: Arithmetic<N> },
  ) {
    checkArguments("AtomicNumber", zk, path, options, SHAPE);
    if (options.promote !== undefined) checkRecord("AtomicNumber", options.promote, PROMOTE, ["lockPath", "timeoutMs"]);
    this.#zk = zk;
    this.path = path;
    this.#arithmetic = arithmetic;
    this.#retry = options.retry ?? retry.exponential({ baseMs: 5, maxMs: 500, attempts: 10 });
    this.#promote = options.promote;
  }

  async get(): Promise<N> {
    return (await this.#read()).value;
  }

  /** Creates it if it does not exist. @returns whether it was created */
  async initialize(value: N): Promise<boolean> {
    this.#check("initialize", { value });
    return this.#write(value, undefined);
  }

  async add(delta: N): Promise<Changed<N>> {
    this.#check("add", { delta });
    return this.#change((value) => this.#arithmetic.sum(value, delta));
  }

  increment(): Promise<Changed<N>> {
    return this.add(this.#arithmetic.one);
  }

  decrement(): Promise<Changed<N>> {
    return this.add(this.#arithmetic.negative(this.#arithmetic.one));
  }

  /** Sets it, unless other clients are faster each time. */
  async trySet(value: N): Promise<Changed<N>> {
    this.#check("trySet", { value });
    return this.#change(() => value);
  }

  /** Sets it if it has the expected value. */
  async compareAndSet(expected: N, value: N): Promise<Changed<N>> {
    this.#check("compareAndSet", { expected, value });
    const { value: before, version } = await this.#read();
    const succeeded = before === expected && (await this.#write(value, version));
    return {
      succeeded,
      before,
      after: succeeded ? this.#arithmetic.wrapped(value) : before,
      stats: { tries: 1, promotedTries: 0 },
    };
  }

  /** Sets it unconditionally. */
  async forceSet(value: N): Promise<void> {
    this.#check("forceSet", { value });
    while (!(await this.#write(value, -1)) && !(await this.#write(value, undefined))) {
      // It was deleted and created again between the two.
    }
  }

  /** @internal The incremented number, within its bits. */
  plusOne(value: N): N {
    const { sum, one, wrapped } = this.#arithmetic;
    return wrapped(sum(value, one));
  }

  /** @internal @throws ArgumentError for a size that is not a positive number of this kind */
  checkBlock(count: N): void {
    this.#check("reserve numbers of", { count });
    if (count < 1)
      throw new ArgumentError(`reserve numbers of ${this.path}`, [`count is at least 1, found ${found(count)}`]);
  }

  /** A text would be appended to the number, and not added. */
  #check(method: string, values: Readonly<Record<string, unknown>>): void {
    const rule = typeof this.#arithmetic.zero === "bigint" ? BIGINT : WHOLE;
    const wrong = Object.entries(values).filter(([, value]) => !rule.accepts(value));
    if (wrong.length === 0) return;
    const problems = wrong.map(([name, value]) => misfit(name, value, rule));
    throw new ArgumentError(`${method} ${this.path}`, problems);
  }

  async #change(next: (value: N) => N): Promise<Changed<N>> {
    const optimistic = await this.#tryAgain(next);
    const stats = { tries: optimistic.tries, promotedTries: 0 };
    if (optimistic.succeeded || this.#promote === undefined) return { ...optimistic, stats };
    const { lockPath, timeoutMs } = this.#promote;
    try {
      await using _ = await new Mutex(this.#zk, lockPath).acquire({ timeoutMs });
      const promoted = await this.#tryAgain(next);
      return { ...promoted, stats: { ...stats, promotedTries: promoted.tries } };
    } catch (error) {
      if (isRecipeError(error, "LOCK_TIMEOUT")) return { ...optimistic, stats };
      throw error;
    }
  }

  async #tryAgain(next: (value: N) => N): Promise<Omit<Changed<N>, "stats"> & { readonly tries: number }> {
    const startMs = performance.now();
    for (let tries = 1; ; tries++) {
      const { value: before, version } = await this.#read();
      const after = this.#arithmetic.wrapped(next(before));
      if (await this.#write(after, version)) return { succeeded: true, before, after, tries };
      const error = quicker(this.path);
      const delayMs = this.#retry({ count: tries, elapsedMs: performance.now() - startMs, error });
      if (delayMs === false) return { succeeded: false, before, after: before, tries };
      checkArgument(`a change of ${this.path}`, "the pause of the retry policy", delayMs, DELAY);
      await clientPause(this.#zk, delayMs);
    }
  }

  /** `version`: undefined if there is no node. */
  async #read(): Promise<{ readonly value: N; readonly version: number | undefined }> {
    const node = await this.#zk.getOrNull(this.path);
    const { zero, codec } = this.#arithmetic;
    if (node === null) return { value: zero, version: undefined };
    const { data, stat } = node;
    try {
      return { value: data === null || data.length === 0 ? zero : codec.decode(data), version: stat.version };
    } catch (error) {
      throw new RecipeError("NOT_OURS", `${this.path} holds no number`, { cause: error });
    }
  }

  /** False when another client was faster. */
  async #write(value: N, version: number | undefined): Promise<boolean> {
    const data = this.#arithmetic.codec.encode(this.#arithmetic.wrapped(value));
    return await (version === undefined
      ? isMade(this.#zk.create(this.path, data, { parents: "container" }), "NO_NODE", "NODE_EXISTS")
      : isMade(this.#zk.set(this.path, data, { version }), "BAD_VERSION", "NO_NODE"));
  }
}

/** A 64-bit number: Curator's DistributedAtomicLong, on the same znode. */
export class AtomicLong extends AtomicNumber<bigint> {
  constructor(zk: Client, path: string, options: AtomicOptions = {}) {
    checkFit("AtomicLong", options, SHAPE);
    super(zk, path, { ...options, arithmetic: LONG });
  }
}

/** A 32-bit number: Curator's DistributedAtomicInteger, on the same znode. */
export class AtomicInteger extends AtomicNumber<number> {
  constructor(zk: Client, path: string, options: AtomicOptions = {}) {
    checkFit("AtomicInteger", options, SHAPE);
    super(zk, path, { ...options, arithmetic: INTEGER });
  }
}

/** The error for the retry policy: another client has changed the number meanwhile. */
function quicker(path: string): ZkError {
  return new ZkNodeError({ code: "BAD_VERSION", op: "set", path, outcome: "rejected" });
}
