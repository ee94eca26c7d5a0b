import { ArgumentError, found } from "@zooid/model";
import type { AtomicNumber, Changed } from "./atomic-number.ts";

/**
 * Unique numbers without a request for each: Curator's CachedAtomicLong and CachedAtomicInteger. It
 * adds a block at a time and hands the numbers out one by one. Numbers left when the process ends
 * are never used, and neither are those of an addition whose answer was lost.
 */
export class CachedAtomic<N extends number | bigint> {
  readonly #number: AtomicNumber<N>;
  readonly #count: N;
  #next: Changed<N> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param count size of a block; a positive integer */
  constructor(number: AtomicNumber<N>, count: N) {
    if (typeof number?.checkBlock !== "function")
      throw new ArgumentError("CachedAtomic", [`the number is an AtomicLong or AtomicInteger, found ${found(number)}`]);
    number.checkBlock(count);
    this.#number = number;
    this.#count = count;
  }

  /**
   * The next number, as if it had been incremented alone: no other client gets the same `after`.
   *
   * @returns `succeeded` false if other clients were faster each time
   */
  next(): Promise<Changed<N>> {
    // Concurrent calls share one addition.
    const taking = this.#turn.then(() => this.#take());
    this.#turn = taking.catch(() => {
      // The caller gets the error.
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
