import type { ConnectionRef } from "@zooid/model";
import type { ReplicaParts } from "../replica-parts.ts";

/**
 * Bounds the watches of one connection and of all connections together. Beyond the total, the
 * connection with the most is closed, whichever armed the last one: a client with few watches is
 * never refused because of another client's.
 */
export class WatchBudget {
  readonly #parts: ReplicaParts;
  /** There were more watches than may be, and connections were closed for that. */
  #isUnsettled = false;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  /** Whether {@link settle} has something to do. */
  get isUnsettled(): boolean {
    return this.#isUnsettled;
  }

  /** Whether a connection that may have armed watches may keep them. Another one may be closed. */
  admits(ref: ConnectionRef): boolean {
    const { config, tree } = this.#parts;
    const count = tree.watches.countOf(ref);
    if (count > config.watchCountMax) return false;
    if (count > 0) this.#enforce();
    return true;
  }

  /**
   * Compares all watches with their bound once those of closed connections are removed: 1. Client A
   * is closed with 900,000 watches. 2. While they are removed, client B arms as many. 3. B arms no
   * more, and would keep them.
   */
  settle(): void {
    if (!this.#isUnsettled || this.#parts.connections.isRemovingWatches) return;
    this.#isUnsettled = false;
    this.#enforce();
  }

  #enforce(): void {
    const { config, tree, connections } = this.#parts;
    if (tree.watches.heldBytes <= config.watchBytesMax) return;
    // Watches that are about to be removed make room.
    this.#isUnsettled = true;
    if (connections.isRemovingWatches) return;
    // rule: the-most-watches-are-closed
    this.#isUnsettled = this.#closeLargest();
  }

  /** @returns whether there was one */
  #closeLargest(): boolean {
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
    return connection !== undefined;
  }
}
