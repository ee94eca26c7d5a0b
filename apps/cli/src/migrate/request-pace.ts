import { setTimeout as delay } from "node:timers/promises";

/** Timers are no finer, and shorter waits cost more than they spread. */
const SLACK_MS = 5;

export interface PaceClock {
  nowMs(): number;
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

const CLOCK: PaceClock = {
  nowMs: () => performance.now(),
  wait: async (ms, signal) => {
    await delay(ms, undefined, { signal });
  },
};

/**
 * Bounds the requests that one server gets in a second, so that reading a whole tree leaves its
 * clients undisturbed. Requests that were not sent while it could have been are not sent later.
 */
export class RequestPace {
  readonly #msPerRequest: number;
  readonly #clock: PaceClock;
  /** When the next request is due. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(requestsPerSecond: number, clock: PaceClock = CLOCK) {
    this.#msPerRequest = 1000 / requestsPerSecond;
    this.#clock = clock;
  }

  /** Resolves when that many requests may be sent. */
  async take(requests: number, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const dueMs = Math.max(this.#dueMs, nowMs);
    this.#dueMs = dueMs + requests * this.#msPerRequest;
    if (dueMs - nowMs >= SLACK_MS) await this.#clock.wait(dueMs - nowMs, signal);
    else signal.throwIfAborted();
  }
}
