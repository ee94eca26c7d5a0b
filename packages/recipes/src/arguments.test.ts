/** Invalid arguments are refused when a recipe is made or used, before anything is done. */
import { ArgumentError, type Client, connect, json } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as recipes from "./index.ts";

let server: ZooidServer;
let zk: Client;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
});

afterAll(async () => {
  expect((await zk.children("/")).names).toEqual(["zookeeper"]);
  await zk.close();
  await server.stop();
});

/** A recipe as a program without a type checker sees it. */
type Loose = new (...args: unknown[]) => object;

function make(name: string, ...args: unknown[]): object {
  const recipe = (recipes as unknown as Record<string, Loose>)[name];
  if (recipe === undefined) throw new Error(`there is no recipe ${name}`);
  return new recipe(...args);
}

const codec = json<unknown>();

/** Every recipe over a client and a path, with valid further arguments and a misspelt option. */
const RECIPES: readonly (readonly [name: string, valid: readonly unknown[], wrong: readonly unknown[] | undefined])[] =
  [
    ["Barrier", [], undefined],
    ["DoubleBarrier", [{ members: 2 }], [{ member: 2 }]],
    ["ClusterMonitor", [], undefined],
    ["ConfigCenter", [{ app: "a", env: "e", codec }], [{ app: "a", enviroment: "e", codec }]],
    ["Topic", [codec], [undefined]],
    ["TreeCache", [{ depthMax: 1 }], [{ maxDepth: 1 }]],
    ["AtomicLong", [], [{ retries: 3 }]],
    ["AtomicInteger", [], [{ retry: 3 }]],
    ["IdGenerator", [{ blockSize: 5 }], [{ strategy: "blocks" }]],
    ["SharedCount", [3], ["3"]],
    ["SharedValue", [{ seed: 1, codec }], [{ seed: 1 }]],
    ["NamingService", [codec], ["json"]],
    ["ServiceDiscovery", [], [{ payLoadClass: "x" }]],
    ["LeaderLatch", [{ id: "x" }], [{ participantId: "x" }]],
    ["LeaderSelector", [async () => {}, { autoRequeue: true }], [async () => {}, { autoRequeu: true }]],
    ["MasterCluster", [], [{ masters: "x" }]],
    ["MasterElection", ["me"], ["me", { onSuspend: "keep" }]],
    ["UnfairElection", [], [{ id: 5 }]],
    ["Mutex", [{ dialect: "kazoo" }], [{ dialect: "Kazoo" }]],
    ["ReadWriteLock", [], [{ reentrant: true }]],
    ["Semaphore", [{ leases: 2 }], [{ permits: 2 }]],
    ["SemaphoreMutex", [], [{ lease: 2 }]],
    ["UnfairLock", [], [{ spread: 2 }]],
    ["GroupMember", [{ id: "x" }], [{}]],
    ["SetPartitioner", [{ items: [], work: async () => {} }], [{ items: [] }]],
    ["DelayQueue", [], [{ lock: "/l" }]],
    ["DistributedQueue", [], [{ lockpath: "/l" }]],
    ["IdQueue", [], [{ itemsMax: 3 }]],
    ["PriorityQueue", [], [{ codec: 3 }]],
    ["LockingQueue", [], [{ onSuspended: "loose" }]],
    ["SimpleQueue", [], undefined],
    [
      "Cron",
      [{ schedule: "* * * * *", work: async () => {} }],
      [{ schedule: "* * * * *", work: async () => {}, miss: "all" }],
    ],
    ["RateLimiter", [{ rate: 5 }], [{ rate: 5, burst: 0.5 }]],
  ];

test.each(RECIPES)("%s refuses what is no client, no path or no option", (name, valid, wrong) => {
  for (const client of [undefined, null, {}, "127.0.0.1:2181", Promise.resolve(zk)])
    expect(() => make(name, client, "/x", ...valid)).toThrow(ArgumentError);
  for (const path of [undefined, "", "locks/x", "/x/", 5])
    expect(() => make(name, zk, path, ...valid)).toThrow(ArgumentError);
  if (wrong !== undefined) expect(() => make(name, zk, "/x", ...wrong)).toThrow(ArgumentError);
});

