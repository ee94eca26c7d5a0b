import { mix32 } from "../hashes/unkeyed-hash.ts";

/** Random numbers that a seed decides: at least 0, below 1. */
export function seededRandom(seed: number): () => number {
  let state = mix32(seed ^ 0x9e37_79b9);
  return () => {
    state = (state + 0x9e37_79b9) | 0;
    return (mix32(state) >>> 0) / 2 ** 32;
  };
}
