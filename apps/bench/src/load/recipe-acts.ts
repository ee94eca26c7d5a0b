/** The repeated actions of each recipe's members. */
import type { Client } from "@zooid/client";
import { DoubleBarrier, LeaderLatch, type Lease, Mutex, SimpleQueue, UnfairElection, UnfairLock } from "@zooid/recipes";
import type { RecipeClients } from "./recipe-clients.ts";

export interface Act {
  /** The kinds of latencies; the first one is the main one. */
  readonly kinds: readonly string[];
  /**
   * Whether it reports calm moments: then it is measured between two of them, so that all effects
   * are counted.
   */
  readonly hasCalm: boolean;
  /** All members enter. */
  prepare(): Promise<void>;
  /**
   * Runs until the clients are closed. It does not fail: a failed member is reported and excluded.
   */
  run(): Promise<void>;
}

/** The receiver of an act's reports. */
export interface ActObserver {
  /** One more operation was completed. */
  done(): void;
  took(kind: string, ms: number): void;
  /** An event with a figure of its own. */
  saw(name: string): void;
  /** No operation is in progress, and all completed ones were reported. */
  calm(): void;
  failed(error: unknown): void;
}

export interface ActOptions {
  readonly clients: RecipeClients;
  /** An existing node; the recipe works at it or below it. */
  readonly path: string;
  readonly payloadBytes: number;
  readonly observer: ActObserver;
}

export type RecipeName = "fair lock" | "unfair lock" | "fair election" | "unfair election" | "barrier" | "queue";

export function actOf(name: RecipeName, options: ActOptions): Act {
  return ACTS[name](options);
}

const ACTS: Readonly<Record<RecipeName, (options: ActOptions) => Act>> = {
  "fair lock": (options) => new Handover(options, contenderForMutex),
  "unfair lock": (options) => new Handover(options, contenderForLock),
  "fair election": (options) =>
    new Handover(
      options,
      candidate((zk, path) => new LeaderLatch(zk, path)),
    ),
  "unfair election": (options) =>
    new Handover(
      options,
      candidate((zk, path) => new UnfairElection(zk, path)),
    ),
  barrier: (options) => new Rounds(options),
  queue: (options) => new PutAndTake(options),
};

export const HANDED_OVER = "hand-over";
/** It was granted to the client that had released it. */
export const SAME_AGAIN = "same again";

/** Enters one contender, whose next grant can be awaited repeatedly. */
type Enter = (zk: Client, path: string) => () => Promise<Pick<Lease, "release">>;

const contenderForMutex: Enter = (zk, path) => {
  const mutex = new Mutex(zk, path);
  return () => mutex.acquire();
};

const contenderForLock: Enter = (zk, path) => {
  const lock = new UnfairLock(zk, path);
  return () => lock.acquire();
};

/** A candidate for one term: one that stays a candidate would take the next one at once. */
const candidate =
  (stand: (zk: Client, path: string) => LeaderLatch | UnfairElection): Enter =>
  (zk, path) =>
  async () => {
    const standing = stand(zk, path);
    await standing.leadership();
    return { release: () => standing.close() };
  };

/**
 * Maximum number of contenders that enter at a time: each reads the whole queue, and as many such
 * lists are in memory at once.
 */
const STAND_BATCH = 20;

/**
 * Contenders for one lock, whose holder releases it as soon as all others wait for it: the time
 * until the next grant is measured, and the cost until all wait again.
 */
class Handover implements Act {
  readonly kinds: readonly string[] = [HANDED_OVER];
  readonly hasCalm = true;
  readonly #options: ActOptions;
  readonly #enter: Enter;
  readonly #places: { readonly contend: ReturnType<Enter>; readonly first: ReturnType<ReturnType<Enter>> }[] = [];
  /** Members that have not failed. */
  #contending = 0;
  #releasedMs: number | undefined;
  #next = Promise.withResolvers<void>();
  #last: number | undefined;
  /** The last handover, which is reported when all is calm. */
  #unreported: { readonly ms: number; readonly isSameAgain: boolean } | undefined;

  constructor(options: ActOptions, enter: Enter) {
    this.#options = options;
    this.#enter = enter;
  }

  /** The first one holds it until all others wait for it. */
  async prepare(): Promise<void> {
    const { clients, path } = this.#options;
    for (const [index, zk] of clients.all.entries()) {
      const contend = this.#enter(zk, path);
      const first = contend();
      // The contender gets the error.
      first.catch(() => {});
      this.#places.push({ contend, first });
      if (index === 0) await first;
      else if (index % STAND_BATCH === 0) await clients.quiet();
    }
    await clients.quiet();
  }

