/** Every public entry of the package refuses wrong arguments with a code. */
import { type Client, type Codec, connect, json, text } from "@zooid/client";
import { startServer, type ZooidServer } from "@zooid/embedded-server";
import { firstValueFrom, isObservable } from "rxjs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as recipes from "./index.ts";

let server: ZooidServer;
let zk: Client;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  zk = await connect(server.connectString);
});

afterAll(async () => {
  await zk.close();
  await server.stop();
});

const circular: Record<string, unknown> = {};
circular["itself"] = circular;

/** A codec that reads only some of what it writes. */
const numbers: Codec<unknown> = {
  encode: json<unknown>().encode,
  decode: (bytes) => {
    const value = json<unknown>().decode(bytes);
    if (typeof value !== "number") throw new Error("a number was expected");
    return value;
  },
};

/** Arguments that a program without a type checker may give, by what is expected. */
const WRONG = {
  client: [undefined, null, {}, "127.0.0.1:2181", Promise.resolve()],
  path: [undefined, null, "", "a", "/a/", "/a//b", "/a\u0000b", 5, {}],
  name: [undefined, null, "", "a/b", "a\u0000b", ".", 5, {}],
  text: [null, 5, {}],
  work: [undefined, null, 5, "work", {}],
  wait: [
    null,
    5,
    "5",
    [],
    { timeout: 5 },
    { timeoutMs: "5" },
    { timeoutMs: -1 },
    { timeoutMs: Number.NaN },
    { signal: 5 },
  ],
  signal: [null, 5, [], { sginal: new AbortController().signal }, { signal: 5 }],
  /** With a default. */
  count: [null, 0, -1, 1.5, "1", Number.NaN, 1n, {}],
  payload: [undefined, 5, {}, 1n],
  codec: [undefined, null, "json", {}, { encode: () => "" }],
  json: [undefined, 1n, circular, () => {}],
  number: ["1", 1n, 1.5, null, undefined, Number.NaN],
  bigint: ["1", 1, null, undefined],
  record: [undefined, null, 5, "x"],
} as const satisfies Record<string, readonly unknown[]>;

/** A list with a hole, which `every` and `some` pass over. */
const HOLE: readonly unknown[] = new Array(1);

/** A valid argument, and wrong ones in its place. */
type Argument = readonly [valid: unknown, wrong: readonly unknown[]];
type Arguments = readonly Argument[];
const NONE: Arguments = [];

const WAIT: Argument = [{}, WRONG.wait];
const SIGNAL: Argument = [{}, WRONG.signal];
const HOLD = [null, 5, [], { onSuspend: "keep" }, { onSuspended: "loose" }];
const TRY = [...WRONG.signal, { timeoutMs: 5 }];
const EVER = [0, 2 ** 31, Number.POSITIVE_INFINITY];

interface Entry {
  /** The arguments behind the client; a function of the client where they need one. */
  readonly made: () => Arguments;
  /** Whether the first argument is the client, and the second a path. */
  readonly takes: "client and path" | "client" | "neither";
  readonly methods: Readonly<Record<string, Arguments>>;
}

