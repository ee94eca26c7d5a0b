/**
 * Many readers or one writer: Curator's InterProcessReadWriteLock, on the same znodes. Readers and
 * writers share one queue, as `_c_<uuid>-__READ__<number>` and `_c_<uuid>-__WRIT__<number>`: a
 * writer waits for all nodes before it, a reader for the writers before it. So readers behind a
 * waiting writer wait too, and no writer starves.
 */

import type { Client, Created, Payload } from "@zooid/client";
import { baseName, checkArgument, joinPath, type Rule, rules, type Shape, shape, wordRule } from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import { Hold } from "../leases/hold.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { Owners } from "../leases/owners.ts";
import { type Participant, participantsOf } from "../leases/participants.ts";
import { Sections } from "../leases/sections.ts";
import { type Lock, useInSection } from "../leases/use-lease.ts";
import { defaultData } from "../nodes/default-data.ts";
import { RecipeError } from "../recipe-error.ts";
import { type Naming, READ_WRITE_NAMING, type ReadWriteDialect } from "./dialect.ts";
import { notePlace } from "./lock-places.ts";
import {
  type Blocker,
  enqueue,
  isOfLiveSession,
  type LockQueueOptions,
  predecessor,
  tryEnqueue,
} from "./lock-queue.ts";
import { ACQUIRE, type AcquireOptions, TRY_OWNED, type TryOptions } from "./mutex.ts";
import { sequenceKey } from "./sequence.ts";

export interface ReadWriteLockOptions extends HoldOptions {
  /** Data of each contender's node. Default: this machine's address, as in Curator. */
  readonly data?: Payload;
  /** Naming of the nodes. Default `curator`. Nodes of both formats are waited for. */
  readonly dialect?: ReadWriteDialect | undefined;
  /**
   * As for {@link Mutex}: an owner that writes may also read, and one that only reads may not
   * write.
   */
  readonly reentrant?: "async-context" | undefined;
}

/** All other nodes in the queue count as writers. */
const READERS: readonly string[] = Object.values(READ_WRITE_NAMING).map(({ read }) => read.marker);

const firstWriter: Blocker = (queue, at) =>
  queue.slice(0, at).find((name) => !READERS.some((marker) => name.includes(marker)));

const SHAPE: Shape<ReadWriteLockOptions> = shape<ReadWriteLockOptions>({
  ...HOLD,
  data: rules.payload,
  dialect: wordRule("curator", "kazoo"),
  reentrant: wordRule("async-context"),
});

const LEASE: Rule = {
  expected: "a lease, as acquire() returns one",
  accepts: (value) => rules.record.accepts(value) && typeof Reflect.get(value as object, "reenter") === "function",
};

/** A lock that many readers hold, or one writer. */
export class ReadWriteLock {
  readonly path: string;
  readonly read: LockSide;
  readonly write: LockSide;
  readonly #zk: Client;
  readonly #options: ReadWriteLockOptions;
  readonly #naming: Naming;
  readonly #readers = new Owners();
  readonly #writers = new Owners();

  constructor(zk: Client, path: string, options: ReadWriteLockOptions = {}) {
    checkArguments("ReadWriteLock", zk, path, options, SHAPE);
    this.#zk = zk;
    this.path = path;
    this.#options = options;
    const { data, dialect = "curator" } = options;
    this.#naming = READ_WRITE_NAMING[dialect].read;
    const [reading, writing] = [
      { path, ...READ_WRITE_NAMING[dialect].read, blocker: firstWriter, data },
      { path, ...READ_WRITE_NAMING[dialect].write, blocker: predecessor, data },
    ];
    const sections = options.reentrant === undefined ? undefined : new Sections();
    this.read = new LockSide(this.#zk, reading, options, {
      owners: this.#readers,
      sections,
      // A writer may read: its reader takes the writer's place in the queue, so that no other
      // writer comes between.
      entry: async (owner, signal) => {
        const hold = await this.#writers.held(owner);
        return hold === undefined ? undefined : this.#behind(hold.lease(), signal);
      },
    });
    this.write = new LockSide(this.#zk, writing, options, {
      owners: this.#writers,
      sections,
      entry: async (owner) => {
        if ((await this.#readers.held(owner)) === undefined) return undefined;
        const message = `${path}: its owner reads, and a writer would wait for that; release it first`;
        throw new RecipeError("LOCK_UPGRADE", message);
      },
    });
  }

