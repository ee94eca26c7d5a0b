/** Every class of the package that has methods, and how a program begins with it. */
import { type Client, json, text } from "@zooid/client";
import * as recipes from "../index.ts";

/** @returns the recipe, which has begun its work; of some, with what it was made by */
export type Open = (zk: Client, path: string) => object | Promise<object>;

const idle = (): void => {};
const lasting = (_: unknown, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

export const EVERY_RECIPE: Readonly<Record<string, Open>> = {
  AtomicInteger: (zk, path) => new recipes.AtomicInteger(zk, path),
  AtomicLong: (zk, path) => new recipes.AtomicLong(zk, path),
  Barrier: (zk, path) => new recipes.Barrier(zk, path),
  CachedAtomic: (zk, path) => new recipes.CachedAtomic(new recipes.AtomicLong(zk, path), 5n),
  ClusterMonitor: (zk, path) => new recipes.ClusterMonitor(zk, path),
  ConfigCenter: (zk, path) => new recipes.ConfigCenter(zk, path, { app: "app", env: "env", codec: json() }),
  Cron: (zk, path) => new recipes.Cron(zk, path, { schedule: { everyMs: 10 }, work: idle }),
  DelayQueue: (zk, path) => new recipes.DelayQueue(zk, path, { codec: text, lockPath: `${path}-locks` }),
  DistributedQueue: (zk, path) => new recipes.DistributedQueue(zk, path, { codec: text, lockPath: `${path}-locks` }),
  DoubleBarrier: (zk, path) => new recipes.DoubleBarrier(zk, path, { members: 1 }),
  GroupMember: (zk, path) => new recipes.GroupMember(zk, path, { id: "m" }),
  IdGenerator: (zk, path) => new recipes.IdGenerator(zk, path),
  IdQueue: (zk, path) => new recipes.IdQueue(zk, path, { codec: text, lockPath: `${path}-locks` }),
  LeaderLatch: (zk, path) => new recipes.LeaderLatch(zk, path),
  LeaderSelector: (zk, path) => {
    const selector = new recipes.LeaderSelector(zk, path, lasting);
    selector.start();
    return selector;
  },
  LockingQueue: (zk, path) => new recipes.LockingQueue(zk, path),
  MasterCluster: (zk, path) => new recipes.MasterCluster(zk, path),
  MasterElection: (zk, path) => new recipes.MasterElection(zk, path, "m"),
  MultiLock: (zk, path) =>
    new recipes.MultiLock(zk, [new recipes.Mutex(zk, `${path}/a`), new recipes.Mutex(zk, `${path}/b`)]),
  Mutex: (zk, path) => new recipes.Mutex(zk, path),
  NamingService: (zk, path) => new recipes.NamingService(zk, path, json()),
  PersistentNode: (zk, path) => new recipes.PersistentNode(zk, { path: `${path}/node`, data: "" }),
  PersistentTtlNode: (zk, path) => new recipes.PersistentTtlNode(zk, { path: `${path}/node`, data: "", ttlMs: 60_000 }),
  PriorityQueue: (zk, path) => new recipes.PriorityQueue(zk, path, { codec: text, lockPath: `${path}-locks` }),
  RateLimiter: (zk, path) => new recipes.RateLimiter(zk, path, { rate: 100 }),
  ReadWriteLock: (zk, path) => new recipes.ReadWriteLock(zk, path),
  Registration: (zk, path) => new recipes.ServiceDiscovery(zk, path).register({ name: "a", id: "1" }),
  Semaphore: (zk, path) => new recipes.Semaphore(zk, path, { leases: 2 }),
  SemaphoreMutex: (zk, path) => new recipes.SemaphoreMutex(zk, path),
  ServiceCache: (zk, path) => new recipes.ServiceDiscovery(zk, path).cache("a"),
  ServiceDiscovery: (zk, path) => new recipes.ServiceDiscovery(zk, path),
  ServiceProvider: (zk, path) => new recipes.ServiceDiscovery(zk, path).provider("a"),
  SetPartitioner: (zk, path) => new recipes.SetPartitioner(zk, path, { items: ["1", "2"], work: idle, quietMs: 0 }),
  SharedCount: (zk, path) => new recipes.SharedCount(zk, path),
  SharedValue: (zk, path) => new recipes.SharedValue(zk, path, { seed: "", codec: text }),
  SimpleQueue: (zk, path) => new recipes.SimpleQueue(zk, path),
  Topic: (zk, path) => new recipes.Topic(zk, path, text),
  TreeCache: (zk, path) => new recipes.TreeCache(zk, path),
  UnfairElection: (zk, path) => new recipes.UnfairElection(zk, path),
  UnfairLock: (zk, path) => new recipes.UnfairLock(zk, path),
};

/** Classes without a life of their own: a base of others, and the errors. */
export const OTHER_CLASSES: readonly string[] = ["AtomicNumber", "RecipeError"];

/** Names of the package's classes. */
export function classNames(): readonly string[] {
  const isClass = (value: unknown): boolean => typeof value === "function" && /^class\b/.test(String(value));
  return Object.entries(recipes)
    .filter(([, value]) => isClass(value))
    .map(([name]) => name)
    .sort();
}

/** Names of the methods that an instance has, but for symbols. */
export function methodNames(instance: object): readonly string[] {
  const names = new Set<string>();
  for (let at = Object.getPrototypeOf(instance); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === "function" && name !== "constructor") names.add(name);
  }
  return [...names].sort();
}
