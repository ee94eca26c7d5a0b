import {
  addressShare,
  BUDGETS,
  ClientShares,
  type Identity,
  NO_PROXIES,
  type TrustedProxies,
  type Zxid,
} from "@zooid/model";

/**
 * The last part of the tree's size is shared out, and the part of the whole that one address or
 * identity may add then.
 */
const { sharedPart: SHARED_FRACTION, ofClient: SHARE_FRACTION } = BUDGETS.treeRoom;
/**
 * Addresses and identities that are counted one by one; beyond it the smallest are counted
 * together.
 */
const USAGE_COUNT_MAX = 4096;
/**
 * Schemes whose identities any client can invent: the bytes that they add are charged to the
 * address alone.
 */
const INVENTED_SCHEMES: ReadonlySet<string> = new Set(["digest"]);
/** The key of all that came by trusted proxies. */
const PROXIES = "proxies";
const SETTLED_KEPT_MAX = 1024;

interface Usage {
  /** The bytes that it added, less those that any client removed since. */
  bytes: number;
  removedBefore: number;
}

/** The size of the tree when a write is prepared, and the last write that this size includes. */
export interface HeldState {
  readonly heldBytes: number;
  readonly applied: Zxid;
}

/**
 * Shares out the room of a tree that is nearly full. Any client may fill the first three quarters;
 * of the last one an address (or /64), or an identity that was proved, gets a sixteenth of the
 * whole, so that no client alone can keep all others from writing. Removed bytes give room to all
 * again. Admitted writes count before they are applied: a client may have megabytes in flight.
 */
export class HeldShares {
  #heldBytesMax = 0;
  #sharedAbove = 0;
  #share = 0;
  readonly #clients: ClientShares;
  readonly #proxiesPart: number;
  #proxiesShare = 0;
  readonly #usages = new Map<string, Usage>();
  /** Usage of all those that are no longer counted one by one. */
  #others: Usage = { bytes: 0, removedBefore: 0 };
  #heldAtStart = 0;
  #added = 0;
  #removed = 0;
  // Admitted writes that are not applied, oldest first from `#head` on.
  readonly #zxids: number[] = [];
  readonly #growths: number[] = [];
  #head = 0;
  #inFlight = 0;

  /** @param heldBytesMax the largest tree, in bytes as it counts them */
  constructor(heldBytesMax: number, trustedProxies: TrustedProxies = NO_PROXIES) {
    this.#clients = new ClientShares(trustedProxies);
    this.#proxiesPart = trustedProxies.share;
    this.setMax(heldBytesMax);
  }

  /** Another maximum from the next write on. What clients have added stays charged to them. */
  setMax(heldBytesMax: number): void {
    this.#proxiesShare = heldBytesMax * SHARED_FRACTION * this.#proxiesPart;
    this.#heldBytesMax = heldBytesMax;
    this.#sharedAbove = heldBytesMax * (1 - SHARED_FRACTION);
    this.#share = heldBytesMax * SHARE_FRACTION;
  }

  /**
   * Whether a client may add a number of bytes. If so, they are charged to its address and
   * identities.
   *
   * @param zxid of the transaction that adds them
   */
  admits(identities: readonly Identity[], growthBytes: number, zxid: Zxid, { heldBytes, applied }: HeldState): boolean {
    if (heldBytes < this.#sharedAbove / 2) return true;
    this.#settle(applied);
    const expected = heldBytes + this.#inFlight;
    if (expected + growthBytes > this.#heldBytesMax) return false;
    if (expected + growthBytes <= this.#sharedAbove) {
      if (this.#usages.size > 0) this.#forget();
      this.#charge(zxid, growthBytes);
      return true;
    }
    if (this.#usages.size === 0) {
      this.#heldAtStart = expected;
      this.#added = 0;
      this.#removed = 0;
    }
    this.#removed = Math.max(this.#removed, this.#added - (expected - this.#heldAtStart));
    const keys = this.#keysOf(identities);
    for (const key of keys) {
      const usage = this.#usageOf(key, this.#removed);
      if (usage === undefined || usage.bytes + growthBytes > this.#shareOf(key)) return false;
    }
    for (const key of keys) {
      const usage = this.#usages.get(key);
      if (usage !== undefined) usage.bytes += growthBytes;
    }
    this.#added += growthBytes;
    this.#charge(zxid, growthBytes);
    return true;
  }

  /** The role has ended: admitted writes may never be applied. */
  discard(): void {
    this.#head = this.#zxids.length;
    this.#settle(0 as Zxid);
    this.#inFlight = 0;
  }

  #charge(zxid: Zxid, growthBytes: number): void {
    this.#zxids.push(zxid);
    this.#growths.push(growthBytes);
    this.#inFlight += growthBytes;
  }

  /** Applied writes are in flight no more. */
  #settle(applied: Zxid): void {
    const zxids = this.#zxids;
    while (this.#head < zxids.length && (zxids[this.#head] as number) <= applied) {
      this.#inFlight -= this.#growths[this.#head++] as number;
    }
    if (this.#head < zxids.length && this.#head < SETTLED_KEPT_MAX) return;
    zxids.splice(0, this.#head);
    this.#growths.splice(0, this.#head);
    this.#head = 0;
  }

  /**
   * Undefined where there is no room to count one more, nor for what the smallest has added in the
   * common count.
   */
  #usageOf(key: string, removed: number): Usage | undefined {
    let usage = this.#usages.get(key);
    if (usage === undefined) {
      if (this.#usages.size >= USAGE_COUNT_MAX && !this.#mergeSmallest(removed)) return undefined;
      usage = { bytes: 0, removedBefore: removed };
      this.#usages.set(key, usage);
    }
    settleUsage(usage, removed);
    return usage;
  }

  /**
   * A charge is never forgotten: it goes to a count that has a share as one client has. @returns
   * whether it had room
   */
  #mergeSmallest(removed: number): boolean {
    let smallest: [string, Usage] | undefined;
    for (const entry of this.#usages) {
      settleUsage(entry[1], removed);
      if (smallest === undefined || entry[1].bytes < smallest[1].bytes) smallest = entry;
    }
    settleUsage(this.#others, removed);
    if (smallest === undefined || this.#others.bytes + smallest[1].bytes > this.#share) return false;
    this.#others.bytes += smallest[1].bytes;
    this.#usages.delete(smallest[0]);
    return true;
  }

  #shareOf(key: string): number {
    return key === PROXIES ? this.#proxiesShare : this.#share;
  }

  /**
   * A proxy's address says nothing about a client whose identity was proved; its other clients have
   * one share together.
   */
  #keysOf(identities: readonly Identity[]): readonly string[] {
    const proved: string[] = [];
    const addresses: string[] = [];
    for (const { scheme, id } of identities) {
      if (scheme === "ip") addresses.push(this.#clients.isProxy(id) ? PROXIES : `ip:${addressShare(id)}`);
      else if (!INVENTED_SCHEMES.has(scheme)) proved.push(`${scheme}:${id}`);
    }
    return proved.length > 0 ? [...addresses.filter((key) => key !== PROXIES), ...proved] : addresses;
  }

  #forget(): void {
    this.#usages.clear();
    this.#others = { bytes: 0, removedBefore: 0 };
  }
}

/** Removed bytes give room to all again. */
function settleUsage(usage: Usage, removed: number): void {
  usage.bytes = Math.max(0, usage.bytes - Math.max(0, removed - usage.removedBefore));
  usage.removedBefore = removed;
}
