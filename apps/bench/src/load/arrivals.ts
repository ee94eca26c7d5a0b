import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** The distribution of an open loop's requests over time. */
export type Arrivals = "constant" | "poisson";

export interface ArrivalOptions {
  readonly arrivals: Arrivals;
  readonly ratePerSecond: number;
  /** The start of the schedule, on the clock of its times. */
  readonly startMs: number;
  readonly seed: number;
}

/**
 * The due times of requests, independent of earlier ones: the schedule that makes a loop open. It
 * has no clock; a late caller gets the unchanged times.
 */
export class ArrivalSchedule {
  /** The due time of the next request. */
  nextMs: number;
  readonly #startMs: number;
  readonly #intervalMs: number;
  readonly #random: ReturnType<typeof xoroshiro128plus> | undefined;
  #count = 0;

  constructor({ arrivals, ratePerSecond, startMs, seed }: ArrivalOptions) {
    this.#startMs = startMs;
    this.#intervalMs = 1000 / ratePerSecond;
    this.#random = arrivals === "poisson" ? xoroshiro128plus(seed) : undefined;
    this.nextMs = startMs;
    if (this.#random !== undefined) this.advance();
  }

  /** Advances to the next request. */
  advance(): void {
    // From the start, not from the last one: rounding errors do not accumulate.
    if (this.#random === undefined) this.nextMs = this.#startMs + ++this.#count * this.#intervalMs;
    else this.nextMs -= Math.log(1 - uniformFloat64(this.#random)) * this.#intervalMs;
  }
}
