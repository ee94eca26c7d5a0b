import {
  type Acl,
  assert,
  type ByteSlice,
  type ConnectionRef,
  derivedKey,
  emptySlice,
  type HashKey,
  PRICES,
  WatchEventType,
  WatchMode,
  WatchSelector,
  WatchTableKind,
  type Zxid,
} from "@zooid/model";
import { IntColumn } from "../nodes/columns.ts";
import { WatchCursor } from "./watch-cursor.ts";
import { WatchEntries } from "./watch-entries.ts";
import { WatchedPaths } from "./watched-paths.ts";

/** Where events go. Called in the order in which clients must see them. */
export interface WatchSink {
  /**
   * Whether the connection's identities may read a node of that ACL. A refused event still consumes
   * one-shot watches.
   */
  mayRead(connection: ConnectionRef, acl: Acl): boolean;
  /**
   * The path is valid during the call. The zxid is -1 for events that a re-armed watch had missed.
   */
  event(connection: ConnectionRef, zxid: Zxid | -1, type: WatchEventType, path: Readonly<ByteSlice>): void;
}

/** A watch in a listing. */
export interface WatchEntry {
  readonly connection: ConnectionRef;
  readonly path: Readonly<ByteSlice>;
  /** Modes in the data table, as bits of {@link WatchMode}; 0 for none. */
  readonly dataModes: number;
  readonly childModes: number;
}

const SLASH = 0x2f;
const NONE = 0;
/** The bytes of a watch, with its path's share of the tables, beside the bytes of the path. */
const WATCH_BYTES = 96;
/**
 * The bytes that a recursive watch counts beside that: each change below it visits it, in one piece
 * with those of all other ancestors, whether or not its connection has had the event. Counted so,
 * there are not more of them than some milliseconds visit.
 */
const RECURSIVE_BYTES = 512;
const ANCESTOR_BYTES_PER_UNIT_LOG2: number = PRICES.ancestorBytesPerUsLog2;
const MET_PER_UNIT_LOG2: number = PRICES.servedWatchersPerUsLog2;
/** With fewer watches in all, a write's events cost no more than the rest of the write. */
const WATCHERS_COUNTED_MIN = 16;
const UNIT_BYTES_LOG2 = 4;
const UNIT_BYTES = 16;
/** The modes of a watch as six bits: those in the data table, then those in the child table. */
const CHILD_SHIFT = 3;
const TABLE_BITS = 7;
const DATA_BITS: number = TABLE_BITS;
const CHILD_BITS: number = TABLE_BITS << CHILD_SHIFT;
const { STANDARD, PERSISTENT, PERSISTENT_RECURSIVE } = WatchMode;

/**
 * Every watch. ZooKeeper's two tables are one here: an entry joins a path to a connection and holds
 * the modes of both tables. Each entry is in two lists, its path's and its connection's, so that a
 * change finds its watchers, and a connection that ends takes its watches along, in the time these
 * take and no more. Entries and paths are indexes into columns: millions of them are nothing to
 * walk for a collector. Paths need not exist in the tree.
 */
export class WatchTable {
  readonly #paths: WatchedPaths;
  readonly #entries: WatchEntries;
  /** Cursors of unfinished listings. */
  readonly #cursors = new Set<WatchCursor>();
  readonly #pathDataCounts = new IntColumn();
  readonly #pathChildCounts = new IntColumn();
  readonly #pathRecursiveCounts = new IntColumn();
  readonly #connectionDataCounts = new IntColumn();
  /** In units of 16 bytes. */
  readonly #connectionUnits = new IntColumn();
  /** The last trigger that served the connection. */
  readonly #servedBy = new IntColumn();
  #trigger = 0;
  /**
   * Bytes of watched ancestors compared, and watchers met there that had their event: see
   * {@link takeWork}.
   */
  #ancestorBytes = 0;
  #metCount = 0;
  #dataCount = 0;
  #childCount = 0;
  #recursiveCount = 0;
  #dataPathCount = 0;
  #dataConnectionCount = 0;

  /** @param key secret, so that clients cannot choose paths that collide */
  constructor(key: HashKey) {
    const derived = derivedKey(key, 3);
    this.#paths = new WatchedPaths(derived);
    this.#entries = new WatchEntries(derived);
  }

  get isEmpty(): boolean {
    return this.#entries.count === 0;
  }

  /** The bytes of the watches in memory, about. */
  get heldBytes(): number {
    return this.#paths.heldBytes + this.#entries.heldBytes;
  }

  /** The bytes of the watches in their budget: their memory, and more for recursive ones. */
  get chargedBytes(): number {
    return this.heldBytes + this.#recursiveCount * RECURSIVE_BYTES;
  }

  /** Paths with their connections, each pair once in each of the two tables. */
  get watchCount(): number {
    return this.#dataCount + this.#childCount;
  }

