import type { Client } from "@zooid/client";
import { joinPath, rules, type Shape, shape } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, TRY, type WaitOptions } from "../leases/deadline.ts";
import { type Holder, holderData, readHolder } from "../leases/holder.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { type Lock, useLease } from "../leases/use-lease.ts";
import { clientPause } from "../leases/waiting.ts";
import { ExclusiveNode } from "./exclusive-node.ts";
import { notePlace } from "./lock-places.ts";

export interface UnfairLockOptions extends HoldOptions {
  /** Id of this client for others. Default: a UUID for each grant. */
  readonly id?: string;
  /**
   * Maximum random delay before another attempt when the lock is free: spreads the herd, and delays
   * the handover. Default 0.
   */
  readonly spreadMs?: number;
}

const SHAPE: Shape<UnfairLockOptions> = shape<UnfairLockOptions>({ ...HOLD, id: rules.text, spreadMs: rules.duration });

/**
 * A lock for the fastest client: one node `<path>/lock`, on which all waiters have a watch. A
 * release wakes them all and one of them gets it: about as cheap as a {@link Mutex} for few
 * contenders, much more expensive for many, unordered, and without a guarantee against starvation.
 *
 * The version of `<path>/grants` grows with each grant and release. A lease's `guard` checks it: no
 * other user of this recipe was granted the lock since.
 */
export class UnfairLock implements Lock<Lease> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: UnfairLockOptions;

  constructor(zk: Client, path: string, options: UnfairLockOptions = {}) {
    checkArguments("UnfairLock", zk, path, options, SHAPE);
    this.#zk = zk;
    this.path = path;
    notePlace(this, zk, path);
    this.#options = options;
  }

  /**
   * Waits for the lock.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or an unrecoverable error of the client; then
   *   nothing is left behind
   */
  async acquire(options: WaitOptions = {}): Promise<Lease> {
    using deadline = new Deadline(options, `acquire ${this.path}`);
    const { signal } = deadline;
    const { spreadMs = 0 } = this.#options;
    const spread = spreadMs > 0 ? () => clientPause(this.#zk, Math.random() * spreadMs, signal) : undefined;
    const node = this.#node();
    const taken = await node.acquire(signal, spread).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error;
    });
    return node.hold(taken, this.#options).lease();
  }

  /** The lock if it is available at once, or null. Leaves no node if it is not. */
  async tryAcquire(options: { readonly signal?: AbortSignal } = {}): Promise<Lease | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`, TRY);
    if ((await this.#zk.exists(this.#nodePath, options)) !== null) return null;
    const node = this.#node();
    const taken = await node.tryAcquire(deadline.signal);
    return taken === null ? null : node.hold(taken, this.#options).lease();
  }

  /**
   * Runs work under the lock. The limits are those of the wait for it: the release after the work
   * ends with its answer, or with the session.
   *
   * @throws LEASE_LOST when the lock was lost meanwhile, whatever the work's result
   */
  use<T>(work: (lease: Lease) => T | Promise<T>, options?: WaitOptions): Promise<T> {
    return useLease(this, work, options);
  }

  /** The holder, or null. */
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
