import type { RoleEnd } from "@zooid/zab";
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
const CLOSED: RoleEnd = { kind: "closed-to-clients" };

/** Why a leader leaves. */
type Purpose = "members" | "room" | "closed";

/**
 * A leader whose disk has too little room leaves its leadership to a server that has enough. While
 * no other has, it continues to lead: reads, deletes and sessions need a leader. So does one that
 * the configuration no longer has as a voter, or has at another address, without patience.
 *
 * A leader that has served clients, and learns that the ensemble is closed to them, begins the next
 * epoch itself: with the old one, all that is known of clients and their requests ends.
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
    if (this.#purpose === undefined) return this.#beginMs === undefined ? undefined : this.#parts.servingState.nowMs;
    if (this.isUnderWay) return this.#tryMs;
    const { nowMs } = this.#parts.servingState;
    return this.#purpose === "closed" ? nowMs : (this.#beginMs ?? nowMs);
  }

  tick(): void {
    const { config, servingState, zab } = this.#parts;
    const { nowMs } = servingState;
    const purpose = this.#purpose;
    if (purpose === undefined) {
      this.#beginMs = undefined;
      this.#endMs = undefined;
      return;
    }
    // No attempt for another reason delays a closing.
    if (purpose === "closed" && !this.isUnderWay) this.#beginMs = nowMs;
    this.#beginMs ??= nowMs + (purpose === "room" ? PATIENCE_MS : 0);
    if (nowMs < this.#beginMs || nowMs < this.#tryMs) return;
    this.#endMs ??= nowMs + config.tickMs;
    this.#tryMs = nowMs + TRY_MS;
    const isLate = nowMs >= this.#endMs;
    if (purpose === "closed") {
      if (zab.succeedItself(CLOSED) || !isLate) return;
      zab.resign(CLOSED);
    } else if (zab.transferLeadership(purpose) === undefined && !isLate) return;
    this.#endMs = undefined;
    this.#beginMs = nowMs + RETRY_TICKS * config.tickMs;
  }

  get #purpose(): Purpose | undefined {
    const { servingState, zab } = this.#parts;
    if (!servingState.isLeading) return undefined;
    if (servingState.closedMs !== undefined) return "closed";
    if (zab.mustTransfer) return "members";
    return zab.hasRoomierSuccessor ? "room" : undefined;
  }
}
