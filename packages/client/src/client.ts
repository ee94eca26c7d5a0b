import type { Acl, SessionId, Stat, Zxid } from "@zooid/model";
import type { ClientInfo } from "@zooid/wire";
import { defer, filter, firstValueFrom, map, merge, Observable } from "rxjs";
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
  type Operation,
  RECONFIG,
  SET_ACL,
  SYNC,
  WHO_AM_I,
} from "./calls/operation.ts";
import type { RetryPolicy } from "./calls/retry.ts";
import { isZkError } from "./errors.ts";
import type { BackgroundDeletes } from "./operations/background-deletes.ts";
import type { Codec } from "./operations/codec.ts";
import type { Payload } from "./operations/create-mode.ts";
import { type DeleteTreeOptions, deleteTree } from "./operations/delete-tree.ts";
import { createOnce, deleteOnce, setOnce } from "./operations/idempotent.ts";
import type {
  CreateOptions,
  DeleteOptions,
  ParentMode,
  PutOptions,
  ReadOptions,
  SetOptions,
  VersionOptions,
} from "./operations/node-options.ts";
import { NodeRequests } from "./operations/node-requests.ts";
import { withParents } from "./operations/parents.ts";
import { checkedPath, underRoot, withoutRoot } from "./operations/paths.ts";
import { createProtected } from "./operations/protected-create.ts";
import { ReadBatch } from "./operations/read-batch.ts";
import { Transaction } from "./operations/transaction.ts";
import { TypedNodes } from "./operations/typed-nodes.ts";
import type { ClientConfig } from "./options.ts";
import { CONFIG_PATH, type ConfigChange, type EnsembleConfig, parseEnsembleConfig } from "./servers/ensemble-config.ts";
import type { ServerList } from "./servers/server-list.ts";
import { type ClientState, isConnected, isTerminal } from "./session/client-state.ts";
import type { DriverMetrics } from "./session/driver-metrics.ts";
import type { SessionDriver } from "./session/session-driver.ts";
import { withinSession } from "./session/session-scope.ts";
import {
  type Aspect,
  CHILDREN,
  DATA,
  EXISTENCE,
  failOnExpiry,
  type Observations,
  type Observed,
} from "./streams/observe.ts";
import { type EventsOptions, observeEvents, type Resync } from "./streams/observe-events.ts";
import { observeTree, type TreeChange, type TreeOptions } from "./streams/observe-tree.ts";
import { type DecodeOptions, decodeNodes, type ObservedNode } from "./streams/observed-node.ts";
import { View, type ViewOptions } from "./view.ts";
import { newOneShotWatch, type OneShotWatch } from "./watches/one-shot-watch.ts";
import type { WatchEvent } from "./watches/watch-event.ts";

/** What comes with a read that arms a watch. */
export interface Watched {
  readonly watch: OneShotWatch;
}

export interface ObserveOptions {
  /** What the end of the session is to the stream: nothing, for it goes on with the next one, or an error. Default `resume`. */
  readonly onExpiry?: "resume" | "error";
}

export type ObserveDataOptions<T> = ObserveOptions & DecodeOptions<T>;

/** What all views of one session have in common. */
export interface SharedParts {
  readonly driver: SessionDriver;
  readonly observations: Observations;
  readonly deletes: BackgroundDeletes;
  /** Undefined where servers come from elsewhere than a connect string. */
  readonly servers?: ServerList | undefined;
}

/** Numbers for whoever watches over a client, of all views on its session. */
export interface ClientMetrics extends DriverMetrics {
  /** As {@link Client.watchCount}. */
  readonly watchCount: number;
  /** As {@link Client.pendingDeleteCount}. */
  readonly pendingDeleteCount: number;
}

/**
 * A ZooKeeper client over one session. Operations are promises, sent in the order in which they were called and pipelined: nothing
 * waits for the answer of what was asked before. Streams are cold; unsubscribing undoes what subscribing did.
 *
 * Paths are absolute, below the chroot of the connect string and the namespaces on top of it.
 */
