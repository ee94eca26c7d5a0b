import type { SessionTouch } from "./quorum-packet.ts";

/** Sessions in one PING: a leader refuses packets of 2 MB and more. */
export const TOUCHES_PER_PING = 50_000;
/** Sessions that wait for a ping. */
export const TOUCH_COUNT_MAX = 1_000_000;

/** Sessions that were used since the last ping, each once. */
export class PendingTouches {
  readonly #timeouts = new Map<bigint, number>();

  get count(): number {
    return this.#timeouts.size;
  }

  /** Touches beyond the limit are left out; the caller repeats them. */
  add(touches: Iterable<SessionTouch>): void {
    for (const { id, timeoutMs } of touches) {
      if (this.#timeouts.size < TOUCH_COUNT_MAX || this.#timeouts.has(id)) this.#timeouts.set(id, timeoutMs);
    }
  }

  /** Those for one ping, in the order in which they came; the rest goes with the next one. */
  take(): readonly SessionTouch[] {
    const taken: SessionTouch[] = [];
    for (const [id, timeoutMs] of this.#timeouts) {
      if (taken.length === TOUCHES_PER_PING) break;
      taken.push({ id, timeoutMs });
      this.#timeouts.delete(id);
    }
    return taken;
  }
}
