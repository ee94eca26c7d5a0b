import type { ConnectionRef } from "@zooid/model";
import type { ReplicaParts } from "../replica-parts.ts";

/**
 * Bounds the watches of one connection and of all connections together. Beyond the total, the
 * connection with the most is closed, whichever armed the last one: a client with few watches is
 * never refused because of another client's.
 */
export class WatchBudget {
  readonly #parts: ReplicaParts;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** Whether a connection that may have armed watches may keep them. Another one may be closed. */
  admits(ref: ConnectionRef): boolean {
    const { config, tree, connections } = this.#parts;
    const { watches } = tree;
    const count = watches.countOf(ref);
    if (count > config.watchCountMax) return false;
    if (count === 0 || watches.heldBytes <= config.watchBytesMax) return true;
    // Watches that are about to be removed make room.
    if (connections.isRemovingWatches) return true;
    // rule: the-most-watches-are-closed
    this.#closeLargest();
    return true;
  }

  #closeLargest(): void {
    const { tree, connections } = this.#parts;
    let largest: ConnectionRef | undefined;
    let most = 0;
    for (const { ref } of connections) {
      const count = tree.watches.countOf(ref);
      if (count <= most) continue;
      most = count;
      largest = ref;
    }
    const connection = largest === undefined ? undefined : connections.get(largest);
    if (connection !== undefined) connections.refuse(connection, "watch-limit");
  }
}
