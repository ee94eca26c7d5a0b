import type { AtomicNumber, Changed } from "./atomic-number.ts";

/**
 * Numbers that are used once, without a request for each: Curator's CachedAtomicLong and CachedAtomicInteger. It adds some at a time and hands them out
 * one by one; those that it has left when its process ends are never used, and neither are those of an addition whose answer was lost.
 */
export class CachedAtomic<N extends number | bigint> {
  readonly #number: AtomicNumber<N>;
  readonly #count: N;
  #next: Changed<N> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param count how many are added at a time; a positive integer */
  constructor(number: AtomicNumber<N>, count: N) {
    if (count < 1 || (typeof count === "number" && !Number.isInteger(count)))
      throw new RangeError(`how many numbers at a time: a positive integer was expected, found ${count}`);
    this.#number = number;
    this.#count = count;
  }

  /**
   * The next number, as if it had been incremented alone: nobody else gets the same `after`.
   *
   * @returns `succeeded` false where others were quicker each time
   */
  next(): Promise<Changed<N>> {
    // Those who ask at once share what one addition brings.
    const taking = this.#turn.then(() => this.#take());
    this.#turn = taking.catch(() => {
      // Its caller is told.
    });
    return taking;
  }

  async #take(): Promise<Changed<N>> {
    const reserved = this.#next ?? (await this.#number.add(this.#count));
    if (!reserved.succeeded) return reserved;
    const { before, after } = reserved;
    const taken = this.#number.plusOne(before);
    this.#next = taken === after ? undefined : { ...reserved, before: taken };
    return { ...reserved, after: taken };
  }
}
