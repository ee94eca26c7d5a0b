import {
  assert,
  type ByteSlice,
  type ConnectionRef,
  counterOf,
  type ErrorCode,
  type HashKey,
  type Request,
  StatOffset,
  sliceOf,
  type TxnHeader,
  type TxnOp,
  type Zxid,
} from "@zooid/model";
import { NO_NODE } from "./nodes/node-row.ts";
import type { CloseLimits, PrepareContext } from "./prepare/prepare-context.ts";
import type { ReapLimits } from "./reapable-nodes.ts";
import { CONFIG_PATH, showWithoutComments, withoutComments } from "./shown-configuration.ts";
import {
  type NodeRecord,
  type SessionRecord,
  type SnapshotRecord,
  snapshotOf,
  TreeLoader,
  type TreeRecord,
} from "./snapshot.ts";
import { TreeCapture } from "./tree-capture.ts";
import { TreeParts } from "./tree-parts.ts";
import { TreeReader } from "./tree-reader.ts";
import { restoreWatch } from "./watches/watch-restore.ts";
import { type WatchSink, WatchTable } from "./watches/watch-table.ts";

export interface DataTreeOptions {
  /** A secret that keeps clients from choosing paths that collide. It changes nothing visible. */
  readonly hashKey: HashKey;
}

/**
 * The replicated state machine: the tree with its sessions and ACLs, what is proposed about it, and
 * its watches.
 *
 * A request becomes a transaction by {@link prepare} on the leader; {@link apply} and
 * {@link finish} make it true on every server. Equal transactions in equal order give equal trees,
 * digests and snapshots, whatever the seed.
 *
 * Nodes are indexes: numbers that mean something until the next change. 0 is none.
 */
export class DataTree extends TreeReader {
  /** The watches of the connections at this server. They are not replicated. */
  readonly watches: WatchTable;
  readonly #hashKey: HashKey;
  #loader: TreeLoader | undefined = undefined;

  /**
   * Holds what every ensemble begins with: `/`, `/zookeeper`, `/zookeeper/quota` and
   * `/zookeeper/config`.
   */
  constructor({ hashKey }: DataTreeOptions) {
    const watches = new WatchTable(hashKey);
    super(new TreeParts(hashKey, watches));
    this.#hashKey = hashKey;
    this.watches = watches;
    this.state.createInitialNodes();
  }

  // Preparing

  /**
   * Judges a write against the tree as it will be and fills `op` with its effects; anything but OK
   * changes nothing. What comes before (decoding, the session's check) is the caller's; of a
   * create, the checks of its mode are made here once more.
   *
   * The op's slices lie in the request or in a scratch that the next call of a prepare method
   * reuses.
   */
  prepare(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    return this.parts.requests.prepare(request, context, op);
  }

  /**
   * As {@link prepare}, for a change of the ensemble's configuration that was found right but for
   * the client's permission.
   *
   * @param text of the new configuration, which `/zookeeper/config` holds from then on
   */
  prepareReconfig(
    text: Uint8Array,
    context: Readonly<PrepareContext>,
    op: TxnOp,
    needsNoPermission: boolean,
  ): ErrorCode {
    return this.parts.requests.reconfig(text, context, op, needsNoPermission);
  }

  /** Whether a client has the permission that {@link prepareReconfig} asks for. */
  mayReconfig(context: Readonly<PrepareContext>): boolean {
    return this.parts.requests.mayReconfig(context);
  }

  /**
   * The requests prepared from here on stand or fall together: {@link endMulti} or
   * {@link abortMulti} follows.
   */
  beginMulti(): void {
    this.parts.pending.beginMulti();
  }

  endMulti(): void {
    this.parts.pending.endMulti();
  }

  /** Takes back what was prepared since {@link beginMulti}, sequence counters and node ids too. */
  abortMulti(): void {
    this.parts.pending.abortMulti();
  }

  /** The session counts from now on for {@link isSessionUsable}; {@link hasSession} has to wait. */
  prepareCreateSession(
    timeoutMs: number,
    passwordHash: Readonly<ByteSlice>,
    context: Readonly<PrepareContext>,
    op: TxnOp,
  ): void {
    this.parts.sessions.create(timeoutMs, passwordHash, context, op);
  }

  /**
   * The end of a session, known or not: a DELETE for each of its ephemerals, those still in flight
   * too, then the CLOSE_SESSION. Nothing else of the session may be prepared afterwards. The op and
   * its slices are valid during the call.
   *
   * A session with more ephemerals than one transaction may hold is over with the first one, which
   * ends in BEGIN_CLOSE_SESSION. The next part is prepared by the same call once this one is
   * applied; until the last one {@link isSessionEnding}.
   *
   * @returns whether this was the last part
   */
  prepareCloseSession(
    high: number,
    low: number,
    limits: CloseLimits,
    context: Readonly<PrepareContext>,
    emit: (op: Readonly<TxnOp>) => void,
  ): boolean {
    return this.parts.sessions.close(high, low, limits, context, emit);
  }

  /** How many containers and TTL nodes there are. */
  get reapableCount(): number {
    return this.state.reapable.count;
  }

  /** The next container or TTL node, round and round; 0 when there is none. */
  takeReapable(): number {
    return this.state.reapable.take();
  }

