import type { Excess } from "@zooid/data-tree";
import type { ByteSlice } from "@zooid/model";
import type { GroundParts } from "../parts/ground.ts";

/** Between two events about quotas. */
const INTERVAL_MS = 10_000;

/**
 * Reports writes beyond a quota to operators, at most one event in ten seconds with a count of the
 * others.
 */
export class QuotaNotes {
  readonly #parts: GroundParts;
  #silentUntilMs = 0;
  #suppressedCount = 0;

  constructor(parts: GroundParts) {
    this.#parts = parts;
  }

  /** @param refused the path of the write, where it was refused for a hard quota */
  exceeded(excess: Excess, refused: Readonly<ByteSlice> | undefined): void {
    const { servingState, sinks, counters } = this.#parts;
    if (refused !== undefined) counters.quotaExceeded(refused);
    if (servingState.nowMs < this.#silentUntilMs) {
      this.#suppressedCount++;
      return;
    }
    sinks.note({ kind: "over-quota", excess, moreCount: this.#suppressedCount });
    this.#silentUntilMs = servingState.nowMs + INTERVAL_MS;
    this.#suppressedCount = 0;
  }
}
