/**
 * Each public function and method refuses arguments that it cannot use, before anything is done.
 * The table has a row for each of them, and each option of each: what is new fails here until it
 * has its own.
 */
import { ArgumentError, type Stat } from "@zooid/model";
import { isObservable, lastValueFrom, NEVER } from "rxjs";
import { afterAll, expect, test } from "vitest";
import type { CallOptions } from "./calls/call.ts";
import type { ExponentialOptions, KazooOptions } from "./calls/retry.ts";
import type { PauseOptions, TimerOptions } from "./calls/timers.ts";
import type { CloseOnExitOptions } from "./close-on-exit.ts";
import type { CloseOptions } from "./close-options.ts";
import { createClient } from "./connect.ts";
import { isZkError } from "./errors.ts";
import type { OldServerOptions } from "./fault-injection/old-server.ts";
import * as main from "./index.ts";
import * as opentelemetry from "./opentelemetry.ts";
import { json } from "./operations/codec.ts";
import type {
  ChildPagesOptions,
  CreateOptions,
  DeleteOptions,
  DeleteTreeOptions,
  EnsureOptions,
  HistoryOptions,
  PutOptions,
  ReadOptions,
  SetOptions,
  UpdateOptions,
  VersionOptions,
} from "./operations/node-options.ts";
import type { ClientOptions } from "./options.ts";
import * as prometheus from "./prometheus.ts";
import type { ConfigChange } from "./servers/ensemble-config.ts";
import type { IterateOptions } from "./streams/iterate.ts";
import type { ChangesOptions } from "./streams/observe-changes.ts";
import type { EventsOptions } from "./streams/observe-events.ts";
import type { ObserveDataOptions, ObserveOptions } from "./streams/observe-options.ts";
import type { TreeOptions } from "./streams/observe-tree.ts";
import * as testing from "./testing.ts";
import type { AdminCommandOptions } from "./transport/admin-command.ts";
import type { ViewOptions } from "./view.ts";

/** It never connects: a call whose arguments were taken fails with CONNECTION_LOSS. */
const zk = createClient("127.0.0.1:1", { waitingTimeoutMs: 0, connectWarningMs: Number.POSITIVE_INFINITY });
const typed = zk.typed("/typed/{app}", json<unknown>());

afterAll(() => zk.close());

/** A value that is refused, and the name that its error must suggest. */
interface Wrong {
  readonly value: unknown;
  readonly nearest?: string;
}
interface Argument {
  readonly good: unknown;
  readonly wrong: readonly Wrong[];
}
interface Row {
  readonly call: (...args: never[]) => unknown;
  readonly args: readonly Argument[];
}

function argument(good: unknown, ...wrong: readonly unknown[]): Argument {
  return { good, wrong: wrong.map((value) => ({ value })) };
}

/** Wrong values of each option; names that are cut short are refused too, with the whole name. */
function options<T>(wrongOf: { readonly [K in keyof T]-?: readonly unknown[] }, good?: object): Argument {
  const entries = Object.entries<readonly unknown[]>(wrongOf);
  return {
    good,
    wrong: [
      ...[null, 5, "x", [], { nonsenseZ: 1 }].map((value) => ({ value })),
      ...entries.flatMap(([name, values]) => values.map((value) => ({ value: { ...good, [name]: value } }))),
      ...entries.map(([name]) => ({ value: { ...good, [name.slice(0, -1)]: 1 }, nearest: name })),
    ],
  };
}

const row = (call: (...args: never[]) => unknown, ...args: readonly Argument[]): Row => ({ call, args });
/** A class as a function. */
const made =
  (of: new (...args: never[]) => unknown) =>
  (...args: unknown[]): unknown =>
    Reflect.construct(of, args);
/** For what takes no arguments, or any. */
const ANY = row(() => {
  throw new ArgumentError("any", []);
});

