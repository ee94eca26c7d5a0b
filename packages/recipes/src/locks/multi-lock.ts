import type { Client } from "@zooid/client";
import { ArgumentError, found, type Shape, shape, wordRule } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, TRY, type WaitOptions, within } from "../leases/deadline.ts";
import type { Grant } from "../leases/lease.ts";
import { LeaseGroup, releaseAll } from "../leases/lease-group.ts";
import { type Lock, useLease } from "../leases/use-lease.ts";
import { notePlaces, placesOf } from "./lock-places.ts";

export interface MultiLockOptions {
  /**
   * The order in which they are acquired. `path`, the default, prevents deadlocks between clients
   * of the same locks.
   */
  readonly order?: "path" | "given";
}

const SHAPE: Shape<MultiLockOptions> = shape<MultiLockOptions>({ order: wordRule("path", "given") });

/** All of several locks or none: Curator's InterProcessMultiLock. It has no nodes of its own. */
export class MultiLock implements Lock<LeaseGroup> {
  readonly path: string;
  readonly #zk: Client;
  readonly #locks: readonly Lock[];

  constructor(zk: Client, locks: readonly Lock[], options: MultiLockOptions = {}) {
    checkArguments("MultiLock", zk, "/", options, SHAPE);
    const { order = "path" } = options;
    if (!Array.isArray(locks) || locks.length === 0) {
      throw new ArgumentError("MultiLock", [`the locks are an array of at least one, found ${found(locks)}`]);
    }
    // Unlike `some` it looks at the holes of the array too.
    const at = locks.findIndex((lock: unknown) => !isLock(lock));
    if (at !== -1) {
      throw new ArgumentError("MultiLock", [`locks[${at}] is a lock, such as a Mutex, found ${found(locks[at])}`]);
    }
    const paths = new Set<string>();
    for (const path of locks.flatMap(placesOf)) {
      // The second one would wait for the first.
      if (paths.has(path)) throw new ArgumentError("MultiLock", [`${path} is the path of two of the locks`]);
      paths.add(path);
    }
    this.#zk = zk;
    this.#locks = order === "given" ? locks : locks.toSorted(byPlace);
    notePlaces(this, locks);
    this.path = this.#locks.map(({ path }) => path).join(" and ");
  }

  /**
   * Acquires one lock after the other.
   *
   * @throws the error of one of them; then the acquired ones are released, beyond the limits in the
   *   background
   */
  async acquire(options: WaitOptions = {}): Promise<LeaseGroup> {
    using deadline = new Deadline(options, `acquire ${this.path}`);
    const { signal } = deadline;
    const grants: Grant[] = [];
    try {
      for (const lock of this.#locks) grants.push(await lock.acquire({ signal }));
    } catch (error) {
      await giveUp(grants, signal);
      throw error;
    }
    return new LeaseGroup(this.#zk, grants);
  }

  /** All locks if they are available at once, or null. */
  async tryAcquire(options: { readonly signal?: AbortSignal } = {}): Promise<LeaseGroup | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`, TRY);
    const { signal } = deadline;
    const grants: Grant[] = [];
    for (const lock of this.#locks) {
      const grant = await lock.tryAcquire({ signal }).catch(async (error: unknown) => {
        await giveUp(grants, signal);
        throw error;
      });
      if (grant === null) {
        await within(releaseAll(grants), { signal }, `release ${this.path}`);
        return null;
      }
      grants.push(grant);
    }
    return new LeaseGroup(this.#zk, grants);
  }

  /**
   * Runs work under all locks. The limits are those of the wait for them: the release after the
   * work ends with its answers, or with the session.
   *
   * @throws LEASE_LOST when one was lost meanwhile, whatever the work's result
   */
  use<T>(work: (grants: LeaseGroup) => T | Promise<T>, options?: WaitOptions): Promise<T> {
    return useLease(this, work, options);
  }
}

/** A failed release is not reported, since the caller gets the original error. */
async function giveUp(grants: readonly Grant[], signal: AbortSignal): Promise<void> {
  await within(releaseAll(grants), { signal }, "release").catch(() => {});
}

/** Clients with different namespaces have the same order. */
function byPlace(a: Lock, b: Lock): number {
  const [first = "", second = ""] = [placesOf(a)[0], placesOf(b)[0]];
  return first < second ? -1 : first > second ? 1 : 0;
}

function isLock(value: unknown): boolean {
  return typeof value === "object" && value !== null && "path" in value && "acquire" in value;
}
