import { type Client, text } from "@zooid/client";
import {
  AtomicLong,
  Barrier,
  DistributedQueue,
  DoubleBarrier,
  GroupMember,
  IdGenerator,
  LeaderLatch,
  type Lease,
  LockingQueue,
  Mutex,
  PersistentNode,
  ReadWriteLock,
  Semaphore,
  ServiceDiscovery,
  SetPartitioner,
  SharedCount,
  SimpleQueue,
  TreeCache,
  UnfairLock,
} from "@zooid/recipes";

/** The outcome of a client's act: its result, or the error by which it ended. */
export type Outcome = { readonly value: unknown } | { readonly code: string };

/** Something that takes a client several requests. */
export interface GapCase {
  readonly name: string;
  /** Codes by which it may end although its session lives on. */
  readonly failsWith?: readonly string[];
  /** By a client without faults. */
  prepare?(zk: Client): Promise<unknown>;
  /**
   * The operation of the client to which a fault happens. Its error must have a code. @param other
   * has no faults
   */
  run(zk: Client, other: Client): Promise<unknown>;
  /** By the client without faults, after the other one has closed. @returns faults, in words */
  check(zk: Client, outcome: Outcome): Promise<readonly string[]>;
}

const PATH = "/p";
/** Virtual time in which whatever the client wanted has happened. */
const PATIENCE_MS = 120_000;
const patient = (): { readonly signal: AbortSignal } => ({ signal: AbortSignal.timeout(PATIENCE_MS) });

async function names(zk: Client, path: string = PATH): Promise<readonly string[]> {
  const stat = await zk.exists(path);
  return stat === null ? [] : (await zk.children(path)).names;
}

const isDone = (outcome: Outcome): boolean => "value" in outcome;

/** Whether something holds, in words if not. */
function claim(holds: boolean, fault: string): string[] {
  return holds ? [] : [fault];
}

/**
 * A lock that is held and released: while it says that it is valid no other client gets it, and
 * nothing remains of it.
 */
function lockCase(
  name: string,
  make: (zk: Client) => { tryAcquire(): Promise<Lease | null>; acquire(options: object): Promise<Lease> },
): GapCase {
  return {
    name,
    async run(zk, other) {
      const lease = await make(zk).acquire(patient());
      const theirs = await make(other).tryAcquire();
      const faults = claim(theirs === null || !lease.isValid(), "two clients hold the lock");
      await theirs?.release();
      await lease.release();
      return faults;
    },
    async check(zk, outcome) {
      const next = await make(zk).acquire({ signal: AbortSignal.timeout(60_000) });
      await next.release();
      const left = (await names(zk)).filter((each) => each !== "grants");
      const found = isDone(outcome) && "value" in outcome ? (outcome.value as readonly string[]) : [];
      return [...found, ...claim(left.length === 0, `left behind: ${left.join(", ")}`)];
    },
  };
}

const LOCKS: readonly GapCase[] = [
  lockCase("mutex", (zk) => new Mutex(zk, PATH)),
  lockCase("write lock", (zk) => new ReadWriteLock(zk, PATH).write),
  lockCase("unfair lock", (zk) => new UnfairLock(zk, PATH)),
  {
    name: "downgrade of a write lock",
    failsWith: ["LEASE_LOST"],
    async run(zk, other) {
      const lock = new ReadWriteLock(zk, PATH);
      const writing = await lock.write.acquire(patient());
      const reading = await lock.downgrade(writing, patient());
      await writing.release();
      const theirs = await new ReadWriteLock(other, PATH).write.tryAcquire();
      const faults = claim(theirs === null || !reading.isValid(), "a writer beside a reader");
      await theirs?.release();
      await reading.release();
      return faults;
    },
    async check(zk, outcome) {
      const next = await new ReadWriteLock(zk, PATH).write.acquire(patient());
      await next.release();
      const left = await names(zk);
      return [
        ...((outcome as { value?: readonly string[] }).value ?? []),
        ...claim(left.length === 0, `left behind: ${left}`),
      ];
    },
  },
  {
    name: "semaphore",
    async run(zk) {
      const leases = await new Semaphore(zk, PATH, { leases: 2 }).acquire({ ...patient(), count: 2 });
      await leases.release();
    },
    async check(zk) {
      const leases = await new Semaphore(zk, PATH, { leases: 2 }).acquire({ ...patient(), count: 2 });
      await leases.release();
      const left = await names(zk, `${PATH}/leases`);
      return claim(left.length === 0, `left behind: ${left}`);
    },
  },
  {
    name: "leader latch",
    async run(zk) {
      const latch = new LeaderLatch(zk, PATH);
      await latch.leadership(patient());
      await latch.close(patient());
    },
    async check(zk) {
      const left = await names(zk);
      return claim(left.length === 0, `left behind: ${left}`);
    },
  },
];

