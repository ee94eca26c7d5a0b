import {
  assert,
  type ByteSlice,
  type ConnectionRef,
  type ErrorCode,
  type HashKey,
  type NodeView,
  type Request,
  StatOffset,
  sliceOf,
  sliceText,
  type TxnHeader,
  type TxnOp,
  WatchEventType,
  WatchMode,
  WatchTableKind,
  type Zxid,
} from "@zooid/model";
import { TxnApplier } from "./apply-txn.ts";
import { EphemeralPaths, type EphemeralPathsLimits, NO_EPHEMERAL_LIMITS } from "./ephemeral-paths.ts";
import { NodeCursor } from "./node-cursor.ts";
import { NO_NODE } from "./node-store.ts";
import { mayBeCreated } from "./path-limits.ts";
import { PendingChanges } from "./pending-changes.ts";
import { type CloseLimits, type PrepareContext, TxnPreparer } from "./prepare-txn.ts";
import type { ReapLimits } from "./reapable-nodes.ts";
import { NO_SESSION } from "./session-table.ts";
import {
  type NodeRecord,
  nodeRecord,
  nodesById,
  type SessionRecord,
  type SnapshotRecord,
  sessionRecord,
  sessionRows,
  snapshotOf,
  TreeLoader,
  type TreeRecord,
} from "./snapshot.ts";
import { TreeState } from "./tree-state.ts";
import { type WatchSink, WatchTable } from "./watch-table.ts";

export interface DataTreeOptions {
  /** What those who choose paths do not know. It changes nothing that can be seen. */
  readonly hashKey: HashKey;
}

const NO_PREFIX: Readonly<ByteSlice> = sliceOf("");
/** In front of each name of a listing. */
const NAME_LENGTH_BYTES = 4;
const CONFIG_PATH = "/zookeeper/config";

/** Which of setWatches' lists a path stands in, by the order in which they are sent. */
export const WatchList = { DATA: 0, EXIST: 1, CHILD: 2, PERSISTENT: 3, PERSISTENT_RECURSIVE: 4 } as const;
export type WatchList = (typeof WatchList)[keyof typeof WatchList];

/**
 * The replicated state machine: the tree with its sessions and ACLs, what is proposed about it, and who watches it.
 *
 * A request becomes a transaction by {@link prepare} on the leader; {@link apply} and {@link finish} make it true on every server.
 * Equal transactions in equal order give equal trees, digests and snapshots, whatever the seed.
 *
 * Nodes are indexes: numbers that mean something until the next change. 0 is none.
 */
export class DataTree {
  /** What the connections at this server wait for. It is not replicated. */
  readonly watches: WatchTable;
  readonly #hashKey: HashKey;
  #state: TreeState;
  #pending: PendingChanges;
  #preparer: TxnPreparer;
  #applier: TxnApplier;
  #cursor: NodeCursor;
  #ephemeralPaths: EphemeralPaths;
  #loader: TreeLoader | undefined = undefined;

  /** Holds what every ensemble begins with: `/`, `/zookeeper`, `/zookeeper/quota` and `/zookeeper/config`. */
  constructor({ hashKey }: DataTreeOptions) {
    this.#hashKey = hashKey;
    this.watches = new WatchTable(hashKey);
    this.#state = new TreeState(hashKey);
    this.#state.createInitialNodes();
    this.#pending = new PendingChanges(hashKey);
    this.#preparer = new TxnPreparer(this.#state, this.#pending);
    this.#applier = new TxnApplier(this.#state, this.watches);
    this.#cursor = new NodeCursor(this.#state.store, this.#state.acls, this.#state.shown);
    this.#ephemeralPaths = new EphemeralPaths(this.#state.store);
  }

  // Reading

  /**
   * The node at a path, or 0. A malformed path is simply not found, except that the empty path is the root, as in ZooKeeper.
   * Allocates nothing.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.#state.store.find(bytes, start, end);
  }

  /** Moves the tree's one cursor to a node. Valid until the next call of it and until the tree changes. */
  view(node: number): NodeView {
    return this.#cursor.moveTo(node);
  }

  nodeId(node: number): number {
    return this.#state.store.id(node);
  }

  /**
   * Lets `/zookeeper/config` show a text, at the version and zxid that a configuration has before it was ever changed. Neither is
   * replicated; a load, and a client that writes the node, put an end to it.
   */
  showConfiguration(text: string, mtimeMs: number): void {
    const { bytes, start, end } = sliceOf(CONFIG_PATH);
    const node = this.find(bytes, start, end);
    if (node !== NO_NODE) this.#state.shown.show(node, { data: Buffer.from(text), version: -1, mtimeMs });
  }

