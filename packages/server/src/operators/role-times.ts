import { Histogram } from "@zooid/replica";
import type { PeerPhase, PeerState } from "@zooid/zab";

/** A server's state in its ensemble at one moment. */
export interface RoleAt {
  readonly state: PeerState;
  readonly phase: PeerPhase;
}

/**
 * How long a member of an ensemble took from one place to the next, in milliseconds:
 *
 * ```
 * looking ── election ──▶ decided ── synchronization ──▶ broadcast
 * └────────────────── unavailable ──────────────────────┘
 * ```
 */
export class RoleTimes {
  /** None for observers: they do not elect. */
  readonly elections: Histogram = new Histogram();
  readonly followerSyncs: Histogram = new Histogram();
  readonly observerSyncs: Histogram = new Histogram();
  readonly unavailable: Histogram = new Histogram();
  readonly leaderUnavailable: Histogram = new Histogram();
  lookingCount = 0;
  #sinceMs = 0;
  #lookingSinceMs: number | undefined;
  #decidedMs: number | undefined;

  /** When the present state began. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  changed({ state, phase }: RoleAt, nowMs: number): void {
    this.#sinceMs = nowMs;
    if (state === "looking") {
      this.lookingCount++;
      this.#lookingSinceMs ??= nowMs;
      this.#decidedMs = undefined;
      return;
    }
    const lookingSinceMs = this.#lookingSinceMs;
    if (lookingSinceMs === undefined) return;
    if (this.#decidedMs === undefined) {
      this.#decidedMs = nowMs;
      if (state !== "observing") note(this.elections, nowMs - lookingSinceMs);
    }
    if (phase !== "broadcast") return;
    note(this.unavailable, nowMs - lookingSinceMs);
    if (state === "leading") note(this.leaderUnavailable, nowMs - lookingSinceMs);
    else note(state === "observing" ? this.observerSyncs : this.followerSyncs, nowMs - this.#decidedMs);
    this.#lookingSinceMs = undefined;
    this.#decidedMs = undefined;
  }

  /** Clears the samples, not the present state. */
  resetCounts(): void {
    for (const histogram of [this.elections, this.followerSyncs, this.observerSyncs]) histogram.reset();
    for (const histogram of [this.unavailable, this.leaderUnavailable]) histogram.reset();
    this.lookingCount = 0;
  }
}

function note(histogram: Histogram, durationMs: number): void {
  histogram.note(Math.max(0, Math.floor(durationMs)));
}
