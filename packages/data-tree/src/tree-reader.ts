import { type ByteSlice, type NodeView, sliceOf, sliceText, type Zxid } from "@zooid/model";
import { childrenAfter, listedNameBytesMax } from "./children/listing.ts";
import { NO_NODE } from "./nodes/node-row.ts";
import { mayBeCreated } from "./prepare/path-limits.ts";
import { type EphemeralPathsLimits, NO_EPHEMERAL_LIMITS } from "./sessions/ephemeral-paths.ts";
import { NO_SESSION } from "./sessions/session-table.ts";
import { nodesById, writeStoredStat } from "./snapshot.ts";
import type { TreeParts } from "./tree-parts.ts";
import type { TreeState } from "./tree-state.ts";

const NO_PREFIX: Readonly<ByteSlice> = sliceOf("");

/** A session in a listing; one that is ending has the timeout 0. */
export interface ListedSession {
  readonly high: number;
  readonly low: number;
  readonly timeoutMs: number;
}

/** Free rows of the sessions' table that one step of a listing passes at most. */
const FREE_ROWS = 1024;

/** Reads of the tree: nodes, sizes and sessions, as they are applied. It changes nothing. */
export class TreeReader {
  /** @internal */
  protected parts: TreeParts;
  /** @internal That of the parts, which most calls read. */
  protected state: TreeState;

  /** @internal */
  constructor(parts: TreeParts) {
    this.parts = parts;
    this.state = parts.state;
  }

  /**
   * The node at a path, or 0. A malformed path is simply not found, except that the empty path is
   * the root, as in ZooKeeper. Allocates nothing.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    return this.state.store.find(bytes, start, end);
  }

  /** The last node on the way to a path: the root at least. */
  nearest(bytes: Uint8Array, start: number, end: number): number {
    return this.state.store.nearest(bytes, start, end);
  }

  /** The root's is 0. */
  parent(node: number): number {
    return this.state.store.parent(node);
  }

  /**
   * Whether a watch on the path could ever fire: no node is there, and none can be made there,
   * where the path is too long.
   */
  isWatchable(path: Readonly<ByteSlice>): boolean {
    return mayBeCreated(path) || this.find(path.bytes, path.start, path.end) !== NO_NODE;
  }

  /**
   * Moves the tree's one cursor to a node. Valid until the next call of it and until the tree
   * changes.
   */
  view(node: number): NodeView {
    return this.parts.cursor.moveTo(node);
  }

  /** Nodes below a node, however deep. They are not walked. */
  descendantCount(node: number): number {
    return this.state.store.descendantCount(node);
  }

  /** The last transaction that is applied whole. */
  get applied(): Zxid {
    return this.state.applied;
  }

  /** The feature level that the last raise applied here has set; 1 where there was none. */
  get level(): number {
    return this.state.level;
  }

  get digestHigh(): number {
    return this.state.digest.high;
  }

  get digestLow(): number {
    return this.state.digest.low;
  }

  /** As Apache counts: the root twice, so 5 for an unused ensemble. */
  get nodeCount(): number {
    return this.state.nodeCount;
  }

  get approximateDataSize(): number {
    return this.state.approximateDataSize;
  }

  /** The bytes of the tree in memory, about; {@link PrepareContext.heldBytesMax} bounds it. */
  get heldBytes(): number {
    return this.state.heldBytes;
  }

  childCount(node: number): number {
    return this.state.store.childCount(node);
  }

  /** Bytes of a node's data as clients see it. */
  dataLength(node: number): number {
    return this.state.quotas.shownLength(node);
  }

  /** Length of the longest data that there ever were. */
  get dataBytesMax(): number {
    return this.state.store.dataBytesMax;
  }

  /** The bytes of the names of a node's children in a listing, each with its length. */
  listingBytes(node: number): number {
    return this.state.store.listings.bytes(node);
  }

  /**
   * Fills a list with the next children of a node in the order of their names' bytes, whatever
   * their number.
   *
   * @param after the last name before them, which need not exist; empty to begin
   * @returns whether no child follows them
   */
  childrenAfter(node: number, after: Readonly<ByteSlice>, limit: number, into: number[]): boolean {
    return childrenAfter(this.state.store, node, after, limit, into);
  }

  /** Nodes whose listings exceed the default buffers of stock clients, 1 MiB. */
  get largeListingCount(): number {
    return this.state.store.listings.largeCount;
  }

  /** A node whose listing has come to exceed them since the last call, or 0. */
  takeGrownListing(): number {
    return this.state.store.listings.takeGrown();
  }

  /** The path of a node. */
  pathOf(node: number): string {
    return this.pathBytes(node).toString();
  }

  // As nodes are kept outside of the tree

  /** A number that no other node ever had. */
  idOf(node: number): number {
    return this.state.store.id(node);
  }

  /** The id of the node that is created next. */
  get nextNodeId(): number {
    return this.state.nextNode;
  }

  /** How many children the node was ever given. */
  childrenCreated(node: number): number {
    return this.state.store.created(node);
  }