  /** Nodes below a node, however deep. They are not walked. */
  descendantCount(node: number): number {
    return this.#state.store.descendantCount(node);
  }

  /** The last transaction that is applied whole. */
  get applied(): Zxid {
    return this.#state.applied;
  }

  get digestHigh(): number {
    return this.#state.digest.high;
  }

  get digestLow(): number {
    return this.#state.digest.low;
  }

  /** As Apache counts: the root twice, so 5 for an ensemble that nobody has used. */
  get nodeCount(): number {
    return this.#state.nodeCount;
  }

  get approximateDataSize(): number {
    return this.#state.approximateDataSize;
  }

  /** What the tree takes in memory, about; {@link PrepareContext.heldBytesMax} bounds it. */
  get heldBytes(): number {
    return this.#state.heldBytes;
  }

  childCount(node: number): number {
    return this.#state.store.childCount(node);
  }

  /** Bytes of a node's data as clients see it. */
  dataLength(node: number): number {
    return this.#state.quotas.shownLength(node);
  }

  /** How long the longest data are that there ever were. */
  get dataBytesMax(): number {
    return this.#state.store.dataBytesMax;
  }

  /**
   * What the names of a node's children take in a listing, each with its length.
   *
   * @param bytesMax how far to count
   * @returns Infinity when it is more than that
   */
  listingBytes(node: number, bytesMax: number): number {
    const { store } = this.#state;
    let bytes = store.childCount(node) * NAME_LENGTH_BYTES;
    for (let child = store.firstChild(node); child !== NO_NODE && bytes <= bytesMax; child = store.nextSibling(child)) {
      bytes += store.nameLength(child);
    }
    return bytes <= bytesMax ? bytes : Number.POSITIVE_INFINITY;
  }

  /** What one name takes in a listing at most, with its length. */
  get listedNameBytesMax(): number {
    return NAME_LENGTH_BYTES + this.#state.store.nameBytesMax;
  }

  /** Whether a node's children can be listed in so many bytes. They are walked only where the longest names might not fit. */
  isListable(node: number, bytesMax: number): boolean {
    const { store } = this.#state;
    if (store.childCount(node) * this.listedNameBytesMax <= bytesMax) return true;
    return this.listingBytes(node, bytesMax) <= bytesMax;
  }

  get ephemeralCount(): number {
    return this.#state.ephemerals.count;
  }

  /** Different ACLs in use. */
  get aclCount(): number {
    return this.#state.acls.count;
  }

  /** Bytes of pages that hold names and data. */
  get pageBytes(): number {
    return this.#state.store.pageBytes;
  }

  // Sessions

  get sessionCount(): number {
    return this.#state.sessions.openCount;
  }

  /** Whether the session's creation is applied and its end is not. */
  hasSession(high: number, low: number): boolean {
    const row = this.#state.sessions.find(high, low);
    return row !== NO_SESSION && this.#state.sessions.isOpen(row);
  }

  /** Whether requests of the session may be prepared: it exists or is about to, and its end is not proposed. */
  isSessionUsable(high: number, low: number): boolean {
    const row = this.#state.sessions.find(high, low);
    return row !== NO_SESSION && this.#state.sessions.isUsable(row);
  }

  isSessionClosing(high: number, low: number): boolean {
    const row = this.#state.sessions.find(high, low);
    return row !== NO_SESSION && this.#state.sessions.isClosing(row);
  }

  /** 0 for a session that is not there. */
  sessionTimeoutMs(high: number, low: number): number {
    const row = this.#state.sessions.find(high, low);
    return row === NO_SESSION ? 0 : this.#state.sessions.timeoutMs(row);
  }

  /** A copy, or undefined for a session that is not there. */
  sessionPasswordHash(high: number, low: number): Uint8Array | undefined {
    const row = this.#state.sessions.find(high, low);
    return row === NO_SESSION || !this.#state.sessions.isOpen(row) ? undefined : this.#state.sessions.passwordHash(row);
  }

  /** A session that is ending has the timeout 0. */
  forEachSession(visit: (high: number, low: number, timeoutMs: number) => void): void {
    const { sessions } = this.#state;
    for (let row = 1; row < sessions.end; row++) {
      if (sessions.isOpen(row)) visit(sessions.high(row), sessions.low(row), sessions.timeoutMs(row));
    }
  }

  /** How many ephemerals a session has. */
  ephemeralCountOf(high: number, low: number): number {
    const row = this.#state.sessions.find(high, low);
    return row === NO_SESSION ? 0 : this.#state.sessions.nodeCount(row);
  }

