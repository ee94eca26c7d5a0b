/**
 * Waits that double up to a limit, each shortened by a random share, so that what failed together
 * does not try again together.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #nextMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#nextMs = options.leastMs;
  }

  /** How long to wait before the next attempt, in milliseconds; longer with each that fails. */
  nextDelayMs(): number {
    const { mostMs, jitter, random } = this.#options;
    const delayMs = Math.min(mostMs, this.#nextMs) * (1 - jitter + jitter * random());
    this.#nextMs = Math.min(mostMs, this.#nextMs * 2);
    return delayMs;
  }

  /** An attempt has succeeded. */
  reset(): void {
    this.#nextMs = this.#options.leastMs;
  }
}

export interface BackoffOptions {
  /** The first wait, in milliseconds, before it is shortened. */
  readonly leastMs: number;
  /** The longest wait, in milliseconds. */
  readonly mostMs: number;
  /** The share of a wait that is random: 1 for waits from 0 on, 0.5 for waits from the half on. */
  readonly jitter: number;
  /** At least 0, below 1. */
  readonly random: () => number;
}
