/** Values below this have a bucket each; from there on each doubling has half as many. */
const EXACT = 128;
const PER_DOUBLING: number = EXACT / 2;
const BUCKETS: number = EXACT + 24 * PER_DOUBLING;

/**
 * A histogram of whole numbers: their count, sum, least, greatest, and quantiles that are at most
 * one part in 64 too low. Adding a number costs some additions and allocates nothing.
 */
export class Histogram {
  count = 0;
  sum = 0;
  max = 0;
  #min = Number.POSITIVE_INFINITY;
  readonly #buckets = new Float64Array(BUCKETS);

  /** Adds a value some times. @param value a whole number from 0 to 2^31 - 1 */
  note(value: number, times = 1): void {
    this.count += times;
    this.sum += value * times;
    if (value < this.#min) this.#min = value;
    if (value > this.max) this.max = value;
    const bucket = bucketOf(value);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + times;
  }

  /** 0 when there was none, as tools expect. */
  get min(): number {
    return this.count === 0 ? 0 : this.#min;
  }

  get average(): number {
    return this.count === 0 ? 0 : this.sum / this.count;
  }

  /** The value that the given share of all does not exceed; 0 when there was none. */
  quantile(share: number): number {
    const wanted = Math.ceil(share * this.count);
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS && wanted > 0; bucket++) {
      seen += this.#buckets[bucket] ?? 0;
      if (seen >= wanted) return Math.max(this.min, lowestOf(bucket));
    }
    return 0;
  }

  reset(): void {
    this.count = 0;
    this.sum = 0;
    this.max = 0;
    this.#min = Number.POSITIVE_INFINITY;
    this.#buckets.fill(0);
  }
}

function bucketOf(value: number): number {
  if (value < EXACT) return value;
  const shift = 25 - Math.clz32(value);
  return EXACT + (shift - 1) * PER_DOUBLING + (value >>> shift) - PER_DOUBLING;
}

function lowestOf(bucket: number): number {
  if (bucket < EXACT) return bucket;
  const shift = Math.floor((bucket - EXACT) / PER_DOUBLING) + 1;
  return (((bucket - EXACT) % PER_DOUBLING) + PER_DOUBLING) * 2 ** shift;
}
