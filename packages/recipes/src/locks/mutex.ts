import type { Client, Created, Payload } from "@zooid/client";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { Hold, type HoldEvents } from "../leases/hold.ts";
import type { HoldOptions, Lease } from "../leases/lease.ts";
import { Owners } from "../leases/owners.ts";
import { type Participant, participantsOf } from "../leases/participants.ts";
import { Sections } from "../leases/sections.ts";
import { type Lock, useInSection } from "../leases/use-lease.ts";
import { type LockDialect, lockNaming } from "./dialect.ts";
import { enqueue, type LockQueueOptions, predecessor, tryEnqueue } from "./lock-queue.ts";

export interface MutexOptions extends HoldOptions {
  /** What the node of each contender holds. Default: this machine's address, as with Curator; empty where `onRevoke` is given. */
  readonly data?: Payload;
  /** Somebody asks the holder to give up; told with the path of the holder's node, maybe more than once. */
  readonly onRevoke?: (path: string) => void;
  /** As whom the nodes are to be read. Default `curator`. Nodes of all are waited for. */
  readonly dialect?: LockDialect | undefined;
  /**
   * `async-context`: what is called from the work of `use`, at whatever depth, and takes the lock again gets it. Sections within one section
   * take turns, also where nobody has waited for the one before; what is still going on when the section ends stands in line again.
   * Default: by a lease's `reenter` or an `owner` only.
   */
  readonly reentrant?: "async-context" | undefined;
}

export interface Owned {
  /** Who asks: an owner that holds the lock already gets another lease on the same grant. Default: somebody new each time. */
  readonly owner?: unknown;
}

export interface AcquireOptions extends WaitOptions, Owned {}

export interface TryOptions extends Owned {
  readonly signal?: AbortSignal;
}

/**
 * A lock that one holds at a time and all get in the order in which they came, across processes and machines: Curator's
 * InterProcessMutex, on the same znodes. Each contender has a node `<path>/_c_<uuid>-lock-<number>` and watches the one before it, so a
 * release wakes one.
 */
export class Mutex implements Lock<Lease, AcquireOptions> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: MutexOptions;
  readonly #queue: LockQueueOptions;
  readonly #owners = new Owners();
  readonly #sections: Sections | undefined;

  constructor(zk: Client, path: string, options: MutexOptions = {}) {
    this.#zk = zk;
    this.path = path;
    this.#options = options;
    const data = options.data ?? (options.onRevoke === undefined ? undefined : "");
    const naming = lockNaming(options.dialect ?? "curator", () => zk.sessionId);
    this.#queue = { path, ...naming, blocker: predecessor, data };
    if (options.reentrant !== undefined) this.#sections = new Sections();
  }

  /**
   * Waits for its turn.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or what the client cannot recover from; nothing is left behind then
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    using deadline = new Deadline(options, `acquire ${this.path}`);
    const { signal } = deadline;
    const { owner = this.#sections?.owner } = options;
    const take = async (ended?: () => void): Promise<Hold> =>
      this.#grant(await enqueue(this.#zk, this.#queue, signal), { ended });
    if (owner === undefined) return (await take()).lease();
    return await this.#owners.lease(owner, signal, take);
  }

  /** The lock if it is to be had at once, or null, without a trace where somebody is before us. */
  async tryAcquire(options: TryOptions = {}): Promise<Lease | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`);
    const { owner = this.#sections?.owner } = options;
    const held = this.#owners.heldNow(owner);
    if (held !== undefined) return held.lease();
    const created = await tryEnqueue(this.#zk, this.#queue, deadline.signal);
    return created === undefined ? null : this.#grant(created).lease();
  }

  /**
   * Does some work under the lock.
   *
   * @throws LEASE_LOST when the work has ended and the lock was lost meanwhile, whatever the work has to say
   */
  use<T>(work: (lease: Lease) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    return useInSection(this, this.#sections, work, options);
  }

  /** Who stands in line, the holder first. */
  participants(): Promise<readonly Participant[]> {
    return participantsOf(this.#zk, this.path);
  }

  #grant(created: Created, events: HoldEvents = {}): Hold {
    const { onSuspended, onRevoke } = this.#options;
    return new Hold(this.#zk, created, { onSuspended, ...events, revoked: () => onRevoke?.(created.path) });
  }
}
