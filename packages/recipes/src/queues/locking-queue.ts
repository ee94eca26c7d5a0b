import type { Client, Payload } from "@zooid/client";
import { baseName, checkFit, joinPath, type Shape, shape, wholeNumberRule } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, WAIT, type WaitOptions, within } from "../leases/deadline.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { isNumbered } from "../locks/sequence.ts";
import { namesBelow, watchedChildren } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { type ClaimedItem, Claims } from "./claims.ts";

/** Shorter listings cost little, and are read for each take. */
const CACHED_COUNT_MIN = 256;
/**
 * Time for which a listing is used, as a multiple of the time that it took to read: reading takes a
 * tenth of the time.
 */
const CACHED_COST_FACTOR = 10;
const CACHED_MS_MAX = 1_000;

export interface PriorityOptions {
  /** From 0, the highest, to 999. Default 100. */
  readonly priority?: number;
}

/** An exclusively taken item, until it is consumed or released, or its claim is lost. */
export interface LockedItem extends AsyncDisposable {
  readonly data: Uint8Array;
  /** The claim on it: its signal aborts when another client may get the item. */
  readonly lease: Lease;
  /**
   * Removes it from the queue.
   *
   * @throws LEASE_LOST if another client may have it; LOCK_TIMEOUT or the signal's reason, where
   *   the request continues in the background: the item may be consumed, or come back
   */
  consume(options?: WaitOptions): Promise<void>;
  /**
   * Returns it to the queue. No effect if it was consumed. @throws LOCK_TIMEOUT or the signal's
   * reason, where it is returned in the background
   */
  release(options?: WaitOptions): Promise<void>;
}

const PRIORITY: Shape<PriorityOptions> = shape<PriorityOptions>({ priority: wholeNumberRule(0, 999) });

/**
 * A queue whose items are taken, then consumed or released: kazoo's LockingQueue, on the same
 * znodes, `<path>/entries/entry-<priority>-<number>` and, for each taken item, an ephemeral of the
 * same name in `<path>/taken`. Items of a client that dies return to the queue.
 */
export class LockingQueue {
  readonly path: string;
  readonly #zk: Client;
  readonly #entriesPath: string;
  readonly #takenPath: string;
  readonly #claims: Claims;
  #listing: Listing | undefined;

  constructor(zk: Client, path: string, options: HoldOptions = {}) {
    checkArguments("LockingQueue", zk, path, options, HOLD);
    this.path = path;
    this.#zk = zk;
    this.#entriesPath = joinPath(path, "entries");
    this.#takenPath = joinPath(path, "taken");
    this.#claims = new Claims(zk, this.#takenPath, options);
  }

  async put(data: Payload, options: PriorityOptions = {}): Promise<void> {
    checkFit(`put into ${this.path}`, options, PRIORITY);
    const mode = { mode: "persistent-sequential", parents: "container" } as const;
    const { path } = await this.#zk.create(joinPath(this.#entriesPath, prefixOf(options)), data, mode);
    // Its own client takes it in its turn.
    if (this.#listing?.isAhead(baseName(path)) === true) this.#listing = undefined;
  }

  /**
   * Waits for the first free item. In a queue of hundreds of items and more a listing serves many
   * takes: an item with a higher priority, or a returned one, may then be overlooked for as long as
   * ten listings take, at most for a second.
   *
   * @throws LOCK_TIMEOUT or the signal's reason; then none is taken
   */
  async take(options: WaitOptions = {}): Promise<LockedItem> {
    using deadline = new Deadline(options, `take from ${this.path}`);
    const { signal } = deadline;
    for (;;) {
      const known = await this.#claimFirst(this.#listing, signal);
      if (known !== undefined) return known;
      const startMs = performance.now();
      const taken = await watchedChildren(this.#zk, this.#takenPath, signal);
      using _taken = taken.watch;
      const entries = await watchedChildren(this.#zk, this.#entriesPath, signal);
      using _entries = entries.watch;
      const isTaken = new Set(taken.names);
      const free = inOrder(entries.names).filter((name) => !isTaken.has(name));
      const listing = new Listing(free, startMs);
      if (free.length >= CACHED_COUNT_MIN) this.#listing = listing;
      const claimed = await this.#claimFirst(listing, signal);
      if (claimed !== undefined) return claimed;
      await unlessAborted(Promise.race([taken.watch.fired, entries.watch.fired]), signal);
    }
  }

  /**
   * The first item of a listing that can be claimed; undefined where there is none, or it is too
   * old.
   */
  async #claimFirst(listing: Listing | undefined, signal: AbortSignal): Promise<LockedItem | undefined> {
    for (let name = listing?.next(); name !== undefined; name = listing?.next()) {
      const claiming = this.#claims.claim(joinPath(this.#entriesPath, name));
      const claimed = await unlessAborted(claiming, signal).catch((error: unknown) => {
        // The pending request may still succeed.
        claiming.then((late) => late?.release()).catch(() => {});
        throw error;
      });
      if (claimed !== null) return new Locked(claimed);
    }
    return undefined;
  }

  /** The number of items, including taken ones. */
  async size(): Promise<number> {
    return inOrder(await namesBelow(this.#zk, this.#entriesPath)).length;
  }
}

/**
 * Names of free items in order, as they were at one moment. Takes of one object share it: each name
 * is returned once.
 */
class Listing {
  readonly #names: readonly string[];
  readonly #validUntilMs: number;
  #at = 0;

  /** @param startMs when it began to be read: a listing that takes long is used for long */
  constructor(names: readonly string[], startMs: number) {
    this.#names = names;
    const nowMs = performance.now();
    this.#validUntilMs = nowMs + Math.min(CACHED_MS_MAX, (nowMs - startMs) * CACHED_COST_FACTOR);
  }

  next(): string | undefined {
    // The first one comes from a listing that was just read.
    if (this.#at > 0 && performance.now() > this.#validUntilMs) return undefined;
    return this.#names[this.#at++];
  }

  /** Whether a new item comes before the next one. */
  isAhead(name: string): boolean {
    const next = this.#names[this.#at];
    return next !== undefined && name < next;
  }
}

class Locked implements LockedItem {
  readonly data: Uint8Array;
  readonly lease: Lease;
  readonly #claimed: ClaimedItem;

  constructor(claimed: ClaimedItem) {
    this.#claimed = claimed;
    this.data = payloadBytes(claimed.item.data);
    this.lease = claimed.lease;
  }

  async consume(options: WaitOptions = {}): Promise<void> {
    const what = `consume ${this.#claimed.path}`;
    checkFit(what, options, WAIT);
    options.signal?.throwIfAborted();
    this.lease.assertValid();
    await within(this.#consume(), options, what);
  }

  async #consume(): Promise<void> {
    if (!(await this.#claimed.finish())) this.lease.assertValid();
  }

  async release(options: WaitOptions = {}): Promise<void> {
    checkFit(`release ${this.#claimed.path}`, options, WAIT);
    await this.#claimed.release(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/**
 * Items only, in kazoo's order: by name, which begins with the priority. @throws SEQUENCE_OVERFLOW
 */
function inOrder(names: readonly string[]): readonly string[] {
  return names.filter((name) => isNumbered(name, "entry")).sort();
}

function prefixOf({ priority = 100 }: PriorityOptions): string {
  return `entry-${String(priority).padStart(3, "0")}-`;
}
