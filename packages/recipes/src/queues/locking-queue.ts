import type { Client, Payload } from "@zooid/client";
import { joinPath, type Shape, shape, wholeNumberRule } from "@zooid/model";
import { checkArguments, checkOptions } from "../arguments.ts";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { refuseOverflown } from "../locks/sequence.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { type ClaimedItem, Claims } from "./claims.ts";
import { watchedChildren } from "./work-queue.ts";

export interface PriorityOptions {
  /** From 0, the highest, to 999. Default 100. */
  readonly priority?: number;
}

/** An exclusively taken item, until it is consumed or released, or its claim is lost. */
export interface LockedItem extends AsyncDisposable {
  readonly data: Uint8Array;
  /** The claim on it: its signal aborts when another client may get the item. */
  readonly lease: Lease;
  /** Removes it from the queue. @throws LEASE_LOST if another client may have it */
  consume(): Promise<void>;
  /** Returns it to the queue. No effect if it was consumed. */
  release(): Promise<void>;
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

  constructor(zk: Client, path: string, options: HoldOptions = {}) {
    checkArguments("LockingQueue", zk, path, options, HOLD);
    this.path = path;
    this.#zk = zk;
    this.#entriesPath = joinPath(path, "entries");
    this.#takenPath = joinPath(path, "taken");
    this.#claims = new Claims(zk, this.#takenPath, options);
  }

  async put(data: Payload, options: PriorityOptions = {}): Promise<void> {
    checkOptions(`put into ${this.path}`, options, PRIORITY);
    const mode = { mode: "persistent-sequential", parents: "container" } as const;
    await this.#zk.create(joinPath(this.#entriesPath, prefixOf(options)), data, mode);
  }

  /**
   * Waits for the first free item.
   *
   * @throws LOCK_TIMEOUT or the signal's reason; then none is taken
   */
  async take(options: WaitOptions = {}): Promise<LockedItem> {
    using deadline = new Deadline(options, `take from ${this.path}`);
    const { signal } = deadline;
    for (;;) {
      const taken = await watchedChildren(this.#zk, this.#takenPath, signal);
      using _taken = taken.watch;
      const entries = await watchedChildren(this.#zk, this.#entriesPath, signal);
      using _entries = entries.watch;
      const isTaken = new Set(taken.names);
      for (const name of inOrder(entries.names)) {
        if (isTaken.has(name)) continue;
        const claiming = this.#claims.claim(joinPath(this.#entriesPath, name));
        const claimed = await unlessAborted(claiming, signal).catch((error: unknown) => {
          // The pending request may still succeed.
          claiming.then((late) => late?.release()).catch(() => {});
          throw error;
        });
        if (claimed !== null) return new Locked(claimed);
      }
      await unlessAborted(Promise.race([taken.watch.fired, entries.watch.fired]), signal);
    }
  }

  /** The number of items, including taken ones. */
  async size(): Promise<number> {
    return (await this.#zk.getOrNull(this.#entriesPath))?.stat.numChildren ?? 0;
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

  async consume(): Promise<void> {
    this.lease.assertValid();
    if (!(await this.#claimed.finish())) this.lease.assertValid();
  }

  release(): Promise<void> {
    return this.#claimed.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }
}

/** In kazoo's order: by name, which begins with the priority. */
function inOrder(names: readonly string[]): readonly string[] {
  refuseOverflown(names);
  return names.filter((name) => name.startsWith("entry-")).sort();
}

function prefixOf({ priority = 100 }: PriorityOptions): string {
  return `entry-${String(priority).padStart(3, "0")}-`;
}