export class Client implements AsyncDisposable {
  readonly #driver: SessionDriver;
  readonly #observations: Observations;
  readonly #deletes: BackgroundDeletes;
  readonly #servers: ServerList | undefined;
  readonly #root: string;
  readonly #view: View;
  readonly #nodes: NodeRequests;

  /** @internal {@link connect} and {@link createClient} make one */
  constructor(shared: SharedParts, root: string, view: View = viewOf(shared.driver.config)) {
    this.#driver = shared.driver;
    this.#observations = shared.observations;
    this.#deletes = shared.deletes;
    this.#servers = shared.servers;
    this.#root = root;
    this.#view = view;
    this.#nodes = new NodeRequests({ driver: shared.driver, deletes: shared.deletes, root, view });
  }

  get state(): ClientState {
    return this.#driver.state;
  }

  /** Begins with the present state; completes after `closed` or `auth-failed`. */
  get state$(): Observable<ClientState> {
    return this.#driver.state$;
  }

  /** 0n while there is no session. */
  get sessionId(): SessionId {
    return this.#driver.session.id;
  }

  /** What another client needs, with the id, to go on with this session. A copy. */
  get sessionPassword(): Uint8Array {
    return this.#driver.session.password.slice();
  }

  /** As negotiated with the server, in milliseconds; 0 before. */
  get sessionTimeoutMs(): number {
    return this.#driver.session.timeoutMs;
  }

  /** `address:port` of the server that is connected or being tried. */
  get server(): string | undefined {
    return this.#driver.session.server;
  }

  /** The highest that any answer carried. */
  get lastZxid(): Zxid {
    return this.#driver.session.lastZxid;
  }

  /** The path under which all of this client's paths lie; `/` for none. */
  get root(): string {
    return this.#root;
  }

  /** How many watches this process holds, of all views on the session: one-shot, persistent, and those of streams. */
  get watchCount(): number {
    return this.#driver.watches.size;
  }

  /** How many nodes are still to be deleted, by guaranteed deletes and after protected creates that were given up. */
  get pendingDeleteCount(): number {
    return this.#deletes.count;
  }

  /** What recipes do by default when the connection is lost. */
  get onSuspended(): "lose" | "keep" {
    return this.#view.onSuspended;
  }

  /** What nodes hold that are created without data, where that was said. */
  get defaultData(): Payload | undefined {
    return this.#view.defaultData;
  }

