/** The lock-like recipes behind one interface: wait, hold, release. */
import type { Client, Transaction } from "@zooid/client";
import { LeaderLatch } from "../elections/leader-latch.ts";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { MasterElection } from "../elections/master-election.ts";
import { UnfairElection } from "../elections/unfair-election.ts";
import type { WaitOptions } from "../leases/deadline.ts";
import type { Grant, Lease } from "../leases/lease.ts";
import type { LeaseGroup } from "../leases/lease-group.ts";
import { MultiLock } from "../locks/multi-lock.ts";
import { Mutex } from "../locks/mutex.ts";
import { ReadWriteLock } from "../locks/read-write-lock.ts";
import { Semaphore, SemaphoreMutex } from "../locks/semaphore.ts";
import { UnfairLock } from "../locks/unfair-lock.ts";

export interface Held {
  readonly grant: Pick<Grant, "isValid" | "paths" | "lostReason">;
  readonly token: number;
  readonly sessionId: bigint;
  /** Whether other sharing holders may hold it too. */
  readonly isShared: boolean;
  guard(): Transaction<undefined[]>;
  release(): Promise<void>;
  /** The same in shared mode, if the recipe has one. */
  downgrade?(): Promise<Held>;
}

export interface Contender {
  acquire(wait: WaitOptions): Promise<Held>;
}

export interface ContenderOptions {
  readonly path: string;
  readonly name: string;
  readonly onSuspended: "lose" | "keep";
  /** Whole numbers below a bound. */
  below(bound: number): number;
}

export interface RecipeKind {
  readonly name: string;
  /** How many may hold it at a time. */
  readonly holderCountMax: number;
  /**
   * Parent of the contenders' nodes, if the recipe has a queue: a test may delete nodes there as an
   * administrator would.
   */
  readonly line: ((path: string) => string) | undefined;
  make(zk: Client, options: ContenderOptions): Contender;
}

type Guarded = Grant & { guard(): Transaction<undefined[]> | Transaction<[undefined]> };

function held(grant: Guarded, lease: Lease, isShared = false): Held {
  return {
    grant,
    token: lease.token,
    sessionId: lease.sessionId,
    isShared,
    guard: () => grant.guard() as Transaction<undefined[]>,
    release: () => grant.release(),
  };
}

function firstOf(group: LeaseGroup<Grant>): Lease {
  const [part] = group.parts;
  if (part === undefined) throw new Error("a grant of nothing");
  return "parts" in part ? firstOf(part as LeaseGroup<Grant>) : (part as Lease);
}

/** A candidate that leads until it is closed; a new one for each attempt. */
function candidacy(begin: () => { leadership(wait: WaitOptions): Promise<Lease>; close(): Promise<void> }): Contender {
  return {
    acquire: async (wait) => {
      const candidate = begin();
      try {
        const term = await candidate.leadership(wait);
        return { ...held(term, term), release: () => candidate.close() };
      } catch (error) {
        await candidate.close();
        throw error;
      }
    },
  };
}

function selecting(zk: Client, { path, name, onSuspended }: ContenderOptions): Contender {
  return candidacy(() => {
    const term = Promise.withResolvers<Lease>();
    const released = Promise.withResolvers<void>();
    const lead = (lease: Lease): Promise<void> => {
      term.resolve(lease);
      return released.promise;
    };
    const selector = new LeaderSelector(zk, path, lead, { id: name, onSuspended });
    selector.start();
    // An error without a term also ends its waiters.
    selector.finished().then(() => term.reject(new Error("no term")), term.reject);
    term.promise.catch(() => {});
    return {
      leadership: async ({ timeoutMs }) => {
        const late = Promise.withResolvers<never>();
        const timer = timeoutMs === undefined ? undefined : setTimeout(() => late.reject(timeout()), timeoutMs);
        return Promise.race([term.promise, late.promise]).finally(() => clearTimeout(timer));
      },
      close: async () => {
        released.resolve();
        await selector.close();
      },
    };
  });
}

function timeout(): Error {
  return Object.assign(new Error("no term in time"), { code: "LOCK_TIMEOUT" });
}

const own = (path: string): string => path;

export const RECIPES: readonly RecipeKind[] = [
  {
    name: "mutex",
    holderCountMax: 1,
    line: own,
    make: (zk, { path, onSuspended }) => {
      const mutex = new Mutex(zk, path, { onSuspended });
      return { acquire: async (wait) => alone(await mutex.acquire(wait)) };
    },
  },
  {
    name: "semaphore-mutex",
    holderCountMax: 1,
    line: (path) => `${path}/locks`,
    make: (zk, { path, onSuspended }) => {
      const mutex = new SemaphoreMutex(zk, path, { onSuspended });
      return { acquire: async (wait) => alone(await mutex.acquire(wait)) };
    },
  },
  {
    name: "semaphore",
    holderCountMax: 2,
    line: (path) => `${path}/leases`,
    make: (zk, { path, onSuspended }) => {
      const semaphore = new Semaphore(zk, path, { leases: 2, onSuspended });
      return {
        acquire: async (wait) => {
          const group = await semaphore.acquire(wait);
          return held(group, firstOf(group));
        },
      };
    },
  },
  {
    name: "read-write-lock",
    holderCountMax: 1,
    line: own,
    make: (zk, { path, onSuspended, below }) => {
      const lock = new ReadWriteLock(zk, path, { onSuspended });
      return {
        acquire: async (wait) => {
          if (below(2) === 0) {
            const lease = await lock.read.acquire(wait);
            return held(lease, lease, true);
          }
          const lease = await lock.write.acquire(wait);
          const downgrade = async (): Promise<Held> => {
            const reading = await lock.downgrade(lease, wait);
            await lease.release();
            return held(reading, reading, true);
          };
          return { ...held(lease, lease), downgrade };
        },
      };
    },
  },
  {
    name: "multi-lock",
    holderCountMax: 1,
    line: (path) => `${path}/a`,
    make: (zk, { path, onSuspended }) => {
      const parts = ["b", "a"].map((name) => new Mutex(zk, `${path}/${name}`, { onSuspended }));
      const lock = new MultiLock(zk, parts);
      return {
        acquire: async (wait) => {
          const group = await lock.acquire(wait);
          return held(group, firstOf(group));
        },
      };
    },
  },
  {
    name: "leader-latch",
    holderCountMax: 1,
    line: own,
    make: (zk, { path, name, onSuspended }) => candidacy(() => new LeaderLatch(zk, path, { id: name, onSuspended })),
  },
  { name: "leader-selector", holderCountMax: 1, line: own, make: selecting },
  {
    name: "unfair-lock",
    holderCountMax: 1,
    line: undefined,
    make: (zk, { path, onSuspended }) => {
      const lock = new UnfairLock(zk, path, { onSuspended, spreadMs: 5 });
      return { acquire: async (wait) => alone(await lock.acquire(wait)) };
    },
  },
  {
    name: "unfair-election",
    holderCountMax: 1,
    line: undefined,
    make: (zk, { path, name, onSuspended }) => candidacy(() => new UnfairElection(zk, path, { id: name, onSuspended })),
  },
  {
    name: "master-election",
    holderCountMax: 1,
    line: undefined,
    make: (zk, { path, name, onSuspended }) =>
      candidacy(() => {
        const election = new MasterElection(zk, path, name, { onSuspended });
        return { leadership: (wait) => election.activity(wait), close: () => election.close() };
      }),
  },
];

function alone(lease: Lease): Held {
  return held(lease, lease);
}