test("recipes over one options object are checked too", () => {
  expect(() => make("PersistentNode", zk, { path: "x", data: "" })).toThrow(ArgumentError);
  expect(() => make("PersistentNode", zk, { path: "/x", data: "", mode: "EPHEMERAL" })).toThrow('"ephemeral"');
  expect(() => make("PersistentNode", zk)).toThrow(ArgumentError);
  expect(() => make("PersistentTtlNode", zk, { path: "/x", data: "", ttl: 5 })).toThrow("ttlMs");
  expect(() => make("MultiLock", zk, [new recipes.Mutex(zk, "/x")], { order: "name" })).toThrow(ArgumentError);
});

test("every class of the package that takes a client is in this test", () => {
  const tested = new Set([...RECIPES.map(([name]) => name), "PersistentNode", "PersistentTtlNode", "MultiLock"]);
  // These are made by other recipes, or from them.
  const made = new Set([
    "ServiceCache",
    "ServiceProvider",
    "Registration",
    "CachedAtomic",
    "AtomicNumber",
    "RecipeError",
  ]);
  const isClass = (value: unknown): boolean => typeof value === "function" && /^class/.test(String(value));
  const classes = Object.entries(recipes).filter(([, value]) => isClass(value));
  expect(classes.map(([name]) => name).filter((name) => !tested.has(name) && !made.has(name))).toEqual([]);
});

test("an error names the nearest path, and what a promise is missing", () => {
  expect(() => make("Mutex", zk, "locks/x")).toThrow('did you mean "/locks/x"?');
  expect(() => make("Mutex", Promise.resolve(zk), "/x")).toThrow("await");
});

test.each([
  ["acquire", () => new recipes.Mutex(zk, "/m").acquire({ timeout: 5 } as object)],
  ["use", () => new recipes.Mutex(zk, "/m").use(() => {}, { timeoutMS: 5 } as object)],
  ["tryAcquire", () => new recipes.Mutex(zk, "/m").tryAcquire({ timeoutMs: 5 } as object)],
  ["acquire of a semaphore", () => new recipes.Semaphore(zk, "/s", { leases: 2 }).acquire({ counts: 1 } as object)],
  ["wait", () => new recipes.Barrier(zk, "/b").wait({ timeoutMs: "5" } as object)],
  ["take", () => new recipes.LockingQueue(zk, "/q").take({ timeout: 5 } as object)],
  ["put", () => new recipes.LockingQueue(zk, "/q").put("x", { prio: 5 } as object)],
])("%s refuses options that it does not know", async (_, call) => {
  await expect(call()).rejects.toThrow(ArgumentError);
});

test("consume refuses options that it does not know", () => {
  const queue = new recipes.DistributedQueue(zk, "/q");
  expect(() => queue.consume(async () => {}, { concurency: 2 } as object)).toThrow("concurrency");
});

/** Wrong names of callers without a type checker, or with names from elsewhere. */
const WRONG_NAMES = ["a/b", "", undefined, "a\u0000b", ".", 5];

test.each(WRONG_NAMES)("no recipe takes the name %j", async (name) => {
  const text = name as string;
  expect(() => make("GroupMember", zk, "/g", { id: name ?? null })).toThrow(ArgumentError);
  expect(() => make("SetPartitioner", zk, "/s", { items: ["a", name], work: async () => {} })).toThrow(ArgumentError);
  expect(() => new recipes.MasterCluster(zk, "/m").work(text)).toThrow(ArgumentError);
  const discovery = new recipes.ServiceDiscovery(zk, "/d");
  await expect(discovery.register({ name: text })).rejects.toThrow(ArgumentError);
  await expect(discovery.register({ name: "api", id: (name ?? null) as unknown as string })).rejects.toThrow(
    ArgumentError,
  );
  await expect(discovery.instance("api", text)).rejects.toThrow(ArgumentError);
  await expect(discovery.remove(text, "1")).rejects.toThrow(ArgumentError);
  expect(() => discovery.cache(text)).toThrow(ArgumentError);
  await expect(new recipes.NamingService(zk, "/n", codec).register("kind", text, 1)).rejects.toThrow(ArgumentError);
  const config = new recipes.ConfigCenter(zk, "/c", { app: "a", env: "e", codec });
  await expect(config.set(text, 1)).rejects.toThrow(ArgumentError);
  await config.close();
});

