/**
 * Children that no client makes change nothing in any recipe that lists children, and those of
 * other clients do.
 */
import { type Client, text } from "@zooid/client";
import fc from "fast-check";
import { filter, firstValueFrom } from "rxjs";
import { expect, test } from "vitest";
import { DoubleBarrier } from "../barriers/double-barrier.ts";
import { LeaderLatch } from "../elections/leader-latch.ts";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { SetPartitioner } from "../members/set-partitioner.ts";
import { DelayQueue } from "../queues/delay-queue.ts";
import { DistributedQueue } from "../queues/distributed-queue.ts";
import { IdQueue } from "../queues/id-queue.ts";
import { LockingQueue } from "../queues/locking-queue.ts";
import { PriorityQueue } from "../queues/priority-queue.ts";
import { SimpleQueue } from "../queues/simple-queue.ts";
import type { WorkQueue } from "../queues/work-queue.ts";
import { nearMisses, realNames } from "../testing/child-name-samples.ts";
import { eachStaged } from "../testing/each-staged.ts";
import type { ChildForm } from "./child-names.ts";
import { MultiLock } from "./multi-lock.ts";
import { Mutex } from "./mutex.ts";
import { ReadWriteLock } from "./read-write-lock.ts";
import { Semaphore, SemaphoreMutex } from "./semaphore.ts";

const PATH = "/shared";
const FOREIGN_COUNT = 30;

let a: Client;
let b: Client;

eachStaged((staged) => {
  ({ a, b } = staged);
});

interface Listing {
  readonly below: string;
  readonly form: ChildForm;
}

interface Case {
  readonly lists: readonly Listing[];
  /**
   * The outcome of the recipe; the same with foreign children, and another one with one that
   * counts.
   */
  readonly outcome: (zk: Client, childCount: number) => Promise<unknown>;
}

const ownLocks: readonly Listing[] = [{ below: "", form: "lock" }];
const items: readonly Listing[] = [{ below: "", form: "item" }];

const isGranted = async (trying: Promise<AsyncDisposable | null>): Promise<boolean> => {
  await using lease = await trying;
  return lease !== null;
};

const consumed = async (queue: WorkQueue<string>): Promise<unknown> => {
  const first = Promise.withResolvers<string>();
  const before = await queue.size();
  await using _ = queue.consume((item) => first.resolve(item), { onError: (error) => first.resolve(String(error)) });
  return [before, await first.promise];
};

