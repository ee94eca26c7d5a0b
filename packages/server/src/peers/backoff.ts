/** Waits that double up to a limit, each shortened by chance so that servers that failed together do not try again together. */
export class Backoff {
  readonly #leastMs: number;
  readonly #mostMs: number;
  readonly #random: () => number;
  #nextMs: number;

  constructor(leastMs: number, mostMs: number, random: () => number = Math.random) {
    this.#leastMs = leastMs;
    this.#mostMs = mostMs;
    this.#random = random;
    this.#nextMs = leastMs;
  }

  next(): number {
    const waitMs = this.#nextMs * (0.5 + this.#random() / 2);
    this.#nextMs = Math.min(this.#mostMs, this.#nextMs * 2);
    return waitMs;
  }

  reset(): void {
    this.#nextMs = this.#leastMs;
  }
}
