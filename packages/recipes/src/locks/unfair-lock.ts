import type { Client } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { type Holder, holderData, readHolder } from "../leases/holder.ts";
import type { HoldOptions, Lease } from "../leases/lease.ts";
import { type Lock, useLease } from "../leases/use-lease.ts";
import { pause } from "../pause.ts";
import { ExclusiveNode } from "./exclusive-node.ts";

export interface UnfairLockOptions extends HoldOptions {
  /** What the others know this one by. Default: a UUID for each grant. */
  readonly id?: string;
  /** Longest random delay before it tries again when the lock is free: spreads the herd, and hands over later. Default 0. */
  readonly spreadMs?: number;
}

/**
 * A lock that whoever is quickest gets: one node `<path>/lock`, on which all who wait have a watch. A release wakes them all and one of them
 * gets it: about as cheap as a {@link Mutex} for few contenders, and for many much dearer, in no order, and not sure to reach everybody.
 *
 * The version of `<path>/grants` goes up with each grant and release. A lease's `guard` asks for it: that nobody who uses this recipe has been
 * granted the lock since.
 */
export class UnfairLock implements Lock<Lease> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: UnfairLockOptions;

  constructor(zk: Client, path: string, options: UnfairLockOptions = {}) {
    this.#zk = zk;
    this.path = path;
    this.#options = options;
  }

  /** Waits until it gets the lock. @throws LOCK_TIMEOUT, the signal's reason, or what the client cannot recover from; nothing is left behind then */
  async acquire(options: WaitOptions = {}): Promise<Lease> {
    using deadline = new Deadline(options, `acquire ${this.path}`);
    const { signal } = deadline;
    const { spreadMs = 0 } = this.#options;
    const spread = spreadMs > 0 ? () => pause(Math.random() * spreadMs, undefined, { signal }) : undefined;
    const node = this.#node();
    const taken = await node.acquire(signal, spread).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
    return node.hold(taken, this.#options).lease();
  }

  /** The lock if it is to be had at once, or null, without a trace where somebody has it. */
  async tryAcquire(options: { readonly signal?: AbortSignal } = {}): Promise<Lease | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`);
    if ((await this.#zk.exists(this.#nodePath, options)) !== null) return null;
    const node = this.#node();
    const taken = await node.tryAcquire(deadline.signal);
    return taken === null ? null : node.hold(taken, this.#options).lease();
  }

  /** Does some work under the lock. @throws LEASE_LOST when the lock was lost meanwhile, whatever the work has to say */
  use<T>(work: (lease: Lease) => T | Promise<T>, options?: WaitOptions): Promise<T> {
    return useLease(this, work, options);
  }

  /** Who has it, or null. */
  async holder(): Promise<Holder | null> {
    const node = await this.#zk.getOrNull(this.#nodePath);
    return node === null ? null : readHolder(node.data);
  }

  get #nodePath(): string {
    return joinPath(this.path, "lock");
  }

  #node(): ExclusiveNode {
    const data = holderData(this.#options.id);
    return new ExclusiveNode(this.#zk, { path: this.#nodePath, countPath: joinPath(this.path, "grants"), data });
  }
}
