// Reasons why a connection is not read, as bits: each has a cause of its own, so several may be
// set.

/** The replica accepts no more of its requests, until it resumes the connection. */
const HELD = 1;
/** Too many unsent bytes of a slow reader, until they are sent. */
const CHOKED = 2;
/** An answer is withheld after a failed authentication, until its delay is over. */
const WITHHELD = 4;
/** It has had its share of this turn. Followed by QUEUED. */
const SHARE_SPENT = 8;
/** It waits for a later turn. */
const QUEUED = 16;
/** Its requests are not executed. */
const BLOCKED: number = HELD | CHOKED | WITHHELD;

/**
 * Whether the bytes of a connection are read:
 *
 * - `ready`: what arrives is cut into requests at once
 * - `blocked`: held by the replica, choked by its own output, or withheld; what is kept is cut into
 *   requests when none of these holds any more
 * - `spent`: it has had its share of this turn, and is about to be queued
 * - `queued`: a later turn reads it on; it may be blocked as well, and then that turn leaves it so
 *
 * Spent and queued exclude each other: {@link queue} makes one the other, {@link dequeue} ends it.
 */
export class ReadState {
  #bits = 0;

  /** Whether the next request may be executed now. */
  get isReady(): boolean {
    return this.#bits === 0;
  }

  get isBlocked(): boolean {
    return (this.#bits & BLOCKED) !== 0;
  }

  get isChoked(): boolean {
    return (this.#bits & CHOKED) !== 0;
  }

  get isSpent(): boolean {
    return (this.#bits & SHARE_SPENT) !== 0;
  }

  get isQueued(): boolean {
    return (this.#bits & QUEUED) !== 0;
  }

  hold(): void {
    this.#bits |= HELD;
  }

  /** The replica accepts requests again. */
  resume(): void {
    this.#bits &= ~HELD;
  }

  choke(): void {
    this.#bits |= CHOKED;
  }

  /** The unsent bytes of a slow reader are sent. */
  drain(): void {
    this.#bits &= ~CHOKED;
  }

  withhold(): void {
    this.#bits |= WITHHELD;
  }

  /** The delay is over. */
  release(): void {
    this.#bits &= ~WITHHELD;
  }

  /** It has had its share of this turn. */
  spend(): void {
    this.#bits |= SHARE_SPENT;
  }

  /** It waits for a later turn. Not while it is queued. */
  queue(): void {
    this.#bits = (this.#bits & ~SHARE_SPENT) | QUEUED;
  }

  /** Its later turn has come. */
  dequeue(): void {
    this.#bits &= ~QUEUED;
  }
}
