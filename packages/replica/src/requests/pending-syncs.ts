import type { Zxid } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";

/** A client's sync that waits for its moment. */
export interface PendingSync {
  readonly connection: Connection;
  /** A copy of the request, until it is answered. */
  frame: Uint8Array;
  readonly receivedMs: number;
  /** The round in which a quorum has to confirm the leader; 0 at a learner, where the leader sees to that, and where there is no other server. */
  readonly round: number;
  /** What must be applied here before the answer; undefined until the leader has said so. */
  readAt: Zxid | undefined;
  /** The next one of the same connection. */
  next: PendingSync | undefined;
  isTaken: boolean;
}

/** Taken syncs are dropped from the list when there are more of them than of others, and so many. */
const DROPPED_MIN = 64;

/**
 * This server's own syncs, in the order in which they came. They become due in that order: what the leader says of one never lies
 * before what it said of an earlier one. Clients may have hundreds of thousands of them: no call walks them.
 */
export class PendingSyncs {
  #syncs: PendingSync[] = [];
  #first = 0;
  #takenCount = 0;
  /** This server's number for the first of the list, where the leader is asked: they follow one another. */
  #firstSequence = 1;
  #confirmedRound = 0;

  get count(): number {
    return this.#syncs.length - this.#takenCount;
  }

  /** @returns this server's number for it, where the leader is asked */
  push(sync: Omit<PendingSync, "next" | "isTaken">): number {
    const pending: PendingSync = { ...sync, next: undefined, isTaken: false };
    const { connection } = pending;
    if (connection.newestSync === undefined) connection.oldestSync = pending;
    else connection.newestSync.next = pending;
    connection.newestSync = pending;
    this.#syncs.push(pending);
    return this.#firstSequence + this.#syncs.length - 1;
  }

  /** The leader's word on one of them. */
  replied(sequence: number, readAt: Zxid): void {
    const sync = this.#syncs[sequence - this.#firstSequence];
    if (sync !== undefined) sync.readAt = readAt;
  }

  /** A quorum has confirmed this server as leader. */
  confirmed(round: number): void {
    this.#confirmedRound = Math.max(this.#confirmedRound, round);
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
    return sync.round <= this.#confirmedRound;
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

  /** The role has ended. Numbers go on, so that a late word of a leader meets no other sync. */
  clear(): void {
    for (const { connection } of this.#syncs) {
      connection.oldestSync = undefined;
      connection.newestSync = undefined;
    }
    this.#takenCount = this.#syncs.length;
    this.#drop(this.#syncs.length);
    this.#confirmedRound = 0;
  }
}
