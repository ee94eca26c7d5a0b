import {
  type Acl,
  assert,
  type ByteSlice,
  type ConnectionRef,
  derivedKey,
  emptySlice,
  type HashKey,
  keyedHash,
  mix32,
  setSlice,
  WatchEventType,
  WatchMode,
  WatchSelector,
  WatchTableKind,
  type Zxid,
} from "@zooid/model";
import { IntColumn } from "./columns.ts";
import { DataPages } from "./data-pages.ts";
import { HashTable } from "./hash-table.ts";

/** Where events go. Called in the order in which clients must see them. */
export interface WatchSink {
  /** Whether the connection's identities may read a node of that ACL. A refused event still consumes one-shot watches. */
  mayRead(connection: ConnectionRef, acl: Acl): boolean;
  /** The path is valid during the call. The zxid is -1 for events that a re-armed watch had missed. */
  event(connection: ConnectionRef, zxid: Zxid | -1, type: WatchEventType, path: Readonly<ByteSlice>): void;
}

/** What a watch looks like to whoever lists them. */
export interface WatchEntry {
  readonly connection: ConnectionRef;
  readonly path: Readonly<ByteSlice>;
  /** Modes in the data table, as bits of {@link WatchMode}; 0 for none. */
  readonly dataModes: number;
  readonly childModes: number;
}

const SLASH = 0x2f;
/** From here on the platform compares faster: an event on a deep path is compared with every path above that is watched. */
const LONG_PATH_BYTES = 256;
const NONE = 0;
/** What an entry takes in its columns and its table, and a path beside its bytes. */
const ENTRY_BYTES = 48;
const PATH_BYTES = 48;
const { STANDARD, PERSISTENT, PERSISTENT_RECURSIVE } = WatchMode;
/** A path's or connection's modes are six bits: the data table's three, then the child table's. */
const CHILD_SHIFT = 3;
const TABLE_BITS = 7;
const DATA_BITS = TABLE_BITS;
const CHILD_BITS: number = TABLE_BITS << CHILD_SHIFT;

/**
 * Who waits for what. ZooKeeper's two tables are one here: an entry joins a path to a connection and holds the modes of both tables.
 * Each entry is in two lists, its path's and its connection's, so that a change finds whom it concerns, and a connection that goes
 * takes its watches along, in the time these take and no more. Entries and paths are indexes into columns: millions of them are
 * nothing to walk for a collector. Paths need not exist in the tree.
 */
export class WatchTable {
  readonly #key: HashKey;

  readonly #entryPaths = new IntColumn();
  readonly #entryConnections = new IntColumn();
  readonly #entryModes = new IntColumn();
  readonly #nextOfPath = new IntColumn();
  readonly #previousOfPath = new IntColumn();
  readonly #nextOfConnection = new IntColumn();
  readonly #previousOfConnection = new IntColumn();
  readonly #entries = new HashTable();
  #entryEnd = 1;
  #freeEntry: number = NONE;

  readonly #pathHashes = new IntColumn();
  readonly #pathRefs = new IntColumn();
  readonly #pathLengths = new IntColumn();
  readonly #pathEntries = new IntColumn();
  readonly #pathDataCounts = new IntColumn();
  readonly #pathRecursiveCounts = new IntColumn();
  readonly #paths = new HashTable();
  readonly #pages: DataPages = new DataPages((path, ref) => this.#pathRefs.set(path, ref));
  #pathEnd = 1;
  #freePath: number = NONE;

  readonly #connectionEntries = new IntColumn();
  readonly #connectionCounts = new IntColumn();
  readonly #connectionDataCounts = new IntColumn();
  /** The last trigger that served the connection. */
  readonly #servedBy = new IntColumn();
  #connectionEnd = 0;
  #trigger = 0;
  /** Of all paths that were ever watched: a longer one is not hashed to be found missing. */
  #longestBytes = 0;

