import { type Client, json, type RetryPolicy, retry } from "@zooid/client";
import { firstValueFrom, skipWhile, take, toArray } from "rxjs";
import { describe, expect, test } from "vitest";
import { isRecipeError } from "../recipe-error.ts";
import { eachStaged } from "../testing/each-staged.ts";
import { failure, type Stage } from "../testing/stage.ts";
import { AtomicInteger, AtomicLong } from "./atomic-number.ts";
import { CachedAtomic } from "./cached-atomic.ts";
import { SharedCount, SharedValue } from "./shared-value.ts";

const PATH = "/counters/one";

let stage: Stage;
let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ stage, a, b } = staged);
});

async function bytesAt(path: string): Promise<string> {
  return Buffer.from((await a.get(path)).data ?? []).toString("hex");
}

describe("a shared count", () => {
  test("begins with its seed, in four bytes as Curator has it", async () => {
    const mine = new SharedCount(a, PATH, 7);
    expect(await mine.get()).toEqual({ value: 7, version: 0 });
    expect(await bytesAt(PATH)).toBe("00000007");
    expect(await new SharedCount(b, PATH, 9).get(), "only the first seed counts").toEqual({ value: 7, version: 0 });
  });

  test("is set conditionally on its current version", async () => {
    const [mine, theirs] = [new SharedCount(a, PATH), new SharedCount(b, PATH)];
    const seen = await mine.get();
    expect(await theirs.trySet(await theirs.get(), -5)).toEqual({ value: -5, version: 1 });
    expect(await mine.trySet(seen, 8)).toBeNull();
    expect((await mine.get()).value).toBe(-5);
    await expect(mine.trySet({ value: 0, version: -1 }, 8)).rejects.toThrow(/version is a whole number from 0 /);
  });

  test("is reported to all, over lost connections too", async () => {
    const { zk, relay } = await stage.relayed();
    const mine = new SharedCount(zk, PATH, 1);
    const reported = firstValueFrom(
      mine.value$.pipe(
        skipWhile(({ value }) => value < 3),
        take(1),
        toArray(),
      ),
    );
    const theirs = new SharedCount(a, PATH, 1);
    await theirs.set(2);
    relay.cut();
    await theirs.set(3);
    expect((await reported).map(({ value }) => value)).toEqual([3]);
  });

  test("a node with other data is refused", async () => {
    await a.create(PATH, "text", { parents: "container" });
    await a.set(PATH, "longer");
    expect(isRecipeError(await failure(new SharedCount(b, PATH).get()), "NOT_OURS")).toBe(true);
  });
});

test("a shared value may be anything that has a codec", async () => {
  const options = { seed: { stock: 1 }, codec: json<{ stock: number }>() };
  await new SharedValue(a, PATH, options).set({ stock: 2 });
  expect((await new SharedValue(b, PATH, options).get()).value).toEqual({ stock: 2 });
});

describe("an atomic long", () => {
  test("begins with zero, in eight bytes as Curator has it", async () => {
    const mine = new AtomicLong(a, PATH);
    expect(await mine.get()).toBe(0n);
    expect(await mine.add(258n)).toMatchObject({ succeeded: true, before: 0n, after: 258n });
    expect(await bytesAt(PATH)).toBe("0000000000000102");
    expect(await mine.decrement()).toMatchObject({ before: 258n, after: 257n });
    expect(await mine.initialize(5n)).toBe(false);
    expect(await mine.trySet(-1n)).toMatchObject({ before: 257n, after: -1n });
    expect(await bytesAt(PATH)).toBe("ffffffffffffffff");
    await mine.forceSet(9n);
    expect(await new AtomicLong(b, PATH).get()).toBe(9n);
  });

  test("an empty node is zero, any other length than eight bytes is refused", async () => {
    await a.create(PATH, "", { parents: "container" });
    expect(await new AtomicLong(b, PATH).get()).toBe(0n);
    await a.set(PATH, "four");
    expect(isRecipeError(await failure(new AtomicLong(b, PATH).get()), "NOT_OURS")).toBe(true);
  });

  test("wraps around as Java's do", async () => {
    const mine = new AtomicLong(a, PATH);
    expect(await mine.initialize(2n ** 63n - 1n)).toBe(true);
    expect((await mine.increment()).after).toBe(-(2n ** 63n));
  });

  test("is set only if it has the expected value", async () => {
    const mine = new AtomicLong(a, PATH);
    expect(await mine.compareAndSet(1n, 2n)).toMatchObject({ succeeded: false, after: 0n });
    expect(await mine.compareAndSet(0n, 2n)).toMatchObject({ succeeded: true, after: 2n });
  });

  test("loses no concurrent change", async () => {
    const policy = retry.exponential({ baseMs: 1, maxMs: 10, attempts: 29 });
    const promote = { lockPath: "/counters/lock", timeoutMs: 20_000 };
    const changes = Array.from({ length: 60 }, (_, i) =>
      new AtomicLong(i % 2 === 0 ? a : b, PATH, { retry: policy, promote }).increment(),
    );
    const outcomes = await Promise.all(changes);
    expect(outcomes.every(({ succeeded }) => succeeded)).toBe(true);
    expect(new Set(outcomes.map(({ after }) => after)).size).toBe(60);
    expect(await new AtomicLong(a, PATH).get()).toBe(60n);
  });

  test("reports failure if other clients were faster each time, and changes nothing", async () => {
    // The policy is called between two attempts; here it always gives up.
    const once = { retry: retry.none };
    const rivals = Array.from({ length: 8 }, () => new AtomicLong(a, PATH, once).increment());
    const outcomes = await Promise.all(rivals);
    const succeeded = outcomes.filter((outcome) => outcome.succeeded);
    expect(succeeded, "all have read before the first one wrote").toHaveLength(1);
    expect(outcomes.find((outcome) => !outcome.succeeded)).toMatchObject({
      before: 0n,
      after: 0n,
      stats: { tries: 1 },
    });
    expect(await new AtomicLong(b, PATH).get()).toBe(1n);
  });

  test("a change whose answer was lost has an unknown outcome, and is not repeated", async () => {
    const { zk, relay } = await stage.relayed();
    const mine = new AtomicLong(zk, PATH);
    await mine.initialize(0n);
    await mine.get();
    const changed = firstValueFrom(a.watchExists$(PATH).pipe(skipWhile((stat) => stat?.version === 0)));
    relay.freeze("answers");
    const adding = failure(mine.forceSet(1n));
    await changed;
    relay.cut();
    relay.thaw();
    expect(await adding).toMatchObject({ code: "CONNECTION_LOSS", outcome: "unknown" });
    expect((await b.exists(PATH))?.version).toBe(1);
  });
});