const at = (made: () => Arguments, methods: Entry["methods"] = {}): Entry => ({
  made,
  takes: "client and path",
  methods,
});
const LOCK = { acquire: [WAIT], tryAcquire: [[{}, TRY] as const], use: [[() => {}, WRONG.work] as const, WAIT] };
const CONSUMER = {
  consume: [
    [() => {}, WRONG.work],
    [
      {},
      [
        ...[null, 5, { concurency: 2 }, { concurrency: 0 }, { concurrency: 1.5 }, { concurrency: "2" }, { onError: 5 }],
        ...[{ onFailure: "retry" }, { onFailure: null }, { onFailure: {} }, { onFailure: { moveTo: "a" } }],
        ...[{ onFailure: { moveTo: "/entry" } }, { onFailure: { moveTo: "/b", max: 3 } }],
        ...[{ onFailure: { deliveryCountMax: 0, afterLast: "drop" } }, { onFailure: { deliveryCountMax: 2 } }],
        { onFailure: { moveTo: "/entry/failed" } },
        { onFailure: { deliveryCountMax: 2, afterLast: { moveTo: "/entry" } } },
        { onFailure: { deliveryCountMax: 2, afterLast: { moveTo: "/entry/a/b" } } },
        { onFailure: { deliveryCountMax: 2, afterLast: { moveTo: "b" } } },
        { onFailure: { deliveryCountMax: 2, afterLast: "drop", counted: "all" } },
        { onFailure: { deliveryCountMax: 2, afterLast: "drop", counted: "deliveries" } },
        { onFailure: { deliveryCountMax: 2, afterLast: "drop", count: "failures" } },
      ],
    ],
  ],
  close: [WAIT],
  flush: NONE,
  size: NONE,
  putNode: NONE,
  items: NONE,
} satisfies Entry["methods"];
const QUEUE: Argument = [
  { codec: numbers },
  [
    ...[
      null,
      5,
      { lockpath: "/l" },
      { codec: 3 },
      { itemCountMax: 0 },
      { itemCountMax: "3" },
      { onSuspended: "loose" },
    ],
    ...[{ lockPath: "l" }, { lockPath: "" }, { lockPath: "/entry" }, { lockPath: "/entry/locks" }, { lockPath: "/" }],
  ],
];
const ITEM: Argument = [1, [...WRONG.json, "no number"]];
const ITEMS: Argument = [[1], [undefined, null, 5, ["no number"], [1n], HOLE]];
const ATOMIC = [
  [{}, [null, 5, { retries: 3 }, { retry: 3 }, { promote: {} }, { promote: { lockPath: "l", timeoutMs: 5 } }]],
] as const;
const numberMethods = (number: Argument): Entry["methods"] => ({
  add: [number],
  compareAndSet: [number, number],
  decrement: NONE,
  forceSet: [number],
  get: NONE,
  increment: NONE,
  initialize: [number],
  trySet: [number],
  plusOne: NONE,
  checkBlock: [[number[0], [...number[1], typeof number[0] === "bigint" ? 0n : 0]]],
});
const NUMBERS = numberMethods([1, WRONG.number]);
const LONGS = numberMethods([1n, WRONG.bigint]);
const SEEN: Argument = [{ value: 1, version: 0 }, [undefined, null, 5, {}, { version: -1 }, { version: "0" }]];
const PERSISTENT = {
  close: [WAIT],
  ready: [SIGNAL],
  setData: [["", WRONG.payload] as const],
} satisfies Entry["methods"];
/** Values that JSON would drop, or write as others. */
const NO_JSON = [
  1n,
  circular,
  () => 1,
  Symbol("x"),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  new Map([["a", 1]]),
  new Date(0),
  ...[{ a: () => 1 }, [undefined], { a: [{ b: new Set() }] }, Promise.resolve()],
];
const NO_URI_SPECS = [{}, { parts: 5 }, { parts: [5] }, { parts: [{ value: "a" }] }, 5];
const WRONG_TIMES = [-1, "5", Number.NaN, null];
const SERVICE = [
  ...WRONG.record,
  ...[
    {},
    { name: "" },
    { name: "a/b" },
    { name: "a", id: "a/b" },
    { name: "a", port: "80" },
    { name: "a", port: 70_000 },
  ],
  ...[
    { name: "a", adress: "x" },
    { name: "a", serviceType: "dynamik" },
    { name: "a", uriSpec: "{" },
  ],
  ...[
    { name: "a", payload: 1n },
    ...NO_JSON.map((payload) => ({ name: "a", payload })),
    ...["", " ", 5].map((address) => ({ name: "a", address })),
    ...NO_URI_SPECS.map((uriSpec) => ({ name: "a", uriSpec })),
    { name: "a", enabled: "yes" },
    { name: "a", enabled: false },
  ],
];
const DETAILS = [
  null,
  5,
  { adress: "x" },
  { port: "80" },
  ...NO_JSON.map((payload) => ({ payload })),
  ...NO_URI_SPECS.map((uriSpec) => ({ uriSpec })),
  { uriSpec: "}" },
  { address: "" },
  { enabled: false },
  { name: "b" },
];
const INSTANCE = {
  name: "a",
  id: "1",
  serviceType: "static",
  address: null,
  port: null,
  sslPort: null,
  payload: null,
  registeredAtMs: 0,
  uriSpec: null,
  enabled: true,
};

