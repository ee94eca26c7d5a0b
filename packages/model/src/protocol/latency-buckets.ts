/** Upper bounds in milliseconds, each included; a last bucket holds what is longer. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000,
];
const BUCKET_COUNT = LATENCY_BOUNDS_MS.length + 1;
/** Places that {@link LatencyBuckets} takes in an array. */
export const LATENCY_WORDS: number = BUCKET_COUNT + 1;

/**
 * Durations counted by ranges that are the same on all servers, so that counts of several servers
 * can be added. Noting one allocates nothing. The array may be shared between threads, of which one
 * writes.
 */
export class LatencyBuckets {
  readonly #words: Float64Array;
  readonly #at: number;

  /** @param at the first of {@link LATENCY_WORDS} places */
  constructor(words: Float64Array = new Float64Array(LATENCY_WORDS), at = 0) {
    this.#words = words;
    this.#at = at;
  }

  note(ms: number, times = 1): void {
    let bucket = 0;
    while (bucket < BUCKET_COUNT - 1 && ms > (LATENCY_BOUNDS_MS[bucket] as number)) bucket++;
    const words = this.#words;
    words[this.#at + bucket] = (words[this.#at + bucket] as number) + times;
    words[this.#at + BUCKET_COUNT] = (words[this.#at + BUCKET_COUNT] as number) + ms * times;
  }

  get sumMs(): number {
    return this.#words[this.#at + BUCKET_COUNT] as number;
  }

  /** How many took at most each bound; last, how many there were. */
  cumulative(): readonly number[] {
    let sum = 0;
    return Array.from({ length: BUCKET_COUNT }, (_, bucket) => {
      sum += this.#words[this.#at + bucket] as number;
      return sum;
    });
  }
}