  /**
   * Writes a node's Stat as it is kept outside of the tree, 68 bytes: `cversion` counts the
   * children ever created, containers and TTL nodes have an owner, and `numChildren` is 0.
   */
  storedStat(node: number, into: DataView): void {
    writeStoredStat(this.state, node, into);
  }

  /** Lets a slice show the data that are stored; false where they are null. */
  storedData(node: number, into: ByteSlice): boolean {
    const { store } = this.state;
    store.data(node, into);
    return store.hasData(node);
  }

  /** The path of a node; the root's is `/`. */
  pathBytes(node: number): Buffer {
    const { store } = this.state;
    const path = Buffer.allocUnsafe(store.pathLength(node));
    store.writePath(node, path, path.length);
    return path;
  }

  /** All nodes, parents before their children. The tree must not change meanwhile. */
  nodesByAge(): Uint32Array {
    return nodesById(this.state);
  }

  /** The greatest number of bytes of one name in a listing, with its length. */
  get listedNameBytesMax(): number {
    return listedNameBytesMax(this.state.store);
  }

  /** Whether a listing of a node's children fits into `bytesMax`. */
  isListable(node: number, bytesMax: number): boolean {
    return this.state.store.listings.bytes(node) <= bytesMax;
  }

  get ephemeralCount(): number {
    return this.state.ephemerals.count;
  }

  /** Different ACLs in use. */
  get aclCount(): number {
    return this.state.acls.count;
  }

  /** Bytes of pages that hold names and data. */
  get pageBytes(): number {
    return this.state.store.pageBytes;
  }

  // Sessions

  get sessionCount(): number {
    return this.state.sessions.openCount;
  }

  /** Whether the session's creation is applied and its end is not. */
  hasSession(high: number, low: number): boolean {
    const { sessions } = this.state;
    return sessions.isOpen(sessions.find(high, low));
  }

  /** Whether a session has this id, had it and owns nodes still, or is about to have it. */
  isSessionIdTaken(high: number, low: number): boolean {
    return this.state.sessions.find(high, low) !== NO_SESSION;
  }

  /** Number of sessions whose passwords follow from their ids. */
  get derivedPasswordCount(): number {
    return this.state.sessions.derivedCount;
  }

  /**
   * Whether requests of the session may be prepared: it exists or is about to, and its end is not
   * proposed.
   */
  isSessionUsable(high: number, low: number): boolean {
    const { sessions } = this.state;
    return sessions.isUsable(sessions.find(high, low));
  }

  /** 0 for a session that is not there. */
  sessionTimeoutMs(high: number, low: number): number {
    const { sessions } = this.state;
    return sessions.timeoutMs(sessions.find(high, low));
  }

  /** A copy, or undefined for a session that is not there. */
  sessionPasswordHash(high: number, low: number): Uint8Array | undefined {
    const { sessions } = this.state;
    const row = sessions.find(high, low);
    return sessions.isOpen(row) ? sessions.passwordHash(row) : undefined;
  }

  /** Whether a part of the session's end is applied and the rest is not. */
  isSessionEnding(high: number, low: number): boolean {
    const { sessions } = this.state;
    return sessions.isEnding(sessions.find(high, low));
  }

  /** A session that is ending has the timeout 0. */
  forEachSession(visit: (high: number, low: number, timeoutMs: number) => void): void {
    const { sessions } = this.state;
    for (let row = 1; row < sessions.end; row++) {
      if (sessions.isOpen(row)) visit(sessions.high(row), sessions.low(row), sessions.timeoutMs(row));
    }
  }

  /**
   * The sessions; undefined stands for a step that met none. Between two of them the table may
   * change, so that some may be missing then or come twice.
   */
  *listSessions(): Generator<ListedSession | undefined, void, undefined> {
    const { sessions } = this.state;
    for (let row = 1; row < sessions.end; row++) {
      if (sessions.isOpen(row)) {
        yield { high: sessions.high(row), low: sessions.low(row), timeoutMs: sessions.timeoutMs(row) };
      } else if (row % FREE_ROWS === 0) yield undefined;
    }
  }

  /** The paths of a session's ephemerals. Between two of them the tree may change. */
  *listEphemerals(high: number, low: number): Generator<string, void, undefined> {
    for (const node of this.state.ephemerals.list(high, low)) yield this.pathOf(node);
  }

  /** How many ephemerals a session has. */
  ephemeralCountOf(high: number, low: number): number {
    const { sessions } = this.state;
    return sessions.nodeCount(sessions.find(high, low));
  }

  /** The paths of a session's ephemerals, sorted. */
  ephemeralPaths(high: number, low: number): string[] {
    const paths: string[] = [];
    this.forEachEphemeralPath(high, low, NO_PREFIX, NO_EPHEMERAL_LIMITS, (path) => paths.push(sliceText(path)));
    return paths.sort();
  }

  /**
   * Shows those of a session's ephemerals whose paths begin with a prefix, the youngest first where
   * none was loaded. The slice is valid during the call.
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
    return this.parts.ephemeralPaths.forEach(this.state, { high, low }, prefix, limits, show);
  }

  /** The work of the last {@link forEachEphemeralPath}, as its limit counts. */
  get ephemeralWork(): number {
    return this.parts.ephemeralPaths.workDone;
  }
}
