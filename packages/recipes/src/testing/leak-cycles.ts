/**
 * One cycle for each recipe: a round uses it from its creation to its end, including waiting and
 * giving up.
 */
import { type Client, json, text } from "@zooid/client";
import { filter, firstValueFrom } from "rxjs";
import { Barrier } from "../barriers/barrier.ts";
import { DoubleBarrier } from "../barriers/double-barrier.ts";
import { ClusterMonitor } from "../caches/cluster-monitor.ts";
import { ConfigCenter } from "../caches/config-center.ts";
import { Topic } from "../caches/topic.ts";
import { TreeCache } from "../caches/tree-cache.ts";
import { AtomicLong } from "../counters/atomic-number.ts";
import { CachedAtomic } from "../counters/cached-atomic.ts";
import { IdGenerator } from "../counters/id-generator.ts";
import { SharedCount } from "../counters/shared-value.ts";
import { NamingService } from "../discovery/naming-service.ts";
import { ServiceDiscovery } from "../discovery/service-discovery.ts";
import { LeaderLatch } from "../elections/leader-latch.ts";
import { Mutex } from "../locks/mutex.ts";
import { GroupMember } from "../members/group-member.ts";
import { PersistentNode } from "../members/persistent-node.ts";
import { PersistentTtlNode } from "../members/persistent-ttl-node.ts";
import { SetPartitioner } from "../members/set-partitioner.ts";
import { DelayQueue } from "../queues/delay-queue.ts";
import { DistributedQueue } from "../queues/distributed-queue.ts";
import { LockingQueue } from "../queues/locking-queue.ts";
import { SimpleQueue } from "../queues/simple-queue.ts";
import { type Held, RECIPES, type RecipeKind } from "./contenders.ts";
import type { LeakWorld } from "./leak-world.ts";

export interface LeakCycle {
  readonly name: string;
  /** For slow cycles, a part of the rounds: 1 in `oneIn`. */
  readonly oneIn?: number;
  /** Creates the parts that all rounds share, at and below a path. */
  begin(world: LeakWorld, path: string): Promise<Begun>;
}

export interface Begun {
  round(i: number): Promise<void>;
  end?(): Promise<void>;
}

const LOCKS: readonly LeakCycle[] = RECIPES.map((kind) => ({
  name: kind.name,
  begin: async (world, path) => ({ round: (i) => contend(world, { kind, path, i }) }),
}));

/** One client holds it, another waits until it is released, or gives up. */
async function contend(
  { a, b, signal }: LeakWorld,
  { kind, path, i }: { readonly kind: RecipeKind; readonly path: string; readonly i: number },
): Promise<void> {
  const options = { path, onSuspended: "lose", below: (bound: number) => i % bound } as const;
  const mine = kind.make(a, { ...options, name: "a" });
  const theirs = kind.make(b, { ...options, name: "b" });
  const held: Held[] = [];
  while (held.length < kind.holderCountMax) held.push(await mine.acquire({ signal }));
  const waiting = theirs.acquire(i % 4 === 0 ? { signal, timeoutMs: 1 } : { signal });
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  waiting.then(over, over);
  // Waiters have a watch on what they wait for.
  while (!isOver && b.watchCount === 0) await b.sync();
  if (i % 4 === 0) await waiting.then((next) => next.release(), ignoreTimeout);
  await Promise.all(held.map((each) => each.release()));
  if (i % 4 !== 0) await (await waiting).release();
}

function ignoreTimeout(error: { readonly code?: unknown }): void {
  if (error.code !== "LOCK_TIMEOUT") throw error;
}

