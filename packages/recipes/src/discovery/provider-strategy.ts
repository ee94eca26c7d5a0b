import { checkArgument, type Rule, rules, wholeNumberRule } from "@zooid/model";
import { atOnce, owned } from "../at-once.ts";
import type { ServiceInstance } from "./service-instance.ts";

/** Chooses one of several instances. */
export interface ProviderStrategy<T = unknown> {
  /**
   * Index of the chosen instance.
   *
   * @param instances never empty, and in a stable order while nothing changes
   * @param key the caller's key; empty without one
   */
  choose(instances: readonly ServiceInstance<T>[], key: string): number;
}

/** The rule for {@link ProviderStrategy}. */
export const strategyRule: Rule = {
  expected: "a strategy, an object with the method choose",
  accepts: (value) => rules.record.accepts(value) && typeof Reflect.get(value as object, "choose") === "function",
};

/**
 * The instance that a strategy chooses; undefined if there is none.
 *
 * @throws ArgumentError where it gives no index, as for a load that is no number
 */
export function chosenBy<T>(
  strategy: ProviderStrategy<T>,
  instances: readonly ServiceInstance<T>[],
  key: string,
): ServiceInstance<T> | undefined {
  if (instances.length === 0) return undefined;
  const index: unknown = owned(strategy.choose(instances, key));
  checkArgument("a strategy", "the chosen index", index, wholeNumberRule(0, instances.length - 1));
  return instances[index as number];
}

/** Ways to choose an instance; each call creates one with a state of its own. */
export const strategies: {
  readonly random: (random?: () => number) => ProviderStrategy;
  readonly roundRobin: () => ProviderStrategy;
  readonly sticky: <T>(first: ProviderStrategy<T>) => ProviderStrategy<T>;
  readonly weighted: <T>(
    weightOf: (instance: ServiceInstance<T>) => number,
    random?: () => number,
  ) => ProviderStrategy<T>;
  readonly leastLoaded: <T>(loadOf: (instance: ServiceInstance<T>) => number) => ProviderStrategy<T>;
  readonly consistentHash: () => ProviderStrategy;
} = {
  /** A random instance. */
  random: (random = Math.random) => {
    checkArgument("strategies.random", "the source of random numbers", random, rules.callable);
    return { choose: ({ length }) => Math.floor(random() * length) };
  },

  /** Round robin. */
  roundRobin: () => {
    let next = 0;
    return {
      choose({ length }) {
        const chosen = next % length;
        next = chosen + 1;
        return chosen;
      },
    };
  },

  /** The same instance while it is available; otherwise one chosen by another strategy. */
  sticky: (first) => {
    checkArgument("strategies.sticky", "the first strategy", first, strategyRule);
    let stuckTo: string | undefined;
    return {
      choose(instances, key) {
        const same = instances.findIndex(({ id }) => id === stuckTo);
        const chosen = same >= 0 ? same : first.choose(instances, key);
        stuckTo = instances[chosen]?.id;
        return chosen;
      },
    };
  },

  /** At random by weight; uniformly if all weights are 0. */
  weighted: (weightOf, random = Math.random) => {
    checkArgument("strategies.weighted", "the weight", weightOf, rules.callable);
    checkArgument("strategies.weighted", "the source of random numbers", random, rules.callable);
    return {
      choose: (instances) => {
        const weights = instances.map((instance) =>
          Math.max(0, atOnce("strategies.weighted", "the weight", weightOf(instance))),
        );
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        if (total === 0) return Math.floor(random() * instances.length);
        let left = random() * total;
        const chosen = weights.findIndex((weight) => {
          left -= weight;
          return left < 0;
        });
        // Sums of fractions may be slightly too small.
        return chosen >= 0 ? chosen : weights.findLastIndex((weight) => weight > 0);
      },
    };
  },

  /** The instance with the least load, by the caller's measure; the first one of several. */
  leastLoaded: (loadOf) => {
    checkArgument("strategies.leastLoaded", "the load", loadOf, rules.callable);
    return {
      choose: (instances) =>
        placeOfMost(instances, (instance) => -atOnce("strategies.leastLoaded", "the load", loadOf(instance))),
    };
  },

  /**
   * Rendezvous hashing: the same instance for a key; when an instance is added or removed, only
   * keys that it gains or had move.
   */
  consistentHash: () => ({
    choose: (instances, key) => placeOfMost(instances, ({ id }) => hash(`${key}\n${id}`)),
  }),
};

function placeOfMost<I>(instances: readonly I[], rank: (instance: I) => number): number {
  const ranks = instances.map(rank);
  return ranks.indexOf(ranks.reduce((most, rank) => Math.max(most, rank), Number.NEGATIVE_INFINITY));
}

/**
 * FNV-1a over UTF-16, finalized as in MurmurHash3, since FNV's last characters hardly affect the
 * high bits.
 */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