const NODES: readonly GapCase[] = [
  {
    name: "protected create",
    prepare: (zk) => zk.create(PATH),
    run: async (zk) => (await zk.create(`${PATH}/n-`, "x", { mode: "persistent-sequential", protect: true })).path,
    async check(zk, outcome) {
      const found = await names(zk);
      if ("value" in outcome)
        return claim(found.length === 1 && `${PATH}/${found[0]}` === outcome.value, `there is ${found}`);
      return claim(found.length <= 1, `there is ${found}`);
    },
  },
  {
    name: "deleteTree",
    prepare: async (zk) => {
      for (const path of ["/a", "/a/b", "/a/c", "/d"]) await zk.create(PATH + path, "x", { parents: "persistent" });
    },
    run: (zk) => zk.deleteTree(PATH),
    check: async (zk, outcome) => claim(!isDone(outcome) || (await zk.exists(PATH)) === null, "it is not deleted"),
  },
  {
    name: "deleteTree as one transaction",
    prepare: async (zk) => {
      for (const path of ["/a", "/a/b", "/d"]) await zk.create(PATH + path, "x", { parents: "persistent" });
    },
    run: (zk) => zk.deleteTree(PATH, { atomic: true }),
    check: async (zk, outcome) => claim(!isDone(outcome) || (await zk.exists(PATH)) === null, "it is not deleted"),
  },
  {
    name: "create with parents",
    failsWith: ["CONNECTION_LOSS"],
    run: (zk) => zk.create(`${PATH}/a/b/c`, "x", { parents: "persistent" }),
    check: async (zk, outcome) =>
      claim(!isDone(outcome) || (await zk.exists(`${PATH}/a/b/c`)) !== null, "it is not there"),
  },
  {
    name: "transaction",
    failsWith: ["CONNECTION_LOSS"],
    prepare: (zk) => zk.create(PATH, "0"),
    run: (zk) => zk.transaction().create(`${PATH}/a`, "x").set(PATH, "1").create(`${PATH}/b`, "x").commit(),
    async check(zk, outcome) {
      const [{ stat }, found] = [await zk.get(PATH), await names(zk)];
      const isWhole = (stat.version === 1 && found.length === 2) || (stat.version === 0 && found.length === 0);
      return claim(isWhole && (!isDone(outcome) || stat.version === 1), `version ${stat.version}, children ${found}`);
    },
  },
  {
    name: "pages of children",
    prepare: async (zk) => {
      await zk.create(PATH);
      await Promise.all(Array.from({ length: 30 }, (_, i) => zk.create(`${PATH}/c${i}`)));
    },
    async run(zk) {
      const seen: string[] = [];
      for await (const { children } of zk.childPages(PATH, { pageSize: 7 }))
        seen.push(...children.map(({ name }) => name));
      return seen;
    },
    check: async (_, outcome) => {
      if (!("value" in outcome)) return [];
      const seen = outcome.value as readonly string[];
      return claim(
        seen.length === 30 && new Set(seen).size === 30,
        `${seen.length} children, ${new Set(seen).size} of them once`,
      );
    },
  },
];