const OTHERS: readonly LeakCycle[] = [
  simple("simple-queue", ({ a, b, signal }, path) => {
    const [mine, theirs] = [new SimpleQueue(a, path), new SimpleQueue(b, path)];
    return async (i) => {
      const taking = theirs.take({ signal });
      if (i % 2 === 0) while (b.watchCount === 0) await b.sync();
      await mine.offer("x");
      await taking;
      await mine.take({ signal, timeoutMs: 1 }).catch(ignoreTimeout);
    };
  }),
  simple("distributed-queue", ({ a, b }, path) => {
    const options = { codec: text, lockPath: `${path}/locks` };
    return async () => {
      const mine = new DistributedQueue(a, `${path}/items`, options);
      const theirs = new DistributedQueue(b, `${path}/items`, options);
      const done = Promise.withResolvers<void>();
      await using worker = theirs.consume(() => done.resolve());
      await mine.put("x");
      await done.promise;
      await worker.close();
      await Promise.all([mine.close(), theirs.close()]);
    };
  }),
  simple("delay-queue", ({ a }, path) => async () => {
    await using queue = new DelayQueue(a, path, { codec: text });
    const done = Promise.withResolvers<void>();
    await using _ = queue.consume(() => done.resolve());
    await queue.put("x", Date.now());
    await done.promise;
  }),
  simple("locking-queue", ({ a, b, signal }, path) => {
    const [mine, theirs] = [new LockingQueue(a, path), new LockingQueue(b, path)];
    return async () => {
      const taking = theirs.take({ signal });
      await mine.put("x");
      const item = await taking;
      await item.release();
      await (await mine.take({ signal })).consume();
    };
  }),
  simple("barrier", ({ a, b, signal }, path) => {
    const [mine, theirs] = [new Barrier(a, path), new Barrier(b, path)];
    return async (i) => {
      await mine.set();
      if (i % 2 === 0) await theirs.wait({ signal, timeoutMs: 1 }).catch(ignoreTimeout);
      const waiting = theirs.wait({ signal });
      await mine.remove();
      await waiting;
    };
  }),
  simple("double-barrier", ({ a, b, signal }, path) => {
    const all = [a, b].map((zk) => new DoubleBarrier(zk, path, { members: 2 }));
    return async () => {
      await Promise.all(all.map((barrier) => barrier.enter({ signal })));
      await Promise.all(all.map((barrier) => barrier.leave({ signal })));
    };
  }),
  simple("counters", ({ a, b, signal }, path) => {
    const [mine, theirs] = [new SharedCount(a, `${path}/shared`), new SharedCount(b, `${path}/shared`)];
    const cached = new CachedAtomic(new AtomicLong(a, `${path}/cached`), 2n);
    const ids = new IdGenerator(a, `${path}/ids`, { strategy: "sequential" });
    return async (i) => {
      await theirs.get();
      const seen = firstValueFrom(theirs.value$.pipe(filter(({ value }) => value === i)));
      await Promise.all([mine.set(i), cached.next(), ids.next()]);
      await seen;
      signal.throwIfAborted();
    };
  }),
  simple("tree-cache", ({ a, b, signal }, path) => async (i) => {
    using cache = new TreeCache(b, path);
    if (i % 2 === 0) return;
    await cache.ready({ signal });
    const seen = firstValueFrom(cache.changes$.pipe(filter(({ kind }) => kind === "created")));
    await a.create(`${path}/x`, "x", { parents: "persistent" });
    await seen;
    await a.delete(`${path}/x`);
  }),
  simple("persistent-nodes", ({ a, signal }, path) => async () => {
    await using node = new PersistentNode(a, { path: `${path}/node`, data: "x" });
    await using ttl = new PersistentTtlNode(a, { path: `${path}/ttl`, data: "x", ttlMs: 3_600_000 });
    await Promise.all([node.ready({ signal }), ttl.ready({ signal })]);
    node.setData("y");
  }),
  simple("group", ({ a, b, signal }, path) => async () => {
    using monitor = new ClusterMonitor(b, path);
    await monitor.ready({ signal });
    const joined = firstValueFrom(monitor.events$.pipe(filter(({ type }) => type === "join")));
    await using member = new GroupMember(a, path, { id: "me" });
    await member.ready({ signal });
    await joined;
  }),
  simple("service-discovery", ({ a, b, signal }, path) => async () => {
    await using mine = new ServiceDiscovery(a, path);
    await using theirs = new ServiceDiscovery(b, path);
    const registration = await mine.register({ name: "web", id: "1", address: "10.0.0.1", port: 80 }, { signal });
    using provider = theirs.provider("web");
    await provider.ready({ signal });
    provider.pick();
    await registration.close();
  }),
  simple("configuration, names, topics", ({ a, b, signal }, path) => {
    const names = new NamingService(a, `${path}/names`, text);
    const [mine, theirs] = [topicOf(a, path), topicOf(b, path)];
    return async (i) => {
      await using center = new ConfigCenter(b, `${path}/config`, { app: "app", env: "test", codec: text });
      await center.ready({ signal });
      await center.set("key", "value");
      const heard = firstValueFrom(theirs.messages$.pipe(filter((message) => message === i)));
      await mine.publish(i);
      await heard;
      await names.register("kind", "name", "value");
      await names.unregister("kind", "name");
    };
  }),
  simple("set-partitioner", ({ a }, path) => async () => {
    const items = ["x", "y"];
    const shared = Promise.withResolvers<void>();
    await using _ = new SetPartitioner(a, path, { id: "me", items, quietMs: 1, work: () => shared.resolve() });
    await shared.promise;
  }),
];

const topicOf = (zk: Client, path: string): Topic<number> => new Topic(zk, `${path}/topic`, json<number>());

function simple(name: string, begin: (world: LeakWorld, path: string) => (i: number) => Promise<void>): LeakCycle {
  return { name, begin: async (world, path) => ({ round: begin(world, path) }) };
}

/** Recipes that live long, while connections and sessions change. */
async function standing({ a, b, signal }: LeakWorld, path: string, interrupt: () => Promise<void>): Promise<Begun> {
  const latch = new LeaderLatch(a, `${path}/latch`);
  const lease = await new Mutex(b, `${path}/mutex`).acquire();
  const giveUp = new AbortController();
  const waiting = new Mutex(a, `${path}/mutex`).acquire({ signal: giveUp.signal });
  waiting.catch(() => {});
  const cache = new TreeCache(a, path);
  const member = new GroupMember(a, `${path}/group`, { id: "me" });
  const queue = new DistributedQueue(a, `${path}/items`, { codec: text, lockPath: `${path}/locks` });
  const worker = queue.consume(() => {});
  const count = new SharedCount(a, `${path}/count`);
  await count.get();
  const counting = count.value$.subscribe();
  const isReady = async (): Promise<void> => {
    await Promise.all([latch.leadership({ signal }), member.ready({ signal }), cache.ready({ signal })]);
  };
  return {
    round: async () => {
      await isReady();
      await interrupt();
    },
    end: async () => {
      giveUp.abort();
      counting.unsubscribe();
      cache.close();
      await Promise.all([latch.close(), member.close(), worker.close(), lease.release()]);
      await queue.close();
    },
  };
}

const INTERRUPTIONS: readonly LeakCycle[] = [
  { name: "reconnect", begin: (world, path) => standing(world, path, () => world.reconnect()) },
  { name: "new session", oneIn: 2, begin: (world, path) => standing(world, path, () => world.renewSession()) },
];

/** Every recipe, by name. */
export const LEAK_CYCLES: readonly LeakCycle[] = [...LOCKS, ...OTHERS, ...INTERRUPTIONS];