const NO_FUNCTION = [5, "x", {}];
const NO_TIME = [-1, Number.NaN, "5", null, 5n];
const NO_FLAG = [1, "true", null];
const NO_SIGNAL = [5, "x", null, {}];
const NO_INT = [1.5, "1", null, 2 ** 31, Number.NaN];
const NO_CODEC = [5, "json", {}, { encode: 5, decode: 5 }, null];
const NO_ACL = [5, "x", {}, null];
const CALL: { readonly [K in keyof CallOptions]-?: readonly unknown[] } = {
  signal: NO_SIGNAL,
  timeoutMs: NO_TIME,
  retry: NO_FUNCTION,
};
const READ = { ...CALL, sync: NO_FLAG };
const NO_MODE = ["EPHEMERAL", 5, "", null];
const CREATION = { acl: NO_ACL, mode: NO_MODE, ttlMs: [0, -1, 1.5, "5"] };
const OBSERVE = { onExpiry: ["resum", 5, null] };

const path = argument("/a", undefined, null, 5, {}, "", "a", "/a/", "/a//b", "/a\u0000b", "/a/..");
const anyPath = argument("/a", null, 5, {}, "", "a", "/a/");
const data = argument("x", undefined, 5, {}, ["a"], true);
const optionalData = argument("x", 5, {}, ["a"], true);
const call = options<CallOptions>(CALL);
const read = options<ReadOptions>(READ);
const client = argument(zk, undefined, null, 5, {}, "127.0.0.1:2181", Promise.resolve(zk));
const time = argument(5, undefined, null, "5", Number.NaN, {});
const limit = argument(5, null, "5", Number.NaN, -1);
const text = argument("x", undefined, null, 5, {});
const work = argument(() => {}, undefined, null, 5, "x", {});
const count = argument(3, undefined, null, "3", -1, 1.5, Number.NaN);
const value = argument({ a: 1 }, undefined, 5n, () => {});
const parameters: Argument = {
  good: { app: "a" },
  wrong: [
    ...[undefined, null, 5, "a", {}, { app: 5 }, { app: "" }, { app: "a/b" }].map((given) => ({ value: given })),
    { value: { ap: "a" }, nearest: "app" },
    { value: { app: "a", ap: "b" }, nearest: "app" },
  ],
};
const target = argument({ port: 5 }, undefined, null, 5, {}, { port: "5" }, { port: -1 }, { port: 5, host: 5 });
const error = argument({ code: "NO_NODE", op: "get", outcome: "rejected" }, undefined, null, 5, {});
const state = argument({ kind: "closed" }, undefined, null, 5, "closed", {});
const acl = argument(
  [{ perms: 31, scheme: "world", id: "anyone" }],
  undefined,
  null,
  5,
  "world:anyone:cdrwa",
  [],
  [{}],
);

const CLIENT_OPTIONS: { readonly [K in keyof ClientOptions]-?: readonly unknown[] } = {
  sessionTimeoutMs: [0, 1.5, "5", 2 ** 31],
  connectTimeoutMs: NO_TIME,
  startTimeoutMs: NO_TIME,
  connectWarningMs: NO_TIME,
  logger: [5, {}, console.log],
  signal: NO_SIGNAL,
  auth: ["digest", [{}], [{ scheme: "", auth: "x" }], [{ scheme: "digest", auth: 5 }]],
  sasl: [5, "x"],
  tls: [5, "x", { cert: "none" }, { certt: "x" }],
  readOnly: [true, "allowed"],
  retry: NO_FUNCTION,
  session: [5, {}, { id: 5, password: new Uint8Array(16) }, { id: 5n, password: "x" }, { id: 5n, passwd: "x" }],
  onExpiry: ["new_session", 5],
  onRegression: ["x", 5],
  hostOrder: ["shuffled", 5],
  hosts: [5, {}],
  trackEnsemble: NO_FLAG,
  frameBytesMax: [10, "x", Number.POSITIVE_INFINITY],
  responseBytesMax: [10, "x"],
  inFlightMax: [0, "x"],
  waitingMax: [-1, "x"],
  waitingBytesMax: [-1, "x"],
  waitingTimeoutMs: NO_TIME,
  acl: [[], 5, [{ perms: 99, scheme: "world", id: "anyone" }]],
  defaultData: [5, {}],
  onSuspended: ["loose", 5],
  intercept: NO_FUNCTION,
  treeWatches: ["x", 5],
  transport: [5, {}],
  random: NO_FUNCTION,
};
const clientOptions = options<ClientOptions>(CLIENT_OPTIONS, { startTimeoutMs: 0 });
const hosts = argument(
  "127.0.0.1:1",
  undefined,
  null,
  5,
  ["127.0.0.1:1"],
  "",
  "a:b",
  "a:99999",
  "http://a:1",
  "a:1/b/",
);

