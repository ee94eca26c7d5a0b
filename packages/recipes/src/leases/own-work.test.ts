import { type Client, text } from "@zooid/client";
import { describe, expect, test } from "vitest";
import { LeaderSelector } from "../elections/leader-selector.ts";
import { Mutex } from "../locks/mutex.ts";
import { SetPartitioner } from "../members/set-partitioner.ts";
import { DelayQueue } from "../queues/delay-queue.ts";
import { DistributedQueue } from "../queues/distributed-queue.ts";
import { IdQueue } from "../queues/id-queue.ts";
import { PriorityQueue } from "../queues/priority-queue.ts";
import { Cron } from "../schedules/cron.ts";
import { eachStaged } from "../testing/each-staged.ts";
import type { Lease } from "./lease.ts";
import { OwnWork, WorkController } from "./own-work.ts";

let a: Client;
let b: Client;
eachStaged((staged) => {
  ({ a, b } = staged);
});

/** A recipe that runs work, and closes from inside of it. */
type Closing = (zk: Client, work: () => Promise<void>, path?: string) => Promise<AsyncDisposable>;

const PATH = "/work";
/** Nodes that stay: containers, and those of a schedule. */
const KEPT = new Set(["party", "locks", "leader", "last", "clock"]);

const CLOSED: Readonly<Record<string, Closing>> = {
  "a leader selector": async (zk, work, path = PATH) => {
    const selector = new LeaderSelector(zk, path, work, { autoRequeue: true });
    selector.start();
    return selector;
  },
  "a schedule": async (zk, work, path = PATH) => new Cron(zk, path, { schedule: { everyMs: 10 }, work }),
  "a partitioner": async (zk, work, path = PATH) =>
    new SetPartitioner(zk, path, { items: ["1", "2"], work, quietMs: 10 }),
  "a consumer of a queue": async (zk, work, path = PATH) => {
    const queue = new DistributedQueue(zk, path, { codec: text });
    await queue.put("item");
    return queue.consume(work);
  },
  "a consumer of a queue with locks": async (zk, work, path = PATH) => {
    const queue = new DistributedQueue(zk, path, { codec: text, lockPath: `${path}-locks` });
    await queue.put("item");
    return queue.consume(work);
  },
  "a queue": async (zk, work, path = PATH) => {
    const queue = new DistributedQueue(zk, path, { codec: text, lockPath: `${path}-locks` });
    await queue.put("item");
    queue.consume(work);
    return queue;
  },
  "a priority queue": async (zk, work, path = PATH) => {
    const queue = new PriorityQueue(zk, path, { codec: text });
    await queue.put("item", 1);
    queue.consume(work);
    return queue;
  },
  "a delay queue": async (zk, work, path = PATH) => {
    const queue = new DelayQueue(zk, path, { codec: text });
    await queue.put("item", 0);
    queue.consume(work);
    return queue;
  },
  "an id queue": async (zk, work, path = PATH) => {
    const queue = new IdQueue(zk, path, { codec: text });
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

test.each(Object.entries(CLOSED))("%s and another one whose works close each other end", async (_, open) => {
  const [one, two] = [Promise.withResolvers<AsyncDisposable>(), Promise.withResolvers<AsyncDisposable>()];
  const [oneWorks, twoWorks] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const closing = async (other: Promise<AsyncDisposable>): Promise<void> => {
    const recipe = await other;
    await Promise.all([oneWorks.promise, twoWorks.promise]);
    await recipe[Symbol.asyncDispose]();
  };
  one.resolve(
    await open(a, () => {
      oneWorks.resolve();
      return closing(two.promise);
    }),
  );
  two.resolve(
    await open(
      b,
      () => {
        twoWorks.resolve();
        return closing(one.promise);
      },
      `${PATH}-two`,
    ),
  );
  await Promise.all([oneWorks.promise, twoWorks.promise]);
  await Promise.all([one, two].map(async ({ promise }) => (await promise)[Symbol.asyncDispose]()));
});

/** Work that runs until a signal of it aborts. */
type Ending = (lease: Lease | undefined, signal: AbortSignal) => Promise<void>;

/** The recipes whose work gets a signal, and the node of its lease. */
const SIGNALLED: Readonly<
  Record<string, { readonly open: (zk: Client, work: Ending) => Promise<AsyncDisposable>; readonly leases: string }>
> = {
  "a leader selector": {
    open: async (zk, work) => {
      const selector = new LeaderSelector(zk, PATH, work);
      selector.start();
      return selector;
    },
    leases: PATH,
  },
  "a schedule": {
    open: async (zk, work) =>
      new Cron(zk, PATH, { schedule: { everyMs: 10 }, work: ({ lease }, signal) => work(lease, signal) }),
    leases: `${PATH}/leader`,
  },
  "a partitioner": {
    open: async (zk, work) =>
      new SetPartitioner(zk, PATH, { items: ["1"], work: (_, signal) => work(undefined, signal), quietMs: 10 }),
    leases: `${PATH}/locks/1`,
  },
  "a consumer of a queue with locks": {
    open: async (zk, work) => {
      const queue = new DistributedQueue(zk, PATH, { codec: text, lockPath: `${PATH}-locks` });
      await queue.put("item");
      return queue.consume((_, { lease, signal }) => work(lease, signal));
    },
    leases: `${PATH}-locks`,
  },
};

/** The end of the work, from outside. */
const ENDS: Readonly<Record<string, (recipe: AsyncDisposable, leases: string) => PromiseLike<unknown>>> = {
  "the recipe is closed": (recipe) => recipe[Symbol.asyncDispose](),
  "leadership is interrupted": async (recipe) => (recipe as LeaderSelector).interruptLeadership(),
  "the node of the lease is deleted": async (_, leases) => {
    for (const name of (await b.children(leases)).names) await b.delete(`${leases}/${name}`);
  },
  "the client is closed": () => a.close(),
};

/** The signals that the work can listen to. */
const LISTENED: Readonly<Record<string, (lease: Lease | undefined, signal: AbortSignal) => AbortSignal | undefined>> = {
  "its signal": (_, signal) => signal,
  "a signal derived from that": (_, signal) => AbortSignal.any([signal, new AbortController().signal]),
  "the lease's signal": (lease) => lease?.signal,
};

const LISTENERS = Object.entries(SIGNALLED).flatMap(([name, recipe]) =>
  Object.entries(LISTENED).flatMap(([which, signalOf]) =>
    Object.entries(ENDS).flatMap(([what, end]) => {
      if (what === "leadership is interrupted" && name !== "a leader selector") return [];
      const isOfLease = which === "the lease's signal";
      if (isOfLease && name === "a partitioner") return [];
      // These leave the lease as it is until the work has ended.
      const keepsLease = what === "the recipe is closed" || what === "leadership is interrupted";
      if (keepsLease && (isOfLease || name.includes("queue"))) return [];
      return [{ name, which, what, recipe, signalOf, end }];
    }),
  ),
);

test.each(LISTENERS)("$name whose work closes it in a listener of $which ends when $what", async (row) => {
  const { recipe, signalOf, end } = row;
  const begun = Promise.withResolvers<void>();
  const made = Promise.withResolvers<AsyncDisposable>();
  let isClosed = false;
  made.resolve(
    await recipe.open(
      a,
      (lease, signal) =>
        new Promise<void>((resolve) => {
          const close = async (): Promise<void> => {
            await (await made.promise)[Symbol.asyncDispose]();
            isClosed = true;
            resolve();
          };
          signalOf(lease, signal)?.addEventListener("abort", close, { once: true });
          begun.resolve();
        }),
    ),
  );
  const opened = await made.promise;
  await begun.promise;
  await end(opened, recipe.leases);
  await (opened as { finished?: () => Promise<void> }).finished?.();
  await opened[Symbol.asyncDispose]();
  expect(isClosed).toBe(true);
});

test.each(Object.entries(SIGNALLED))(
  "%s begins no work with an aborted signal, whenever it is closed",
  async (_, recipe) => {
    const begunAborted: boolean[] = [];
    let isInTime = true;
    for (let at = 1; isInTime; at++) {
      let count = 0;
      let opened: AsyncDisposable | undefined;
      const over = Promise.withResolvers<void>();
      const zk = a.with({
        intercept: async (_call, next) => {
          try {
            return await next();
          } finally {
            if (opened !== undefined && ++count === at) opened[Symbol.asyncDispose]().then(over.resolve, over.reject);
          }
        },
      });
      opened = await recipe.open(zk, async (_, signal) => {
        begunAborted.push(signal.aborted);
        isInTime = count >= at;
        over.resolve();
      });
      await over.promise;
      await opened[Symbol.asyncDispose]();
    }
    expect(begunAborted).not.toContain(true);
  },
);

test("a recipe whose work closes it in a listener of a lock that the work has acquired ends when that is lost", async () => {
  const closed = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const selector: LeaderSelector = new LeaderSelector(a, PATH, async () => {
    const lease = await new Mutex(a, `${PATH}-other`).acquire();
    lease.signal.addEventListener("abort", () => selector.close().then(closed.resolve, closed.reject));
    begun.resolve();
    await closed.promise;
  });
  selector.start();
  await begun.promise;
  await a.close();
  await selector.finished();
  await selector.close();
});

test("works that close each other's recipe in listeners of their signals end", async () => {
  const selectors: LeaderSelector[] = [];
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  for (const i of [0, 1]) {
    const work = (_: Lease, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => selectors[1 - i]?.close().then(resolve, reject));
        begun[i]?.resolve();
      });
    const selector = new LeaderSelector(a, `${PATH}-${i}`, work);
    selector.start();
    selectors.push(selector);
  }
  await Promise.all(begun.map(({ promise }) => promise));
  await selectors[0]?.close();
  await selectors[1]?.close();
});