const COUNTERS: readonly GapCase[] = [
  {
    name: "atomic increment",
    failsWith: ["CONNECTION_LOSS"],
    run: async (zk) => (await new AtomicLong(zk, PATH).increment()).after,
    async check(zk, outcome) {
      const value = (await zk.exists(PATH)) === null ? 0n : await new AtomicLong(zk, PATH).get();
      return claim(value === 1n || (value === 0n && !isDone(outcome)), `the value is ${value}`);
    },
  },
  {
    name: "shared count",
    failsWith: ["CONNECTION_LOSS"],
    async run(zk) {
      const count = new SharedCount(zk, PATH);
      const seen = await count.get();
      return (await count.trySet(seen, 5))?.value;
    },
    async check(zk, outcome) {
      const { value } = await new SharedCount(zk, PATH).get();
      return claim(!("value" in outcome) || (outcome.value === 5) === (value === 5), `the value is ${value}`);
    },
  },
  {
    name: "sequential ids",
    async run(zk) {
      const ids = new IdGenerator(zk, PATH, { strategy: "sequential" });
      return [await ids.next(), await ids.next()];
    },
    async check(zk, outcome) {
      const next = await new IdGenerator(zk, PATH, { strategy: "sequential" }).next();
      const given = "value" in outcome ? (outcome.value as readonly number[]) : [];
      return claim(new Set([...given, next]).size === given.length + 1, `${next} is given twice: ${given}`);
    },
  },
];

const QUEUES: readonly GapCase[] = [
  {
    name: "offer to a simple queue",
    failsWith: ["CONNECTION_LOSS"],
    run: (zk) => new SimpleQueue(zk, PATH).offer("x"),
    async check(zk, outcome) {
      const { length } = await names(zk);
      return claim(length === 1 || (length === 0 && !isDone(outcome)), `${length} items`);
    },
  },
  {
    name: "take from a simple queue",
    failsWith: ["CONNECTION_LOSS"],
    prepare: (zk) => new SimpleQueue(zk, PATH).offer("x"),
    run: async (zk) => Buffer.from(await new SimpleQueue(zk, PATH).take(patient())).toString(),
    async check(zk, outcome) {
      const { length } = await names(zk);
      return claim(!("value" in outcome) || (length === 0 && outcome.value === "x"), `${length} items after a take`);
    },
  },
  {
    name: "put to a distributed queue",
    failsWith: ["CONNECTION_LOSS"],
    async run(zk) {
      await using queue = new DistributedQueue(zk, PATH, { codec: text });
      await queue.put("x");
    },
    async check(zk, outcome) {
      const { length } = await names(zk);
      return claim(length === 1 || (length === 0 && !isDone(outcome)), `${length} items`);
    },
  },
  {
    name: "claim of a distributed queue",
    prepare: async (zk) => {
      await using queue = new DistributedQueue(zk, `${PATH}/items`, { codec: text, lockPath: `${PATH}/locks` });
      await queue.put("x");
    },
    async run(zk) {
      const queue = new DistributedQueue(zk, `${PATH}/items`, { codec: text, lockPath: `${PATH}/locks` });
      let count = 0;
      const done = Promise.withResolvers<void>();
      const consumer = queue.consume(() => {
        count++;
        done.resolve();
      });
      await done.promise;
      await consumer.close();
      await queue.close();
      return count;
    },
    async check(zk, outcome) {
      const [items, locks] = [await names(zk, `${PATH}/items`), await names(zk, `${PATH}/locks`)];
      return [
        ...claim(locks.length === 0, `claims are left: ${locks}`),
        // A session that ends may have run the work, whose item the next consumer gets.
        ...claim(!isDone(outcome) || items.length <= 1, `items are left: ${items}`),
      ];
    },
  },
  {
    name: "take and return to a locking queue",
    failsWith: ["LEASE_LOST"],
    prepare: (zk) => new LockingQueue(zk, PATH).put("x"),
    async run(zk) {
      const queue = new LockingQueue(zk, PATH);
      await (await queue.take(patient())).release();
      await (await queue.take(patient())).consume();
    },
    async check(zk, outcome) {
      const size = await new LockingQueue(zk, PATH).size();
      return claim(size === 0 || (size === 1 && !isDone(outcome)), `${size} items`);
    },
  },
];