const ROWS: Readonly<Record<string, Row>> = {
  // Functions
  connect: row(main.connect, hosts, clientOptions),
  createClient: row(main.createClient, hosts, clientOptions),
  adminCommand: row(
    main.adminCommand,
    argument("127.0.0.1:1", undefined, null, 5, "", "a:1,b:1", "a:b"),
    argument("ruok", undefined, null, 5, "", "RUOK", "stats"),
    options<AdminCommandOptions>({ signal: NO_SIGNAL, timeoutMs: NO_TIME, tls: [5, "x", null, { certt: "x" }] }),
  ),
  planUndo: row(
    main.planUndo,
    argument(zk, undefined, null, 5, {}),
    path,
    argument(1, undefined, null, "1", 0, -1, 1.5),
    options<Pick<CallOptions, "signal">>({ signal: NO_SIGNAL }),
  ),
  carryOutUndo: row(
    main.carryOutUndo,
    argument(zk, undefined, null, 5, {}),
    path,
    argument({ kind: "none" }, undefined, null, 5, {}, { kind: "undo" }),
    options<Pick<CallOptions, "signal">>({ signal: NO_SIGNAL }),
  ),
  closeOnExit: row(
    main.closeOnExit,
    client,
    options<CloseOnExitOptions>({ signals: ["SIGTERM", ["SIGKILL"], ["sigterm"]], graceMs: NO_TIME }),
  ),
  digest: row(main.digest, argument("u", undefined, null, 5, "", "a:b"), text),
  digestId: row(
    main.digestId,
    argument("u", undefined, null, 5, "", "a:b"),
    text,
    argument("sha1", null, 5, "", "sha"),
  ),
  digestMd5: row(
    main.digestMd5,
    argument(
      { username: "u", password: "p" },
      undefined,
      null,
      5,
      {},
      { username: "u" },
      { username: "u", password: 5 },
    ),
    argument(() => "x", null, ...NO_FUNCTION),
  ),
  errorCode: ANY,
  isZkError: ANY,
  formatAddress: row(
    main.formatAddress,
    argument(
      { host: "a", port: 1 },
      undefined,
      null,
      5,
      "a:1",
      {},
      { host: "a" },
      { host: "a", port: "1" },
      { port: 1 },
    ),
  ),
  formatSessionId: row(main.formatSessionId, argument(5n, undefined, null, 5, "x", {})),
  formatZxid: row(main.formatZxid, argument(5, undefined, null, "5", 5n, 1.5, Number.NaN)),
  gzip: row(main.gzip, argument(main.raw, null, ...NO_CODEC), argument(5, null, 0, -1, 1.5, "x")),
  isConnected: row(main.isConnected, state),
  isTerminal: row(main.isTerminal, state),
  iterate: row(
    main.iterate,
    argument(NEVER, undefined, null, 5, "x", {}, Promise.resolve()),
    options<IterateOptions>({ signal: NO_SIGNAL, bufferMax: [0, -1, 1.5, "5"], whenFull: ["wait", 5] }),
  ),
  json: row(
    main.json,
    argument({ "~standard": { validate: () => ({ value: 1 }) } }, null, 5, "x", {}, () => {}),
  ),
  limitSignal: row(main.limitSignal, time),
  parseConnectString: row(main.parseConnectString, hosts),
  pathTransport: row(main.pathTransport, text),
  parseProtectedName: row(main.parseProtectedName, text),
  pause: row(main.pause, time, options<PauseOptions>({ signal: NO_SIGNAL, ref: NO_FLAG })),
  pinoLogger: row(main.pinoLogger, argument(console, undefined, null, 5, {}, console.log)),
  startTimer: row(main.startTimer, time, work, options<TimerOptions>({ ref: NO_FLAG })),
  tlsTransport: row(main.tlsTransport, argument({}, undefined, null, 5, "x", { cert: "none" }, { certt: "x" })),
  "retry.none": ANY,
  "retry.once": row(main.retry.once, limit),
  "retry.times": row(main.retry.times, count, limit),
  "retry.forever": row(main.retry.forever, argument(5, undefined, null, "5", Number.NaN, -1)),
  "retry.untilElapsed": row(
    main.retry.untilElapsed,
    argument(5, undefined, null, "5", Number.NaN, -1),
    argument(5, undefined, null, "5", Number.NaN, -1),
  ),
  "retry.failOnSessionLoss": row(main.retry.failOnSessionLoss, argument(main.retry.none, null, ...NO_FUNCTION)),
  "retry.exponential": row(
    main.retry.exponential,
    options<ExponentialOptions>({ baseMs: NO_TIME, maxMs: NO_TIME, attempts: [-1, 1.5, "5"], random: NO_FUNCTION }),
  ),
  "retry.kazoo": row(
    main.retry.kazoo,
    options<KazooOptions>({
      delayMs: NO_TIME,
      backoff: [0, "2"],
      jitter: [-1, 2, "x"],
      maxMs: NO_TIME,
      attempts: [-1, 1.5, "5"],
      deadlineMs: NO_TIME,
      random: NO_FUNCTION,
    }),
  ),
  "text.encode": row(main.text.encode, text),
  "text.decode": row(main.text.decode, argument(null, undefined, 5, "x", {})),
  "raw.encode": row(main.raw.encode, argument(new Uint8Array(), undefined, null, 5, "x", {})),
  "raw.decode": row(main.raw.decode, argument(null, undefined, 5, "x", {})),
  "tcpTransport.resolve": ANY,
  "tcpTransport.connect": ANY,
  // Classes
  Client: ANY,
  ArgumentError: row(
    (...args) => Reflect.construct(main.ArgumentError, args),
    argument("x"),
    argument([], undefined, null, 5, "x"),
  ),
  DecodeError: row(
    made(main.DecodeError),
    argument({ path: "/a", data: null, stat: { mzxid: 1 } as Stat }, undefined, null, 5, {}, { path: "/a" }),
  ),
  TransactionError: row(made(main.TransactionError), argument([], undefined, null, 5, "x")),
  ZkError: row(made(main.ZkError), error),
  ZkConnectionError: row(made(main.ZkConnectionError), error),
  ZkNodeError: row(made(main.ZkNodeError), error),
  ZkPermissionError: row(made(main.ZkPermissionError), error),
  ZkRequestError: row(made(main.ZkRequestError), error),
  ZkServerError: row(made(main.ZkServerError), error),
  ZkSessionError: row(made(main.ZkSessionError), error),
  // Other entries
  collectMetrics: row(
    prometheus.collectMetrics,
    client,
    options<prometheus.CollectOptions>({ name: [5, "", null], registry: [5, {}, null] }),
  ),
  instrumentClients: row(
    opentelemetry.instrumentClients,
    options<opentelemetry.InstrumentOptions>({ tracerProvider: [5, {}], meterProvider: [5, {}], paths: NO_FLAG }),
  ),
  expireSession: row(testing.expireSession, client),
  OldServer: ANY,
  "OldServer.start": row(
    testing.OldServer.start,
    target,
    options<OldServerOptions>({ version: ["3.6", 3.5], unknown: ["refus", 5] }),
  ),
  Relay: ANY,
  "Relay.start": row(testing.Relay.start, target),
  "Relay#freeze": row(testing.Relay.prototype.freeze, argument("both", null, 5, "request")),
  "Relay#cut": ANY,
  "Relay#refuse": ANY,
  "Relay#accept": ANY,
  "Relay#thaw": ANY,
  // The client
  "Client#updateServers": row(zk.updateServers, argument("127.0.0.1:1", undefined, null, 5, "", "a:b", "a:1/other")),
  "Client#connected": row(zk.connected, options<Pick<CallOptions, "signal">>({ signal: NO_SIGNAL })),
  "Client#create": row(
    zk.create,
    path,
    optionalData,
    options<CreateOptions>({
      ...CALL,
      ...CREATION,
      parents: NO_MODE,
      protect: [5, "x", null],
      idempotent: NO_FLAG,
      existsOk: NO_FLAG,
    }),
  ),
  "Client#ensure": row(zk.ensure, path, options<EnsureOptions>({ ...CALL, acl: NO_ACL, mode: NO_MODE })),
  "Client#delete": row(
    zk.delete,
    path,
    options<DeleteOptions>({
      ...CALL,
      version: NO_INT,
      idempotent: NO_FLAG,
      missingOk: NO_FLAG,
      guaranteed: ["Session", 5, null],
    }),
  ),
  "Client#get": row(
    zk.get,
    path,
    options<ReadOptions & { watch?: boolean; codec?: unknown; at?: unknown }>({
      ...READ,
      watch: NO_FLAG,
      codec: NO_CODEC,
      at: [-1, 1.5, "5", new Date(Number.NaN), new Date(-1)],
    }),
  ),
  "Client#getText": row(zk.getText, path, read),
  "Client#getJson": row(zk.getJson, path, read),
  "Client#getOrNull": row(zk.getOrNull, path, read),
  "Client#exists": row(zk.exists, path, options<ReadOptions & { watch?: boolean }>({ ...READ, watch: NO_FLAG })),
  "Client#set": row(zk.set, path, data, options<SetOptions>({ ...CALL, version: NO_INT, idempotent: NO_FLAG })),
  "Client#put": row(zk.put, path, data, options<PutOptions>({ ...CALL, acl: NO_ACL, parents: NO_MODE })),
  "Client#deleteTree": row(
    zk.deleteTree,
    path,
    options<DeleteTreeOptions>({ ...CALL, batch: [0, 1.5, "5"], childrenOnly: NO_FLAG, atomic: NO_FLAG }),
  ),
  "Client#children": row(zk.children, path, options<ReadOptions & { watch?: boolean }>({ ...READ, watch: NO_FLAG })),
  "Client#childPages": row(
    zk.childPages,
    path,
    options<ChildPagesOptions>({ ...READ, detail: ["stat", 5], pageSize: [0, 1001, "5"], after: [5, null] }),
  ),
  "Client#eachChild": row(
    zk.eachChild,
    path,
    options<ChildPagesOptions>({ ...READ, detail: ["stat", 5], pageSize: [0, 1001, "5"], after: [5, null] }),
  ),
  "Client#history": row(
    zk.history,
    path,
    options<HistoryOptions>({ ...CALL, after: [-1, 1.5, "5"], recursive: NO_FLAG, pageSize: [0, 1001, "5"] }),
  ),
  "Client#changes$": row(
    zk.changes$,
    path,
    options<ChangesOptions>({ after: [-1, 1.5, "5"], recursive: NO_FLAG, pageSize: [0, 1001, "5"] }),
  ),
  "Client#getAcl": row(zk.getAcl, path, read),
  "Client#setAcl": row(zk.setAcl, path, acl, options<VersionOptions>({ ...CALL, version: NO_INT })),
  "Client#sync": row(zk.sync, anyPath, call),
  "Client#getEphemerals": row(zk.getEphemerals, anyPath, call),
  "Client#getAllChildrenNumber": row(zk.getAllChildrenNumber, path, call),
  "Client#whoAmI": row(zk.whoAmI, call),
  "Client#addAuth": row(
    zk.addAuth,
    argument("digest", undefined, null, 5, ""),
    argument("u:p", undefined, null, 5, {}),
    call,
  ),
  "Client#typed": row(
    zk.typed,
    argument("/t/{a}", undefined, null, 5, "", "t", "/t/"),
    argument(main.text, undefined, ...NO_CODEC),
  ),
  "Client#transaction": ANY,
  "Client#reads": ANY,
  "Client#getConfig": row(zk.getConfig, read),
  "Client#reconfig": row(
    zk.reconfig,
    {
      good: { leaving: [1] },
      wrong: [
        { value: undefined },
        { value: {} },
        { value: { members: ["server.1=a:1:2;3"], leaving: [1] } },
        ...options<ConfigChange>({
          joining: [5, "server.1=a:1:2;3", [5], [""]],
          leaving: [5, "1", [{}], [""]],
          members: [5, "x", [5]],
          fromVersion: [5, "5"],
        }).wrong,
      ],
    },
    call,
  ),
  "Client#watchData$": row(
    zk.watchData$,
    path,
    options<ObserveDataOptions<unknown>>({
      ...OBSERVE,
      codec: NO_CODEC,
      onDecodeError: NO_FUNCTION,
      distinct: ["x", 5],
    }),
  ),
  "Client#watchExists$": row(zk.watchExists$, path, options<ObserveOptions>(OBSERVE)),
  "Client#watchChildren$": row(zk.watchChildren$, path, options<ObserveOptions>(OBSERVE)),
  "Client#events$": row(zk.events$, path, options<EventsOptions>({ mode: ["recursive-persistent", 5, null] })),
  "Client#watchTree$": row(
    zk.watchTree$,
    path,
    options<TreeOptions>({ depthMax: [-1, "5", Number.NaN], select: NO_FUNCTION, watches: ["x", 5] }),
  ),
  "Client#namespace": row(zk.namespace, path),
  "Client#makeRoot": row(zk.makeRoot, options<CallOptions & { mode?: string }>({ ...CALL, mode: NO_MODE })),
  "Client#with": row(
    zk.with,
    options<ViewOptions>(
      {
        ...CALL,
        acl: [5, "x", [{}]],
        defaultData: [5, {}],
        onSuspended: ["loose", 5],
        intercept: NO_FUNCTION,
      },
      {},
    ),
  ),
  "Client#sessionScope": row(zk.sessionScope, work),
  "Client#close": row(zk.close, options<CloseOptions>({ signal: NO_SIGNAL, timeoutMs: NO_TIME })),
  "Client#disconnect": ANY,
  "Client#toJSON": ANY,
  // What the client makes
  "Transaction#check": row(zk.transaction().check, path, argument(0, undefined, ...NO_INT)),
  "Transaction#create": row(
    zk.transaction().create,
    path,
    optionalData,
    options<Pick<CreateOptions, "acl" | "mode" | "ttlMs">>(CREATION),
  ),
  "Transaction#set": row(zk.transaction().set, path, data, options<{ version?: number }>({ version: NO_INT })),
  "Transaction#delete": row(zk.transaction().delete, path, options<{ version?: number }>({ version: NO_INT })),
  "Transaction#commit": row(zk.transaction().check("/a", 0).commit, call),
  "ReadBatch#get": row(zk.reads().get, path),
  "ReadBatch#children": row(zk.reads().children, path),
  "ReadBatch#run": row(zk.reads().get("/a").run, call),
  "TypedNodes#path": row(typed.path, parameters),
  "TypedNodes#create": row(typed.create, parameters, value, options<object>({ mode: NO_MODE })),
  "TypedNodes#get": row(typed.get, parameters, read),
  "TypedNodes#getOrNull": row(typed.getOrNull, parameters, read),
  "TypedNodes#set": row(
    typed.set,
    parameters,
    value,
    options<SetOptions>({ ...CALL, version: NO_INT, idempotent: NO_FLAG }),
  ),
  "TypedNodes#put": row(typed.put, parameters, value, options<PutOptions>({ ...CALL, acl: NO_ACL, parents: NO_MODE })),
  "TypedNodes#update": row(
    typed.update,
    parameters,
    work,
    options<UpdateOptions>({ ...CALL, create: [5, { acls: [] }, { parents: "x" }] }),
  ),
  "TypedNodes#delete": row(typed.delete, parameters, options<VersionOptions>({ ...CALL, version: NO_INT })),
  "TypedNodes#exists": row(typed.exists, parameters, read),
  "TypedNodes#watch$": row(typed.watch$, parameters),
};

