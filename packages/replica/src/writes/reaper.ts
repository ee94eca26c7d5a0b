import type { Zxid } from "@zooid/model";
import type { GroundParts } from "../parts/ground.ts";

const MINUTE_MS = 60_000;
/** Nodes that one step looks at. */
const LOOK_COUNT_MAX = 1000;
/** Between the steps of a round, or less if rounds follow each other sooner. */
const STEP_MS_MAX = 100;
/** Time after a change of the wall clock, or a restore, in which nothing is removed. */
const PAUSE_MS = 600_000;

/**
 * When a leader looks for containers and TTL nodes to remove, and how many it removes: round after
 * round, in short steps. Time to live is counted by the wall clock. When that jumps against the
 * monotonic clock, nothing is removed for a while: an operator may correct a wrong clock before all
 * TTL nodes are removed at once.
 */
export class Reaper {
  readonly #parts: GroundParts;
  readonly #stepMs: number;
  #dueMs = 0;
  #nextRoundMs = 0;
  /** Nodes that this round has not looked at. */
  #left = 0;
  /** By how much the wall clock is ahead of the monotonic one. */
  #aheadMs = 0;
  /** The restored state that the history begins with; nothing is removed until then. */
  #restored: { readonly zxid: Zxid; readonly untilMs: number } | undefined;

  constructor(parts: GroundParts) {
    this.#parts = parts;
    this.#stepMs = Math.min(STEP_MS_MAX, parts.config.reaping.checkIntervalMs);
  }

  /** This server leads from now on. */
  begin(nowMs: number, wallMs: number): void {
    this.#aheadMs = wallMs - nowMs;
    this.#left = 0;
    this.#dueMs = Math.max(nowMs + this.#parts.config.reaping.checkIntervalMs, this.#restored?.untilMs ?? 0);
  }

  /**
   * This server serves behind a restored state. It removes nothing for a while, also where it leads
   * later: nodes have expired in the time that the restore has gone back, and operators may want
   * them. A server that was started since does not know when the state was restored, and counts
   * from its start.
   */
  restored(zxid: Zxid, nowMs: number): void {
    if (this.#restored?.zxid !== zxid) this.#restored = { zxid, untilMs: nowMs + PAUSE_MS };
  }

  /** There is no room for removals now. */
  postpone(nowMs: number): void {
    if (nowMs >= this.#dueMs) this.#dueMs = nowMs + this.#stepMs;
  }

  /**
   * When {@link step} has something to do; undefined while there is nothing that could ever be
   * removed.
   */
  nextDueMs(): number | undefined {
    return this.#parts.tree.reapableCount === 0 ? undefined : this.#dueMs;
  }

  /**
   * Looks at some of what is to be looked at.
   *
   * @param wallMs the wall clock as it is, unlike the time that transactions are stamped with,
   *   which never goes back
   * @param reap removes a node
   */
  step(nowMs: number, wallMs: number, reap: (node: number) => void): void {
    if (nowMs < this.#dueMs) return;
    // rule: no-removals-after-a-clock-jump
    if (this.#hasJumped(nowMs, wallMs)) {
      this.#left = 0;
      this.#dueMs = nowMs + PAUSE_MS;
      return;
    }
    const { checkIntervalMs, perMinuteMax } = this.#parts.config.reaping;
    if (this.#left === 0) {
      this.#left = this.#parts.tree.reapableCount;
      this.#nextRoundMs = nowMs + checkIntervalMs;
    }
    const reapedMax = Math.ceil((perMinuteMax * this.#stepMs) / MINUTE_MS);
    let reaped = 0;
    for (let looks = 0; this.#left > 0 && looks < LOOK_COUNT_MAX && reaped < reapedMax; looks++) {
      this.#left--;
      const node = this.#parts.tree.takeReapable();
      if (node === 0 || !this.#parts.tree.isReapable(node, this.#parts.config.reaping, wallMs)) continue;
      reap(node);
      reaped++;
    }
    const restMs = Math.max(this.#stepMs, Math.ceil((reaped * MINUTE_MS) / perMinuteMax));
    this.#dueMs = this.#left > 0 ? nowMs + restMs : Math.max(this.#nextRoundMs, nowMs + restMs);
  }

  #hasJumped(nowMs: number, wallMs: number): boolean {
    const aheadMs = wallMs - nowMs;
    const jumpMs = aheadMs - this.#aheadMs;
    if (Math.abs(jumpMs) <= this.#parts.config.tickMs) return false;
    this.#aheadMs = aheadMs;
    this.#parts.sinks.note({ kind: "wall-clock-set", byMs: jumpMs, pauseMs: PAUSE_MS });
    return true;
  }
}