  /**
   * Whether a container or TTL node is removed: it has no children, it is due by its kind, and
   * nothing is proposed about it.
   */
  isReapable(node: number, limits: ReapLimits, timeMs: number): boolean {
    return this.parts.reaps.isReapable(node, limits, timeMs);
  }

  /** Fills `op` with the removal of a node of which {@link isReapable} was true just now. */
  prepareReap(node: number, context: Readonly<PrepareContext>, op: TxnOp): void {
    this.parts.reaps.reap(node, context, op);
  }

  /** How many paths have a proposal in flight. */
  get pendingCount(): number {
    return this.parts.pending.count;
  }

  /** This server leads no more: what it proposed and has not applied may never be. */
  discardPending(): void {
    this.parts.pending.discard();
    this.state.sessions.discardPending();
  }

  // Applying

  /**
   * Makes one op true and fires its watches, unless `sink` is undefined. What does not fit the tree
   * is a defect and throws.
   *
   * @returns the node that was created or changed, else 0
   */
  apply(header: Readonly<TxnHeader>, op: Readonly<TxnOp>, sink: WatchSink | undefined): number {
    return this.parts.applier.apply(header, op, sink);
  }

  /**
   * After a transaction's last op: {@link applied} moves to it, and what was pending for it is
   * dropped.
   */
  finish(header: Readonly<TxnHeader>): void {
    assert(header.zxid > this.state.applied, "transactions are applied in the order of their zxids");
    this.state.applied = header.zxid;
    this.parts.pending.applied(header.zxid);
  }

  /**
   * One path of a setWatches: reports what the client missed since the zxid that it saw last, or
   * arms the watch again. Events carry the zxid -1. One about a node that the client may not read
   * consumes its watch and is not sent. Lists come in the order of {@link WatchList}.
   */
  restoreWatch(
    list: number,
    path: Readonly<ByteSlice>,
    connection: ConnectionRef,
    relativeZxid: number,
    sink: WatchSink,
  ): void {
    if (this.isWatchable(path)) restoreWatch(this.state, this.watches, list, path, connection, relativeZxid, sink);
  }

  /**
   * Lets `/zookeeper/config` show a configuration that no transaction of this tree wrote there: an
   * ensemble's first one, or that of an ensemble that restored an earlier state. It has the version
   * of one that was never changed. Nothing is replicated; a load, and a client that writes the
   * node, put an end to it.
   *
   * @param version the zxid of the transaction, if it is in one
   */
  showConfiguration(text: string, version: Zxid, mtimeMs: number): void {
    const { store, shown } = this.state;
    const { bytes, start, end } = sliceOf(CONFIG_PATH);
    const node = this.find(bytes, start, end);
    if (node === NO_NODE) return;
    if (counterOf(version) !== 0 && store.statLong(node, StatOffset.mzxid) >= version) return;
    shown.show(node, { data: Buffer.from(withoutComments(text)), version: -1, mtimeMs });
  }

  /**
   * Moves names and data out of sparse pages until those can be given back. For idle moments.
   *
   * @param budget most values to look at
   * @returns how many were looked at; 0 when there is nothing to gain
   */
  compact(budget: number): number {
    return this.state.store.compact(budget) + this.watches.compact(budget);
  }

  // Loading and saving

  /**
   * Throws the state away; {@link loadSession} and {@link loadNode} fill it again until
   * {@link finishLoad}. Watches stay.
   */
  beginLoad(): void {
    this.parts = new TreeParts(this.#hashKey, this.watches);
    this.state = this.parts.state;
    this.#loader = new TreeLoader(this.state);
  }

  loadSession(record: Readonly<SessionRecord>): void {
    this.#loading().session(record);
  }

  /**
   * Nodes come by ascending id, the root first, so parents before their children. The bytes are
   * copied.
   */
  loadNode(record: Readonly<NodeRecord>): void {
    this.#loading().node(record);
  }

  finishLoad(record: Readonly<TreeRecord>): void {
    this.#loading().finish(record);
    this.#loader = undefined;
    const { bytes, start, end } = sliceOf(CONFIG_PATH);
    const node = this.find(bytes, start, end);
    if (node !== NO_NODE) showWithoutComments(this.state, node);
  }

  /**
   * The whole state as canonical records: equal states give equal ones. The tree must not change
   * until the last is taken.
   */
  snapshot(): Generator<SnapshotRecord, void, undefined> {
    return snapshotOf(this.state);
  }

  /**
   * Begins a walk over the tree that later transactions do not disturb; see {@link TreeCapture}. No
   * transaction may be applied in part.
   */
  capture(): TreeCapture {
    return new TreeCapture(this.state);
  }

  loadSnapshot(records: Iterable<SnapshotRecord>): void {
    this.beginLoad();
    let tree: TreeRecord | undefined;
    for (const record of records) {
      if (record.kind === "tree") tree = record;
      // rule: sessions-are-in-the-state
      else if (record.kind === "session") this.loadSession(record);
      else this.loadNode(record);
    }
    assert(tree !== undefined, "a snapshot has its tree record");
    this.finishLoad(tree);
  }

  #loading(): TreeLoader {
    assert(this.#loader !== undefined, "loading was begun");
    return this.#loader;
  }
}