/** The objects that methods are called on. */
const OBJECTS: Readonly<Record<string, object>> = {
  Client: zk,
  Transaction: zk.transaction(),
  ReadBatch: zk.reads(),
  TypedNodes: typed,
  Relay: testing.Relay.prototype,
  OldServer: testing.OldServer.prototype,
};

/**
 * Every function and method that a program can call: `name`, `object.name`, `Class.name` or
 * `Class#name`.
 */
function surface(): readonly string[] {
  const found: string[] = [];
  for (const entry of [main, opentelemetry, prometheus, testing] as readonly object[]) {
    for (const [name, exported] of Object.entries(entry)) {
      if (typeof exported === "function") found.push(name);
      if (typeof exported !== "function" && typeof exported !== "object") continue;
      found.push(...methodsOf(exported).map((method) => `${name}.${method}`));
    }
  }
  for (const [name, object] of Object.entries(OBJECTS)) {
    const prototype: object =
      name === object.constructor.name && !Object.hasOwn(object, "constructor")
        ? Object.getPrototypeOf(object)
        : object;
    found.push(...methodsOf(prototype).map((method) => `${name}#${method}`));
  }
  return found;
}

function methodsOf(object: object): readonly string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([name, { value: member }]) => typeof member === "function" && name !== "constructor")
    .map(([name]) => name);
}

