import type { ConnectionRef, Zxid } from "@zooid/model";

/** A client's sync that waits for its moment. */
export interface PendingSync {
  /** This server's number for it, where the leader is asked. */
  readonly sequence: number;
  readonly connection: ConnectionRef;
  /** A copy of the request. */
  readonly frame: Uint8Array;
  readonly receivedMs: number;
  /** The round in which a quorum has to confirm the leader; at a learner the leader sees to that. */
  readonly round: number;
  /** What must be applied here before the answer; undefined until the leader has said so. */
  readAt: Zxid | undefined;
  isConfirmed: boolean;
}

/**
 * This server's own syncs, in the order in which they came. They are answered in that order: what the leader says of one never lies
 * before what it said of an earlier one.
 */
export class PendingSyncs {
  readonly #syncs: PendingSync[] = [];
  #sequence = 0;

  get count(): number {
    return this.#syncs.length;
  }

  nextSequence(): number {
    return ++this.#sequence;
  }

  push(sync: PendingSync): void {
    this.#syncs.push(sync);
  }

  /** The leader's word on one of them. */
  replied(sequence: number, readAt: Zxid): void {
    const sync = this.#syncs.find((each) => each.sequence === sequence);
    if (sync === undefined) return;
    sync.readAt = readAt;
    sync.isConfirmed = true;
  }

  /** A quorum has confirmed this server as leader. */
  confirmed(round: number): void {
    for (const sync of this.#syncs) {
      if (sync.round > round) return;
      sync.isConfirmed = true;
    }
  }

  /** The oldest one that may be answered, which is taken out. */
  takeDue(applied: Zxid): PendingSync | undefined {
    const oldest = this.#syncs[0];
    if (oldest === undefined || !oldest.isConfirmed) return undefined;
    if (oldest.readAt === undefined || oldest.readAt > applied) return undefined;
    return this.#syncs.shift();
  }

  clear(): void {
    this.#syncs.length = 0;
  }
}
