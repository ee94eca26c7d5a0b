import { type InspectOptions, inspect } from "node:util";
import {
  type Acl,
  ArgumentError,
  checkArgument,
  fits,
  formatSessionId,
  formatZxid,
  type PastChildren,
  type PastNode,
  rules,
  type SessionId,
  type Stat,
  type Zxid,
} from "@zooid/model";
import type { ClientInfo, ListedChild } from "@zooid/wire";
import type { Observable } from "rxjs";
import { type AclInput, aclProblems, checkedAcl } from "./auth/acl-checks.ts";
import type { CallOptions } from "./calls/call.ts";
import {
  type Children,
  type Created,
  GET_ACL,
  GET_ALL_CHILDREN_NUMBER,
  GET_CHILDREN,
  GET_DATA,
  GET_EPHEMERALS,
  GET_STAT,
  type NodeData,
  SET_ACL,
  SYNC,
  WHO_AM_I,
} from "./calls/operation.ts";
import type { RetryPolicy } from "./calls/retry.ts";
import type { CloseOptions } from "./close-options.ts";
import { closeWithin } from "./close-within.ts";
import { isZkError } from "./errors.ts";
import { type ChildrenPage, childPages } from "./operations/child-pages.ts";
import { type Codec, json, text } from "./operations/codec.ts";
import type { Payload } from "./operations/create-mode.ts";
import { createNode } from "./operations/create-node.ts";
import { type Decoded, readDecoded } from "./operations/decoded-read.ts";
import { deleteTree } from "./operations/delete-tree.ts";
import {
  changeEnsembleConfig,
  checkConfigChange,
  observeEnsembleConfig,
  readEnsembleConfig,
} from "./operations/ensemble-config-calls.ts";
import { deleteOnce, setOnce } from "./operations/idempotent.ts";
import type {
  ChildPagesOptions,
  CreateOptions,
  DeleteOptions,
  DeleteTreeOptions,
  EnsureOptions,
  HistoryOptions,
  ParentMode,
  PutOptions,
  ReadOptions,
  SetOptions,
  VersionOptions,
} from "./operations/node-options.ts";
import { NodeRequests } from "./operations/node-requests.ts";
import * as SHAPES from "./operations/option-shapes.ts";
import { checkOptions, refused, refusedStream } from "./operations/option-shapes.ts";
import { type HistoryItem, readChanges, readPast, readPastChildren } from "./operations/past.ts";
import { checkedPath, underRoot, withoutRoot } from "./operations/paths.ts";
import { put } from "./operations/put.ts";
import { ReadBatch } from "./operations/read-batch.ts";
import { Transaction } from "./operations/transaction.ts";
import { TypedNodes } from "./operations/typed-nodes.ts";
import type { ViewPlace } from "./operations/view-place.ts";
import { readAndWatch, type Watched } from "./operations/watched-read.ts";
import { credentialProblems } from "./options.ts";
import type { ConfigChange, EnsembleConfig } from "./servers/ensemble-config.ts";
import { type ClientState, isConnected, isTerminal } from "./session/client-state.ts";
import type { Logger } from "./session/logger.ts";
import type { SessionDriver } from "./session/session-driver.ts";
import { withinSession } from "./session/session-scope.ts";
import { type ClientMetrics, type SharedParts, viewOf } from "./shared-parts.ts";
import { CHILDREN, DATA, EXISTENCE } from "./streams/observe.ts";
import { type ChangesOptions, observeChanges, type ReachedChange } from "./streams/observe-changes.ts";
import { type EventsOptions, observeEvents, type Resync } from "./streams/observe-events.ts";
import { observeNode } from "./streams/observe-node.ts";
import type { ObserveDataOptions, ObserveOptions } from "./streams/observe-options.ts";
import { observeTree, type TreeChange, type TreeOptions } from "./streams/observe-tree.ts";
import { decodeNodes, type ObservedNode } from "./streams/observed-node.ts";
import { rxjs } from "./streams/rxjs-module.ts";
import type { View, ViewOptions } from "./view.ts";
import type { WatchEvent } from "./watches/watch-event.ts";

