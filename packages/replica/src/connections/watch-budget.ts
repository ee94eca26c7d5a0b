import type { ConnectionRef } from "@zooid/model";
import type { GroundParts } from "../parts/ground.ts";
import type { Connection } from "./connection.ts";

/**
 * Bounds the watches of one connection by their number, and those of all connections together by
 * the memory that they take. Beyond the total the address (or /64) whose watches take most gives
 * way, with the connection of it whose watches take most, whichever armed the last one: a client is
 * never refused because of another one with more, however that one spreads its watches.
 */
export class WatchBudget {
  readonly #parts: GroundParts;
  /** There were more watches than may be, and connections were closed for that. */
  #isUnsettled = false;

  constructor(parts: GroundParts) {
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
   * Compares all watches with their bound once those of closed connections are removed:
   *
   * 1. Client A is closed with 900,000 watches.
   * 2. While they are removed, client B arms as many.
   * 3. B arms no more, and would keep them.
   */
  settle(): void {
    if (!this.#isUnsettled || this.#parts.connections.isRemovingWatches) return;
    this.#isUnsettled = false;
    this.#enforce();
  }

  #enforce(): void {
    const { config, tree, connections } = this.#parts;
    if (tree.watches.chargedBytes <= config.watchBytesMax) return;
    // Watches that are about to be removed make room.
    this.#isUnsettled = true;
    this.#parts.postponed.mark();
    if (connections.isRemovingWatches) return;
    // rule: the-most-watches-are-closed
    this.#isUnsettled = this.#closeLargest();
  }

  /** @returns whether there was one */
  #closeLargest(): boolean {
    const { connections } = this.#parts;
    const share = this.#largestShare();
    let largest: Connection | undefined;
    for (const connection of connections) {
      if (connection.share !== share) continue;
      if (largest === undefined || this.#bytesOf(connection) > this.#bytesOf(largest)) largest = connection;
    }
    if (largest === undefined || this.#bytesOf(largest) === 0) return false;
    connections.refuse(largest, "watch-limit");
    return true;
  }

  /**
   * The address whose connections' watches take most memory together. One of those that come by
   * trusted proxies gives way where these have more than their part of the whole, and only then.
   */
  #largestShare(): string | undefined {
    const { config, clientShares } = this.#parts;
    const direct = new Map<string, number>();
    const proxied = new Map<string, number>();
    let proxiedBytes = 0;
    for (const connection of this.#parts.connections) {
      const { share, isProxied } = connection;
      const bytes = this.#bytesOf(connection);
      const sums = isProxied ? proxied : direct;
      sums.set(share, (sums.get(share) ?? 0) + bytes);
      if (isProxied) proxiedBytes += bytes;
    }
    return largestOf(proxiedBytes > config.watchBytesMax * clientShares.proxiesShare ? proxied : direct);
  }

  #bytesOf({ ref }: Connection): number {
    return this.#parts.tree.watches.chargedBytesOf(ref);
  }
}

function largestOf(sums: ReadonlyMap<string, number>): string | undefined {
  let largest: string | undefined;
  for (const [share, sum] of sums) if (largest === undefined || sum > (sums.get(largest) ?? 0)) largest = share;
  return largest;
}