  /**
   * How long from now the session certainly lives, in milliseconds, by a clock that does not jump; 0 when it is over, or may be. What it
   * holds may be taken for held until then, and not longer.
   */
  get aliveForMs(): number {
    const { kind } = this.state;
    if (kind !== "connected" && kind !== "read-only" && kind !== "suspended") return 0;
    return Math.max(0, this.#driver.session.aliveUntilMs - performance.now());
  }

  /** Numbers at this moment, cheap to ask for. */
  get metrics(): ClientMetrics {
    return { ...this.#driver.metrics, watchCount: this.watchCount, pendingDeleteCount: this.pendingDeleteCount };
  }

  /**
   * Takes other servers of the same ensemble from now on. A client may go to another server then, by chance, so that all serve as many as
   * before; it first waits for the answers to what is on its way, and is then without a connection for a moment, as after any lost one.
   *
   * @param hosts as in a connect string; a chroot may be left away, or is the one that was connected with
   * @throws RangeError for what is no such text, and where servers come from `hosts` of the options
   */
  updateServers(hosts: string): void {
    if (this.#servers === undefined)
      throw new RangeError("updateServers: the option hosts says which servers there are");
    const { session, config } = this.#driver;
    const moved = this.#servers.update(hosts, { current: session.connectedAddress, random: config.random });
    if (moved !== undefined) this.#driver.moveTo(moved);
  }

  /**
   * Waits for a connection.
   *
   * @throws the signal's reason; SESSION_EXPIRED, AUTH_FAILED or CLIENT_CLOSED when none can come any more
   */
  async connected({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    signal?.throwIfAborted();
    const settled$ = this.state$.pipe(filter((state) => isConnected(state) || isTerminal(state)));
    const state = await firstValueFrom(signal === undefined ? settled$ : merge(settled$, abortOf(signal)));
    const { end } = this.#driver;
    if (isTerminal(state) && end !== undefined) throw end;
  }

  /**
   * @param data default: the client's `defaultData`, or empty
   * @returns the path as it was made, with its number where the mode gives one, and the new node's Stat
   * @throws NODE_EXISTS; NO_NODE for a missing parent; NO_CHILDREN_FOR_EPHEMERALS; NO_AUTH, INVALID_ACL
   */
  create(path: string, data?: Payload, options: CreateOptions = {}): Promise<Created> {
    const { parents } = options;
    if (parents === undefined) return this.#createOne(path, data, options);
    const create = (limits: CallOptions): Promise<Created> => this.#createOne(path, data, { ...options, ...limits });
    return withParents(this.#nodes, { path, mode: parents, policy: this.#policy(options), options, create });
  }

  /** @throws NO_NODE unless `missingOk`; BAD_VERSION, NOT_EMPTY, NO_AUTH */
  delete(path: string, options: DeleteOptions = {}): Promise<void> {
    if (options.guaranteed !== undefined && options.guaranteed !== false)
      return this.#nodes.deleteGuaranteed(path, options);
    if (options.idempotent === true) return deleteOnce(this.#nodes, { path, policy: this.#policy(options) }, options);
    return this.#nodes.delete(path, options);
  }

  /** @throws NO_NODE, NO_AUTH */
  get(path: string, options: ReadOptions & { readonly watch: true }): Promise<NodeData & Watched>;
  get(path: string, options?: ReadOptions): Promise<NodeData>;
  get(
    path: string,
    options?: ReadOptions & { readonly watch?: boolean },
  ): Promise<NodeData> | Promise<NodeData & Watched> {
    if (options?.watch === true) return this.#readAndWatch(GET_DATA, path, options);
    return this.#nodes.read(GET_DATA, path, options);
  }

  /** Null where there is no such node. */
  getOrNull(path: string, options?: ReadOptions): Promise<NodeData | null> {
    return this.#nodes.getOrNull(path, options);
  }

  /** The node's Stat, or null; a watch is armed in either case. */
  exists(
    path: string,
    options: ReadOptions & { readonly watch: true },
  ): Promise<{ readonly stat: Stat | null } & Watched>;
  exists(path: string, options?: ReadOptions): Promise<Stat | null>;
  exists(
    path: string,
    options?: ReadOptions & { readonly watch?: boolean },
  ): Promise<Stat | null> | Promise<{ readonly stat: Stat | null } & Watched> {
    if (options?.watch !== true) return this.#nodes.exists(path, options);
    return this.#readAndWatch(GET_STAT, path, options);
  }

  /** @throws BAD_VERSION, NO_NODE, NO_AUTH, QUOTA_EXCEEDED */
  set(path: string, data: Payload, options: SetOptions = {}): Promise<Stat> {
    if (options.idempotent === true)
      return setOnce(this.#nodes, { path, data, policy: this.#policy(options) }, options);
    return this.#nodes.set(path, data, options);
  }

  /**
   * Writes a node, and makes it where there is none.
   *
   * @throws NO_NODE for a missing parent, unless `parents`; NO_AUTH, QUOTA_EXCEEDED
   */
  async put(path: string, data: Payload, options: PutOptions = {}): Promise<Stat> {
    const { acl: _acl, parents: _parents, ...limits } = options;
    // Ends as soon as nobody else makes and deletes the node in between.
    for (;;) {
      try {
        return await this.set(path, data, limits);
      } catch (error) {
        if (!isZkError(error, "NO_NODE")) throw error;
      }
      try {
        return (await this.create(path, data, options)).stat;
      } catch (error) {
        if (!isZkError(error, "NODE_EXISTS")) throw error;
      }
    }
  }

  /**
   * Deletes a node and everything below it, from the bottom up, many requests at a time; also what others make there meanwhile. It is no
   * transaction: what fails leaves the rest of the tree.
   *
   * @returns how many nodes it has deleted; none where there is no such node
   * @throws NO_AUTH; BAD_ARGUMENTS for the server's own root, before anything is deleted; `childrenOnly` takes all but `/zookeeper`
   */
  deleteTree(path: string, options: DeleteTreeOptions = {}): Promise<number> {
    return deleteTree({ nodes: this.#nodes, transaction: () => this.transaction() }, path, options);
  }

  /** The names of the children, in no order, and the parent's Stat. */
  children(path: string, options: ReadOptions & { readonly watch: true }): Promise<Children & Watched>;
  children(path: string, options?: ReadOptions): Promise<Children>;
  children(
    path: string,
    options?: ReadOptions & { readonly watch?: boolean },
  ): Promise<Children> | Promise<Children & Watched> {
    if (options?.watch === true) return this.#readAndWatch(GET_CHILDREN, path, options);
    return this.#nodes.children(path, options);
  }

  getAcl(path: string, options?: ReadOptions): Promise<{ readonly acl: Acl; readonly stat: Stat }> {
    return this.#nodes.read(GET_ACL, path, options);
  }

  /** @param options `version`: the ACL's version, `aversion` in the Stat */
  setAcl(path: string, acl: Acl, options: VersionOptions = {}): Promise<Stat> {
    return this.#nodes.askAt(SET_ACL, path, { acl, version: options.version ?? -1 }, options);
  }

  /** Brings the server up to date with its leader: reads that are asked after it see what was written before it. */
  sync(path = "/", options?: CallOptions): Promise<void> {
    return this.#nodes.askAt(SYNC, path, undefined, options);
  }

  /** The ephemeral nodes of this session whose path begins with a text. */
  async getEphemerals(prefix = "/", options?: CallOptions): Promise<string[]> {
    const paths = await this.#nodes.askAt(GET_EPHEMERALS, prefix, undefined, options);
    return paths.map((path) => withoutRoot(this.#root, path));
  }

  /** How many nodes lie below a path, at any depth. */
  getAllChildrenNumber(path: string, options?: CallOptions): Promise<number> {
    return this.#nodes.askAt(GET_ALL_CHILDREN_NUMBER, path, undefined, options);
  }

  /** Who this connection is to the server. */
  whoAmI(options?: CallOptions): Promise<ClientInfo[]> {
    return this.#nodes.ask(WHO_AM_I, "/", undefined, options);
  }

  /**
   * Shows an identity to the server, now and on every connection to come. Without a connection it waits for the next one, as long as the
   * options allow.
   *
   * @throws AUTH_FAILED, which is also the client's end, as in every ZooKeeper client
   */
  addAuth(scheme: string, auth: string | Uint8Array, options?: CallOptions): Promise<void> {
    return this.#driver.addAuth({ scheme, auth }, { options: this.#view.limitsOf(options) });
  }

  /**
   * Nodes of one kind: a path with names in braces, like `/config/{app}/{key}`, and what their data are.
   *
   * @throws RangeError for a path that cannot be
   */
  typed<P extends string, T>(template: P, codec: Codec<T>): TypedNodes<P, T> {
    return new TypedNodes(this, template, codec);
  }

  /** Several writes of which all happen or none. */
  transaction(): Transaction {
    return new Transaction({ driver: this.#driver, root: this.#root, view: this.#view });
  }

  /** Several reads in one request, of one state. */
  reads(): ReadBatch {
    return new ReadBatch({ driver: this.#driver, root: this.#root, view: this.#view });
  }

  /** Who the ensemble's servers are, as the one that is connected knows it. @throws NO_AUTH; NO_NODE where the server does not tell */
  async getConfig(options?: ReadOptions): Promise<EnsembleConfig> {
    const place = { path: CONFIG_PATH, shownPath: CONFIG_PATH, body: undefined };
    const syncPath = options?.sync === true ? CONFIG_PATH : undefined;
    const limits = this.#view.limitsOf(options);
    return parseEnsembleConfig(
      await this.#view.ask(this.#driver, { operation: GET_DATA, ...place, syncPath, options: limits }),
    );
  }

  /** Who the ensemble's servers are, now and after each change; errors as `watchData$` does. Nothing comes while the server does not tell. */
  get config$(): Observable<EnsembleConfig> {
    return defer(() => this.#observations.of(DATA, CONFIG_PATH)).pipe(
      map(({ value }) => (value === null ? undefined : parseEnsembleConfig(value, "config$"))),
      filter((config) => config !== undefined),
    );
  }

  /**
   * Changes who the ensemble's servers are. Servers allow it where `reconfigEnabled` says so, to those who may write `/zookeeper/config`.
   *
   * @returns the configuration that is in force then
   * @throws BAD_VERSION, BAD_ARGUMENTS, NEW_CONFIG_NO_QUORUM, RECONFIG_IN_PROGRESS, RECONFIG_DISABLED, NO_AUTH; UNIMPLEMENTED
   */
  async reconfig(change: ConfigChange, options?: CallOptions): Promise<EnsembleConfig> {
    const place = { path: CONFIG_PATH, shownPath: "", body: change };
    const limits = this.#view.limitsOf(options);
    return parseEnsembleConfig(
      await this.#view.ask(this.#driver, { operation: RECONFIG, ...place, options: limits }),
      "reconfig",
    );
  }

  /**
   * What a node holds, now and whenever it changes; that there is no such node is a value too. States in between may be skipped, the
   * last never is, also over lost connections and sessions.
   */
  watchData$<T = Uint8Array | null>(path: string, options: ObserveDataOptions<T> = {}): Observable<ObservedNode<T>> {
    return this.#observed(DATA, path, { op: "watchData$", ...options }).pipe(decodeNodes(options));
  }

  /** A node's Stat, or null, now and whenever the node is made, changed or deleted. */
  watchExists$(path: string, options: ObserveOptions = {}): Observable<Stat | null> {
    return this.#observed(EXISTENCE, path, { op: "watchExists$", ...options }).pipe(map(({ value }) => value));
  }

  /** The names of a node's children, now and whenever one comes or goes; null while there is no such node. */
  watchChildren$(path: string, options: ObserveOptions = {}): Observable<readonly string[] | null> {
    return this.#observed(CHILDREN, path, { op: "watchChildren$", ...options }).pipe(
      map(({ value }) => value?.names ?? null),
    );
  }

  /**
   * Every event of a node, or of all nodes below it too. What happens without a connection is not told by servers: after each
   * reconnect comes a `resync`, upon which everything of interest must be read anew.
   */
  events$(path: string, options: EventsOptions = {}): Observable<WatchEvent | Resync> {
    return observeEvents(this.#driver, { root: this.#root, path, ...options });
  }

  /**
   * A node and all below it, or what of that is of interest: what is there comes first, as `created`, a parent before its children; then
   * `ready`; then whatever comes, changes and goes, of each node in order. States in between may be skipped, the last never is, also over
   * lost connections and sessions. A node that was deleted and made anew has changed where only both together were seen.
   *
   * Servers before 3.6 are asked in another way, which costs more (`watches`). Errors are those of {@link Client.watchData$}, and
   * UNIMPLEMENTED where `persistent` watches are insisted on and the server does not know them.
   */
  watchTree$(path: string, options: TreeOptions = {}): Observable<TreeChange> {
    const { persistentWatches } = this.#observations;
    return observeTree({ driver: this.#driver, persistentWatches, root: this.#root, path }, options);
  }

  /** The same session, seen from a path further down. Closing either closes both. */
  namespace(path: string): Client {
    return new Client(this.#shared(), underRoot(this.#root, checkedPath(path, "namespace")), this.#view);
  }

  /**
   * Makes the node that is this client's root, its chroot or namespace, and what is missing above that. Where it is there already nothing
   * happens.
   */
  async makeRoot({
    mode = "persistent",
    ...options
  }: CallOptions & { readonly mode?: ParentMode } = {}): Promise<void> {
    if (this.#root === "/") return;
    const whole = new Client(this.#shared(), "/", this.#view);
    try {
      await whole.create(this.#root, "", { ...options, mode, parents: mode, idempotent: true });
    } catch (error) {
      if (!isZkError(error, "NODE_EXISTS")) throw error;
    }
  }

  /** The same session, asked in another way: with other defaults, or given up by a signal. Closing either closes both. */
  with(options: ViewOptions): Client {
    return new Client(this.#shared(), this.#root, this.#view.with(options));
  }

  /**
   * Does some work in one session: as soon as that is lost, everything that is asked through the client which the work is given fails with
   * SESSION_EXPIRED, and so does this when the work has ended. Waits for a session first.
   *
   * @throws what the work throws; SESSION_EXPIRED, whose `outcome` is unknown: what was sent may have been carried out
   */
  async sessionScope<T>(work: (zk: Client) => T | Promise<T>): Promise<T> {
    await this.connected();
    return withinSession(this.state$, (signal) => work(this.with({ signal })));
  }

  /** Ends the session, and with it its ephemeral nodes. What was asked before is answered before. Twice is harmless. */
  close(): Promise<void> {
    return this.#driver.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#driver.close();
  }

  /** Without missing ancestors. */
  #createOne(path: string, data: Payload | undefined, options: CreateOptions): Promise<Created> {
    if (options.idempotent !== true) return this.#createNamed(path, data, options);
    const create = (): Promise<Created> => this.#createNamed(path, data === undefined ? "" : data, options);
    return createOnce(this.#nodes, { path, data, policy: this.#policy(options), create }, options);
  }

  /** Once, under a protected name or its own. */
  #createNamed(path: string, data: Payload | undefined, options: CreateOptions): Promise<Created> {
    const { protect } = options;
    if (protect === undefined || protect === false) return this.#nodes.create(path, data, options);
    const sweep = (prefix: string): void => this.#deletes.sweep(this.#unlimited(), path, prefix);
    return createProtected(this.#nodes, { path, data, options, policy: this.#policy(options), sweep });
  }

  #policy({ retry }: CallOptions): RetryPolicy {
    return retry ?? this.#view.retry;
  }

  #shared(): SharedParts {
    const [driver, observations, deletes, servers] = [this.#driver, this.#observations, this.#deletes, this.#servers];
    return { driver, observations, deletes, servers };
  }

  #unlimited(): NodeRequests {
    return new NodeRequests({ ...this.#shared(), root: this.#root, view: this.#view.unlimited });
  }

  async #readAndWatch<T extends object>(
    operation: Operation<undefined, T>,
    path: string,
    options: ReadOptions,
  ): Promise<T & Watched> {
    const full = underRoot(this.#root, checkedPath(path, operation.name));
    const { watcher, watch } = newOneShotWatch(this.#driver, { root: this.#root, path: full, op: operation.name });
    const value = await this.#view.ask(this.#driver, {
      operation,
      path: full,
      shownPath: path,
      body: undefined,
      watcher,
      syncPath: options.sync === true ? full : undefined,
      options: this.#view.limitsOf(options),
    });
    return { ...value, watch };
  }

  #observed<T>(
    aspect: Aspect<T>,
    path: string,
    { op, onExpiry = "resume" }: ObserveOptions & { readonly op: string },
  ): Observable<Observed<T>> {
    const source = defer(() => this.#observations.of(aspect, underRoot(this.#root, checkedPath(path, op))));
    return onExpiry === "resume" ? source : failOnExpiry(this.#driver, source, op);
  }
}

/** What the client does by itself: its signal was for connecting. */
function viewOf({ acl, defaultData, intercept, onSuspended, retry }: ClientConfig): View {
  return new View({ acl, defaultData, intercept, onSuspended, retry }, true);
}

/** Errors with the signal's reason when it is aborted. */
function abortOf(signal: AbortSignal): Observable<never> {
  return new Observable((subscriber) => {
    const abort = (): void => subscriber.error(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
}
