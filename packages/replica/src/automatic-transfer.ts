import type { GroundParts } from "./parts/ground.ts";

/**
 * Time for which a leader has too little room while another has enough, before it leaves: where all
 * disks get room again, the leader may be the last one to notice.
 */
const PATIENCE_MS = 1000;
/** Interval of the tries within one attempt: open proposals must be committed and acked first. */
const TRY_MS = 5;
/** Ticks after an attempt that found no server that had everything. */
const RETRY_TICKS = 5;

/**
 * A leader whose disk has too little room leaves its leadership to a server that has enough. While
 * no other has, it continues to lead: reads, deletes and sessions need a leader. So does one that
 * the configuration no longer has as a voter, or has at another address, without patience.
 *
 * ```
 *            another has room        PATIENCE_MS later           what is proposed is acked
 *   IDLE ───────────────────▶ WAITING ─────────────▶ UNDER WAY ──────────────────────────▶ it left
 *     ▲                          ▲                       │
 *     └── no longer wanted       └──── RETRY_TICKS ◀─────┘ a tick later
 * ```
 */
export class AutomaticTransfer {
  readonly #parts: GroundParts;
  /** When the next attempt begins; undefined while none is wanted. */
  #beginMs: number | undefined;
  /** When the attempt that is under way ends. */
  #endMs: number | undefined;
  #tryMs: number = 0;

  constructor(parts: GroundParts) {
    this.#parts = parts;
  }

  /** Nothing is proposed meanwhile. */
  get isUnderWay(): boolean {
    return this.#endMs !== undefined;
  }

  /** When {@link tick} has something to do; undefined when never. */
  nextDueMs(): number | undefined {
    if (!this.#isWanted) return this.#beginMs === undefined ? undefined : this.#parts.servingState.nowMs;
    if (this.isUnderWay) return this.#tryMs;
    return this.#beginMs ?? this.#parts.servingState.nowMs;
  }

  tick(): void {
    const { config, servingState, zab } = this.#parts;
    const { nowMs } = servingState;
    if (!this.#isWanted) {
      this.#beginMs = undefined;
      this.#endMs = undefined;
      return;
    }
    const purpose = zab.mustTransfer ? "members" : "room";
    this.#beginMs ??= nowMs + (purpose === "room" ? PATIENCE_MS : 0);
    if (nowMs < this.#beginMs || nowMs < this.#tryMs) return;
    this.#endMs ??= nowMs + config.tickMs;
    this.#tryMs = nowMs + TRY_MS;
    if (zab.transferLeadership(purpose) === undefined && nowMs < this.#endMs) return;
    this.#endMs = undefined;
    this.#beginMs = nowMs + RETRY_TICKS * config.tickMs;
  }

  get #isWanted(): boolean {
    const { servingState, zab } = this.#parts;
    return servingState.isLeading && (zab.hasRoomierSuccessor || zab.mustTransfer);
  }
}