/**
 * A ZooKeeper client over one session. Operations return promises and are pipelined in call order:
 * none waits for the answer of an earlier one. Streams are cold; unsubscribing undoes everything
 * that subscribing did.
 *
 * Paths are absolute, below the chroot of the connect string and the namespaces on top of it.
 */
export class Client implements AsyncDisposable {
  readonly #driver: SessionDriver;
  readonly #shared: SharedParts;
  readonly #root: string;
  readonly #view: View;
  readonly #nodes: NodeRequests;

  /** @internal Use {@link connect} or {@link createClient}. */
  constructor(shared: SharedParts, root: string, view: View = viewOf(shared.driver.config)) {
    this.#driver = shared.driver;
    this.#shared = shared;
    this.#root = root;
    this.#view = view;
    this.#nodes = new NodeRequests({ driver: shared.driver, deletes: shared.deletes, root, view });
  }

  get state(): ClientState {
    return this.#driver.state;
  }

  /** Starts with the current state; completes after `closed` or `auth-failed`. */
  get state$(): Observable<ClientState> {
    return this.#driver.state$;
  }

  /** 0n while there is no session. */
  get sessionId(): SessionId {
    return this.#driver.session.id;
  }

  /** A copy. Another client resumes this session with it and the id. */
  get sessionPassword(): Uint8Array {
    return this.#driver.session.password.slice();
  }

  /** As negotiated with the server, in milliseconds; 0 before. */
  get sessionTimeoutMs(): number {
    return this.#driver.session.timeoutMs;
  }

  /** `address:port` of the server that is connected or being dialled. */
  get server(): string | undefined {
    return this.#driver.session.server;
  }

  /** The highest zxid that any answer carried. */
  get lastZxid(): Zxid {
    return this.#driver.session.lastZxid;
  }

  /** The logger of its options, for what is built on a client. */
  get logger(): Logger | undefined {
    return this.#driver.config.logger;
  }

  /** The path under which all paths of this client lie; `/` for none. */
  get root(): string {
    return this.#root;
  }

  /**
   * Number of watches in this process, over all views of the session: one-shot, persistent, and
   * those of streams.
   */
  get watchCount(): number {
    return this.#driver.watches.size;
  }

  /**
   * Number of nodes still to be deleted, by guaranteed deletes and after cancelled protected
   * creates.
   */
  get pendingDeleteCount(): number {
    return this.#shared.deletes.count;
  }

  /** Default behaviour of recipes when the connection is lost. */
  get onSuspended(): "lose" | "keep" {
    return this.#view.onSuspended;
  }

  /** Data of nodes that are created without any, if it was configured. */
  get defaultData(): Payload | undefined {
    return this.#view.defaultData;
  }