const MEMBERS: readonly GapCase[] = [
  {
    name: "persistent node",
    async run(zk, other) {
      const node = new PersistentNode(zk, { path: PATH, data: "x" });
      await node.ready(patient());
      node.setData("y");
      const isSet = async (): Promise<boolean> => (await other.getOrNull(PATH))?.data?.toString() === "121";
      for (let i = 0; i < 1000 && !(await isSet()); i++) await new Promise((resolve) => setTimeout(resolve, 100));
      const faults = claim(await isSet(), "the node does not get its data");
      await node.close(patient());
      return faults;
    },
    check: async (zk, outcome) => [
      ...((outcome as { value?: readonly string[] }).value ?? []),
      ...claim((await zk.exists(PATH)) === null, "the node is left"),
    ],
  },
  {
    name: "group member",
    async run(zk, other) {
      const member = new GroupMember(zk, PATH, { id: "me" });
      await member.ready(patient());
      const isThere = async (): Promise<boolean> => (await names(other)).includes("me");
      for (let i = 0; i < 1000 && !(await isThere()); i++) await new Promise((resolve) => setTimeout(resolve, 100));
      const faults = claim(await isThere(), "the member is not there");
      await member.close(patient());
      return faults;
    },
    check: async (zk, outcome) => [
      ...((outcome as { value?: readonly string[] }).value ?? []),
      ...claim((await names(zk)).length === 0, "the member is left"),
    ],
  },
  {
    name: "registration of a service",
    async run(zk, other) {
      const discovery = new ServiceDiscovery(zk, PATH);
      const registration = await discovery.register({ name: "web", id: "1", address: "10.0.0.1", port: 80 }, patient());
      registration.update({ address: "10.0.0.2", port: 80 });
      const isThere = async (): Promise<boolean> =>
        (await other.getOrNull(`${PATH}/web/1`))?.data?.toString() !== undefined;
      for (let i = 0; i < 1000 && !(await isThere()); i++) await new Promise((resolve) => setTimeout(resolve, 100));
      const faults = claim(await isThere(), "the instance is not there");
      await registration.close(patient());
      await discovery.close(patient());
      return faults;
    },
    check: async (zk, outcome) => [
      ...((outcome as { value?: readonly string[] }).value ?? []),
      ...claim((await names(zk, `${PATH}/web`)).length === 0, "the instance is left"),
    ],
  },
  {
    name: "barrier",
    async run(zk, other) {
      await new Barrier(zk, PATH).set();
      const waiting = new Barrier(other, PATH).wait(patient());
      await new Barrier(zk, PATH).remove();
      await waiting;
    },
    check: async (zk, outcome) => claim(!isDone(outcome) || (await zk.exists(PATH)) === null, "the barrier is left"),
  },
  {
    name: "double barrier",
    async run(zk, other) {
      const all = [zk, other].map((each) => new DoubleBarrier(each, PATH, { members: 2 }));
      await Promise.all(all.map((barrier) => barrier.enter(patient())));
      await Promise.all(all.map((barrier) => barrier.leave(patient())));
    },
    async check(zk, outcome) {
      const left = await names(zk);
      return claim(!isDone(outcome) || left.length === 0, `left behind: ${left}`);
    },
  },
  {
    name: "cache of a tree",
    prepare: (zk) => zk.create(`${PATH}/a`, "x", { parents: "persistent" }),
    async run(zk, other) {
      const cache = new TreeCache(zk, PATH);
      await cache.ready(patient());
      await other.create(`${PATH}/b`, "y");
      await other.set(`${PATH}/a`, "z");
      await other.delete(`${PATH}/a`);
      const isEqual = (): boolean => [...cache.snapshot().keys()].sort().join() === [PATH, `${PATH}/b`].join();
      for (let i = 0; i < 1000 && !isEqual(); i++) await new Promise((resolve) => setTimeout(resolve, 100));
      const faults = claim(isEqual(), `the cache has ${[...cache.snapshot().keys()]}`);
      cache.close();
      return faults;
    },
    check: async (_, outcome) => (outcome as { value?: readonly string[] }).value ?? [],
  },
  {
    name: "shares of a partitioner",
    async run(zk) {
      const shared = Promise.withResolvers<void>();
      const work = (): void => shared.resolve();
      const partitioner = new SetPartitioner(zk, PATH, { id: "me", items: ["x", "y"], quietMs: 1, work });
      await shared.promise;
      await partitioner.close(patient());
    },
    async check(zk) {
      const left = await names(zk, `${PATH}/members`);
      return claim(left.length === 0, `left behind: ${left}`);
    },
  },
];