  /**
   * The number of pairs in the table for data, without the table for children, as `wchs` counts.
   */
  get dataWatchCount(): number {
    return this.#dataCount;
  }

  get dataPathCount(): number {
    return this.#dataPathCount;
  }

  get dataConnectionCount(): number {
    return this.#dataConnectionCount;
  }

  /** On how many paths the connection has a watch. */
  countOf(connection: ConnectionRef): number {
    return this.#entries.countOf(connection);
  }

  /**
   * The bytes of the connection's watches in the budget: a path that others watch too counts for
   * each of them.
   */
  chargedBytesOf(connection: ConnectionRef): number {
    return this.#connectionUnits.get(connection) * UNIT_BYTES;
  }

  /** Adds a mode to what the connection has on the path; what is there already stays. */
  arm(
    kind: WatchTableKind,
    bytes: Uint8Array,
    start: number,
    end: number,
    connection: ConnectionRef,
    mode: WatchMode,
  ): void {
    const path = this.#paths.findOrAdd(bytes, start, end);
    let entry = this.#entries.find(path, connection);
    if (entry === NONE) {
      entry = this.#entries.add(path, connection);
      this.#charge(connection, this.#unitsOf(path));
    }
    const bits = kind === WatchTableKind.DATA ? mode : mode << CHILD_SHIFT;
    this.#setModes(entry, this.#entries.modes(entry) | bits);
  }

  /**
   * Arms a watch of addWatch: a persistent watch stands in both tables, a recursive one in the data
   * table.
   */
  armPersistent(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef): void {
    this.arm(WatchTableKind.DATA, bytes, start, end, connection, PERSISTENT);
    this.arm(WatchTableKind.CHILD, bytes, start, end, connection, PERSISTENT);
  }

  armRecursive(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef): void {
    this.arm(WatchTableKind.DATA, bytes, start, end, connection, PERSISTENT_RECURSIVE);
  }

