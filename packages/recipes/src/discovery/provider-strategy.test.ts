import { describe, expect, test } from "vitest";
import { DownInstances } from "./down-instances.ts";
import { chosenBy, type ProviderStrategy, strategies } from "./provider-strategy.ts";
import type { ServiceInstance } from "./service-instance.ts";

const instance = (id: string): ServiceInstance => ({
  name: "web",
  id,
  address: "host",
  port: 80,
  sslPort: null,
  payload: null,
  registeredAtMs: 1,
  serviceType: "dynamic",
  uriSpec: null,
  enabled: true,
});
const named = (ids: string): readonly ServiceInstance[] => [...ids].map(instance);

/** The instances that a strategy chooses, by their letters. */
function choices(strategy: ProviderStrategy, ids: string, keys: readonly string[]): string {
  return keys.map((key) => ids[strategy.choose(named(ids), key)] ?? "none").join("");
}

/** Given fractions, one after the other. */
function fractions(...values: readonly number[]): () => number {
  let next = 0;
  return () => values[next++ % values.length] ?? 0;
}

const TIMES = Array.from({ length: 6 }, () => "");
const KEYS = Array.from({ length: 1000 }, (_, i) => `key ${i}`);

describe("a strategy", () => {
  test("any", () => {
    expect(choices(strategies.random(fractions(0, 0.5, 0.999)), "abc", TIMES)).toBe("abcabc");
  });

  test("round robin, also when instances change", () => {
    const strategy = strategies.roundRobin();
    expect(choices(strategy, "abc", TIMES)).toBe("abcabc");
    expect(choices(strategy, "ab", TIMES)).toBe("bababa");
  });

  test("the same while it is there", () => {
    const strategy = strategies.sticky(strategies.roundRobin());
    expect(choices(strategy, "abc", TIMES)).toBe("aaaaaa");
    expect(choices(strategy, "bc", TIMES)).toBe("cccccc");
    expect(choices(strategy, "abc", TIMES)).toBe("cccccc");
  });

  test("by weight", () => {
    const weights: Record<string, number> = { a: 1, b: 0, c: 3 };
    const strategy = strategies.weighted(({ id }) => weights[id] ?? 0, fractions(0, 0.24, 0.26, 0.999));
    expect(choices(strategy, "abc", TIMES)).toBe("aaccaa");
    expect(
      choices(
        strategies.weighted(() => 0, fractions(0, 0.99)),
        "ab",
        TIMES,
      ),
    ).toBe("ababab");
  });

  test("the one with the least load", () => {
    const load: Record<string, number> = { a: 2, b: 1, c: 1 };
    const strategy = strategies.leastLoaded(({ id }) => load[id] ?? 0);
    expect(choices(strategy, "abc", TIMES)).toBe("bbbbbb");
  });

  test("by key: a key keeps its instance unless that is removed", () => {
    const strategy = strategies.consistentHash();
    const before = choices(strategy, "abcd", KEYS);
    expect(choices(strategy, "abcd", KEYS)).toBe(before);
    for (const letter of "abcd") expect(before.split(letter).length - 1).toBeGreaterThan(180);
    const after = choices(strategy, "abd", KEYS);
    const moved = [...before].filter((letter, i) => letter !== after[i]);
    expect(new Set(moved)).toEqual(new Set(["c"]));
  });
});

test("an instance is avoided after some errors, for a while from the first of them", () => {
  let nowMs = 0;
  const down = new DownInstances({ windowMs: 100, errors: 2 }, () => nowMs);
  const at = (ms: number, act: () => void = () => {}): boolean => {
    nowMs = ms;
    act();
    return down.isDown("a");
  };
  expect(at(0, () => down.note("a"))).toBe(false);
  expect(at(60, () => down.note("a"))).toBe(true);
  expect(down.isDown("b")).toBe(false);
  expect(at(99)).toBe(true);
  expect(at(100)).toBe(false);
  expect(at(110, () => down.note("a"))).toBe(false);
  expect(at(111, () => down.note("a"))).toBe(true);
});

test.each([
  ["a load", strategies.leastLoaded(() => Number.NaN)],
  ["an index", { choose: () => -1 }],
] as const)("%s that names no instance is refused", (_, strategy) => {
  expect(() => chosenBy(strategy, named("ab"), "")).toThrow(/the chosen index is a whole number from 0 to 1, found -1/);
  expect(chosenBy(strategy, [], "")).toBeUndefined();
});