const CASES: Readonly<Record<string, Case>> = {
  "a mutex": { lists: ownLocks, outcome: (zk) => isGranted(new Mutex(zk, PATH).tryAcquire()) },
  "a writer": { lists: ownLocks, outcome: (zk) => isGranted(new ReadWriteLock(zk, PATH).write.tryAcquire()) },
  "a multi lock": {
    lists: ownLocks,
    outcome: (zk) => isGranted(new MultiLock(zk, [new Mutex(zk, PATH)]).tryAcquire()),
  },
  "a semaphore": {
    lists: [
      { below: "/locks", form: "lock" },
      { below: "/leases", form: "lease" },
    ],
    outcome: (zk) => isGranted(new Semaphore(zk, PATH, { leases: 1 }).tryAcquire()),
  },
  "a semaphore mutex": {
    lists: [
      { below: "/locks", form: "lock" },
      { below: "/leases", form: "lease" },
    ],
    outcome: (zk) => isGranted(new SemaphoreMutex(zk, PATH).tryAcquire()),
  },
  "a latch": {
    lists: [{ below: "", form: "latch" }],
    outcome: async (zk, childCount) => {
      await using latch = new LeaderLatch(zk, PATH, { id: "mine" });
      await exceeds(childCount);
      const [leader] = await latch.participants();
      return leader?.id;
    },
  },
  "a selector": {
    lists: ownLocks,
    outcome: async (zk, childCount) => {
      await using selector = new LeaderSelector(zk, PATH, () => {}, { id: "mine" });
      selector.start();
      await Promise.race([selector.finished(), exceeds(childCount)]);
      const [leader] = await selector.participants();
      return leader === undefined || leader.id === "mine";
    },
  },
  "a queue": {
    lists: items,
    outcome: async (zk) => {
      const queue = new DistributedQueue(zk, PATH, { codec: text, itemCountMax: 2 });
      await queue.put("mine");
      return await consumed(queue);
    },
  },
  "an id queue": {
    lists: items,
    outcome: async (zk) => {
      const queue = new IdQueue(zk, PATH, { codec: text });
      await queue.put("mine", "1");
      return await consumed(queue);
    },
  },
  "a priority queue": {
    lists: items,
    outcome: async (zk) => {
      const queue = new PriorityQueue(zk, PATH, { codec: text });
      await queue.put("mine", 5);
      return await consumed(queue);
    },
  },
  "a delay queue": {
    lists: items,
    outcome: async (zk) => {
      const queue = new DelayQueue(zk, PATH, { codec: text });
      await queue.put("mine", 0);
      return await consumed(queue);
    },
  },
  "a simple queue": {
    lists: [{ below: "", form: "simple-item" }],
    outcome: async (zk) => {
      const queue = new SimpleQueue(zk, PATH);
      await queue.offer("mine");
      return [await queue.poll(), await queue.poll()];
    },
  },
  "a locking queue": {
    lists: [{ below: "/entries", form: "entry" }],
    outcome: async (zk) => {
      const queue = new LockingQueue(zk, PATH);
      await queue.put("mine");
      await using item = await queue.take();
      return [await queue.size(), Buffer.from(item.data).toString()];
    },
  },
  "a double barrier": {
    lists: [{ below: "", form: "barrier-member" }],
    outcome: async (zk, childCount) => {
      const barrier = new DoubleBarrier(zk, PATH, { members: 2 });
      const stop = new AbortController();
      const entered = barrier.enter({ signal: stop.signal }).then(
        () => true,
        () => false,
      );
      // The member, and `ready` once there are two.
      await exceeds(childCount);
      for (let i = 0; i < 4; i++) await zk.sync();
      stop.abort();
      return await entered;
    },
  },
  "a partitioned set": {
    lists: [{ below: "/party", form: "party-member" }],
    outcome: async (zk) => {
      const options = { items: ["1", "2"], work: () => {}, id: "mine", quietMs: 0 };
      await using mine = new SetPartitioner(zk, PATH, options);
      return await firstValueFrom(mine.share$.pipe(filter((share) => share.length > 0)));
    },
  },
};

/** Waits until the path has more children. */
async function exceeds(childCount: number): Promise<void> {
  await firstValueFrom(b.watchChildren$(PATH).pipe(filter((names) => (names?.length ?? 0) > childCount)));
}

async function put(below: string, names: readonly string[]): Promise<void> {
  const data = Buffer.from("theirs");
  await Promise.all(
    names.map((name) => a.create(`${PATH}${below}/${name}`, data, { parents: "container", existsOk: true })),
  );
}

test.each(Object.entries(CASES))(
  "%s passes over foreign children, and none that counts",
  async (_, { lists, outcome }) => {
    const alone = await outcome(a, 0);
    for (const { below, form } of lists) {
      await a.deleteTree(PATH);
      const foreign = new Set(fc.sample(nearMisses(form), FOREIGN_COUNT).filter((name) => name !== ""));
      await put(below, [...foreign]);
      const names = [...foreign].map((name) => `${below}/${name}`);
      expect([names, await outcome(a, foreign.size)]).toEqual([names, alone]);
    }
    for (const { below, form } of lists) {
      await a.deleteTree(PATH);
      // The first in the order of numbers.
      const [real = ""] = fc.sample(realNames(form), 1).map((name) => name.replace(/\d{10}$/, "0000000000"));
      await put(below, [real]);
      expect([real, await outcome(a, 1)]).not.toEqual([real, alone]);
    }
  },
);