const CLASSES: Readonly<Record<string, Entry>> = {
  Barrier: at(() => NONE, { remove: NONE, set: NONE, wait: [WAIT] }),
  DoubleBarrier: at(
    () => [[{ members: 2 }, [undefined, null, {}, { member: 2 }, { members: 0 }, { members: 1.5 }, { members: "2" }]]],
    {
      enter: [WAIT],
      leave: [WAIT],
      run: [[() => {}, WRONG.work], WAIT],
    },
  ),
  ClusterMonitor: at(() => NONE, { close: NONE, members: NONE, ready: [SIGNAL] }),
  ConfigCenter: at(
    () => [
      [
        { app: "a", env: "e", codec: numbers },
        [
          ...WRONG.record,
          ...[
            { app: "a", env: "e" },
            { app: "", env: "e", codec: text },
            { app: "a/b", env: "e", codec: text },
          ],
          ...[
            { app: "a", env: 5, codec: text },
            { app: "a", enviroment: "e", codec: text },
          ],
          ...[
            { app: "a", env: "e", codec: 5 },
            { app: "a", env: "e", codecs: { k: 5 } },
          ],
          { app: "a", env: "e", codec: text, fallback: {} },
          { app: "a", env: "e", codec: text, fallback: { file: 5 } },
          { app: "a", env: "e", codec: text, fallback: { file: "f", after: 5 } },
          { app: "a", env: "e", codec: text, fallback: { file: "f", afterMs: -1 } },
        ],
      ],
    ],
    {
      close: NONE,
      delete: [["key", WRONG.name]],
      get: [["key", WRONG.name]],
      read: [["key", WRONG.name]],
      ready: [SIGNAL],
      set: [["key", WRONG.name], ITEM, [{ value: 1, version: 0 }, SEEN[1].filter((seen) => seen !== undefined)]],
      watch$: [["key", WRONG.name]],
    },
  ),
  Topic: at(() => [[numbers, WRONG.codec]], { latest: NONE, publish: [ITEM] }),
  TreeCache: at(
    () => [[{}, [null, 5, { maxDepth: 1 }, { depthMax: -1 }, { depthMax: "1" }, { select: 5 }, { watches: "all" }]]],
    { children: [["/a", WRONG.path]], close: NONE, get: [["/a", WRONG.path]], ready: [SIGNAL], snapshot: NONE },
  ),
  AtomicInteger: at(() => ATOMIC, NUMBERS),
  AtomicLong: at(() => ATOMIC, LONGS),
  CachedAtomic: {
    takes: "neither",
    made: () => [
      [new recipes.AtomicLong(zk, "/n"), [undefined, null, 5, {}, new recipes.Barrier(zk, "/b")]],
      [5n, [...WRONG.bigint, 0n, -1n]],
    ],
    methods: { next: NONE },
  },
  IdGenerator: at(() => [[{}, [null, 5, { strategy: "blocks" }, { blockSize: 0 }, { blockSize: "5" }, { block: 5 }]]], {
    next: NONE,
  }),
  SharedCount: at(() => [[0, [null, "3", 1.5, 2 ** 31, 1n]]], {
    get: [[{}, [5, { timeout: 5 }, { signal: 5 }]]],
    getAndWatch: [[{}, [5, { timeout: 5 }, { signal: 5 }]]],
    set: [[1, [...WRONG.number, 2 ** 31]]],
    trySet: [SEEN, [1, [...WRONG.number, 2 ** 31]]],
  }),
  SharedValue: at(
    () => [
      [
        { seed: 1, codec: numbers },
        [...WRONG.record, {}, { seed: 1 }, { seed: 1, codec: 5 }, { sed: 1, codec: numbers }],
      ],
    ],
    {
      get: [[{}, [5, { timeout: 5 }, { signal: 5 }]]],
      getAndWatch: [[{}, [5, { timeout: 5 }, { signal: 5 }]]],
      set: [ITEM],
      trySet: [SEEN, ITEM],
    },
  ),
  NamingService: at(() => [[numbers, WRONG.codec]], {
    lookup: [
      ["kind", WRONG.name],
      ["name", WRONG.name],
    ],
    lookup$: [
      ["kind", WRONG.name],
      ["name", WRONG.name],
    ],
    names: [["kind", WRONG.name]],
    register: [["kind", WRONG.name], ["name", WRONG.name], ITEM],
    unregister: [
      ["kind", WRONG.name],
      ["name", WRONG.name],
    ],
  }),
  ServiceDiscovery: at(() => [[{}, [null, 5, { payLoadClass: "x" }, { payloadClass: 5 }, { writeEnabled: "yes" }]]], {
    cache: [["a", WRONG.name]],
    cleanUp: [
      [
        { staleMs: 5 },
        [...WRONG.record, {}, { staleMs: 0 }, { staleMs: "5" }, { stale: 5 }, { staleMs: 5, onError: 5 }],
      ],
    ],
    close: [WAIT],
    instance: [["a", WRONG.name], ["1", WRONG.name], SIGNAL],
    instances: [["a", WRONG.name], SIGNAL],
    instances$: [["a", WRONG.name]],
    names: [SIGNAL],
    provider: [
      ["a", WRONG.name],
      [
        {},
        [
          ...[null, 5, { strategie: {} }, { strategy: {} }, { strategy: 5 }, { filter: 5 }, { staleMsMax: -1 }],
          ...[{ down: 5 }, { down: { window: 5 } }, { down: { errors: 0 } }, { down: { windowMs: "5" } }],
        ],
      ],
    ],
    put: [
      [
        INSTANCE,
        [
          ...WRONG.record,
          {},
          ...["a/b", ""].map((id) => ({ ...INSTANCE, id })),
          { ...INSTANCE, serviceType: "dynamic" },
          ...NO_JSON.map((payload) => ({ ...INSTANCE, payload })),
          ...NO_URI_SPECS.map((uriSpec) => ({ ...INSTANCE, uriSpec })),
          ...[Number.NaN, -1, 1.5, "1"].map((registeredAtMs) => ({ ...INSTANCE, registeredAtMs })),
          { ...INSTANCE, address: "" },
          { ...INSTANCE, enabled: false },
          { ...INSTANCE, adress: "x" },
        ],
      ],
      SIGNAL,
    ],
    register: [[{ name: "a" }, SERVICE], WAIT],
    remove: [["a", WRONG.name], ["1", WRONG.name], SIGNAL],
  }),
  LeaderLatch: at(() => [[{}, [...HOLD, { participantId: "x" }, { id: 5 }]]], {
    close: [WAIT],
    leadership: [WAIT],
    participants: NONE,
  }),
  LeaderSelector: at(
    () => [
      [() => {}, WRONG.work],
      [{}, [...HOLD, { autoRequeu: true }, { autoRequeue: "yes" }, { id: 5 }, { dialect: "Kazoo" }, { onError: 5 }]],
    ],
    { close: [WAIT], finished: NONE, interruptLeadership: NONE, participants: NONE, start: NONE, end: NONE },
  ),
  MasterCluster: at(() => [[{}, [null, 5, { masters: "x" }, { master: "" }, { workers: "a/b" }, { running: 5 }]]], {
    shutDown: NONE,
    work: [
      ["w", WRONG.name],
      ["", [5, {}, 1n]],
    ],
  }),
  MasterElection: at(
    () => [
      ["me", WRONG.name],
      [{}, [...HOLD, { name: {} }, { names: 5 }, { names: { masters: "x" } }, { names: { master: "a/b" } }]],
    ],
    { activity: [WAIT], close: [WAIT] },
  ),
  UnfairElection: at(() => [[{}, [...HOLD, { id: 5 }]]], { close: [WAIT], leader: NONE, leadership: [WAIT] }),
  MultiLock: {
    takes: "client",
    made: () => [
      [
        [new recipes.Mutex(zk, "/entry")],
        [
          ...WRONG.record,
          [],
          ["/a"],
          [undefined],
          HOLE,
          [new recipes.Mutex(zk, "/a"), new recipes.ReadWriteLock(zk, "/a").read],
          [new recipes.Semaphore(zk, "/a", { leases: 1 }), new recipes.Mutex(zk, "/a/locks")],
          [new recipes.SemaphoreMutex(zk, "/a"), new recipes.ReadWriteLock(zk, "/a/leases").write],
        ],
      ],
      [{}, [null, 5, { order: "name" }, { ordre: "path" }]],
    ],
    methods: LOCK,
  },
  Mutex: at(
    () => [
      [{}, [...HOLD, { dialect: "Kazoo" }, { data: 5 }, { onRevoke: 5 }, { reentrant: true }, { revoke: () => {} }]],
    ],
    { ...LOCK, participants: NONE },
  ),
  ReadWriteLock: at(() => [[{}, [...HOLD, { dialect: "zookeeper-recipes" }, { data: 5 }, { reentrant: true }]]], {
    downgrade: [[undefined, WRONG.record], WAIT],
    participants: NONE,
  }),
  Semaphore: at(
    () => [
      [
        { leases: 2 },
        [
          undefined,
          null,
          {},
          { leases: 0 },
          { leases: 1.5 },
          { leases: "2" },
          { permits: 2 },
          { leases: 2, data: 5 },
          { leases: 2, onRevoke: 5 },
        ],
      ],
    ],
    {
      acquire: [[{}, [...WRONG.wait, ...[0, 3, 1.5, "1"].map((count) => ({ count }))]]],
      tryAcquire: [[{}, [...TRY, ...[0, 3, 1.5, "1"].map((count) => ({ count }))]]],
      use: [[() => {}, WRONG.work], WAIT],
      participants: NONE,
    },
  ),
  SemaphoreMutex: at(() => [[{}, [...HOLD, { lease: 2 }, { data: 5 }]]], { ...LOCK, participants: NONE }),
  UnfairLock: at(() => [[{}, [...HOLD, { id: 5 }, { spread: 2 }, { spreadMs: -1 }]]], { ...LOCK, holder: NONE }),
  GroupMember: at(
    () => [
      [
        { id: "m" },
        [...WRONG.record, {}, { id: "a/b" }, { id: "m", data: 5 }, { id: "m", whenTaken: "waits" }, { ID: "m" }],
      ],
    ],
    { ...PERSISTENT, members: NONE },
  ),
  PersistentNode: {
    takes: "client",
    made: () => [
      [
        { path: "/p", data: "" },
        [
          ...[...WRONG.record, {}, { path: "/p" }, { data: "" }, { path: "p", data: "" }, { path: "/p", data: 5 }],
          ...[
            { path: "/", data: "" },
            { path: "/p", data: "", mode: "EPHEMERAL" },
            { path: "/p", data: "", whenTaken: "waits" },
          ],
          { path: "/p", data: "", mod: "ephemeral" },
        ],
      ],
    ],
    methods: PERSISTENT,
  },
  PersistentTtlNode: {
    takes: "client",
    made: () => [
      [
        { path: "/t", data: "", ttlMs: 5_000 },
        [
          ...[
            ...WRONG.record,
            {},
            { path: "/t", data: "" },
            { path: "/t", ttlMs: 5 },
            { path: "t", data: "", ttlMs: 5 },
          ],
          ...[0, 1.5, "5", Number.NaN].map((ttlMs) => ({ path: "/t", data: "", ttlMs })),
          { path: "/t", data: "", ttl: 5 },
        ],
      ],
    ],
    methods: PERSISTENT,
  },
  SetPartitioner: at(
    () => [
      [
        { items: ["1"], work: () => {} },
        [
          ...[...WRONG.record, {}, { items: ["1"] }, { work: () => {} }, { items: "1", work: () => {} }],
          ...[["1", "1"], ["a/b"], [""], [5], [undefined], HOLE].map((items) => ({ items, work: () => {} })),
          ...WRONG_TIMES.map((quietMs) => ({ items: ["1"], work: () => {}, quietMs })),
          ...[{ id: "a/b" }, { divide: 5 }, { quiet: 5 }].map((more) => ({ items: ["1"], work: () => {}, ...more })),
        ],
      ],
    ],
    { close: [WAIT] },
  ),
  DelayQueue: at(() => [QUEUE], {
    ...CONSUMER,
    put: [ITEM, [0, [...WRONG.number, -1]], WAIT],
    putAll: [ITEMS, [0, [...WRONG.number, -1]], WAIT],
  }),
  DistributedQueue: at(() => [QUEUE], { ...CONSUMER, put: [ITEM, WAIT], putAll: [ITEMS, WAIT] }),
  IdQueue: at(() => [QUEUE], {
    ...CONSUMER,
    put: [ITEM, ["id", [...WRONG.name, "a|b"]], WAIT],
    remove: [["id", [...WRONG.name, "a|b"]]],
  }),
  PriorityQueue: at(() => [QUEUE], {
    ...CONSUMER,
    put: [ITEM, [0, [...WRONG.number, 2 ** 31]], WAIT],
    putAll: [ITEMS, [0, [...WRONG.number, 2 ** 31]], WAIT],
  }),
  LockingQueue: at(() => [[{}, HOLD]], {
    put: [
      ["", [5, {}, 1n]],
      [{}, [null, 5, { prio: 5 }, { priority: 1000 }, { priority: "5" }]],
    ],
    size: NONE,
    take: [WAIT],
  }),
  SimpleQueue: at(() => NONE, {
    offer: [["", [5, {}, 1n]], SIGNAL],
    peek: [SIGNAL],
    poll: [WAIT],
    take: [WAIT],
  }),
  RateLimiter: at(
    () => [
      [
        { rate: 5 },
        [
          ...[...WRONG.record, {}, { rate: 0 }, { rate: "5" }, { rate: Number.POSITIVE_INFINITY }, { rates: 5 }],
          ...[
            { rate: 5, burst: 0.5 },
            { rate: 5, leaseMs: 0 },
            { rate: 5, leaseMs: "5" },
          ],
        ],
      ],
    ],
    {
      acquire: [[1, WRONG.count], WAIT],
      tryAcquire: [
        [1, WRONG.count],
        [{}, TRY],
      ],
    },
  ),
  Cron: at(
    () => [
      [
        { schedule: "0 0 1 1 *", work: () => {} },
        [
          ...[...WRONG.record, {}, { schedule: "0 0 1 1 *" }, { work: () => {} }],
          ...["", "every day", 5, {}, { everyMs: 0 }, { everyMs: 1.5 }, { everyMs: 5, offset: 2 }, { every: 5 }].map(
            (schedule) => ({ schedule, work: () => {} }),
          ),
          ...WRONG_TIMES.map((lateMs) => ({ schedule: "0 0 1 1 *", work: () => {}, lateMs })),
          ...[{ missed: "none" }, { interrupted: "again" }, { id: 5 }, { onError: 5 }, { miss: "all" }].map((more) => ({
            schedule: "0 0 1 1 *",
            work: () => {},
            ...more,
          })),
        ],
      ],
    ],
    { close: [WAIT], finished: NONE, last: NONE },
  ),
};

