import { type Client, text } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { SetPartitioner } from "../members/set-partitioner.ts";
import { DelayQueue } from "../queues/delay-queue.ts";
import { DistributedQueue } from "../queues/distributed-queue.ts";
import { IdQueue } from "../queues/id-queue.ts";
import { PriorityQueue } from "../queues/priority-queue.ts";
import { Cron } from "../schedules/cron.ts";
import { eachStaged } from "../testing/each-staged.ts";

let a: Client;
let b: Client;
eachStaged((staged) => {
  ({ a, b } = staged);
});

/** A recipe that runs work, and closes from inside of it. */
type Closing = (zk: Client, work: () => Promise<void>) => Promise<AsyncDisposable>;

const PATH = "/work";
const LOCKS = "/work-locks";
/** Nodes that stay: containers, and those of a schedule. */
const KEPT = new Set(["party", "locks", "leader", "last", "clock"]);

const CLOSED: Readonly<Record<string, Closing>> = {
  "a leader selector": async (zk, work) => {
    const selector = new LeaderSelector(zk, PATH, work, { autoRequeue: true });
    selector.start();
    return selector;
  },
  "a schedule": async (zk, work) => new Cron(zk, PATH, { schedule: { everyMs: 10 }, work }),
  "a partitioner": async (zk, work) => new SetPartitioner(zk, PATH, { items: ["1", "2"], work, quietMs: 10 }),
  "a consumer of a queue": async (zk, work) => {
    const queue = new DistributedQueue(zk, PATH, { codec: text });
    await queue.put("item");
    return queue.consume(work);
  },
  "a consumer of a queue with locks": async (zk, work) => {
    const queue = new DistributedQueue(zk, PATH, { codec: text, lockPath: LOCKS });
    await queue.put("item");
    return queue.consume(work);
  },
  "a queue": async (zk, work) => {
    const queue = new DistributedQueue(zk, PATH, { codec: text, lockPath: LOCKS });
    await queue.put("item");
    queue.consume(work);
    return queue;
  },
  "a priority queue": async (zk, work) => {
    const queue = new PriorityQueue(zk, PATH, { codec: text });
    await queue.put("item", 1);
    queue.consume(work);
    return queue;
  },
  "a delay queue": async (zk, work) => {
    const queue = new DelayQueue(zk, PATH, { codec: text });
    await queue.put("item", 0);
    queue.consume(work);
    return queue;
  },
  "an id queue": async (zk, work) => {
    const queue = new IdQueue(zk, PATH, { codec: text });
    await queue.put("item", "1");
    queue.consume(work);
    return queue;
  },
};

describe.each(Object.entries(CLOSED))("%s that is closed from inside of its work", (_, open) => {
  test("ends, and the end of the work finishes the rest", async () => {
    const made = Promise.withResolvers<AsyncDisposable>();
    const inside = Promise.withResolvers<void>();
    const steps: string[] = [];
    const recipe = await open(a, async () => {
      steps.push("begins");
      await (await made.promise)[Symbol.asyncDispose]();
      steps.push("closed");
      inside.resolve();
    });
    made.resolve(recipe);
    await inside.promise;
    await recipe[Symbol.asyncDispose]();
    expect(steps).toEqual(["begins", "closed"]);
    const names = (await b.children(PATH).catch(() => ({ names: [] }))).names;
    expect(names.filter((name) => !KEPT.has(name))).toEqual([]);
  });
});

test("a consumer that one work closes waits for its other work, unless that closes it too", async () => {
  const queue = new DistributedQueue(a, PATH, { codec: text });
  for (let i = 0; i < 3; i++) await queue.put(`${i}`);
  const slow = Promise.withResolvers<void>();
  const made = Promise.withResolvers<AsyncDisposable>();
  const steps: string[] = [];
  const begun = Promise.withResolvers<void>();
  let count = 0;
  const consumer = queue.consume(
    async (which) => {
      if (++count === 3) begun.resolve();
      await begun.promise;
      if (which === "0") await slow.promise;
      else await (await made.promise)[Symbol.asyncDispose]();
      steps.push(which);
    },
    { concurrency: 3 },
  );
  made.resolve(consumer);
  await begun.promise;
  for (let i = 0; i < 4; i++) await a.sync();
  expect(steps).toEqual([]);
  slow.resolve();
  await consumer.close();
  expect(steps[0]).toBe("0");
  expect(steps.toSorted()).toEqual(["0", "1", "2"]);
});
