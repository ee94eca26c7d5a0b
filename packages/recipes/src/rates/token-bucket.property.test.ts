import fc from "fast-check";
import { expect, test } from "vitest";
import { bucketCodec } from "./bucket-codec.ts";
import { LocalTokens } from "./local-tokens.ts";
import { type Bucket, fullBucket, type Taken, take } from "./token-bucket.ts";

/** A moment in real time, and the tokens that were used at it. */
type Use = readonly [atMs: number, tokens: number];

/**
 * Most tokens by which the uses exceed `rate × time + burst` over any interval that begins and ends
 * with a use.
 */
function excess(uses: readonly Use[], { rate, burst }: { readonly rate: number; readonly burst: number }): number {
  // Intervals that begin at each use, all at once: the level of an ideal bucket that counts uses.
  let debt = 0;
  let most = Number.NEGATIVE_INFINITY;
  let lastMs = 0;
  for (const [atMs, tokens] of uses.toSorted(([a], [b]) => a - b)) {
    debt = Math.max(0, debt - ((atMs - lastMs) * rate) / 1000) + tokens;
    most = Math.max(most, debt - burst);
    lastMs = atMs;
  }
  return most;
}

/** The next act of a process. `take` is a read, a write and its answer at one moment. */
const ACTS = ["take", "take", "use", "use", "read", "send", "apply", "lose", "die"] as const;

interface Step {
  /** Real time until the step. */
  readonly afterMs: number;
  readonly process: number;
  readonly act: (typeof ACTS)[number];
  readonly count: number;
}

const step = fc.record<Step>({
  afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 500 })),
  process: fc.integer({ min: 0, max: 2 }),
  act: fc.constantFrom(...ACTS),
  count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 20 })),
});

interface Given {
  readonly rate: number;
  readonly burst: number;
  readonly leaseMs: number;
}

interface Node {
  readonly bucket: Bucket;
  readonly version: number;
}

/** Processes over one node, as `RateLimiter` drives the bucket, in real time. */
class World {
  nowMs = 0;
  readonly uses: Use[] = [];
  #node: Node;
  readonly #given: Given;
  readonly #processes: Process[] = [];

  constructor(given: Given) {
    this.#given = given;
    this.#node = { bucket: fullBucket(given.burst), version: 0 };
  }

  step({ afterMs, process, act, count }: Step): void {
    this.nowMs += afterMs;
    const own = this.#processes[process] ?? new Process();
    this.#processes[process] = act === "die" ? new Process() : own;
    if (act === "take") for (const part of ["read", "send", "apply"] as const) this.#act(own, part, count);
    else if (act !== "die") this.#act(own, act, count);
  }

  #act(own: Process, act: Exclude<Step["act"], "take" | "die">, count: number): void {
    if (act === "use") for (let i = 0; i < count; i++) this.#use(own);
    if (act === "read") this.#read(own);
    if (act === "send") this.#send(own, count);
    if (act === "apply" || act === "lose") this.#apply(own, act === "apply");
  }

  #use(own: Process): void {
    if (own.local.use(1, this.nowMs)) this.uses.push([this.nowMs, 1]);
  }

  #read(own: Process): void {
    own.read = this.#node;
    const { credits: credit } = this.#node.bucket;
    if (own.known?.credit !== credit) own.known = { credit, atMs: this.nowMs };
  }

  #send(own: Process, wanted: number): void {
    if (own.read === undefined || own.known === undefined) return;
    const { bucket, version } = own.read;
    const { leaseMs } = this.#given;
    const credit = `${bucket.credits}`;
    const taken = take(bucket, {
      ...this.#given,
      wanted,
      least: 1,
      creditMsMin: leaseMs / 4,
      knownMs: this.nowMs - own.known.atMs,
      used: own.local.usedSince(credit, own.known.atMs),
    });
    own.read = undefined;
    own.sent = { taken, version, sentMs: this.nowMs };
  }

  #apply(own: Process, isAnswered: boolean): void {
    if (own.sent === undefined) return;
    const { taken, version, sentMs } = own.sent;
    own.sent = undefined;
    if (taken.bucket === undefined || version !== this.#node.version) return;
    this.#node = { bucket: bucketCodec.decode(bucketCodec.encode(taken.bucket)), version: version + 1 };
    if (!isAnswered) return;
    const { credits: credit } = taken.bucket;
    if (taken.isCredited) own.known = { credit, atMs: this.nowMs };
    const endMs = sentMs + this.#given.leaseMs;
    if (taken.tokens > 0) own.local.add({ tokens: taken.tokens, endMs, credit: `${credit}` }, this.nowMs);
  }
}

