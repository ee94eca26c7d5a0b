/**
 * A limited number of leases: Curator's InterProcessSemaphoreV2, on the same znodes.
 *
 *     <path>/locks    a mutex: its holder may ask for leases
 *     <path>/leases   one node for each lease; granted while there are at most as many as leases
 *
 * A waiting contender keeps the mutex, so all are served in order of arrival. All leases of one
 * call are requested under one hold of the mutex: two callers that each hold a part of their leases
 * cannot block each other.
 */

import type { Client, Created, OneShotWatch, Payload } from "@zooid/client";
import { ArgumentError, baseName, found, joinPath, rules, type Shape, shape } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { SharedCount } from "../counters/shared-value.ts";
import { Deadline, TRY, WAIT, type WaitOptions } from "../leases/deadline.ts";
import { deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import { Hold } from "../leases/hold.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { LeaseGroup } from "../leases/lease-group.ts";
import { type Participant, participantsOf } from "../leases/participants.ts";
import { type Lock, useLease } from "../leases/use-lease.ts";
import { LossAlarm, unlessAborted, writable } from "../leases/waiting.ts";
import { defaultData } from "../nodes/default-data.ts";
import { watchedNode } from "../nodes/refusals.ts";
import { isContender } from "./child-names.ts";
import { notePlace } from "./lock-places.ts";
import { enqueue, isOfLiveSession, type LockQueueOptions, predecessor, queued, tryEnqueue } from "./lock-queue.ts";

/** Limit of a shared number of leases: the largest int. */
const LEASES_MAX = 2 ** 31 - 1;

export interface SemaphoreOptions extends HoldOptions {
  /**
   * The number of leases: a number, on which all clients of the path must agree, or a shared count,
   * which may be changed at any time. More leases are granted at once; a smaller number revokes
   * none, and a client that learns of it late may still grant one too many.
   */
  readonly leases: number | SharedCount;
  /**
   * Data of each lease's node. Default: this machine's address, as in Curator; empty if `onRevoke`
   * is given.
   */
  readonly data?: Payload;
  /**
   * Called when another client requests a release, with the path of the lease's node; maybe more
   * than once.
   */
  readonly onRevoke?: (path: string) => void;
}

export interface AcquireLeasesOptions extends WaitOptions {
  /** Number of leases, all of them or none. Default 1. */
  readonly count?: number;
}

const SHAPE: Shape<SemaphoreOptions> = shape<SemaphoreOptions>({
  ...HOLD,
  leases: {
    expected: "a whole number of at least 1 or a SharedCount",
    accepts: (value) => value instanceof SharedCount || (Number.isInteger(value) && (value as number) >= 1),
  },
  data: rules.payload,
  onRevoke: rules.callable,
});
const MUTEX: Shape<Omit<SemaphoreOptions, "leases">> = shape<Omit<SemaphoreOptions, "leases">>({
  ...HOLD,
  data: rules.payload,
  onRevoke: rules.callable,
});
const ACQUIRE: Shape<AcquireLeasesOptions> = shape<AcquireLeasesOptions>({ ...WAIT, count: rules.anything });
const TRY_COUNTED: Shape<Pick<AcquireLeasesOptions, "signal" | "count">> = shape({ ...TRY, count: rules.anything });

export class Semaphore implements Lock<LeaseGroup<Lease>, AcquireLeasesOptions> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: SemaphoreOptions;
  readonly #turns: LockQueueOptions;
  readonly #leasesPath: string;

  constructor(zk: Client, path: string, options: SemaphoreOptions) {
    checkArguments("Semaphore", zk, path, options, SHAPE, ["leases"]);
    this.#zk = zk;
    this.path = path;
    notePlace(this, zk, path, joinPath(path, "locks"), joinPath(path, "leases"));
    this.#options = options;
    this.#turns = { path: joinPath(path, "locks"), marker: "lock-", blocker: predecessor };
    this.#leasesPath = joinPath(path, "leases");
  }

  /**
   * Waits for leases.
   *
   * @throws LOCK_TIMEOUT, the signal's reason, or an unrecoverable error of the client; then
   *   nothing is left behind. ArgumentError for more leases than exist; with a shared count it
   *   waits until there are enough
   */
  async acquire(options: AcquireLeasesOptions = {}): Promise<LeaseGroup<Lease>> {
    using deadline = new Deadline(options, `acquire ${this.path}`, ACQUIRE);
    const { count = 1 } = options;
    this.#checkCount(count);
    const { signal } = deadline;
    for (;;) {
      const turn = await enqueue(this.#zk, this.#turns, signal);
      try {
        const group = await this.#take(turn, { count, signal, waits: true });
        // Nodes disappear only with a lost session or by another client's delete: then it starts
        // again.
        if (group !== undefined) return group;
      } finally {
        deleteOwnNodeLater(this.#zk, turn.path);
      }
    }
  }

  /** Leases if they are available at once, or null. Leaves no nodes if they are not. */
  async tryAcquire(
    options: { readonly signal?: AbortSignal; readonly count?: number } = {},
  ): Promise<LeaseGroup<Lease> | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`, TRY_COUNTED);
    const { count = 1 } = options;
    this.#checkCount(count);
    const { signal } = deadline;
    const taken = await queued(this.#zk, this.#leasesPath, { signal, form: "lease" });
    const { limit } = await this.#limit(false, signal);
    if (taken.length + count > limit) return null;
    const turn = await tryEnqueue(this.#zk, this.#turns, signal);
    if (turn === undefined) return null;
    try {
      return (await this.#take(turn, { count, signal, waits: false })) ?? null;
    } finally {
      deleteOwnNodeLater(this.#zk, turn.path);
    }
  }

  /** Runs work while it holds leases. @throws LEASE_LOST when one of them was lost meanwhile */
  use<T>(work: (leases: LeaseGroup<Lease>) => T | Promise<T>, options?: AcquireLeasesOptions): Promise<T> {
    return useLease(this, work, options);
  }

  /** The holders of leases. */
  participants(): Promise<readonly Participant[]> {
    return participantsOf(this.#zk, this.#leasesPath, "lease");
  }

  #checkCount(count: number): void {
    const { leases } = this.#options;
    const most = typeof leases === "number" ? leases : LEASES_MAX;
    if (Number.isInteger(count) && count >= 1 && count <= most) return;
    throw new ArgumentError(`semaphore ${this.path}`, [
      `count is a whole number from 1 to ${most}, found ${found(count)}`,
    ]);
  }

  async #take(turn: Created, { count, signal, waits }: Taking): Promise<LeaseGroup<Lease> | undefined> {
    const zk = this.#zk;
    const { onSuspended, onRevoke } = this.#options;
    const { data = onRevoke === undefined ? defaultData(zk) : "" } = this.#options;
    const mine: Created[] = [];
    let isGranted = false;
    try {
      while (mine.length < count) {
        const options = { mode: "ephemeral-sequential", protect: true, parents: "container", signal } as const;
        mine.push(await zk.create(joinPath(this.#leasesPath, "lease-"), data, options));
      }
      isGranted = await this.#fits(turn, mine, { count, signal, waits });
    } finally {
      if (!isGranted) for (const { path } of mine) deleteOwnNodeLater(zk, path);
    }
    return isGranted
      ? new LeaseGroup(
          zk,
          mine.map((node) => new Hold(zk, node, { onSuspended, revoked: () => onRevoke?.(node.path) }).lease()),
        )
      : undefined;
  }

  /**
   * Waits until there are no more leases than allowed; false when ours or the mutex are lost, or
   * when there are too many and the caller does not want to wait.
   */
  async #fits(turn: Created, mine: readonly Created[], { signal, waits }: Taking): Promise<boolean> {
    const zk = this.#zk;
    const all = [turn, ...mine];
    for (;;) {
      using loss = new LossAlarm(zk);
      const { names, watch } = await this.#leases(waits, signal);
      using _ = watch;
      const { limit, limitWatch } = await this.#limit(waits, signal);
      using _limit = limitWatch;
      if (all.some(({ stat }) => stat.ephemeralOwner !== zk.sessionId)) return false;
      if (mine.some(({ path }) => !names.includes(baseName(path)))) return false;
      // Foreign children are no leases.
      if (names.filter((name) => isContender(name, "lease")).length > limit) {
        if (watch === undefined) return false;
        // If another client has deleted the mutex node, two callers may wait with leases of their
        // own, each for the other's.
        const turnNode = await watchedNode(zk, turn.path, signal);
        if (turnNode === null) return false;
        using turnWatch = turnNode.watch;
        const changes = [watch.fired, turnWatch.fired, loss.rung];
        if (limitWatch !== undefined) changes.push(limitWatch.fired);
        await unlessAborted(Promise.race(changes), signal);
      } else if (all.every((node) => isOfLiveSession(zk, node))) {
        return true;
      } else {
        await writable(zk, signal);
      }
    }
  }

  async #leases(isWatched: boolean, signal: AbortSignal): Promise<{ names: string[]; watch?: OneShotWatch }> {
    if (isWatched) return this.#zk.children(this.#leasesPath, { watch: true, signal });
    return this.#zk.children(this.#leasesPath, { signal });
  }

  async #limit(isWatched: boolean, signal: AbortSignal): Promise<{ limit: number; limitWatch?: OneShotWatch }> {
    const { leases } = this.#options;
    if (typeof leases === "number") return { limit: leases };
    if (!isWatched) return { limit: (await leases.get({ signal })).value };
    const { value, watch } = await leases.getAndWatch({ signal });
    return { limit: value, limitWatch: watch };
  }
}

interface Taking {
  readonly count: number;
  readonly signal: AbortSignal;
  /** Whether to wait for missing leases. */
  readonly waits: boolean;
}

/**
 * A lock that any holder of the lease may release, without owners: Curator's
 * InterProcessSemaphoreMutex, on the same znodes, which are those of a semaphore with one lease.
 */
export class SemaphoreMutex implements Lock<Lease> {
  readonly path: string;
  readonly #semaphore: Semaphore;

  constructor(zk: Client, path: string, options: Omit<SemaphoreOptions, "leases"> = {}) {
    checkArguments("SemaphoreMutex", zk, path, options, MUTEX);
    this.path = path;
    notePlace(this, zk, path, joinPath(path, "locks"), joinPath(path, "leases"));
    this.#semaphore = new Semaphore(zk, path, { ...options, leases: 1 });
  }

  async acquire(options?: WaitOptions): Promise<Lease> {
    return only(await this.#semaphore.acquire(options));
  }

  async tryAcquire(options?: { readonly signal?: AbortSignal }): Promise<Lease | null> {
    const group = await this.#semaphore.tryAcquire(options);
    return group === null ? null : only(group);
  }

  use<T>(work: (lease: Lease) => T | Promise<T>, options?: WaitOptions): Promise<T> {
    return useLease(this, work, options);
  }

  participants(): Promise<readonly Participant[]> {
    return this.#semaphore.participants();
  }
}

function only({ parts }: LeaseGroup<Lease>): Lease {
  const [lease] = parts;
  if (lease === undefined) throw new Error("a semaphore has granted nothing");
  return lease;
}
