import type { ServerId } from "@zooid/model";

/**
 * Round trips to wait for: a better vote reaches a server, which passes it on; twice, since round
 * trips vary.
 */
const ROUND_TRIPS = 4;

/** Bounds of a settle delay. Whole milliseconds. */
export interface SettleBounds {
  readonly settleMsMin: number;
  readonly settleMsMax: number;
}

/**
 * How long a vote that has its quorum waits for a better one. Safety never depends on it: too
 * short, and now and then a leader is elected that its quorum has already left for a better one.
 *
 * The slowest voter counts. One that was never measured counts as the slowest that was: it may have
 * been down since this server started, and must not make every election slow. While nothing was
 * measured, the delay is the longest.
 */
export class SettleDelay {
  readonly #bounds: SettleBounds;
  readonly #roundTripMs = new Map<ServerId, number>();

  constructor(bounds: SettleBounds) {
    this.#bounds = bounds;
  }

  /** The newest measurement of a server counts. Not a number, or below 0, says nothing. */
  measured(sid: ServerId, roundTripMs: number): void {
    if (roundTripMs >= 0) this.#roundTripMs.set(sid, roundTripMs);
  }

  /** In whole milliseconds. */
  delayMs(voters: Iterable<ServerId>): number {
    let slowestMs = -1;
    for (const sid of voters) slowestMs = Math.max(slowestMs, this.#roundTripMs.get(sid) ?? -1);
    const { settleMsMin, settleMsMax } = this.#bounds;
    if (slowestMs < 0) return settleMsMax;
    return Math.min(settleMsMax, Math.max(settleMsMin, Math.ceil(ROUND_TRIPS * slowestMs)));
  }
}