test("an atomic integer is the same in four bytes", async () => {
  const mine = new AtomicInteger(a, PATH);
  expect(await mine.get()).toBe(0);
  expect(await mine.add(258)).toMatchObject({ succeeded: true, before: 0, after: 258 });
  expect(await bytesAt(PATH)).toBe("00000102");
  await mine.forceSet(2 ** 31 - 1);
  expect((await mine.increment()).after).toBe(-(2 ** 31));
  expect((await mine.decrement()).after).toBe(2 ** 31 - 1);
  expect(isRecipeError(await failure(new AtomicLong(b, PATH).get()), "NOT_OURS")).toBe(true);
});

describe("a cached number", () => {
  test("reserves a block at a time, and gives no number twice", async () => {
    const [mine, theirs] = [
      new CachedAtomic(new AtomicLong(a, PATH), 3n),
      new CachedAtomic(new AtomicInteger(b, "/counters/two"), 3),
    ];
    const first = await Promise.all([mine.next(), mine.next(), mine.next()]);
    expect(first.map(({ before, after }) => [before, after])).toEqual([
      [0n, 1n],
      [1n, 2n],
      [2n, 3n],
    ]);
    expect((await a.exists(PATH))?.version).toBe(0);
    await new AtomicLong(b, PATH).add(10n);
    expect((await mine.next()).after).toBe(14n);
    expect((await theirs.next()).after).toBe(1);
    expect(() => new CachedAtomic(new AtomicLong(a, PATH), 0n)).toThrow(RangeError);
    expect(() => new CachedAtomic(new AtomicInteger(a, PATH), 1.5)).toThrow(RangeError);
  });

  test("reports failure if other clients were faster each time, and reserves a block with the next call", async () => {
    const rivals = Array.from(
      { length: 4 },
      () => new CachedAtomic(new AtomicLong(a, PATH, { retry: retry.none }), 5n),
    );
    const first = await Promise.all(rivals.map((rival) => rival.next()));
    expect(first.filter(({ succeeded }) => succeeded)).toHaveLength(1);
    const numbers = first.filter(({ succeeded }) => succeeded).map(({ after }) => after);
    for (const rival of rivals) numbers.push((await rival.next()).after);
    expect(new Set(numbers)).toEqual(new Set([1n, 2n, 6n, 11n, 16n]));
  });
});

test.each([1.5, 2 ** 31, Number.NaN])("a count refuses %s, which it would store as another number", async (value) => {
  const count = new SharedCount(a, "/counts/checked", 1);
  const seen = await count.get();
  for (const refused of [() => count.set(value), () => count.trySet(seen, value)]) {
    expect(await failure(refused())).toMatchObject({ code: "INVALID_ARGUMENT" });
  }
  expect(await count.get()).toEqual(seen);
});

test("an empty count of kazoo's has the initial value", async () => {
  await a.create("/counts/empty", "", { parents: "persistent" });
  const count = new SharedCount(a, "/counts/empty", 5);
  const before = await count.get();
  expect(before).toEqual({ value: 5, version: 0 });
  expect(await count.trySet(before, 6)).toEqual({ value: 6, version: 1 });
});

test.each([-1, Number.NaN, "5", undefined])("a pause of %s from the retry policy is refused", async (delay) => {
  const number = new AtomicLong(a, PATH, { retry: (() => delay) as unknown as RetryPolicy });
  await number.forceSet(1n);
  // Both read before either of them writes.
  const both = await Promise.allSettled([number.increment(), number.increment()]);
  expect(both[1]).toMatchObject({ status: "rejected", reason: { code: "INVALID_ARGUMENT" } });
});