const FUNCTIONS: Readonly<Record<string, () => Arguments>> = {
  buildUri: () => [
    [recipes.parseUriSpec("{name}"), [...WRONG.record, {}, { parts: 5 }]],
    [INSTANCE, WRONG.record],
    [{}, [null, 5]],
  ],
  candidatesOf: () => [
    [zk, WRONG.client],
    ["/a", WRONG.path],
    ["latch", [null, 5, "latches"]],
  ],
  discoveryHandler: () => [
    [new recipes.ServiceDiscovery(zk, "/d"), [undefined, null, {}, 5]],
    [
      {},
      [
        ...[null, 5, { base: "/x" }, { basePath: "x" }, { bodyBytesMax: 0 }, { timeoutMs: -1 }, { strategy: {} }],
        ...[{ authorise: 5 }, { authorize: () => true }, { onError: 5 }],
      ],
    ],
  ],
  instanceCodec: () => [[{}, [null, 5, { payLoadClass: "x" }, { payloadClass: 5 }, { writeEnabled: "yes" }]]],
  parseUriSpec: () => [["{name}", [undefined, null, 5, "{", "}", "{{a}}"]]],
  revoke: () => [
    [zk, WRONG.client],
    ["/a", WRONG.path],
  ],
};

/** Made by other entries, whose rows have their methods. */
const PARTS: Readonly<
  Record<string, { readonly of: (zk: Client) => Promise<object>; readonly methods: Entry["methods"] }>
