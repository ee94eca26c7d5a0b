/** Node's longest timer; a longer one fires after 1 ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** One timer, for the earliest of the times for which it is armed. */
export class DueTimer {
  readonly #fire: () => void;
  readonly #isBackground: boolean;
  #timer: NodeJS.Timeout | undefined;
  #dueMs = Number.POSITIVE_INFINITY;

  /**
   * @param fire called at the time, or earlier for a time that is further away than a timer can be;
   *   it arms the timer again
   * @param isBackground whether the process may end while it is armed
   */
  constructor(fire: () => void, isBackground: boolean) {
    this.#fire = fire;
    this.#isBackground = isBackground;
  }

  /** @param dueMs by the monotonic clock, in milliseconds; undefined: not armed */
  arm(dueMs: number | undefined): void {
    if (dueMs === undefined || dueMs >= this.#dueMs) return;
    clearTimeout(this.#timer);
    this.#dueMs = dueMs;
    this.#timer = setTimeout(
      () => {
        this.#dueMs = Number.POSITIVE_INFINITY;
        this.#fire();
      },
      Math.min(TIMER_MS_MAX, Math.max(1, Math.ceil(dueMs - performance.now()))),
    );
    if (this.#isBackground) this.#timer.unref();
  }

  /** It does not fire any more and cannot be armed again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#dueMs = Number.NEGATIVE_INFINITY;
  }
}