  async run(): Promise<void> {
    this.#contending = this.#places.length;
    await Promise.all(this.#places.map((_, index) => this.#contend(index)));
  }

  async #contend(index: number): Promise<void> {
    const place = this.#places[index];
    try {
      for (let lease = await place?.first; lease !== undefined; lease = await place?.contend()) {
        this.#granted(index);
        const { promise: handedOver } = this.#next;
        await this.#options.clients.quiet();
        this.#report();
        this.#releasedMs = performance.now();
        await lease.release();
        // Without a queue, the holder that has just released it would get it again before the
        // others are notified.
        if (this.#contending > 1) await handedOver;
      }
    } catch (error) {
      this.#options.observer.failed(error);
      // No wait for a grant that cannot come, neither now nor when the last of the others is
      // granted a lock that no other member wants.
      this.#contending--;
      this.#next.resolve();
    }
  }

  #granted(index: number): void {
    if (this.#releasedMs !== undefined) {
      this.#unreported = { ms: performance.now() - this.#releasedMs, isSameAgain: index === this.#last };
    }
    this.#last = index;
    this.#next.resolve();
    this.#next = Promise.withResolvers<void>();
  }

  #report(): void {
    const { observer } = this.#options;
    if (this.#unreported !== undefined) {
      observer.took(HANDED_OVER, this.#unreported.ms);
      observer.done();
      if (this.#unreported.isSameAgain) observer.saw(SAME_AGAIN);
      this.#unreported = undefined;
    }
    observer.calm();
  }
}

/** Members that all enter, and all leave. */
class Rounds implements Act {
  readonly kinds: readonly string[] = ["round", "enter", "leave"];
  readonly hasCalm = false;
  readonly #barriers: readonly DoubleBarrier[];
  readonly #observer: ActObserver;

  constructor({ clients, path, observer }: ActOptions) {
    const members = clients.all.length;
    this.#barriers = clients.all.map((zk) => new DoubleBarrier(zk, path, { members }));
    this.#observer = observer;
  }

  async prepare(): Promise<void> {
    // Each round starts with no member inside.
  }

  async run(): Promise<void> {
    try {
      for (;;) await this.#round();
    } catch (error) {
      this.#observer.failed(error);
    }
  }

  async #round(): Promise<void> {
    const startMs = performance.now();
    await Promise.all(this.#barriers.map((barrier) => barrier.enter()));
    const insideMs = performance.now();
    await Promise.all(this.#barriers.map((barrier) => barrier.leave()));
    const endMs = performance.now();
    this.#observer.took("round", endMs - startMs);
    this.#observer.took("enter", insideMs - startMs);
    this.#observer.took("leave", endMs - insideMs);
    this.#observer.done();
  }
}

/**
 * Half of the clients put items, the other half takes them. At most as many items wait as there are
 * putters.
 */
class PutAndTake implements Act {
  readonly kinds: readonly string[] = ["put to taken", "put"];
  readonly hasCalm = false;
  readonly #options: ActOptions;
  readonly #pairs: number;
  #takers: number;
  #waiting = 0;
  readonly #wantRoom: (() => void)[] = [];

  constructor(options: ActOptions) {
    this.#options = options;
    this.#pairs = options.clients.all.length / 2;
    this.#takers = this.#pairs;
  }

  async prepare(): Promise<void> {
    // The queue is empty.
  }

  async run(): Promise<void> {
    const { clients, path } = this.#options;
    const queues = clients.all.map((zk) => new SimpleQueue(zk, path));
    await Promise.all(queues.map((queue, i) => (i < this.#pairs ? this.#putAll(queue) : this.#takeAll(queue))));
  }

  async #putAll(queue: SimpleQueue): Promise<void> {
    const { observer, payloadBytes } = this.#options;
    try {
      while (this.#takers > 0) {
        if (this.#waiting >= this.#pairs) {
          await new Promise<void>((resolve) => this.#wantRoom.push(resolve));
          continue;
        }
        this.#waiting++;
        const startMs = performance.now();
        await queue.offer(String(startMs).padEnd(payloadBytes));
        observer.took("put", performance.now() - startMs);
      }
    } catch (error) {
      observer.failed(error);
    }
  }

  async #takeAll(queue: SimpleQueue): Promise<void> {
    const { observer } = this.#options;
    try {
      for (;;) {
        const putMs = Number(Buffer.from(await queue.take()).toString());
        this.#waiting--;
        this.#wantRoom.shift()?.();
        observer.took("put to taken", performance.now() - putMs);
        observer.done();
      }
    } catch (error) {
      observer.failed(error);
      this.#takers--;
      // Putters do not wait for a taker that has failed.
      for (const wake of this.#wantRoom.splice(0)) wake();
    }
  }
}