test("the fields of a service are checked, and the nearest name is given", async () => {
  const discovery = new recipes.ServiceDiscovery(zk, "/d");
  const register = (more: object): Promise<unknown> => discovery.register({ name: "api", ...more });
  await expect(register({ port: "80" })).rejects.toThrow("port is a whole number from 0 to 65535");
  await expect(register({ adress: "10.0.0.1" })).rejects.toThrow("did you mean address?");
  await expect(register({ serviceType: "dynamik" })).rejects.toThrow('did you mean "dynamic"?');
  await expect(discovery.register(undefined as never)).rejects.toThrow(ArgumentError);
});

test("an item that is given twice, and two locks of one path, are refused", () => {
  const work = async (): Promise<void> => {};
  expect(() => make("SetPartitioner", zk, "/s", { items: ["a", "a"], work })).toThrow('items has "a" twice');
  const locks = [new recipes.Mutex(zk, "/x"), new recipes.Mutex(zk, "/x")];
  expect(() => make("MultiLock", zk, locks)).toThrow("/x is the path of two");
  expect(() => make("MultiLock", zk, [])).toThrow(ArgumentError);
});

test("methods refuse numbers, names and work of other types before anything is done", async () => {
  const int = new recipes.AtomicInteger(zk, "/refused");
  const long = new recipes.AtomicLong(zk, "/refused");
  const ids = new recipes.IdQueue(zk, "/refused", { codec });
  const priorities = new recipes.PriorityQueue(zk, "/refused", { codec });
  const delays = new recipes.DelayQueue(zk, "/refused", { codec });
  const queue = new recipes.DistributedQueue(zk, "/refused", { codec });
  const mutex = new recipes.Mutex(zk, "/refused");
  /** A value of a type that a program without a type checker gives. */
  const loose = (value: unknown): never => value as never;
  const calls: Readonly<Record<string, () => unknown>> = {
    "add a text": () => int.add(loose("1")),
    "add a fraction": () => int.add(1.5),
    "set nothing": () => int.trySet(loose(undefined)),
    "set a text": () => int.forceSet(loose("1")),
    "begin with a bigint": () => int.initialize(loose(1n)),
    "expect a text": () => int.compareAndSet(loose("0"), 1),
    "add a number to a long": () => long.add(loose(1)),
    "reserve a text": () => new recipes.CachedAtomic(int, loose("5")),
    "no id": () => ids.put("x", loose(undefined)),
    "a number as id": () => ids.put("x", loose(5)),
    "an empty id": () => ids.put("x", ""),
    "remove no id": () => ids.remove(loose(undefined)),
    "a text as priority": () => priorities.put("x", loose("1")),
    "a text as time": () => delays.put("x", loose("soon")),
    "no item": () => queue.put(undefined),
    "no work for items": () => queue.consume(loose({})),
    "no work under a lock": () => mutex.use(loose(undefined)),
    "no work for a leader": () => new recipes.LeaderSelector(zk, "/refused", loose({ id: "a" })),
    "no work in a barrier": () => new recipes.DoubleBarrier(zk, "/refused", { members: 1 }).run(loose("x")),
    "paths instead of locks": () => new recipes.MultiLock(zk, loose(["/a", "/b"])),
  };
  for (const [name, call] of Object.entries(calls)) {
    const error = await Promise.resolve()
      .then(call)
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect([name, error]).toEqual([name, expect.any(RangeError)]);
    expect([name, error instanceof ArgumentError]).toEqual([name, true]);
  }
});