type Held = Pick<Lease, "isValid" | "release">;
type WaitLimit = ReturnType<typeof patient>;

/**
 * A lock that another client holds while the first one asks for it, and again behind it: at no
 * moment two leases are valid.
 */
function handedOverCase(
  name: string,
  make: (zk: Client) => { tryAcquire(): Promise<Held | null>; acquire(options: WaitLimit): Promise<Held> },
): GapCase {
  return {
    name: `${name}, handed over and back`,
    async run(zk, other) {
      const theirs = await make(other).acquire(patient());
      const acquiring = make(zk).acquire(patient());
      acquiring.catch(() => {});
      await zk.exists(PATH).catch(() => null);
      await theirs.release();
      const mine = await acquiring;
      const again = await make(other).tryAcquire();
      const faults = claim(again === null || !mine.isValid(), "two clients hold it");
      await again?.release();
      const next = make(other).acquire(patient());
      await mine.release();
      const last = await next;
      faults.push(...claim(!mine.isValid() || !last.isValid(), "a lease that was released is valid"));
      await last.release();
      return faults;
    },
    async check(zk, outcome) {
      const next = await make(zk).acquire({ signal: AbortSignal.timeout(60_000) });
      await next.release();
      return "value" in outcome ? (outcome.value as readonly string[]) : [];
    },
  };
}