  /** The paths of a session's ephemerals, sorted. */
  ephemeralPaths(high: number, low: number): string[] {
    const paths: string[] = [];
    this.forEachEphemeralPath(high, low, NO_PREFIX, NO_EPHEMERAL_LIMITS, (path) => paths.push(sliceText(path)));
    return paths.sort();
  }

  /**
   * Shows those of a session's ephemerals whose paths begin with a prefix, the youngest first where none was loaded. The slice is valid during
   * the call.
   *
   * @param prefix any bytes
   * @returns false where a limit is reached; some were shown then
   */
  forEachEphemeralPath(
    high: number,
    low: number,
    prefix: Readonly<ByteSlice>,
    limits: EphemeralPathsLimits,
    show: (path: Readonly<ByteSlice>) => void,
  ): boolean {
    return this.#ephemeralPaths.forEach(this.#state, { high, low }, prefix, limits, show);
  }

  /** What the last {@link forEachEphemeralPath} looked at, as its limit counts. */
  get ephemeralWork(): number {
    return this.#ephemeralPaths.workDone;
  }

  // Preparing

  /**
   * Judges a write against the tree as it will be and fills `op` with its effects; anything but OK changes nothing. What comes
   * before (decoding, the session's check) is the caller's; of a create, the checks of its mode are made here once more.
   *
   * The op's slices lie in the request or in a scratch that the next call of a prepare method reuses.
   */
  prepare(request: Readonly<Request>, context: Readonly<PrepareContext>, op: TxnOp): ErrorCode {
    return this.#preparer.prepare(request, context, op);
  }

  /** The requests prepared from here on stand or fall together: {@link endMulti} or {@link abortMulti} follows. */
  beginMulti(): void {
    this.#pending.beginMulti();
  }

  endMulti(): void {
    this.#pending.endMulti();
  }

  /** Takes back what was prepared since {@link beginMulti}, sequence counters and node ids too. */
  abortMulti(): void {
    this.#pending.abortMulti();
  }

  /** The session counts from now on for {@link isSessionUsable}; {@link hasSession} has to wait. */
  prepareCreateSession(
    timeoutMs: number,
    passwordHash: Readonly<ByteSlice>,
    context: Readonly<PrepareContext>,
    op: TxnOp,
  ): void {
    this.#preparer.createSession(timeoutMs, passwordHash, context, op);
  }

  /**
   * The end of a session, known or not: a DELETE for each of its ephemerals, those still in flight too, then the CLOSE_SESSION.
   * Nothing else of the session may be prepared afterwards. The op and its slices are valid during the call.
   *
   * A session with more ephemerals than one transaction may hold is over with the first one, which ends in BEGIN_CLOSE_SESSION. The next
   * part is prepared by the same call once this one is applied; until the last one {@link isSessionEnding}.
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
    return this.#preparer.closeSession(high, low, limits, context, emit);
  }

  /** Whether a part of the session's end is applied and the rest is not. */
  isSessionEnding(high: number, low: number): boolean {
    const row = this.#state.sessions.find(high, low);
    return row !== NO_SESSION && this.#state.sessions.isEnding(row);
  }

  /** How many containers and TTL nodes there are. */
  get reapableCount(): number {
    return this.#state.reapable.count;
  }

  /** The next container or TTL node, round and round; 0 when there is none. */
  takeReapable(): number {
    return this.#state.reapable.take();
  }

  /**
   * Whether a container or TTL node goes, since nobody needs it any more: it has no children, it is due by its kind, and nothing is proposed
   * about it.
   */
  isReapable(node: number, limits: ReapLimits, timeMs: number): boolean {
    return this.#preparer.isReapable(node, limits, timeMs);
  }

  /** Fills `op` with the removal of a node of which {@link isReapable} was true just now. */
  prepareReap(node: number, context: Readonly<PrepareContext>, op: TxnOp): void {
    this.#preparer.reap(node, context, op);
  }

  /** How many paths have a proposal in flight. */
  get pendingCount(): number {
    return this.#pending.count;
  }

  /** This server leads no more: what it proposed and has not applied may never be. */
  discardPending(): void {
    this.#pending.discard();
    this.#state.sessions.discardPending();
  }

  // Applying

  /**
   * Makes one op true and fires its watches, unless `sink` is undefined. What does not fit the tree is a defect and throws.
   *
   * @returns the node that was created or changed, else 0
   */
  apply(header: Readonly<TxnHeader>, op: Readonly<TxnOp>, sink: WatchSink | undefined): number {
    return this.#applier.apply(header, op, sink);
  }