  /**
   * Sends one event to every watcher, each connection once, and consumes the one-shot watches it
   * met.
   *
   * @param acl of the node that the event names, against which the sink checks read permission
   */
  trigger(type: WatchEventType, path: Readonly<ByteSlice>, acl: Acl, zxid: Zxid, sink: WatchSink): void {
    if (this.#entries.count === 0) return;
    this.#trigger = (this.#trigger + 1) | 0;
    if (this.#trigger === 0) this.#trigger = 1;
    const { bytes, start, end } = path;
    const isChildEvent = type === WatchEventType.NODE_CHILDREN_CHANGED;
    const exact = this.#paths.find(bytes, start, end);
    if (!isChildEvent) {
      if (exact !== NONE) this.#serveExact(exact, 0, type, path, acl, zxid, sink);
      if (this.#recursiveCount > 0) this.#serveAncestors(type, path, acl, zxid, sink);
    }
    // The first table's pass may have consumed the last entry, and the path with it.
    if (exact !== NONE && (isChildEvent || type === WatchEventType.NODE_DELETED) && this.#paths.exists(exact)) {
      this.#serveExact(exact, CHILD_SHIFT, type, path, acl, zxid, sink);
    }
  }

  /**
   * The work of triggers since the last call, beyond events: a path may have a thousand ancestors
   * with recursive watches, each compared in its whole length, and each with watchers that have had
   * their event already. In units of about a microsecond.
   */
  takeWork(): number {
    const work = (this.#ancestorBytes >> ANCESTOR_BYTES_PER_UNIT_LOG2) + (this.#metCount >> MET_PER_UNIT_LOG2);
    this.#ancestorBytes = 0;
    this.#metCount = 0;
    return work;
  }

  /**
   * The greatest cost of a trigger because of watches on all ancestors of such a path, before it is
   * known which there are. In the same units.
   */
  ancestorWork(pathBytes: number, nameCount: number): number {
    return this.#recursiveCount === 0 ? 0 : (pathBytes * nameCount) >> (ANCESTOR_BYTES_PER_UNIT_LOG2 + 1);
  }

  /**
   * How many watches a change of this path may fire: those on it and on its parent, and recursive
   * ones on its ancestors. Others on an ancestor that has recursive ones are passed over, and 64 of
   * them count as one. 0 where all watches together are too few to matter.
   */
  watchersOf({ bytes, start, end }: Readonly<ByteSlice>): number {
    if (this.watchCount < WATCHERS_COUNTED_MIN || start === end) return 0;
    // The root has no parent.
    let parent = end - start > 1 ? this.#paths.find(bytes, start, start + 1) : NONE;
    let count = this.#recursiveCountOf(parent);
    let hash = 0;
    let name = start;
    for (let at = start; at < end; at++) {
      if (bytes[at] !== SLASH) continue;
      hash = this.#paths.hashOn(hash, bytes, name, at);
      name = at + 1;
      if (at === start) continue;
      parent = this.#paths.findHashed(hash, bytes, start, at);
      count += this.#recursiveCountOf(parent);
    }
    if (parent !== NONE) count += this.#pathChildCounts.get(parent);
    const exact = this.#paths.find(bytes, start, end);
    return exact === NONE ? count : count + this.#pathDataCounts.get(exact) + this.#pathChildCounts.get(exact);
  }

  /** Whether removeWatches' sibling checkWatches finds something. */
  contains(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef, selector: WatchSelector): boolean {
    return (this.#modesOf(bytes, start, end, connection) & checkedBits(selector)) !== 0;
  }

  /** Removes what the selector names, and returns whether there was any. */
  remove(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef, selector: WatchSelector): boolean {
    const path = this.#paths.find(bytes, start, end);
    const entry = path === NONE ? NONE : this.#entries.find(path, connection);
    if (entry === NONE) return false;
    const modes = this.#entries.modes(entry);
    const removed = removedBits(selector);
    if ((modes & removed) === 0) return false;
    this.#setModes(entry, modes & ~removed);
    return true;
  }

  /**
   * The connection is gone, and its watches with it: called until {@link countOf} is 0, before the
   * number names another connection.
   *
   * @param most how many to remove now
   * @returns how many were removed
   */
  removeConnection(connection: ConnectionRef, most: number = Number.POSITIVE_INFINITY): number {
    let entry = this.#entries.firstOfConnection(connection);
    let removed = 0;
    for (; entry !== NONE && removed < most; removed++) {
      const next = this.#entries.nextOfConnection(entry);
      this.#setModes(entry, 0);
      entry = next;
    }
    this.#servedBy.set(connection, 0);
    return removed;
  }

  /**
   * All watches, path by path or connection by connection: undefined stands for a step that met
   * none. Between two of them the table may change. The slice of a path is valid until the next
   * one.
   */
  *list(order: "paths" | "connections"): Generator<WatchEntry | undefined, void, undefined> {
    const cursor = new WatchCursor(this.#entries, this.#paths, order);
    const path = emptySlice();
    this.#cursors.add(cursor);
    try {
      for (let entry = cursor.step(); entry !== undefined; entry = cursor.step()) {
        if (entry === NONE) yield undefined;
        else {
          this.#paths.show(this.#entries.path(entry), path);
          yield this.#view(entry, path);
        }
      }
    } finally {
      this.#cursors.delete(cursor);
    }
  }

  /**
   * Moves paths out of sparse pages until those are empty and given back.
   *
   * @param budget most slots to look at, so that a call stays short
   * @returns how many were looked at; 0 when there is nothing to gain
   */
  compact(budget: number): number {
    return this.#paths.compact(budget);
  }

  #unitsOf(path: number): number {
    return (WATCH_BYTES + this.#paths.length(path)) >>> UNIT_BYTES_LOG2;
  }

  #charge(connection: number, units: number): void {
    this.#connectionUnits.set(connection, this.#connectionUnits.get(connection) + units);
  }

  #view(entry: number, path: ByteSlice): WatchEntry {
    const modes = this.#entries.modes(entry);
    return {
      connection: this.#entries.connection(entry),
      path,
      dataModes: modes & DATA_BITS,
      childModes: modes >> CHILD_SHIFT,
    };
  }

  /** Serves the watchers of exactly this path in one table. */
  #serveExact(
    exact: number,
    shift: number,
    type: WatchEventType,
    path: Readonly<ByteSlice>,
    acl: Acl,
    zxid: Zxid,
    sink: WatchSink,
  ): void {
    let entry = this.#entries.firstOfPath(exact);
    while (entry !== NONE) {
      const next = this.#entries.nextOfPath(entry);
      const modes = this.#entries.modes(entry);
      if ((modes & (TABLE_BITS << shift)) !== 0) {
        const connection = this.#entries.connection(entry);
        if ((modes & (STANDARD << shift)) !== 0) this.#setModes(entry, modes & ~(STANDARD << shift));
        this.#serve(connection, type, path, acl, zxid, sink);
      }
      entry = next;
    }
  }

  /**
   * Serves the watchers of an ancestor and all below it. Hashes grow with the path: it is walked
   * once, however deep it is.
   */
  #serveAncestors(type: WatchEventType, path: Readonly<ByteSlice>, acl: Acl, zxid: Zxid, sink: WatchSink): void {
    const { bytes, start } = path;
    let hash = 0;
    let name = start;
    for (let end = start; end < path.end; end++) {
      if (bytes[end] !== SLASH) continue;
      hash = this.#paths.hashOn(hash, bytes, name, end);
      name = end + 1;
      if (end === start) continue;
      this.#serveRecursive(this.#paths.findHashed(hash, bytes, start, end), type, path, acl, zxid, sink);
    }
    if (path.end - start > 1) {
      this.#serveRecursive(this.#paths.find(bytes, start, start + 1), type, path, acl, zxid, sink);
    }
  }

  #recursiveCountOf(path: number): number {
    const count = path === NONE ? 0 : this.#pathRecursiveCounts.get(path);
    if (count === 0) return 0;
    const metCount = this.#pathDataCounts.get(path) + this.#pathChildCounts.get(path);
    return count + (metCount >> MET_PER_UNIT_LOG2);
  }

  #serveRecursive(
    ancestor: number,
    type: WatchEventType,
    path: Readonly<ByteSlice>,
    acl: Acl,
    zxid: Zxid,
    sink: WatchSink,
  ): void {
    if (ancestor === NONE) return;
    this.#ancestorBytes += this.#paths.length(ancestor);
    if (this.#pathRecursiveCounts.get(ancestor) === 0) return;
    for (let entry = this.#entries.firstOfPath(ancestor); entry !== NONE; entry = this.#entries.nextOfPath(entry)) {
      this.#metCount++;
      if ((this.#entries.modes(entry) & PERSISTENT_RECURSIVE) === 0) continue;
      this.#serve(this.#entries.connection(entry), type, path, acl, zxid, sink);
    }
  }

  #serve(
    connection: ConnectionRef,
    type: WatchEventType,
    path: Readonly<ByteSlice>,
    acl: Acl,
    zxid: Zxid,
    sink: WatchSink,
  ): void {
    if (this.#servedBy.get(connection) === this.#trigger) return;
    this.#servedBy.set(connection, this.#trigger);
    if (sink.mayRead(connection, acl)) sink.event(connection, zxid, type, path);
  }

  #modesOf(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef): number {
    const path = this.#paths.find(bytes, start, end);
    const entry = path === NONE ? NONE : this.#entries.find(path, connection);
    return entry === NONE ? 0 : this.#entries.modes(entry);
  }

  /**
   * Every change of an entry's modes comes through here, so the counts are right. An entry without
   * modes is gone.
   */
  #setModes(entry: number, modes: number): void {
    const before = this.#entries.modes(entry);
    if (before === modes) return;
    this.#entries.setModes(entry, modes);
    const path = this.#entries.path(entry);
    const connection = this.#entries.connection(entry);
    const dataChange = Number((modes & DATA_BITS) !== 0) - Number((before & DATA_BITS) !== 0);
    if (dataChange !== 0) {
      this.#dataCount += dataChange;
      this.#dataPathCount += countCrossing(this.#pathDataCounts, path, dataChange);
      this.#dataConnectionCount += countCrossing(this.#connectionDataCounts, connection, dataChange);
    }
    const childChange = Number((modes & CHILD_BITS) !== 0) - Number((before & CHILD_BITS) !== 0);
    if (childChange !== 0) {
      this.#childCount += childChange;
      countCrossing(this.#pathChildCounts, path, childChange);
    }
    const recursiveChange =
      Number((modes & PERSISTENT_RECURSIVE) !== 0) - Number((before & PERSISTENT_RECURSIVE) !== 0);
    if (recursiveChange !== 0) {
      this.#recursiveCount += recursiveChange;
      countCrossing(this.#pathRecursiveCounts, path, recursiveChange);
      this.#charge(connection, recursiveChange * (RECURSIVE_BYTES >>> UNIT_BYTES_LOG2));
    }
    if (modes !== 0) return;
    for (const cursor of this.#cursors) cursor.leave(entry);
    this.#charge(connection, -this.#unitsOf(path));
    if (this.#entries.remove(entry)) {
      assert(this.#pathDataCounts.get(path) === 0, "a path that leaves the table has no watch");
      this.#paths.remove(path);
    }
  }
}

/** Changes a count, and returns how many were added to those that are not zero: 1, 0 or -1. */
function countCrossing(counts: IntColumn, index: number, change: number): number {
  const before = counts.get(index);
  counts.set(index, before + change);
  return Number(before + change !== 0) - Number(before !== 0);
}

/** The bits that checkWatches looks for. */
function checkedBits(selector: WatchSelector): number {
  return selector === WatchSelector.PERSISTENT ? PERSISTENT : removedBits(selector);
}

/** The bits that removeWatches removes. */
function removedBits(selector: WatchSelector): number {
  switch (selector) {
    case WatchSelector.CHILDREN:
      return STANDARD << CHILD_SHIFT;
    case WatchSelector.DATA:
      return STANDARD;
    case WatchSelector.ANY:
      return DATA_BITS | CHILD_BITS;
    case WatchSelector.PERSISTENT:
      return PERSISTENT | (PERSISTENT << CHILD_SHIFT);
    default:
      return PERSISTENT_RECURSIVE;
  }
}
