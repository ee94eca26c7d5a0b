import { mix32 } from "@zooid/model";

/**
 * A random stream, determined by a seed and a name. Each use has its own stream, so that leaving
 * one out (a fault, a client) does not change the others.
 */
export class Prng {
  #state: number;
  readonly #seed: number;

  constructor(seed: number, name = "") {
    let mixed = mix32(seed ^ 0x9e37_79b9);
    for (const char of name) mixed = mix32(mixed ^ (char.codePointAt(0) ?? 0));
    this.#seed = mixed;
    this.#state = mixed;
  }

  /** Another stream, determined by this one's seed and the name. */
  fork(name: string): Prng {
    return new Prng(this.#seed, name);
  }

  /** 32 bits, unsigned. */
  next(): number {
    this.#state = (this.#state + 0x9e37_79b9) | 0;
    return mix32(this.#state) >>> 0;
  }

  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number {
    return Math.floor((this.next() / 2 ** 32) * bound);
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.next() / 2 ** 32 < probability;
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) throw new RangeError("nothing to pick from");
    return value;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }
}

/** Not random: always the least value, the first choice and the shortest delay. */
export class ZeroRandom extends Prng {
  constructor() {
    super(0);
  }

  override fork(): Prng {
    return this;
  }

  override next(): number {
    return 0;
  }
}