  /**
   * Time in milliseconds for which the session is guaranteed to live, by a monotonic clock; 0 when
   * it is over or may be. Locks and ephemerals of the session may be relied on for that time and
   * not longer.
   */
  get aliveForMs(): number {
    const { kind } = this.state;
    if (kind !== "connected" && kind !== "read-only" && kind !== "suspended") return 0;
    return Math.max(0, this.#driver.session.aliveUntilMs - performance.now());
  }

  /** Current values; cheap to read. */
  get metrics(): ClientMetrics {
    return { ...this.#driver.metrics, watchCount: this.watchCount, pendingDeleteCount: this.pendingDeleteCount };
  }

  /**
   * Replaces the servers of the connect string. As in ZooKeeper's own clients, some clients move to
   * another server, chosen at random, so that all servers serve equally many. A client that moves
   * waits for the answers to requests in flight, then reconnects with its session.
   *
   * @param hosts as in a connect string; the chroot is the present one or left out
   */
  updateServers(hosts: string): void {
    const { servers } = this.#shared;
    if (servers === undefined) throw new ArgumentError("updateServers", ["the servers come from the option hosts"]);
    const { session, config } = this.#driver;
    const moved = servers.update(hosts, { current: session.connectedAddress, random: config.random });
    if (moved !== undefined) this.#driver.moveTo(moved);
  }

  /**
   * Waits for a connection.
   *
   * @throws the signal's reason; SESSION_EXPIRED, AUTH_FAILED or CLIENT_CLOSED when no connection
   *   can come any more
   */
  async connected(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkOptions("connected", undefined, options, SHAPES.CONNECTED);
    const { signal } = options;
    signal?.throwIfAborted();
    const state = await this.#driver.states.until((state) => isConnected(state) || isTerminal(state), signal);
    const { end } = this.#driver;
    if (isTerminal(state) && end !== undefined) throw end;
  }

  /**
   * @param data default: the client's `defaultData`, or empty
   * @returns the created path, with its sequence number where the mode gives one, and the new
   *   node's Stat
   * @throws NODE_EXISTS, unless `existsOk`; NO_NODE for a missing parent;
   *   NO_CHILDREN_FOR_EPHEMERALS; NO_AUTH, INVALID_ACL
   */
  create(path: string, data?: Payload, options: CreateOptions = {}): Promise<Created> {
    if (!fits(options, SHAPES.CREATE)) return refused("create", path, options, SHAPES.CREATE);
    const sweep = (prefix: string): void => this.#shared.deletes.sweep(this.#unlimited(), path, prefix);
    return createNode(this.#nodes, { path, data, options, policy: this.#policy(options), sweep });
  }

  /**
   * Makes sure that a node exists, with its ancestors and this client's root: a read where it does,
   * else creates without data.
   *
   * @param options `mode`: of what is created. Default `persistent`
   * @throws NO_CHILDREN_FOR_EPHEMERALS, NO_AUTH, INVALID_ACL
   */
  async ensure(path: string, options: EnsureOptions = {}): Promise<void> {
    checkOptions("ensure", path, options, SHAPES.ENSURE);
    const { mode = "persistent", acl, ...limits } = options;
    if ((await this.exists(path, limits)) !== null) return;
    const make = (): Promise<Created> =>
      this.create(path, "", { ...limits, ...(acl && { acl }), mode, parents: mode, existsOk: true });
    try {
      await make();
    } catch (error) {
      if (!isZkError(error, "NO_NODE") || this.#root === "/") throw error;
      await this.makeRoot({ ...limits, mode });
      await make();
    }
  }

  /** @throws NO_NODE unless `missingOk`; BAD_VERSION, NOT_EMPTY, NO_AUTH */
  delete(path: string, options: DeleteOptions = {}): Promise<void> {
    if (!fits(options, SHAPES.DELETE)) return refused("delete", path, options, SHAPES.DELETE);
    if (options.guaranteed !== undefined && options.guaranteed !== false)
      return this.#nodes.deleteGuaranteed(path, options);
    if (options.idempotent === true) return deleteOnce(this.#nodes, { path, policy: this.#policy(options) }, options);
    return this.#nodes.delete(path, options);
  }

  /**
   * @param options `codec`: adds the decoded data as `value`
   * @throws NO_NODE, NO_AUTH; DecodeError for data that the codec refuses
   */
  get<T>(path: string, options: ReadOptions & { readonly codec: Codec<T> }): Promise<NodeData & Decoded<T>>;
  get(path: string, options: ReadOptions & { readonly watch: true }): Promise<NodeData & Watched>;
  /**
   * The node at a moment of the past, from a Zooid server that keeps a history.
   *
   * @param options `at`: the zxid of a transaction behind which it was so, or a time: then that of
   *   the last transaction before the first one that was stamped later. The newest transactions are
   *   in a history within 10 s
   * @throws NO_NODE, NO_AUTH where it is or was not readable; HISTORY_GONE, for a time with
   *   `timeFault`; BAD_ARGUMENTS for a time across which a clock went back, with `timeFault`;
   *   UNIMPLEMENTED without a history
   */
  get(path: string, options: CallOptions & { readonly at: Zxid | Date }): Promise<PastNode>;
  get(path: string, options?: ReadOptions): Promise<NodeData>;
  get(
    path: string,
    options?: ReadOptions & { readonly watch?: boolean; readonly codec?: Codec<unknown>; readonly at?: Zxid | Date },
  ): Promise<NodeData> | Promise<PastNode> {
    if (!fits(options, SHAPES.GET)) return refused("get", path, options, SHAPES.GET);
    if (options?.at !== undefined) {
      if (!fits(options, SHAPES.GET_PAST)) return refused("get", path, options, SHAPES.GET_PAST);
      const { at, signal, timeoutMs, retry } = options;
      return readPast(this.#place, path, at, { signal, timeoutMs, retry });
    }
    if (options?.codec !== undefined) {
      const { codec, at: _, ...plain } = options;
      return readDecoded(path, codec, this.get(path, plain));
    }
    if (options?.watch === true) return readAndWatch(this.#place, GET_DATA, path, options);
    return this.#nodes.read(GET_DATA, path, options);
  }

  /** A node's data as UTF-8 text; empty for null. @throws NO_NODE, NO_AUTH */
  async getText(path: string, options?: ReadOptions): Promise<string> {
    checkOptions("getText", path, options, SHAPES.READ);
    return (await this.get(path, { ...options, codec: text })).value;
  }

  /**
   * A node's data as JSON; the type is not checked. @throws NO_NODE, NO_AUTH; DecodeError for other
   * data
   */
  async getJson<T = unknown>(path: string, options?: ReadOptions): Promise<T> {
    checkOptions("getJson", path, options, SHAPES.READ);
    return (await this.get(path, { ...options, codec: json<T>() })).value;
  }

  /** Null if the node does not exist. */
  getOrNull(path: string, options?: ReadOptions): Promise<NodeData | null> {
    if (!fits(options, SHAPES.READ)) return refused("getOrNull", path, options, SHAPES.READ);
    return this.#nodes.getOrNull(path, options);
  }

  /** The node's Stat, or null; the watch is armed in both cases. */
  exists(
    path: string,
    options: ReadOptions & { readonly watch: true },
  ): Promise<{ readonly stat: Stat | null } & Watched>;
  exists(path: string, options?: ReadOptions): Promise<Stat | null>;
  exists(
    path: string,
    options?: ReadOptions & { readonly watch?: boolean },
  ): Promise<Stat | null> | Promise<{ readonly stat: Stat | null } & Watched> {
    if (!fits(options, SHAPES.WATCHED_READ)) return refused("exists", path, options, SHAPES.WATCHED_READ);
    if (options?.watch !== true) return this.#nodes.exists(path, options);
    return readAndWatch(this.#place, GET_STAT, path, options);
  }

  /** @throws BAD_VERSION, NO_NODE, NO_AUTH, QUOTA_EXCEEDED */
  set(path: string, data: Payload, options: SetOptions = {}): Promise<Stat> {
    if (!fits(options, SHAPES.SET)) return refused("set", path, options, SHAPES.SET);
    if (options.idempotent === true)
      return setOnce(this.#nodes, { path, data, policy: this.#policy(options) }, options);
    return this.#nodes.set(path, data, options);
  }

  /**
   * Writes a node, or creates it if it does not exist.
   *
   * @throws NO_NODE for a missing parent, unless `parents`; NO_AUTH, QUOTA_EXCEEDED
   */
  async put(path: string, data: Payload, options: PutOptions = {}): Promise<Stat> {
    checkOptions("put", path, options, SHAPES.PUT);
    const { acl: _acl, parents: _parents, ...limits } = options;
    return put(
      () => this.set(path, data, limits),
      () => this.create(path, data, options),
    );
  }

  /**
   * Deletes a node and all its descendants, from the bottom up, many requests at a time; also nodes
   * that other clients create there meanwhile. Not atomic unless `atomic`: a failure leaves the
   * rest of the tree. Deletes whose answer is lost are repeated, as the retry policy allows.
   *
   * @returns the number of deleted nodes; 0 if the node does not exist
   * @throws NO_AUTH; BAD_ARGUMENTS for the server's root, before anything is deleted;
   *   `childrenOnly` deletes all but `/zookeeper`
   */
  deleteTree(path: string, options: DeleteTreeOptions = {}): Promise<number> {
    if (!fits(options, SHAPES.DELETE_TREE)) return refused("deleteTree", path, options, SHAPES.DELETE_TREE);
    const eachChild = this.eachChild.bind(this);
    const parts = { nodes: this.#nodes, transaction: () => this.transaction(), eachChild };
    return deleteTree(parts, path, options, this.#policy(options));
  }

  /** The names of the children, unordered, and the parent's Stat. */
  children(path: string, options: ReadOptions & { readonly watch: true }): Promise<Children & Watched>;
  /**
   * The names of the children at a moment of the past, from a Zooid server that keeps a history.
   *
   * @param options `at`: as of `get`
   * @throws as `get` with `at`; QUOTA_EXCEEDED for names of more than 1 MiB, and where too many
   *   children came and went
   */
  children(path: string, options: CallOptions & { readonly at: Zxid | Date }): Promise<PastChildren>;
  children(path: string, options?: ReadOptions): Promise<Children>;
  children(
    path: string,
    options?: ReadOptions & { readonly watch?: boolean; readonly at?: Zxid | Date },
  ): Promise<Children> | Promise<PastChildren> {
    if (!fits(options, SHAPES.LIST)) return refused("children", path, options, SHAPES.LIST);
    if (options?.at !== undefined) {
      if (!fits(options, SHAPES.GET_PAST)) return refused("children", path, options, SHAPES.GET_PAST);
      const { at, signal, timeoutMs, retry } = options;
      return readPastChildren(this.#place, path, at, { signal, timeoutMs, retry });
    }
    if (options?.watch === true) return readAndWatch(this.#place, GET_CHILDREN, path, options);
    return this.#nodes.children(path, options);
  }

  /**
   * The children in pages, in the order of their names' bytes, with their Stats or data: for nodes
   * with very many. A child that exists all the time is on exactly one page, one that is created or
   * deleted meanwhile on at most one. Stat and data are null where the client may not read the
   * child. Each page is one request to a Zooid server; for other servers all names are read first,
   * then each child.
   *
   * @throws as `children`; from the first `next()` on
   */
  childPages(path: string, options: ChildPagesOptions = {}): AsyncGenerator<ChildrenPage, void, undefined> {
    checkOptions("childPages", path, options, SHAPES.CHILD_PAGES);
    return childPages(this.#place, path, options);
  }

  /** The same, one child at a time. */
  async *eachChild(path: string, options: ChildPagesOptions = {}): AsyncGenerator<ListedChild, void, undefined> {
    for await (const { children } of this.childPages(path, options)) yield* children;
  }

  /**
   * The changes of a node, oldest first, from a Zooid server that keeps a history, and what the
   * history lacks. Data are null where the client might not have read the node then.
   *
   * @param options `recursive`: those of all nodes below too, but for nodes that the client may not
   *   read now, and where a node is gone those without ADMIN on the nearest one above
   * @throws NO_AUTH; HISTORY_GONE where no history is written yet, or where it begins later than
   *   behind `after`: the error's `reach` says where; UNIMPLEMENTED without one; from
   *   the first `next()` on
   */
  history(path: string, options: HistoryOptions = {}): AsyncGenerator<HistoryItem, void, undefined> {
    checkOptions("history", path, options, SHAPES.HISTORY);
    return readChanges(this.#place, path, options);
  }

  getAcl(path: string, options?: ReadOptions): Promise<{ readonly acl: Acl; readonly stat: Stat }> {
    if (!fits(options, SHAPES.READ)) return refused("getAcl", path, options, SHAPES.READ);
    return this.#nodes.read(GET_ACL, path, options);
  }

  /**
   * @param options `version`: the ACL's version, `aversion` in the Stat
   * @throws BAD_VERSION, NO_NODE, NO_AUTH, INVALID_ACL
   */
  async setAcl(path: string, acl: AclInput, options: VersionOptions = {}): Promise<Stat> {
    if (!fits(options, SHAPES.VERSION)) return refused("setAcl", path, options, SHAPES.VERSION);
    const checked = checkedAcl(acl, "setAcl", path);
    return this.#nodes.askAt(SET_ACL, path, { acl: checked, version: options.version ?? -1 }, options);
  }

  /**
   * Brings the server up to date with its leader: reads behind it see every write completed before
   * it.
   */
  sync(path = "/", options?: CallOptions): Promise<void> {
    if (!fits(options, SHAPES.CALL)) return refused("sync", path, options, SHAPES.CALL);
    return this.#nodes.askAt(SYNC, path, undefined, options);
  }

  /** The ephemeral nodes of this session whose paths start with a prefix. */
  async getEphemerals(prefix = "/", options?: CallOptions): Promise<string[]> {
    checkOptions("getEphemerals", prefix, options, SHAPES.CALL);
    const paths = await this.#nodes.askAt(GET_EPHEMERALS, prefix, undefined, options);
    return paths.map((path) => withoutRoot(this.#root, path));
  }

  /** The number of descendants of a node. */
  getAllChildrenNumber(path: string, options?: CallOptions): Promise<number> {
    if (!fits(options, SHAPES.CALL)) return refused("getAllChildrenNumber", path, options, SHAPES.CALL);
    return this.#nodes.askAt(GET_ALL_CHILDREN_NUMBER, path, undefined, options);
  }

  /** The identities of this connection, as the server knows them. */
  whoAmI(options?: CallOptions): Promise<ClientInfo[]> {
    if (!fits(options, SHAPES.CALL)) return refused("whoAmI", undefined, options, SHAPES.CALL);
    return this.#nodes.ask(WHO_AM_I, "/", undefined, options);
  }

  /**
   * Adds credentials, on this connection and on every later one. Without a connection the call
   * waits for the next one, within its limits.
   *
   * @throws AUTH_FAILED, which also ends the client, as in every ZooKeeper client
   */
  addAuth(scheme: string, auth: string | Uint8Array, options?: CallOptions): Promise<void> {
    if (!fits(options, SHAPES.CALL)) return refused("addAuth", undefined, options, SHAPES.CALL);
    const problems = credentialProblems({ scheme, auth });
    if (problems.length > 0) return Promise.reject(new ArgumentError("addAuth", problems));
    return this.#driver.addAuth({ scheme, auth }, { options: this.#view.limitsOf(options) });
  }

  /**
   * Typed access to nodes of one kind: a path template like `/config/{app}/{key}`, and a codec for
   * their data.
   *
   * @throws ArgumentError for an invalid template or codec
   */
  typed<P extends string, T>(template: P, codec: Codec<T>): TypedNodes<P, T> {
    checkArgument("typed", "the codec", codec, rules.codec);
    return new TypedNodes(this, template, codec);
  }

  /** An atomic transaction of several writes. */
  transaction(): Transaction {
    return new Transaction(this.#place);
  }

  /** Several reads in one request, all of one state of the tree. */
  reads(): ReadBatch {
    return new ReadBatch(this.#place);
  }

  /**
   * The ensemble's servers, as the connected server knows them.
   *
   * @throws NO_AUTH; NO_NODE where the server does not publish them
   */
  async getConfig(options?: ReadOptions): Promise<EnsembleConfig> {
    checkOptions("getConfig", undefined, options, SHAPES.READ);
    return readEnsembleConfig(this.#place, options);
  }

  /**
   * The ensemble's servers, now and after each change; errors as `watchData$` does. Emits nothing
   * while the server does not publish them.
   */
  get config$(): Observable<EnsembleConfig> {
    return observeEnsembleConfig(this.#shared.observations);
  }

  /**
   * Changes the ensemble's servers. Servers allow it with `reconfigEnabled`, to clients with write
   * permission on `/zookeeper/config`.
   *
   * @returns the new configuration
   * @throws BAD_VERSION, BAD_ARGUMENTS, NEW_CONFIG_NO_QUORUM, RECONFIG_IN_PROGRESS,
   *   RECONFIG_DISABLED, NO_AUTH; UNIMPLEMENTED
   */
  async reconfig(change: ConfigChange, options?: CallOptions): Promise<EnsembleConfig> {
    checkConfigChange(change);
    checkOptions("reconfig", undefined, options, SHAPES.CALL);
    return changeEnsembleConfig(this.#place, change, options);
  }

  /**
   * A node's data, now and after each change; absence is a value too. Intermediate states may be
   * skipped, the last one never is, also over lost connections and sessions. Data that the codec
   * refuses are left out and logged as a warning, unless `onDecodeError` handles them.
   */
  watchData$<T = Uint8Array | null>(path: string, options: ObserveDataOptions<T> = {}): Observable<ObservedNode<T>> {
    if (!fits(options, SHAPES.OBSERVE_DATA)) return refusedStream("watchData$", path, options, SHAPES.OBSERVE_DATA);
    return observeNode({ ...this.#shared, root: this.#root }, DATA, path, { op: "watchData$", ...options }).pipe(
      decodeNodes(path, options, (error) => this.#driver.log.undecodable(error)),
    );
  }

  /** A node's Stat, or null, now and whenever the node is created, changed or deleted. */
  watchExists$(path: string, options: ObserveOptions = {}): Observable<Stat | null> {
    if (!fits(options, SHAPES.OBSERVE)) return refusedStream("watchExists$", path, options, SHAPES.OBSERVE);
    return observeNode({ ...this.#shared, root: this.#root }, EXISTENCE, path, { op: "watchExists$", ...options }).pipe(
      rxjs().map(({ value }) => value),
    );
  }

  /**
   * The names of a node's children, now and after each change; null while the node does not exist.
   */
  watchChildren$(path: string, options: ObserveOptions = {}): Observable<readonly string[] | null> {
    if (!fits(options, SHAPES.OBSERVE)) return refusedStream("watchChildren$", path, options, SHAPES.OBSERVE);
    return observeNode({ ...this.#shared, root: this.#root }, CHILDREN, path, {
      op: "watchChildren$",
      ...options,
    }).pipe(rxjs().map(({ value }) => value?.names ?? null));
  }

  /**
   * Every event of a node, or of its descendants too. Servers do not report events from the time
   * without a connection: after each reconnect a `resync` follows, upon which the caller reads
   * everything again.
   */
  events$(path: string, options: EventsOptions = {}): Observable<WatchEvent | Resync> {
    if (!fits(options, SHAPES.EVENTS)) return refusedStream("events$", path, options, SHAPES.EVENTS);
    return observeEvents(this.#driver, { root: this.#root, path, ...options });
  }

  /**
   * A node and its descendants, or a selection of them: first the existing nodes as `created`,
   * parents before children; then `ready`; then each creation, change and deletion, in order for
   * each node. Intermediate states may be skipped, the last one never is, also over lost
   * connections and sessions. A node that was deleted and created again between two reads is
   * reported as changed.
   *
   * On servers before 3.6 this costs more; see `watches`. Errors are those of {@link
   * Client.watchData$}, and UNIMPLEMENTED where `persistent` is required and the server does not
   * support it.
   */
  watchTree$(path: string, options: TreeOptions = {}): Observable<TreeChange> {
    if (!fits(options, SHAPES.TREE)) return refusedStream("watchTree$", path, options, SHAPES.TREE);
    const { persistentWatches } = this.#shared.observations;
    return observeTree({ driver: this.#driver, persistentWatches, root: this.#root, path }, options);
  }

  /**
   * Each change of a node, from a Zooid server that keeps a history: first those that the history
   * has, then each further one some seconds after it happened. None is left out, also over lost
   * connections and sessions, but for transactions that the history lacks, which come as a `gap`.
   * The server keeps nothing for the stream but a watch, which says when to ask again.
   *
   * The changes of one transaction come together. After a `reached` a program that has handled all
   * before it can continue from there, in another stream with `after`.
   *
   * Each server has a history of its own. Where it begins behind the next change, the client moves
   * on to its other servers, one after the other, once the requests in flight are answered.
   *
   * @param options `after`: HISTORY_GONE where the histories of all servers begin later; the
   *   error's `reach` is that of the one which begins earliest. Other errors are those of
   *   {@link Client.history}
   */
  changes$(path: string, options: ChangesOptions = {}): Observable<HistoryItem | ReachedChange> {
    if (!fits(options, SHAPES.CHANGES)) return refusedStream("changes$", path, options, SHAPES.CHANGES);
    return observeChanges(this.#place, path, options);
  }

  /** The same session with a longer root path. Closing either closes both. */
  namespace(path: string): Client {
    return new Client(this.#shared, underRoot(this.#root, checkedPath(path, "namespace")), this.#view);
  }

  /**
   * Creates this client's root, its chroot or namespace, and missing ancestors, if it does not
   * exist.
   */
  async makeRoot(given: CallOptions & { readonly mode?: ParentMode } = {}): Promise<void> {
    checkOptions("makeRoot", undefined, given, SHAPES.MAKE_ROOT);
    const { mode = "persistent", ...options } = given;
    if (this.#root === "/") return;
    const whole = new Client(this.#shared, "/", this.#view);
    try {
      await whole.create(this.#root, "", { ...options, mode, parents: mode, idempotent: true });
    } catch (error) {
      if (!isZkError(error, "NODE_EXISTS")) throw error;
    }
  }

  /** The same session with other defaults, limits or interceptors. Closing either closes both. */
  with(options: ViewOptions): Client {
    checkArgument("with", "the options", options, rules.record);
    checkOptions("with", undefined, options, SHAPES.VIEW);
    const problems = Array.isArray(options.acl) ? aclProblems(options.acl) : [];
    if (problems.length > 0) throw new ArgumentError("with", problems);
    return new Client(this.#shared, this.#root, this.#view.with(options));
  }

  /**
   * Runs work within one session: when the session is lost, every call of the client that is passed
   * to the work fails with SESSION_EXPIRED, and so does this one when the work has ended. First
   * waits for a session.
   *
   * @throws errors of the work; SESSION_EXPIRED, whose `outcome` is unknown: requests that were
   *   sent may have been carried out
   */
  async sessionScope<T>(work: (zk: Client) => T | Promise<T>): Promise<T> {
    checkArgument("sessionScope", "the work", work, rules.callable);
    await this.connected();
    return withinSession(this.#driver.states, (signal) => work(this.with({ signal })));
  }

  /**
   * Ends the session, which deletes its ephemeral nodes. Calls made before are answered first. May
   * be repeated.
   *
   * Without options it waits for a connected server for 5 s at most and resolves in any case. With
   * `timeoutMs` or `signal` it waits for a server as long as they allow, and rejects if none has
   * confirmed the end of the session. When the connection ends meanwhile, it attaches the session
   * again and closes it there; a server that does not know the session any more has confirmed its
   * end. The client has ended in all cases; a session that no server has closed, and its ephemeral
   * nodes, end with its timeout.
   *
   * @throws with options: OPERATION_TIMEOUT; the signal's reason; AUTH_FAILED where a server
   *   refuses to attach the session; CONNECTION_LOSS where another close without options, or
   *   `disconnect`, has ended the client before a server confirmed
   */
  async close(options: CloseOptions = {}): Promise<void> {
    checkOptions("close", undefined, options, SHAPES.CLOSE);
    const isLimited = options.signal !== undefined || options.timeoutMs !== undefined;
    await (isLimited ? closeWithin(this.#driver, options) : this.#driver.close());
  }

  /**
   * Ends the client at once, and leaves its session to the servers: its ephemeral nodes stay until
   * the session's timeout. Calls that are not answered fail with CLIENT_CLOSED. May be repeated.
   */
  disconnect(): void {
    this.#driver.disconnect();
  }

  /** The state of the client as one object, for JSON and `console.log`. */
  toJSON(): object {
    const { root, server, sessionTimeoutMs, lastZxid, metrics } = this;
    const session = this.sessionId === 0n ? undefined : formatSessionId(this.sessionId);
    return { state: this.state.kind, server, session, sessionTimeoutMs, root, lastZxid: formatZxid(lastZxid), metrics };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#driver.close();
  }

  /** @internal The same object for all views of one session. */
  get sharedBySession(): object {
    return this.#shared;
  }

  get #place(): ViewPlace {
    return { driver: this.#driver, root: this.#root, view: this.#view };
  }

  #policy({ retry }: CallOptions): RetryPolicy {
    return retry ?? this.#view.retry;
  }

  #unlimited(): NodeRequests {
    return new NodeRequests({ ...this.#shared, root: this.#root, view: this.#view.unlimited });
  }
}

// What `console.log` shows. Declared types cannot have the name of a computed member.
Object.defineProperty(Client.prototype, inspect.custom, {
  value(this: Client, _depth: number, options: InspectOptions): string {
    return `Client ${inspect(this.toJSON(), options)}`;
  },
});
