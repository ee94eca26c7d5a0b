import type { ServiceInstance } from "./service-instance.ts";

/** How one of several instances is chosen. */
export interface ProviderStrategy<T = unknown> {
  /**
   * The place of the one that is chosen.
   *
   * @param instances never empty, and in the same order while nothing changes
   * @param key what the caller said it is for; empty where it said nothing
   */
  choose(instances: readonly ServiceInstance<T>[], key: string): number;
}

/** Ways to choose an instance; each call makes one with a memory of its own. */
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
  /** Any. */
  random: (random = Math.random) => ({ choose: ({ length }) => Math.floor(random() * length) }),

  /** One after the other. */
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

  /** The same as last time while it is there; where it is not, what another strategy says. */
  sticky: (first) => {
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

  /** Each as often as its weight says; where nobody weighs anything, any. */
  weighted: (weightOf, random = Math.random) => ({
    choose(instances) {
      const weights = instances.map((instance) => Math.max(0, weightOf(instance)));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      if (total === 0) return Math.floor(random() * instances.length);
      let left = random() * total;
      const chosen = weights.findIndex((weight) => {
        left -= weight;
        return left < 0;
      });
      // Sums of fractions may come out a little short.
      return chosen >= 0 ? chosen : weights.findLastIndex((weight) => weight > 0);
    },
  }),

  /** The one that has the least to do, as the caller knows; the first of several. */
  leastLoaded: (loadOf) => ({ choose: (instances) => placeOfMost(instances, (instance) => -loadOf(instance)) }),

  /** Always the same for a key; when an instance comes or goes, only keys that go to it or went to it move. */
  consistentHash: () => ({
    choose: (instances, key) => placeOfMost(instances, ({ id }) => hash(`${key}\n${id}`)),
  }),
};

function placeOfMost<I>(instances: readonly I[], rank: (instance: I) => number): number {
  const ranks = instances.map(rank);
  return ranks.indexOf(ranks.reduce((most, rank) => Math.max(most, rank), Number.NEGATIVE_INFINITY));
}

/** FNV-1a over UTF-16, stirred as MurmurHash3 ends, since FNV's last characters hardly reach the high bits. */
function hash(text: string): number {
  let bits = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) bits = Math.imul(bits ^ text.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
