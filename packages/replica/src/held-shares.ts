import type { Identity } from "@zooid/model";

/** The last part of what the tree may hold is shared out. */
const SHARED_FRACTION = 1 / 4;
/** What one address, or one identity, may add of the whole while the tree is that full. */
const SHARE_FRACTION = 1 / 16;
/** Addresses and identities that are remembered; beyond it the one that came first is forgotten. */
const USAGE_COUNT_MAX = 4096;

interface Usage {
  /** What it added, less what anybody removed since. */
  bytes: number;
  removedBefore: number;
}

/**
 * Who may add to a tree that is nearly full. The first three quarters belong to whoever comes; of the last quarter one address or identity
 * gets a sixteenth of the whole, so that no client alone can keep all others from writing. What is removed, by anybody, gives everybody
 * room again.
 */
export class HeldShares {
  readonly #sharedAbove: number;
  readonly #share: number;
  readonly #usages = new Map<string, Usage>();
  #heldAtStart = 0;
  #added = 0;

  /** @param heldBytesMax what the tree may hold, in bytes as it counts them */
  constructor(heldBytesMax: number) {
    this.#sharedAbove = heldBytesMax * (1 - SHARED_FRACTION);
    this.#share = heldBytesMax * SHARE_FRACTION;
  }

  /**
   * Whether a client may add so many bytes, which are charged to its address and its identities then.
   *
   * @param heldBytes what the tree holds
   */
  admits(identities: readonly Identity[], growthBytes: number, heldBytes: number): boolean {
    if (heldBytes + growthBytes <= this.#sharedAbove) {
      if (this.#usages.size > 0) this.#usages.clear();
      return true;
    }
    if (this.#usages.size === 0) {
      this.#heldAtStart = heldBytes;
      this.#added = 0;
    }
    // What was added and is not there was removed, or is on its way.
    const removed = this.#added - (heldBytes - this.#heldAtStart);
    for (const identity of identities) {
      if (this.#usageOf(identity, removed).bytes + growthBytes > this.#share) return false;
    }
    for (const identity of identities) this.#usageOf(identity, removed).bytes += growthBytes;
    this.#added += growthBytes;
    return true;
  }

  #usageOf({ scheme, id }: Identity, removed: number): Usage {
    const key = `${scheme}:${id}`;
    let usage = this.#usages.get(key);
    if (usage === undefined) {
      if (this.#usages.size === USAGE_COUNT_MAX) this.#forgetFirst();
      usage = { bytes: 0, removedBefore: removed };
      this.#usages.set(key, usage);
    }
    usage.bytes = Math.max(0, usage.bytes - Math.max(0, removed - usage.removedBefore));
    usage.removedBefore = removed;
    return usage;
  }

  #forgetFirst(): void {
    const [first] = this.#usages.keys();
    if (first !== undefined) this.#usages.delete(first);
  }
}