class Process {
  readonly local = new LocalTokens();
  read: Node | undefined;
  known: { readonly credit: number; readonly atMs: number } | undefined;
  sent: { readonly taken: Taken; readonly version: number; readonly sentMs: number } | undefined;
}

test("no interval has more uses than rate × time + burst, whatever processes do", () => {
  const given = fc.record<Given>({
    rate: fc.constantFrom(10, 50),
    burst: fc.constantFrom(1, 5, 20),
    leaseMs: fc.constantFrom(40, 100, 300),
  });
  fc.assert(
    fc.property(given, fc.array(step, { minLength: 10, maxLength: 60, size: "max" }), (limits, steps) => {
      const world = new World(limits);
      for (const one of steps) world.step(one);
      expect(excess(world.uses, limits)).toBeLessThanOrEqual(1e-6);
    }),
    { numRuns: 2000 },
  );
});

test("the bound is reached: a full bucket is one burst, and it fills at its rate", () => {
  const limits = { rate: 10, burst: 5 };
  const ask = { ...limits, least: 1, leaseMs: 100, creditMsMin: 25, used: { tokens: 0, afterMs: 0 } };
  const first = take(fullBucket(5), { ...ask, wanted: 9, knownMs: 0 });
  expect([first.tokens, first.isCredited]).toEqual([5, false]);
  const { bucket = fullBucket(0) } = first;
  // The process has used them all.
  const used = { tokens: 5, afterMs: 10 };
  const early = take(bucket, { ...ask, wanted: 9, used, knownMs: 20 });
  expect([early.tokens, early.bucket, early.dueMs]).toEqual([0, undefined, 5]);
  const due = take(bucket, { ...ask, wanted: 9, used, knownMs: 110 });
  expect([due.tokens, due.isCredited]).toEqual([1, true]);
  const later = take(bucket, { ...ask, wanted: 9, used, knownMs: 3_600_000 });
  expect(later.tokens).toBe(5);
});

test("tokens that another process may still use count as in the bucket", () => {
  const ask = { rate: 10, burst: 5, least: 1, leaseMs: 100, creditMsMin: 25, used: { tokens: 0, afterMs: 0 } };
  const { bucket = fullBucket(0) } = take(fullBucket(5), { ...ask, wanted: 5, knownMs: 0 });
  const credited = take(bucket, { ...ask, wanted: 5, knownMs: 400 });
  expect([credited.tokens, credited.isCredited]).toEqual([0, true]);
  // From the credit on they end after the time of a lease, and only then the bucket fills.
  const { bucket: dated = fullBucket(0), dueMs } = credited;
  expect([dueMs, dated.open]).toEqual([200, [{ untilMs: 500, tokens: 5 }]]);
  expect(take(dated, { ...ask, wanted: 5, knownMs: 199 }).tokens).toBe(0);
  expect(take(dated, { ...ask, wanted: 5, knownMs: 200 }).tokens).toBe(1);
});

test.each(["", "{}", "5", "[]", "null", '{"version":2}', '{"version":1,"level":-1}'])("%j is no bucket", (data) => {
  expect(() => bucketCodec.decode(Buffer.from(data))).toThrow("the bucket of a rate limiter");
});