test("each public function and method has a row", () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(surface().toSorted());
});

/** The error of a call; undefined for none, and while it waits for a server. */
async function errorOf(name: string, { call: called }: Row, args: readonly unknown[]): Promise<unknown> {
  const [owner = ""] = name.split("#");
  const run = async (): Promise<undefined> => {
    const made: unknown = await called.apply(OBJECTS[owner], args as never[]);
    if (isObservable(made)) await lastValueFrom(made);
    else if (hasMember(made, Symbol.asyncIterator)) await (made as AsyncGenerator<unknown>).next();
    await end(made);
    return undefined;
  };
  const waits = new Promise<undefined>((resolve) => setImmediate(() => setImmediate(() => resolve(undefined))));
  return Promise.race([run(), waits]).catch((thrown: unknown) => thrown);
}

async function end(made: unknown): Promise<void> {
  if (made === zk) return;
  if (hasMember(made, Symbol.asyncDispose)) await (made as AsyncDisposable)[Symbol.asyncDispose]();
  if (hasMember(made, Symbol.dispose)) (made as Disposable)[Symbol.dispose]();
}

function hasMember(made: unknown, name: symbol): boolean {
  return typeof made === "object" && made !== null && name in made;
}

/** The codes of arguments that cannot be used, and Node's of certificates. */
function isRefusal(thrown: unknown): boolean {
  if (thrown instanceof ArgumentError || isZkError(thrown, "INVALID_PATH") || isZkError(thrown, "INVALID_ACL"))
    return true;
  return thrown instanceof Error && "code" in thrown && String(thrown.code).startsWith("ERR_OSSL");
}

test.each(Object.entries(ROWS).filter(([, { args }]) => args.length > 0))(
  "%s refuses each wrong argument with a code, and names the nearest option",
  async (name, tested) => {
    const good = tested.args.map((one) => one.good);
    for (const [at, { wrong }] of tested.args.entries()) {
      for (const { value: given, nearest } of wrong) {
        const thrown = await errorOf(name, tested, good.with(at, given));
        const shown = [name, at, given, String(thrown)];
        expect([...shown, isRefusal(thrown)]).toEqual([...shown, true]);
        expect(String(thrown)).not.toMatch(/Cannot|is not a function|not iterable/);
        if (nearest !== undefined) expect(String(thrown)).toContain(`did you mean ${nearest}?`);
      }
    }
    // Else the errors above would say nothing. A client without a session has none to expire.
    const thrown = await errorOf(name, tested, good);
    if (name !== "expireSession")
      expect([name, String(thrown), isRefusal(thrown)]).toEqual([name, String(thrown), false]);
  },
);