> = {
  Registration: {
    of: (zk) => new recipes.ServiceDiscovery(zk, "/d").register({ name: "a", id: "1" }),
    methods: { close: [WAIT], ready: [SIGNAL], update: [[{}, DETAILS]] },
  },
  ServiceCache: {
    of: async (zk) => new recipes.ServiceDiscovery(zk, "/d").cache("a"),
    methods: { close: NONE, instances: NONE, ready: [SIGNAL] },
  },
  ServiceProvider: {
    of: async (zk) => new recipes.ServiceDiscovery(zk, "/d").provider("a"),
    methods: {
      close: NONE,
      instances: NONE,
      noteError: [[INSTANCE, WRONG.record]],
      pick: [["", [null, 5, {}]]],
      ready: [SIGNAL],
    },
  },
  "an item of a LockingQueue": {
    of: async (zk) => {
      const queue = new recipes.LockingQueue(zk, "/locking");
      await queue.put("");
      return await queue.take();
    },
    methods: { consume: [WAIT], release: [WAIT] },
  },
  AtomicNumber: { of: async (zk) => new recipes.AtomicLong(zk, "/n"), methods: LONGS },
};

/** They make or recognise errors. */
const ERRORS = ["RecipeError", "isRecipeError"];

type Callable = (...args: unknown[]) => unknown;