describe("a call from what a work has begun", () => {
  test("and that comes after the end of that run of a schedule waits for the schedule's end", async () => {
    const steps: string[] = [];
    const late = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    let count = 0;
    const cron: Cron = new Cron(a, PATH, {
      schedule: { everyMs: 10 },
      work: async () => {
        if (++count === 1) late.promise.then(() => cron.close().then(() => closed.resolve(void steps.push("closed"))));
        if (count !== 2) return;
        late.resolve();
        for (let i = 0; i < 4; i++) await a.sync();
        steps.push("second run");
      },
    });
    await closed.promise;
    expect(steps).toEqual(["second run", "closed"]);
  });

  test("and that comes after the work on one item waits for the work on the others of its node", async () => {
    const queue = new DistributedQueue(a, PATH, { codec: text });
    await queue.putAll(["first", "second"]);
    const steps: string[] = [];
    const late = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    queue.consume(async (item) => {
      if (item === "first") {
        late.promise.then(() => queue.close().then(() => closed.resolve(void steps.push("closed"))));
        return;
      }
      late.resolve();
      for (let i = 0; i < 4; i++) await a.sync();
      steps.push("second item");
    });
    await closed.promise;
    expect(steps).toEqual(["second item", "closed"]);
  });
});

describe("of recipes", () => {
  /** A recipe that ends when its work does. */
  class Recipe {
    readonly own = new OwnWork();
    #ended: Promise<unknown> = Promise.resolve();

    begin(...works: readonly (() => unknown)[]): void {
      this.#ended = Promise.all([this.#ended, ...works.map((work) => this.own.run(work, new WorkController().signal))]);
    }

    close(): Promise<void> {
      return this.own.untilEnded(this.#ended.then(() => {}));
    }
  }

  test("three that wait for each other in a circle end, whichever call comes last", async () => {
    for (const last of [0, 1, 2]) {
      const recipes = [new Recipe(), new Recipe(), new Recipe()];
      const [begun, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      recipes.forEach((recipe, i) => {
        recipe.begin(async () => {
          await (i === last ? others : begun).promise;
          await recipes[(i + 1) % 3]?.close();
        });
      });
      begun.resolve();
      await new Promise(setImmediate);
      others.resolve();
      await Promise.all(recipes.map((recipe) => recipe.close()));
    }
  });

  test("in a circle, work that closes nothing is waited for", async () => {
    const [one, two] = [new Recipe(), new Recipe()];
    const slow = Promise.withResolvers<void>();
    const steps: string[] = [];
    const isWaiting = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    one.begin(
      () => begun.promise.then(() => two.close()),
      () => slow.promise.then(() => steps.push("slow")),
    );
    two.begin(async () => {
      begun.resolve();
      await new Promise(setImmediate);
      const closed = one.close();
      isWaiting.resolve();
      await closed;
      steps.push("closed");
    });
    await isWaiting.promise;
    await new Promise(setImmediate);
    expect(steps).toEqual([]);
    slow.resolve();
    await Promise.all([one.close(), two.close()]);
    expect(steps).toEqual(["slow", "closed"]);
  });

  test("a call that the work has not awaited waits for the end, once the work has ended", async () => {
    const one = new Recipe();
    const slow = Promise.withResolvers<void>();
    const steps: string[] = [];
    const ended = Promise.withResolvers<void>();
    one.begin(
      () => slow.promise,
      () => {
        one.own.untilEnded(ended.promise).then(
          () => steps.push("closed"),
          () => {},
        );
      },
    );
    slow.resolve();
    await one.close();
    await new Promise(setImmediate);
    steps.push("ended");
    ended.resolve();
    await new Promise(setImmediate);
    expect(steps).toEqual(["ended", "closed"]);
  });
});