  /**
   * Takes the read lock while holding the write lock, and keeps the place in the queue, so that no
   * other writer comes between when the write lock is released. The write lock is not affected.
   *
   * @throws LEASE_LOST where the write lock is not held any more
   */
  async downgrade(writing: Lease, options: WaitOptions = {}): Promise<Lease> {
    checkArgument(`downgrade ${this.path}`, "the write lock's lease", writing, LEASE);
    using deadline = new Deadline(options, `downgrade ${this.path}`);
    return (await this.#behind(writing.reenter(), deadline.signal)).lease();
  }

  /** The contenders, the holders first. */
  participants(): Promise<readonly Participant[]> {
    return participantsOf(this.#zk, this.path);
  }

  /** A reader in the place of a writer, which is held until the reader's node exists. */
  async #behind(writing: Lease, signal: AbortSignal): Promise<Hold> {
    await using writer = writing;
    const zk = this.#zk;
    const { data = defaultData(this.#zk), onSuspended } = this.#options;
    const { marker, protect } = this.#naming;
    const place = joinPath(this.path, `${marker}${sequenceKey(baseName(writer.path))}`);
    const created: Created = await zk.create(place, data, { mode: "ephemeral", protect, signal });
    let isGranted = false;
    try {
      // Another client may have deleted the writer's node before the create, and a writer behind it
      // has the lock then; the lease notices that only after a read. A node that exists now existed
      // at the create, because no later node has its name.
      const node = await zk.exists(writer.path, { signal });
      if (node === null) throw new RecipeError("LEASE_LOST", `${writer.path} was deleted before its reader was there`);
      isGranted = writer.isValid() && isOfLiveSession(zk, created);
      if (isGranted) return new Hold(zk, created, { onSuspended, token: writer.token });
    } finally {
      if (!isGranted) deleteOwnNodeLater(zk, created.path);
    }
    writer.assertValid();
    throw new RecipeError("LEASE_LOST", `${this.path}: the connection was lost between the two locks`);
  }
}

interface SideParts {
  readonly owners: Owners;
  readonly sections: Sections | undefined;
  /** The lease of an owner that needs no queue, because of its hold on the other side. */
  readonly entry: (owner: unknown, signal: AbortSignal) => Promise<Hold | undefined>;
}

/** One of the two locks of a {@link ReadWriteLock}. Only tokens of writers can be compared. */
export class LockSide implements Lock<Lease, AcquireOptions> {
  readonly path: string;
  readonly #zk: Client;
  readonly #queue: LockQueueOptions;
  readonly #options: HoldOptions;
  readonly #parts: SideParts;

  /** @internal Created by {@link ReadWriteLock}. */
  constructor(zk: Client, queue: LockQueueOptions, options: HoldOptions, parts: SideParts) {
    this.path = queue.path;
    notePlace(this, zk, queue.path);
    this.#zk = zk;
    this.#queue = queue;
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * Waits for the lock. An owner that writes may read at once; one that only reads may not write.
   *
   * @throws LOCK_TIMEOUT, LOCK_UPGRADE, the signal's reason, or an unrecoverable error of the
   *   client; then nothing is left behind
   */
  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    using deadline = new Deadline(options, `acquire ${this.path}`, ACQUIRE);
    const { owner = this.#parts.sections?.owner } = options;
    const { signal } = deadline;
    if (owner === undefined) return this.#hold(await enqueue(this.#zk, this.#queue, signal)).lease();
    return await this.#parts.owners.lease(owner, signal, async (ended) => {
      const entered = await this.#parts.entry(owner, signal);
      if (entered === undefined) return this.#hold(await enqueue(this.#zk, this.#queue, signal), ended);
      entered.signal.addEventListener("abort", ended, { once: true });
      return entered;
    });
  }

  /** The lock if it is available at once, or null. Creates no node if it is not. */
  async tryAcquire(options: TryOptions = {}): Promise<Lease | null> {
    using deadline = new Deadline(options, `acquire ${this.path}`, TRY_OWNED);
    const { owner = this.#parts.sections?.owner } = options;
    const held = this.#parts.owners.heldNow(owner);
    if (held !== undefined) return held.lease();
    const created = await tryEnqueue(this.#zk, this.#queue, deadline.signal);
    return created === undefined ? null : this.#hold(created).lease();
  }

  /**
   * Runs work under the lock.
   *
   * @throws LEASE_LOST when the lock was lost meanwhile, whatever the work's result
   */
  use<T>(work: (lease: Lease) => T | Promise<T>, options?: AcquireOptions): Promise<T> {
    return useInSection(this, this.#parts.sections, work, options);
  }

  #hold(created: Created, ended?: () => void): Hold {
    return new Hold(this.#zk, created, { onSuspended: this.#options.onSuspended, ended });
  }
}
