import type { WatchTable } from "@zooid/data-tree";
import type { ConnectionRef } from "@zooid/model";
import type { ReplicaConfig } from "../config.ts";
import type { Connections } from "./connections.ts";

/**
 * Bounds the watches of one connection and of all connections together. Where all together take too much, the connection with the most
 * is closed, whichever asks: a client with few watches is never refused for those of another.
 */
export class WatchBudget {
  readonly #watches: WatchTable;
  readonly #connections: Connections;
  readonly #countMax: number;
  readonly #bytesMax: number;

  constructor(
    watches: WatchTable,
    connections: Connections,
    { watchCountMax, watchBytesMax }: Pick<ReplicaConfig, "watchCountMax" | "watchBytesMax">,
  ) {
    this.#watches = watches;
    this.#connections = connections;
    this.#countMax = watchCountMax;
    this.#bytesMax = watchBytesMax;
  }

  /** Whether a connection that may have armed watches may keep them. Another one may be closed for it. */
  admits(ref: ConnectionRef): boolean {
    const watches = this.#watches;
    const count = watches.countOf(ref);
    if (count > this.#countMax) return false;
    if (count === 0 || watches.heldBytes <= this.#bytesMax) return true;
    // What is about to be removed already makes room.
    if (this.#connections.isClearing) return true;
    // rule: the-most-watches-are-closed
    this.#closeLargest();
    return true;
  }

  #closeLargest(): void {
    let largest: ConnectionRef | undefined;
    let most = 0;
    for (const { ref } of this.#connections) {
      const count = this.#watches.countOf(ref);
      if (count <= most) continue;
      most = count;
      largest = ref;
    }
    const connection = largest === undefined ? undefined : this.#connections.get(largest);
    if (connection !== undefined) this.#connections.refuse(connection, "watch-limit");
  }
}