/** Cases in which another client has just changed the node that the client reads. */
const CONTESTED: readonly GapCase[] = [
  handedOverCase("mutex", (zk) => new Mutex(zk, PATH)),
  handedOverCase("semaphore", (zk) => new Semaphore(zk, PATH, { leases: 1 })),
  handedOverCase("write lock", (zk) => new ReadWriteLock(zk, PATH).write),
  handedOverCase("unfair lock", (zk) => new UnfairLock(zk, PATH)),
  ...[false, true].map(
    (atomic): GapCase => ({
      name: `deleteTree${atomic ? " as one transaction" : ""} behind creates`,
      prepare: (zk) => zk.create(`${PATH}/a`, "x", { parents: "persistent" }),
      async run(zk, other) {
        await zk.exists(PATH);
        for (const path of ["/b", "/b/c"]) await other.create(PATH + path, "x");
        await zk.deleteTree(PATH, { atomic, childrenOnly: true });
      },
      async check(zk, outcome) {
        const left = await names(zk);
        return claim(!isDone(outcome) || left.length === 0, `left behind: ${left}`);
      },
    }),
  ),
  {
    name: "pages of children behind creates",
    prepare: (zk) => zk.create(PATH),
    async run(zk, other) {
      await zk.exists(PATH);
      await Promise.all(Array.from({ length: 12 }, (_, i) => other.create(`${PATH}/c${i}`)));
      const seen: string[] = [];
      for await (const { children } of zk.childPages(PATH, { pageSize: 5, sync: true }))
        seen.push(...children.map(({ name }) => name));
      return seen;
    },
    check: async (_, outcome) => {
      const seen = "value" in outcome ? (outcome.value as readonly string[]) : undefined;
      return claim(seen === undefined || new Set(seen).size === 12, `${seen?.length} of 12 children`);
    },
  },
  {
    name: "atomic increment behind another client's",
    failsWith: ["CONNECTION_LOSS"],
    async run(zk, other) {
      await new AtomicLong(zk, PATH).get();
      await new AtomicLong(other, PATH).increment();
      return (await new AtomicLong(zk, PATH).increment()).after;
    },
    async check(zk, outcome) {
      const value = await new AtomicLong(zk, PATH).get();
      return claim(value === 2n || (value < 2n && !isDone(outcome)), `the value is ${value}`);
    },
  },
  {
    name: "take of what another client offers",
    failsWith: ["CONNECTION_LOSS"],
    async run(zk, other) {
      const taking = new SimpleQueue(zk, PATH).take(patient());
      taking.catch(() => {});
      await new SimpleQueue(other, PATH).offer("x");
      return Buffer.from(await taking).toString();
    },
    async check(zk, outcome) {
      const { length } = await names(zk);
      return claim(!("value" in outcome) || (length === 0 && outcome.value === "x"), `${length} items after a take`);
    },
  },
  {
    name: "item that another client releases",
    failsWith: ["LEASE_LOST"],
    prepare: (zk) => new LockingQueue(zk, PATH).put("x"),
    async run(zk, other) {
      const theirs = await new LockingQueue(other, PATH).take(patient());
      const taking = new LockingQueue(zk, PATH).take(patient());
      taking.catch(() => {});
      await zk.exists(PATH).catch(() => null);
      await theirs.release();
      const mine = await taking;
      const faults = claim(!theirs.lease.isValid() || !mine.lease.isValid(), "two clients hold the item");
      await mine.consume();
      return faults;
    },
    async check(zk, outcome) {
      const size = await new LockingQueue(zk, PATH).size();
      return [
        ...("value" in outcome ? (outcome.value as readonly string[]) : []),
        ...claim(size === 0 || (size === 1 && !isDone(outcome)), `${size} items`),
      ];
    },
  },
  {
    name: "leadership that another client ends",
    async run(zk, other) {
      const theirs = new LeaderLatch(other, PATH);
      await theirs.leadership(patient());
      const mine = new LeaderLatch(zk, PATH);
      const leading = mine.leadership(patient());
      leading.catch(() => {});
      await zk.exists(PATH).catch(() => null);
      await theirs.close(patient());
      await leading;
      const faults = claim(!theirs.isLeader, "two clients lead");
      await mine.close(patient());
      return faults;
    },
    async check(zk, outcome) {
      const left = await names(zk);
      return [
        ...("value" in outcome ? (outcome.value as readonly string[]) : []),
        ...claim(left.length === 0, `left behind: ${left}`),
      ];
    },
  },
  {
    name: "double barrier behind another client",
    async run(zk, other) {
      const [theirs, mine] = [other, zk].map((each) => new DoubleBarrier(each, PATH, { members: 2 }));
      const entered = theirs?.enter(patient());
      await zk.exists(PATH);
      await Promise.all([entered, mine?.enter(patient())]);
      await Promise.all([theirs?.leave(patient()), mine?.leave(patient())]);
    },
    async check(zk, outcome) {
      const left = await names(zk);
      return claim(!isDone(outcome) || left.length === 0, `left behind: ${left}`);
    },
  },
];

export const GAP_CASES: readonly GapCase[] = [...NODES, ...LOCKS, ...COUNTERS, ...QUEUES, ...MEMBERS, ...CONTESTED];
