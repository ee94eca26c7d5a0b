const FIRST_MS = 100;
const MOST_MS = 10_000;
/** Time without an attempt after which the next one is immediate again. */
const QUIET_MS = 60_000;

/**
 * Pauses between attempts at one thing: none before the first, then 100 ms, doubled each time up to
 * 10 s, until a minute has passed without one. Two programs that undo each other's writes would
 * otherwise write as fast as the servers answer, and so would one whose writes a server without
 * room refuses.
 */
export class RetryPace {
  #pauseMs = 0;
  #dueMs = Number.NEGATIVE_INFINITY;

  /** An attempt is due. @returns how long to wait with it, in milliseconds */
  pauseMs(nowMs: number): number {
    if (nowMs - this.#dueMs > QUIET_MS) this.#pauseMs = 0;
    const pauseMs = this.#pauseMs;
    this.#pauseMs = Math.min(Math.max(FIRST_MS, pauseMs * 2), MOST_MS);
    this.#dueMs = nowMs + pauseMs;
    return pauseMs;
  }
}
