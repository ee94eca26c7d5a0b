import { uniformInt } from "pure-rand/distribution/uniformInt";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** Length of the table of kinds: shares are exact to a thousandth. */
export const MIX_LENGTH = 1000;
/** Length of the table of choices; a power of two, so that cycling through it is a mask. */
export const CHOICE_COUNT: number = 1 << 16;

/**
 * The order of the kinds of requests: each as often as its weight, in an order that the seed
 * determines.
 *
 * @param weights of any sum above 0
 */
export function mixTable(weights: readonly number[], seed: number): Uint8Array {
  const sum = weights.reduce((a, b) => a + b, 0);
  const table = new Uint8Array(MIX_LENGTH);
  let at = 0;
  let reached = 0;
  weights.forEach((weight, kind) => {
    reached += weight;
    const end = Math.round((reached / sum) * MIX_LENGTH);
    table.fill(kind, at, end);
    at = end;
  });
  const random = xoroshiro128plus(seed);
  for (let i = table.length - 1; i > 0; i--) {
    const j = uniformInt(random, 0, i);
    const kind = table[i] as number;
    table[i] = table[j] as number;
    table[j] = kind;
  }
  return table;
}

/** Uniformly chosen nodes, used cyclically: no random numbers are computed under load. */
export function nodeChoices(nodes: number, seed: number): Int32Array {
  const random = xoroshiro128plus(seed);
  return Int32Array.from({ length: CHOICE_COUNT }, () => uniformInt(random, 0, nodes - 1));
}