  /** After a transaction's last op: {@link applied} moves to it, and what was pending for it is dropped. */
  finish(header: Readonly<TxnHeader>): void {
    assert(header.zxid > this.#state.applied, "transactions are applied in the order of their zxids");
    this.#state.applied = header.zxid;
    this.#pending.applied(header.zxid);
  }

  /** Whether a watch on the path could ever fire: no node is there, and none can be made there, where the path is too long. */
  isWatchable(path: Readonly<ByteSlice>): boolean {
    return mayBeCreated(path) || this.find(path.bytes, path.start, path.end) !== NO_NODE;
  }

  /**
   * One path of a setWatches: tells what the client missed since the zxid that it saw last, or arms the watch again. Events carry the
   * zxid -1. One about a node that the client may not read consumes its watch and is not told. Lists come in the order of
   * {@link WatchList}.
   */
  restoreWatch(
    list: number,
    path: Readonly<ByteSlice>,
    connection: ConnectionRef,
    relativeZxid: number,
    sink: WatchSink,
  ): void {
    if (!this.isWatchable(path)) return;
    const { bytes, start, end } = path;
    if (list === WatchList.PERSISTENT) this.watches.armPersistent(bytes, start, end, connection);
    else if (list === WatchList.PERSISTENT_RECURSIVE) this.watches.armRecursive(bytes, start, end, connection);
    else {
      const node = this.find(bytes, start, end);
      const missed = this.#missedEvent(list, node, relativeZxid);
      if (missed !== 0) {
        if (node === NO_NODE || sink.mayRead(connection, this.view(node).acl)) sink.event(connection, -1, missed, path);
      } else {
        const kind = list === WatchList.CHILD ? WatchTableKind.CHILD : WatchTableKind.DATA;
        this.watches.arm(kind, bytes, start, end, connection, WatchMode.STANDARD);
      }
    }
  }

  /** 0 when nothing was missed. */
  #missedEvent(list: number, node: number, relativeZxid: number): WatchEventType | 0 {
    if (list === WatchList.EXIST) return node === NO_NODE ? 0 : WatchEventType.NODE_CREATED;
    if (node === NO_NODE) return WatchEventType.NODE_DELETED;
    const { store } = this.#state;
    if (list === WatchList.CHILD) {
      return store.statLong(node, StatOffset.pzxid) > relativeZxid ? WatchEventType.NODE_CHILDREN_CHANGED : 0;
    }
    return store.statLong(node, StatOffset.mzxid) > relativeZxid ? WatchEventType.NODE_DATA_CHANGED : 0;
  }

  /**
   * Moves names and data out of sparse pages until those can be given back. For idle moments.
   *
   * @param budget most values to look at
   * @returns how many were looked at; 0 when there is nothing to gain
   */
  compact(budget: number): number {
    return this.#state.store.compact(budget) + this.watches.compact(budget);
  }

  // Loading and saving

  /** Throws the state away; {@link loadSession} and {@link loadNode} fill it again until {@link finishLoad}. Watches stay. */
  beginLoad(): void {
    this.#state = new TreeState(this.#hashKey);
    this.#pending = new PendingChanges(this.#hashKey);
    this.#preparer = new TxnPreparer(this.#state, this.#pending);
    this.#applier = new TxnApplier(this.#state, this.watches);
    this.#cursor = new NodeCursor(this.#state.store, this.#state.acls, this.#state.shown);
    this.#ephemeralPaths = new EphemeralPaths(this.#state.store);
    this.#loader = new TreeLoader(this.#state);
  }

  loadSession(record: Readonly<SessionRecord>): void {
    this.#loading().session(record);
  }

  /** Nodes come by ascending id, the root first, so parents before their children. The bytes are copied. */
  loadNode(record: Readonly<NodeRecord>): void {
    this.#loading().node(record);
  }

  finishLoad(record: Readonly<TreeRecord>): void {
    this.#loading().finish(record);
    this.#loader = undefined;
  }

  /** What {@link finishLoad} wants to be told. */
  get record(): TreeRecord {
    return { applied: this.#state.applied, nextNode: this.#state.nextNode };
  }

  forEachSessionRecord(visit: (record: SessionRecord) => void): void {
    for (const row of sessionRows(this.#state)) visit(sessionRecord(this.#state, row));
  }

  /** By ascending id. The records are copies. */
  forEachNodeRecord(visit: (record: NodeRecord) => void): void {
    for (const node of nodesById(this.#state)) visit(nodeRecord(this.#state, node));
  }

  /** The whole state as canonical records: equal states give equal ones. The tree must not change until the last is taken. */
  snapshot(): Generator<SnapshotRecord, void, undefined> {
    return snapshotOf(this.#state);
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