/** The code of the error with which a call fails, at once or within some requests' time. */
async function codeOf(call: () => unknown): Promise<unknown> {
  const called = (async () => {
    const result = call();
    return isObservable(result) ? await firstValueFrom(result) : await result;
  })();
  const outcome = called.then(
    () => "no error",
    (error: unknown) => (error instanceof Error ? (Reflect.get(error, "code") ?? `${error}`) : error),
  );
  const syncs = (async () => {
    for (let i = 0; i < 8; i++) await zk.sync();
    return "no answer";
  })();
  return await Promise.race([outcome, syncs]);
}

/** Whether a call with a wrong argument throws, where a promise could reject. */
function throwsAtOnce(args: Arguments, call: Callable): boolean {
  return args.some(([, wrong], i) =>
    wrong.some((value) => {
      try {
        ignored(call(...args.map(([valid], j) => (i === j ? value : valid))));
        return false;
      } catch {
        return true;
      }
    }),
  );
}

/** Whether a call with valid arguments returns a promise. */
function isPromised(args: Arguments, call: Callable): boolean {
  try {
    const result = call(...args.map(([valid]) => valid));
    ignored(result);
    return result instanceof Promise;
  } catch {
    // Closed by a call before.
    return false;
  }
}

function ignored(result: unknown): void {
  if (result instanceof Promise) result.catch(() => {});
}

