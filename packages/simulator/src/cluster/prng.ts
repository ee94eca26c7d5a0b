import { mix32 } from "@zooid/model";

/**
 * A stream of chance that a seed and a name decide. Each use has a stream of its own, so that leaving one out (a fault, a client)
 * does not reshuffle the others.
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

  /** Another stream, decided by this one's seed and the name. */
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

/** A stream without chance: always the least, the first and the soonest. */
export class NoChance extends Prng {
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
