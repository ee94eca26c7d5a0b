import { type PeerMessage, type ServerId, ZXID_NONE, type Zxid } from "@zooid/model";
import { INIT_LIMIT, TICK_MS } from "../cluster/server-options.ts";

/** Time without progress after which a transfer has stalled. */
const STALL_MS = INIT_LIMIT * TICK_MS;

/**
 * Whether learners still receive history that they lack. How long that takes depends on the length
 * of the history, the windows, the links and the disks that a seed draws, so no fixed limit fits:
 *
 * 1. S1 has all of the weight and commits 1400 entries alone; resets interrupt each transfer to S2.
 * 2. The faults end. With runs of 574 bytes, reads of up to 150 ms and links of up to 60 ms, S2
 *    gets about 50 entries a second: it needs 28 seconds.
 *
 * Only a position that a learner has never reported before is progress: one that begins again and
 * again has stalled.
 */
export class Transfers {
  readonly #reached = new Map<ServerId, Zxid>();
  #end: number = Number.POSITIVE_INFINITY;
  #movedMs: number = Number.NEGATIVE_INFINITY;

  /** A server sends a message. */
  sent(sid: ServerId, message: PeerMessage, nowMs: number): void {
    const position = positionIn(message);
    const before = this.#reached.get(sid) ?? ZXID_NONE;
    if (position === undefined || position <= before) return;
    this.#reached.set(sid, position);
    if (before < this.#end) this.#movedMs = nowMs;
  }

  /**
   * From now on only history up to here counts: transfers end, even if the ensemble never stops
   * writing.
   */
  limitTo(end: Zxid): void {
    this.#end = Math.min(this.#end, end);
  }

  isMoving(nowMs: number): boolean {
    return nowMs - this.#movedMs < STALL_MS;
  }
}

/** Up to where the learner that sends this has the history. */
function positionIn(message: PeerMessage): Zxid | undefined {
  switch (message.kind) {
    case "staged":
    case "ack-new-leader":
      return message.through;
    case "ack":
      return message.durable;
    default:
      return undefined;
  }
}
