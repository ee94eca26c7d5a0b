import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

/** How an open loop's requests are spread over time. */
export type Arrivals = "constant" | "poisson";

export interface ArrivalOptions {
  readonly arrivals: Arrivals;
  readonly ratePerSecond: number;
  /** Where the schedule begins, on the clock that its times are on. */
  readonly startMs: number;
  readonly seed: number;
}

/**
 * When each request is meant to leave, whatever happens to the ones before: the schedule that makes a loop open. It knows no clock;
 * whoever is late finds the times where they were.
 */
export class ArrivalSchedule {
  /** When the next request is due. */
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

  /** Moves on to the next request. */
  advance(): void {
    // From the start, not from the last one: small errors of adding do not become a drift.
    if (this.#random === undefined) this.nextMs = this.#startMs + ++this.#count * this.#intervalMs;
    else this.nextMs -= Math.log(1 - uniformFloat64(this.#random)) * this.#intervalMs;
  }
}
