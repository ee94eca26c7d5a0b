import type { Client, Created, Payload } from "@zooid/client";
import { rules, type Shape, shape, wordRule } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, TRY, WAIT, type WaitOptions } from "../leases/deadline.ts";
import { Hold, type HoldEvents } from "../leases/hold.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { Owners } from "../leases/owners.ts";
import { type Participant, participantsOf } from "../leases/participants.ts";
import { Sections } from "../leases/sections.ts";
import { type Lock, useInSection } from "../leases/use-lease.ts";
import { DIALECT, type LockDialect, lockNaming } from "./dialect.ts";
import { notePlace } from "./lock-places.ts";
import { enqueue, type LockQueueOptions, predecessor, tryEnqueue } from "./lock-queue.ts";

export interface MutexOptions extends HoldOptions {
  /**
   * Data of each contender's node. Default: this machine's address, as in Curator; empty if
   * `onRevoke` is given.
   */
  readonly data?: Payload;
  /**
   * Called when another client requests a release, with the path of the holder's node; maybe more
   * than once.
   */
  readonly onRevoke?: (path: string) => void;
  /** Naming of the nodes. Default `curator`. Nodes of all formats are waited for. */
  readonly dialect?: LockDialect | undefined;
  /**
   * `async-context`: code that is called from the work of `use`, at any depth, and takes the lock
   * again gets it. Nested sections take turns, also if they are not awaited; work that outlives its
   * section enters the queue again. Default: only by a lease's `reenter` or an `owner`.
   */
  readonly reentrant?: "async-context" | undefined;
}

export interface Owned {
  /**
   * An owner that holds the lock already gets another lease on the same grant. Default: a new owner
   * for each call.
   */
  readonly owner?: unknown;
}

export interface AcquireOptions extends WaitOptions, Owned {}

export interface TryOptions extends Owned {
  readonly signal?: AbortSignal;
}

const SHAPE: Shape<MutexOptions> = shape<MutexOptions>({
  ...HOLD,
  data: rules.payload,
  onRevoke: rules.callable,
  dialect: DIALECT,
  reentrant: wordRule("async-context"),
});
/** The rules for {@link AcquireOptions}. */
export const ACQUIRE: Shape<AcquireOptions> = shape<AcquireOptions>({ ...WAIT, owner: rules.anything });
/** The rules for {@link TryOptions}. */
export const TRY_OWNED: Shape<TryOptions> = shape<TryOptions>({ ...TRY, owner: rules.anything });

/**
 * A fair distributed lock: Curator's InterProcessMutex, on the same znodes. Each contender has a
 * node `<path>/_c_<uuid>-lock-<number>` and watches the previous one, so a release wakes one
 * contender.
 */
export class Mutex implements Lock<Lease, AcquireOptions> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: MutexOptions;
  readonly #queue: LockQueueOptions;
  readonly #owners = new Owners();
  readonly #sections: Sections | undefined;

  constructor(zk: Client, path: string, options: MutexOptions = {}) {
    checkArguments("Mutex", zk, path, options, SHAPE);
    this.#zk = zk;
    this.path = path;
    notePlace(this, zk, path);
    this.#options = options;
    const data = options.data ?? (options.onRevoke === undefined ? undefined : "");
    const naming = lockNaming(options.dialect ?? "curator", () => zk.sessionId);
    this.#queue = { path, ...naming, blocker: predecessor, data };
    if (options.reentrant !== undefined) this.#sections = new Sections();
  }

  /**
   * Waits for the lock.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or an unrecoverable error of the client; then
   *   nothing is left behind
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    using deadline = new Deadline(options, `acquire ${this.path}`, ACQUIRE);
    const { signal } = deadline;
    const { owner = this.#sections?.owner } = options;
    const take = async (ended?: () => void): Promise<Hold> =>
      this.#grant(await enqueue(this.#zk, this.#queue, signal), { ended });
    if (owner === undefined) return (await take()).lease();
    return await this.#owners.lease(owner, signal, take);
  }

  /**
   * The lock if it is available at once, or null. Creates no node if there are other contenders.
   */
  async tryAcquire(options: TryOptions = {}): Promise<Lease | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`, TRY_OWNED);
    const { owner = this.#sections?.owner } = options;
    const held = this.#owners.heldNow(owner);
    if (held !== undefined) return held.lease();
    const created = await tryEnqueue(this.#zk, this.#queue, deadline.signal);
    return created === undefined ? null : this.#grant(created).lease();
  }

  /**
   * Runs work under the lock. The limits are those of the wait for it: the release after the work
   * ends with its answer, or with the session.
   *
   * @throws LEASE_LOST when the lock was lost before the work ended, whatever its result
   */
  use<T>(work: (lease: Lease) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    return useInSection(this, this.#sections, work, options);
  }

  /** The contenders, the holder first. */
  participants(): Promise<readonly Participant[]> {
    return participantsOf(this.#zk, this.path);
  }

  #grant(created: Created, events: HoldEvents = {}): Hold {
    const { onSuspended, onRevoke } = this.#options;
    return new Hold(this.#zk, created, { onSuspended, ...events, revoked: () => onRevoke?.(created.path) });
  }
}