/** Calls with one wrong argument each, and the codes of their errors. */
async function wrongCalls(name: string, args: Arguments, call: Callable): Promise<readonly string[]> {
  const accepted: string[] = [];
  for (const [i, [, wrong]] of args.entries()) {
    for (const value of wrong) {
      const given = args.map(([valid], j) => (i === j ? value : valid));
      const code = await codeOf(() => call(...given));
      const isRefused = typeof code === "string" && /^[A-Z][A-Z_]+$/.test(code);
      if (!isRefused) accepted.push(`${name}: argument ${i}, ${shown(value)}: ${code}`);
    }
  }
  return accepted;
}

function shown(value: unknown): string {
  if (typeof value === "bigint") return `${value}n`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return "a circular object, or one with a bigint";
  }
}

function constructorOf(name: string): Callable {
  const recipe = Reflect.get(recipes, name) as new (...args: unknown[]) => object;
  return (...args) => {
    const made = new recipe(...args);
    // A recipe that was made in spite of it ends.
    const close = Reflect.get(made, "close");
    if (typeof close === "function") void Promise.resolve(close.call(made)).catch(() => {});
    return made;
  };
}

function argumentsOf({ takes, made }: Entry): Arguments {
  const client: Argument = [zk, WRONG.client];
  if (takes === "neither") return made();
  return takes === "client" ? [client, ...made()] : [client, ["/entry", WRONG.path], ...made()];
}

/** Names of the methods that an instance has, but for symbols. */
function methodsOf(instance: object): readonly string[] {
  const names = new Set<string>();
  for (let at = Object.getPrototypeOf(instance); at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === "function" && name !== "constructor") names.add(name);
  }
  return [...names].sort();
}

async function methodCalls(instance: object, methods: Entry["methods"]): Promise<readonly string[]> {
  const accepted: string[] = [];
  for (const [name, args] of Object.entries(methods)) {
    const method = Reflect.get(instance, name) as Callable;
    const call: Callable = (...given) => method.apply(instance, given);
    accepted.push(...(await wrongCalls(name, args, call)));
    if (throwsAtOnce(args, call) && isPromised(args, call)) accepted.push(`${name}: throws instead of rejecting`);
  }
  return accepted;
}

/** They end, or wait for what has begun. */
const ENDINGS = ["close", "end", "finished", "flush", "interruptLeadership"];
/** Protected methods. */
const INTERNAL = ["items", "putNode"];

