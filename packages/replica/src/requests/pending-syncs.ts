import type { Zxid } from "@zooid/model";
import type { Connection, PendingSync } from "../connections/connection.ts";

/** Minimum number of taken syncs, more than half of the list, at which they are dropped from it. */
const DROPPED_MIN = 64;

/**
 * This server's own syncs, in order. They become due in that order: the leader's zxids for them
 * never decrease. There may be hundreds of thousands: no call walks all of them.
 */
export class PendingSyncs {
  #syncs: PendingSync[] = [];
  #first = 0;
  #takenCount = 0;
  /** The number of the first sync in the list; numbers are consecutive. */
  #firstSequence = 1;
  #confirmedCheck = 0;

  get count(): number {
    return this.#syncs.length - this.#takenCount;
  }

  /** @returns its number, for the message to the leader */
  push(sync: Omit<PendingSync, "next" | "isTaken">): number {
    const pending: PendingSync = { ...sync, next: undefined, isTaken: false };
    const { connection } = pending;
    if (connection.newestSync === undefined) connection.oldestSync = pending;
    else connection.newestSync.next = pending;
    connection.newestSync = pending;
    this.#syncs.push(pending);
    return this.#firstSequence + this.#syncs.length - 1;
  }

  /** The leader's answer to a sync. */
  replied(sequence: number, readAt: Zxid): void {
    const sync = this.#syncs[sequence - this.#firstSequence];
    if (sync !== undefined) sync.readAt = readAt;
  }

  /** A quorum has confirmed this server as leader. */
  confirmed(check: number): void {
    this.#confirmedCheck = Math.max(this.#confirmedCheck, check);
  }

  /** Whether one may be answered. */
  hasDue(applied: Zxid): boolean {
    this.#dropTaken();
    return this.#isDue(this.#syncs[this.#first], applied);
  }

  /** The oldest one that may be answered, which is taken out. */
  takeDue(applied: Zxid): PendingSync | undefined {
    this.#dropTaken();
    return this.#take(this.#syncs[this.#first], applied);
  }

  /** The oldest one of a connection that may be answered, which is taken out. */
  takeDueOf(connection: Connection, applied: Zxid): PendingSync | undefined {
    return this.#take(connection.oldestSync, applied);
  }

  #take(sync: PendingSync | undefined, applied: Zxid): PendingSync | undefined {
    if (sync === undefined || !this.#isDue(sync, applied)) return undefined;
    const { connection } = sync;
    sync.isTaken = true;
    this.#takenCount++;
    connection.oldestSync = sync.next;
    if (sync.next === undefined) connection.newestSync = undefined;
    return sync;
  }

  #isDue(sync: PendingSync | undefined, applied: Zxid): boolean {
    if (sync?.readAt === undefined || sync.readAt > applied) return false;
    return sync.check <= this.#confirmedCheck;
  }

  #dropTaken(): void {
    while (this.#syncs[this.#first]?.isTaken === true) this.#first++;
    if (this.#first < DROPPED_MIN || this.#first * 2 < this.#syncs.length) return;
    this.#drop(this.#first);
  }

  #drop(count: number): void {
    this.#firstSequence += count;
    this.#takenCount -= count;
    this.#syncs = this.#syncs.slice(count);
    this.#first = 0;
  }

  /**
   * The role has ended. Numbers are not used again, so that a late answer of a leader finds no
   * other sync.
   */
  clear(): void {
    for (const { connection } of this.#syncs) {
      connection.oldestSync = undefined;
      connection.newestSync = undefined;
    }
    this.#takenCount = this.#syncs.length;
    this.#drop(this.#syncs.length);
    this.#confirmedCheck = 0;
  }
}
