import { BUDGETS } from "@zooid/model";

/** The share of the event loop's time that handshakes get. */
const SHARE = BUDGETS.handshakes.ofTime;
/** A handshake that seems to take longer waited for a processor that others had: counted in full, others would wait four times as long. */
const COST_MS_MAX = 8;
/** How much of it may be saved for a burst. */
const SAVED_MS_MAX = BUDGETS.handshakes.savedMsMax;

/** Grants the beginning of TLS handshakes by the time that they have taken: they get a quarter of the event loop, however dear each is. */
export class HandshakeBudget {
  readonly #now: () => number;
  #leftMs: number = SAVED_MS_MAX;
  #seenMs: number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#seenMs = now();
  }

  /** Milliseconds until the next handshake may begin; 0: now. */
  waitMs(): number {
    const nowMs = this.#now();
    this.#leftMs = Math.min(SAVED_MS_MAX, this.#leftMs + (nowMs - this.#seenMs) * SHARE);
    this.#seenMs = nowMs;
    return this.#leftMs > 0 ? 0 : Math.max(1, Math.ceil(-this.#leftMs / SHARE));
  }

  /** A handshake took so long. */
  spend(ms: number): void {
    this.#leftMs -= Math.min(ms, COST_MS_MAX);
  }
}