/** Calls of a closed recipe that are not refused as such. */
async function callsAfterClose(instance: object, methods: Entry["methods"]): Promise<readonly string[]> {
  const close = Reflect.get(instance, "close");
  if (typeof close !== "function") return [];
  await close.call(instance);
  const accepted: string[] = [];
  for (const [name, args] of Object.entries(methods).filter(([name]) => ![...ENDINGS, ...INTERNAL].includes(name))) {
    const method = Reflect.get(instance, name) as Callable;
    const code = await codeOf(() => method.apply(instance, [...args.map(([valid]) => valid)]));
    if (code !== "RECIPE_CLOSED") accepted.push(`${name}: ${code}`);
  }
  for (const name of ENDINGS) await Reflect.get(instance, name)?.call(instance);
  return accepted;
}

test("every export has a row", () => {
  const known = new Set([...Object.keys(CLASSES), ...Object.keys(FUNCTIONS), ...Object.keys(PARTS), ...ERRORS]);
  const entries = Object.entries(recipes).filter(([, value]) => typeof value === "function");
  expect(entries.map(([name]) => name).filter((name) => !known.has(name))).toEqual([]);
  expect(
    Object.keys(recipes)
      .filter((name) => !known.has(name))
      .sort(),
  ).toEqual(["MASTER_NAMES", "strategies"]);
});

describe.each(Object.entries(CLASSES))("%s", (name, entry) => {
  test("refuses wrong arguments of its constructor", async () => {
    expect(await wrongCalls("new", argumentsOf(entry), constructorOf(name))).toEqual([]);
  });

  test("refuses wrong arguments of each of its methods, and every call once it is closed", async () => {
    const recipe = Reflect.get(recipes, name) as new (...args: unknown[]) => object;
    const instance = new recipe(...argumentsOf(entry).map(([valid]) => valid));
    expect(Object.keys(entry.methods).sort()).toEqual(methodsOf(instance));
    expect(await methodCalls(instance, entry.methods)).toEqual([]);
    expect(await callsAfterClose(instance, entry.methods)).toEqual([]);
  });
});

test.each(Object.entries(PARTS))(
  "%s refuses wrong arguments of each of its methods, and every call once it is closed",
  async (_, { of, methods }) => {
    const part = await of(zk);
    expect(Object.keys(methods).sort()).toEqual(methodsOf(part));
    expect(await methodCalls(part, methods)).toEqual([]);
    expect(await callsAfterClose(part, methods)).toEqual([]);
  },
);

test.each(Object.entries(FUNCTIONS))("%s refuses wrong arguments", async (name, args) => {
  const call = Reflect.get(recipes, name) as Callable;
  expect(await wrongCalls(name, args(), call)).toEqual([]);
  expect(throwsAtOnce(args(), call) && isPromised(args(), call)).toBe(false);
});

test("strategies refuse what is no function, or no strategy", async () => {
  const rows: Readonly<Record<keyof typeof recipes.strategies, Arguments>> = {
    random: [[Math.random, [null, 5]]],
    roundRobin: NONE,
    sticky: [[recipes.strategies.random(), [undefined, null, {}, 5]]],
    weighted: [
      [() => 1, WRONG.work],
      [Math.random, [null, 5]],
    ],
    leastLoaded: [[() => 1, WRONG.work]],
    consistentHash: NONE,
  };
  expect(Object.keys(rows).sort()).toEqual(Object.keys(recipes.strategies).sort());
  for (const [name, args] of Object.entries(rows))
    expect(await wrongCalls(name, args, Reflect.get(recipes.strategies, name) as Callable)).toEqual([]);
});

test("both sides of a read-write lock refuse wrong arguments", async () => {
  const { read, write } = new recipes.ReadWriteLock(zk, "/entry");
  for (const side of [read, write]) expect(await methodCalls(side, LOCK)).toEqual([]);
});

test.each(EVER)("a time limit may be %d ms", async (timeoutMs) => {
  await using lease = await new recipes.Mutex(zk, `/ever-${timeoutMs}`).acquire({
    timeoutMs: Math.max(timeoutMs, 1_000),
  });
  expect(lease.isValid()).toBe(true);
});

test("a wrong element of a list is named", async () => {
  const queue = new recipes.DistributedQueue<unknown>(zk, "/named-queue");
  await expect(queue.putAll([new Uint8Array(1), "text"])).rejects.toThrow("items[1]");
  const items = ["a", "b/c"];
  expect(() => new recipes.SetPartitioner(zk, "/named-set", { items, work: () => {} })).toThrow("items[1]");
  const locks = [new recipes.Mutex(zk, "/named-lock"), "/a"] as never;
  expect(() => new recipes.MultiLock(zk, locks)).toThrow("locks[1]");
});
