export interface TimeShareOptions {
  /** A monotonic clock in milliseconds. */
  now(): number;
  /** The part of the event loop's time. */
  readonly ofTime: number;
  /** Maximum part of it that is saved for a burst. */
  readonly savedMsMax: number;
  /**
   * Work that seems to take longer waited for a processor that others had: counted in full, others
   * would wait four times as long.
   */
  readonly costMsMax: number;
}

/**
 * Grants the beginning of one piece of work after the other by the time that they have taken: a
 * part of the event loop's, however dear each is.
 */
export class TimeShare {
  readonly #options: TimeShareOptions;
  #leftMs: number;
  #seenMs: number;

  constructor(options: TimeShareOptions) {
    this.#options = options;
    this.#leftMs = options.savedMsMax;
    this.#seenMs = options.now();
  }

  /** Milliseconds until the next piece may begin; 0: now. */
  waitMs(): number {
    const { ofTime, savedMsMax } = this.#options;
    const nowMs = this.#options.now();
    this.#leftMs = Math.min(savedMsMax, this.#leftMs + (nowMs - this.#seenMs) * ofTime);
    this.#seenMs = nowMs;
    return this.#leftMs > 0 ? 0 : Math.max(1, Math.ceil(-this.#leftMs / ofTime));
  }

  /** A piece of work took `ms`. */
  spend(ms: number): void {
    this.#leftMs -= Math.min(ms, this.#options.costMsMax);
  }
}
