import type { CountedReplies } from "../clients/counted-replies.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { DriverGround } from "./driver-ground.ts";
import type { TurnLoop } from "./turn-loop.ts";

interface Parts extends DriverGround {
  readonly checkpoints: Checkpoints;
  readonly replies: CountedReplies;
  readonly turns: TurnLoop;
}

/**
 * Approximate limit of notifications in one turn. Ten thousand clients may watch a node that is
 * written a thousand times in one packet: clients, the log and other servers get their turn in
 * between.
 */
const EVENTS_PER_TURN = 5000;
/** Entries applied before time and notifications are looked at again, unless they take long. */
const ENTRIES_PER_LOOK = 8;
/** Time of applying transactions in one turn. */
const TURN_MS = 1;
/** Where the entries between two looks take longer, there are fewer until the next one. */
const LOOK_MS = TURN_MS / 4;

/** Applies committed transactions, at most a fair share of them in one turn. */
export class Deliveries {
  readonly #parts: Parts;
  /** The rest is applied in a turn of its own. */
  #isContinuing = false;
  /** The time left for this turn: the log may complete several writes in one turn. */
  #leftMs = TURN_MS;
  /** Notifications before this turn. */
  #eventsBefore = 0;
  /** A node that thousands watch makes each of its entries as dear as the last one. */
  #entriesPerLook = ENTRIES_PER_LOOK;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get isContinuing(): boolean {
    return this.#isContinuing;
  }

  beginTurn(): void {
    this.#leftMs = TURN_MS;
    this.#eventsBefore = this.#parts.replies.eventCount;
  }

  /** Applies what is committed, unless a later turn continues with it anyway. */
  deliver(): void {
    if (!this.#isContinuing) this.#deliver();
  }

  #deliver(): void {
    const { checkpoints, turns, polls } = this.#parts;
    this.#isContinuing = false;
    const more = this.#deliverSome();
    if (checkpoints.isDue) checkpoints.take();
    if (!more) return;
    this.#isContinuing = true;
    polls.later(() => {
      turns.wake();
      turns.step(() => this.#deliver());
    });
  }

  /** @returns whether there is more */
  #deliverSome(): boolean {
    const { config, replica, replies } = this.#parts;
    let left = config.deliverCountMax;
    let nowMs = performance.now();
    const endMs = nowMs + this.#leftMs;
    let more = true;
    while (more && left > 0 && nowMs < endMs && replies.eventCount - this.#eventsBefore < EVENTS_PER_TURN) {
      const count = Math.min(this.#entriesPerLook, left);
      more = replica.deliver(count);
      left -= count;
      const beforeMs = nowMs;
      nowMs = performance.now();
      this.#entriesPerLook =
        nowMs - beforeMs > LOOK_MS ? Math.max(1, count >> 1) : Math.min(ENTRIES_PER_LOOK, this.#entriesPerLook * 2);
    }
    this.#leftMs = endMs - nowMs;
    return more;
  }
}