  #dataCount = 0;
  #childCount = 0;
  #recursiveCount = 0;
  #dataPathCount = 0;
  #dataConnectionCount = 0;
  readonly #path: ByteSlice = emptySlice();

  /** @param key not known to those who choose paths */
  constructor(key: HashKey) {
    this.#key = derivedKey(key, 3);
  }

  get isEmpty(): boolean {
    return this.#entries.count === 0;
  }

  /** What the watches take in memory, about. */
  get heldBytes(): number {
    return this.#pages.pageBytes + this.#entries.count * ENTRY_BYTES + this.#paths.count * PATH_BYTES;
  }

  /** Paths with their connections, each pair once in each of the two tables. */
  get watchCount(): number {
    return this.#dataCount + this.#childCount;
  }

  /** Of the data table alone, as `wchs` counts. */
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
    return this.#connectionCounts.get(connection);
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
    const path = this.#findOrAddPath(bytes, start, end);
    let entry = this.#findEntry(path, connection);
    if (entry === NONE) entry = this.#addEntry(path, connection);
    const bits = kind === WatchTableKind.DATA ? mode : mode << CHILD_SHIFT;
    this.#setModes(entry, this.#entryModes.get(entry) | bits);
  }

  /** What addWatch arms: a persistent watch stands in both tables, a recursive one in the data table. */
  armPersistent(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef): void {
    this.arm(WatchTableKind.DATA, bytes, start, end, connection, PERSISTENT);
    this.arm(WatchTableKind.CHILD, bytes, start, end, connection, PERSISTENT);
  }

  armRecursive(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef): void {
    this.arm(WatchTableKind.DATA, bytes, start, end, connection, PERSISTENT_RECURSIVE);
  }

  /**
   * Tells everyone concerned of one event, each connection once, and consumes the one-shot watches it met.
   *
   * @param acl of the node that the event names, against which the sink judges who may know
   */
  trigger(type: WatchEventType, path: Readonly<ByteSlice>, acl: Acl, zxid: Zxid, sink: WatchSink): void {
    if (this.#entries.count === 0) return;
    this.#trigger = (this.#trigger + 1) | 0;
    if (this.#trigger === 0) this.#trigger = 1;
    const { bytes, start, end } = path;
    const isChildEvent = type === WatchEventType.NODE_CHILDREN_CHANGED;
    const exact = this.#findPath(bytes, start, end);
    if (!isChildEvent) {
      if (exact !== NONE) this.#serveExact(exact, 0, type, path, acl, zxid, sink);
      if (this.#recursiveCount > 0) this.#serveAncestors(type, path, acl, zxid, sink);
    }
    // The first table's pass may have consumed the last entry, and the path with it.
    if (exact !== NONE && (isChildEvent || type === WatchEventType.NODE_DELETED) && this.#pathRefs.get(exact) !== 0) {
      this.#serveExact(exact, CHILD_SHIFT, type, path, acl, zxid, sink);
    }
  }

  /** Whether removeWatches' sibling checkWatches finds something. */
  contains(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef, selector: WatchSelector): boolean {
    return (this.#modesOf(bytes, start, end, connection) & checkedBits(selector)) !== 0;
  }

  /** Removes what the selector names and tells whether there was any. */
  remove(bytes: Uint8Array, start: number, end: number, connection: ConnectionRef, selector: WatchSelector): boolean {
    const path = this.#findPath(bytes, start, end);
    const entry = path === NONE ? NONE : this.#findEntry(path, connection);
    if (entry === NONE) return false;
    const modes = this.#entryModes.get(entry);
    const removed = removedBits(selector);
    if ((modes & removed) === 0) return false;
    this.#setModes(entry, modes & ~removed);
    return true;
  }

  /**
   * The connection is gone, and its watches with it: called until {@link countOf} is 0, before the number names another connection.
   *
   * @param most how many to remove now
   * @returns how many were removed
   */
  removeConnection(connection: ConnectionRef, most: number = Number.POSITIVE_INFINITY): number {
    let entry = this.#connectionEntries.get(connection);
    let removed = 0;
    for (; entry !== NONE && removed < most; removed++) {
      const next = this.#nextOfConnection.get(entry);
      this.#setModes(entry, 0);
      entry = next;
    }
    this.#servedBy.set(connection, 0);
    return removed;
  }

  /** Path by path, until the visitor answers false. The slice is valid during the call. */
  forEachByPath(visit: (watch: WatchEntry) => unknown): void {
    for (let path = 1; path < this.#pathEnd; path++) {
      if (this.#pathRefs.get(path) === 0) continue;
      this.#showPath(path);
      for (let entry = this.#pathEntries.get(path); entry !== NONE; entry = this.#nextOfPath.get(entry)) {
        if (visit(this.#view(entry)) === false) return;
      }
    }
  }

  /** Connection by connection, as above. */
  forEachByConnection(visit: (watch: WatchEntry) => unknown): void {
    for (let connection = 0; connection < this.#connectionEnd; connection++) {
      let entry = this.#connectionEntries.get(connection);
      for (; entry !== NONE; entry = this.#nextOfConnection.get(entry)) {
        this.#showPath(this.#entryPaths.get(entry));
        if (visit(this.#view(entry)) === false) return;
      }
    }
  }

  /**
   * Moves paths out of sparse pages until those are empty and given back.
   *
   * @param budget most slots to look at, so that a call stays short
   * @returns how many were looked at; 0 when there is nothing to gain
   */
  compact(budget: number): number {
    return this.#pages.compact(budget);
  }

  #view(entry: number): WatchEntry {
    const modes = this.#entryModes.get(entry);
    return {
      connection: this.#entryConnections.get(entry) as ConnectionRef,
      path: this.#path,
      dataModes: modes & DATA_BITS,
      childModes: modes >> CHILD_SHIFT,
    };
  }

  /** Serves whoever watches just this path in one table. */
  #serveExact(
    exact: number,
    shift: number,
    type: WatchEventType,
    path: Readonly<ByteSlice>,
    acl: Acl,
    zxid: Zxid,
    sink: WatchSink,
  ): void {
    let entry = this.#pathEntries.get(exact);
    while (entry !== NONE) {
      const next = this.#nextOfPath.get(entry);
      const modes = this.#entryModes.get(entry);
      if ((modes & (TABLE_BITS << shift)) !== 0) {
        const connection = this.#entryConnections.get(entry) as ConnectionRef;
        if ((modes & (STANDARD << shift)) !== 0) this.#setModes(entry, modes & ~(STANDARD << shift));
        this.#serve(connection, type, path, acl, zxid, sink);
      }
      entry = next;
    }
  }

  /** Serves whoever watches an ancestor and all below it. Hashes grow with the path: it is walked once, however deep it is. */
  #serveAncestors(type: WatchEventType, path: Readonly<ByteSlice>, acl: Acl, zxid: Zxid, sink: WatchSink): void {
    const { bytes, start } = path;
    let hash = 0;
    let name = start;
    for (let end = start; end < path.end; end++) {
      if (bytes[end] !== SLASH) continue;
      hash = keyedHash(this.#key, hash, bytes, name, end);
      name = end + 1;
      if (end === start) continue;
      this.#serveRecursive(this.#findHashed(hash, bytes, start, end), type, path, acl, zxid, sink);
    }
    if (path.end - start > 1) {
      this.#serveRecursive(this.#findPath(bytes, start, start + 1), type, path, acl, zxid, sink);
    }
  }

  #serveRecursive(
    ancestor: number,
    type: WatchEventType,
    path: Readonly<ByteSlice>,
    acl: Acl,
    zxid: Zxid,
    sink: WatchSink,
  ): void {
    if (ancestor === NONE || this.#pathRecursiveCounts.get(ancestor) === 0) return;
    for (let entry = this.#pathEntries.get(ancestor); entry !== NONE; entry = this.#nextOfPath.get(entry)) {
      if ((this.#entryModes.get(entry) & PERSISTENT_RECURSIVE) === 0) continue;
      this.#serve(this.#entryConnections.get(entry) as ConnectionRef, type, path, acl, zxid, sink);
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
    const path = this.#findPath(bytes, start, end);
    const entry = path === NONE ? NONE : this.#findEntry(path, connection);
    return entry === NONE ? 0 : this.#entryModes.get(entry);
  }

  /** Every change of an entry's modes comes through here, so the counts are right. An entry without modes is gone. */
  #setModes(entry: number, modes: number): void {
    const before = this.#entryModes.get(entry);
    if (before === modes) return;
    this.#entryModes.set(entry, modes);
    const path = this.#entryPaths.get(entry);
    const connection = this.#entryConnections.get(entry);
    const dataChange = Number((modes & DATA_BITS) !== 0) - Number((before & DATA_BITS) !== 0);
    if (dataChange !== 0) {
      this.#dataCount += dataChange;
      this.#dataPathCount += countCrossing(this.#pathDataCounts, path, dataChange);
      this.#dataConnectionCount += countCrossing(this.#connectionDataCounts, connection, dataChange);
    }
    this.#childCount += Number((modes & CHILD_BITS) !== 0) - Number((before & CHILD_BITS) !== 0);
    const recursiveChange =
      Number((modes & PERSISTENT_RECURSIVE) !== 0) - Number((before & PERSISTENT_RECURSIVE) !== 0);
    if (recursiveChange !== 0) {
      this.#recursiveCount += recursiveChange;
      countCrossing(this.#pathRecursiveCounts, path, recursiveChange);
    }
    if (modes === 0) this.#removeEntry(entry, path, connection);
  }

  #findEntry(path: number, connection: number): number {
    let entry = this.#entries.first(this.#entryHash(path, connection));
    while (entry !== NONE) {
      if (this.#entryPaths.get(entry) === path && this.#entryConnections.get(entry) === connection) return entry;
      entry = this.#entries.next();
    }
    return NONE;
  }

  #addEntry(path: number, connection: number): number {
    let entry = this.#freeEntry;
    if (entry === NONE) entry = this.#entryEnd++;
    else this.#freeEntry = this.#nextOfPath.get(entry);
    this.#entryPaths.set(entry, path);
    this.#entryConnections.set(entry, connection);
    this.#entryModes.set(entry, 0);

    const ofPath = this.#pathEntries.get(path);
    this.#nextOfPath.set(entry, ofPath);
    this.#previousOfPath.set(entry, NONE);
    if (ofPath !== NONE) this.#previousOfPath.set(ofPath, entry);
    this.#pathEntries.set(path, entry);

    const ofConnection = this.#connectionEntries.get(connection);
    this.#nextOfConnection.set(entry, ofConnection);
    this.#previousOfConnection.set(entry, NONE);
    if (ofConnection !== NONE) this.#previousOfConnection.set(ofConnection, entry);
    this.#connectionEntries.set(connection, entry);
    this.#connectionCounts.set(connection, this.#connectionCounts.get(connection) + 1);
    if (connection >= this.#connectionEnd) this.#connectionEnd = connection + 1;

    this.#entries.insert(this.#entryHash(path, connection), entry);
    return entry;
  }

  #removeEntry(entry: number, path: number, connection: number): void {
    this.#entries.remove(this.#entryHash(path, connection), entry);

    const nextOfPath = this.#nextOfPath.get(entry);
    const previousOfPath = this.#previousOfPath.get(entry);
    if (nextOfPath !== NONE) this.#previousOfPath.set(nextOfPath, previousOfPath);
    if (previousOfPath !== NONE) this.#nextOfPath.set(previousOfPath, nextOfPath);
    else if (nextOfPath !== NONE) this.#pathEntries.set(path, nextOfPath);
    else this.#removePath(path);

    const nextOfConnection = this.#nextOfConnection.get(entry);
    const previousOfConnection = this.#previousOfConnection.get(entry);
    if (nextOfConnection !== NONE) this.#previousOfConnection.set(nextOfConnection, previousOfConnection);
    if (previousOfConnection !== NONE) this.#nextOfConnection.set(previousOfConnection, nextOfConnection);
    else this.#connectionEntries.set(connection, nextOfConnection);
    this.#connectionCounts.set(connection, this.#connectionCounts.get(connection) - 1);

    this.#nextOfPath.set(entry, this.#freeEntry);
    this.#freeEntry = entry;
  }

  #findPath(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > this.#longestBytes) return NONE;
    return this.#findHashed(this.#pathHash(bytes, start, end), bytes, start, end);
  }

  #findHashed(hash: number, bytes: Uint8Array, start: number, end: number): number {
    let path = this.#paths.first(hash);
    while (path !== NONE && !this.#isPath(path, bytes, start, end)) path = this.#paths.next();
    return path;
  }

  #findOrAddPath(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#pathHash(bytes, start, end);
    const found = this.#findHashed(hash, bytes, start, end);
    if (found !== NONE) return found;
    let path = this.#freePath;
    if (path === NONE) path = this.#pathEnd++;
    else this.#freePath = this.#pathEntries.get(path);
    this.#pathHashes.set(path, hash);
    this.#pathRefs.set(path, this.#pages.put(path, bytes, start, end));
    this.#pathLengths.set(path, end - start);
    if (end - start > this.#longestBytes) this.#longestBytes = end - start;
    this.#pathEntries.set(path, NONE);
    this.#paths.insert(hash, path);
    return path;
  }

  /** Each name is hashed together with the hash of what stands before it, so what is left on the way are the hashes of the ancestors. */
  #pathHash(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0;
    let name = start;
    for (let at = start; at < end; at++) {
      if (bytes[at] !== SLASH) continue;
      hash = keyedHash(this.#key, hash, bytes, name, at);
      name = at + 1;
    }
    return keyedHash(this.#key, hash, bytes, name, end);
  }

  #removePath(path: number): void {
    assert(this.#pathDataCounts.get(path) === 0, "a path that leaves the table is watched by nobody");
    this.#paths.remove(this.#pathHashes.get(path), path);
    this.#pages.free(this.#pathRefs.get(path));
    this.#pathRefs.set(path, 0);
    this.#pathEntries.set(path, this.#freePath);
    this.#freePath = path;
  }

  #isPath(path: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#pathLengths.get(path) !== end - start) return false;
    const ref = this.#pathRefs.get(path);
    const kept = this.#pages.buffer(ref);
    let at = this.#pages.start(ref);
    if (end - start >= LONG_PATH_BYTES) return kept.compare(bytes, start, end, at, at + end - start) === 0;
    for (let i = start; i < end; i++, at++) if (kept[at] !== bytes[i]) return false;
    return true;
  }

  #showPath(path: number): void {
    const ref = this.#pathRefs.get(path);
    const start = this.#pages.start(ref);
    setSlice(this.#path, this.#pages.buffer(ref), start, start + this.#pathLengths.get(path));
  }

  #entryHash(path: number, connection: number): number {
    return mix32(Math.imul(path, 0x9e3779b1) ^ mix32(connection ^ this.#key.k0));
  }
}

/** Changes a count and tells how many were added to those that are not zero: 1, 0 or -1. */
function countCrossing(counts: IntColumn, index: number, change: number): number {
  const before = counts.get(index);
  counts.set(index, before + change);
  return Number(before + change !== 0) - Number(before !== 0);
}

function checkedBits(selector: WatchSelector): number {
  return selector === WatchSelector.PERSISTENT ? PERSISTENT : removedBits(selector);
}

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
