import {
  assert,
  type ByteSlice,
  copyBytes,
  derivedKey,
  type HashKey,
  keyedHash,
  STAT_BYTES,
  StatOffset,
  setSlice,
} from "@zooid/model";
import { IntColumn, IntRows, NumberColumn, RecordColumn } from "./columns.ts";
import { DataPages, PAGE_COUNT_MAX } from "./data-pages.ts";
import type { WordHash } from "./digest.ts";
import { HashTable } from "./hash-table.ts";

/**
 * Znodes as indexes into columns: nothing for a collector to walk, however many there are. A node is a number, 0 is none, 1 the
 * root; the index of a deleted node is used again, its node id never.
 *
 * The Stat is kept in wire form and current at every moment, so a reply copies 68 bytes. What the wire does not say is derived from
 * it: the number of children ever created is (cversion + numChildren) / 2 in unsigned arithmetic, exact because it stays below
 * 2^31. Only containers and TTL nodes, whose owner the wire shows as 0, need a column for it; its pages exist where they do.
 *
 * Names lie in slots filled up with zero bytes. No name holds one, so a name's length needs no column either.
 */

export const NO_NODE = 0;
export const ROOT = 1;

const SLASH = 0x2f;
const EMPTY: Buffer = Buffer.alloc(0);
/** Data of length 0, as against 0 for null; neither takes a slot. */
const EMPTY_DATA = -1;
/** In a slot's owner word: the slot holds the node's data, not its name. */
const IS_DATA = -0x8000_0000;
const CREATED_MAX = 0x7fff_ffff;
/** More pages than all that may be in flight can take. */
const PAGES_LEFT_MIN = 131_072;

/** A node's row: what a lookup needs stands together, so that it takes one line of the processor's cache. */
const PARENT = 0;
const NAME = 1;
const DATA = 2;
const DATA_HASH = 3;
const ACL = 4;
const ID_LOW = 5;
const ID_HIGH = 6;
const FIRST_CHILD = 7;
/** Of a free index: the next free one. */
const NEXT_SIBLING = 8;
const PREVIOUS_SIBLING = 9;
const ROW_LENGTH = 10;

export class NodeStore {
  readonly #key: HashKey;
  readonly #pageCountMax: number;
  readonly #stats = new RecordColumn(STAT_BYTES);
  readonly #rows = new IntRows(ROW_LENGTH);
  readonly #hiddenOwnersHigh = new IntColumn();
  readonly #hiddenOwnersLow = new IntColumn();
  /** Kept with each change, since a walk of a large tree would hold up all clients. A change costs a step for each node above. */
  readonly #descendantCounts = new IntColumn();
  /** Bytes of the data of all nodes below. Pages of nodes that have none below do not exist. */
  readonly #bytesBelow = new NumberColumn();
  readonly #table = new HashTable();
  readonly #pages: DataPages = new DataPages((owner, ref) => {
    if (owner < 0) this.#rows.set(owner & ~IS_DATA, DATA, ref);
    else this.#rows.set(owner, NAME, ref);
  });
  #nameBytesMax = 0;
  #dataBytesMax = 0;
  #end: number = ROOT;
  #freeIndex: number = NO_NODE;
  #count = 0;

  /**
   * @param key not known to those who choose names, so that they cannot choose names that collide
   * @param pageCountMax less than refs can name, for tests
   */
  constructor(key: HashKey, pageCountMax: number = PAGE_COUNT_MAX) {
    this.#key = derivedKey(key, 1);
    this.#pageCountMax = pageCountMax;
  }

  /** Nodes that exist, the root among them. */
  get count(): number {
    return this.#count;
  }

  /** Every node's index is below it. */
  get end(): number {
    return this.#end;
  }

  /**
   * Whether names and data have nearly as many pages as refs can name: some 60 GiB of small values, 16 GiB of values that have pages of their
   * own. What is left is for what is proposed already.
   */
  get isNearlyFull(): boolean {
    return this.#pages.pageCount >= this.#pageCountMax - PAGES_LEFT_MIN;
  }

  /** The bytes of pages that hold names and data. */
  get pageBytes(): number {
    return this.#pages.pageBytes;
  }

  /** The first node, without a name. Its Stat is all zero, like every new node's. */
  createRoot(id: number): number {
    assert(this.#count === 0, "the root is the first node");
    return this.#takeIndex(id);
  }

  /** Adds a node that {@link child} does not find. Its Stat is all zero; the parent's counts one child more. */
  create(parent: number, bytes: Uint8Array, start: number, end: number, id: number): number {
    if (end - start > this.#nameBytesMax) this.#nameBytesMax = end - start;
    const node = this.#takeIndex(id);
    const ref = this.#pages.put(node, bytes, start, end);
    const slot = this.#pages.buffer(ref);
    const slotEnd = this.#pages.slotEnd(ref);
    for (let at = this.#pages.start(ref) + end - start; at < slotEnd; at++) slot[at] = 0;
    this.#rows.set(node, NAME, ref);
    this.#table.insert(this.#hash(parent, bytes, start, end), node);
    this.#rows.set(node, PARENT, parent);
    const sibling = this.#rows.get(parent, FIRST_CHILD);
    this.#rows.set(node, NEXT_SIBLING, sibling);
    if (sibling !== NO_NODE) this.#rows.set(sibling, PREVIOUS_SIBLING, node);
    this.#rows.set(parent, FIRST_CHILD, node);
    this.#countChild(parent, 1);
    this.#countDescendant(parent, 1, 0);
    return node;
  }

  /** Removes a node that has no children. */
  remove(node: number): void {
    assert(this.#rows.get(node, FIRST_CHILD) === NO_NODE && node !== ROOT, "a node that is removed is a leaf");
    const parent = this.#rows.get(node, PARENT);
    const name = this.#rows.get(node, NAME);
    const nameStart = this.#pages.start(name);
    this.#table.remove(this.#hash(parent, this.#pages.buffer(name), nameStart, this.#nameEnd(name)), node);
    this.#pages.free(name);
    const data = this.#rows.get(node, DATA);
    if (data !== 0 && data !== EMPTY_DATA) this.#pages.free(data);

    const next = this.#rows.get(node, NEXT_SIBLING);
    const previous = this.#rows.get(node, PREVIOUS_SIBLING);
    if (previous === NO_NODE) this.#rows.set(parent, FIRST_CHILD, next);
    else this.#rows.set(previous, NEXT_SIBLING, next);
    if (next !== NO_NODE) this.#rows.set(next, PREVIOUS_SIBLING, previous);
    this.#countChild(parent, -1);
    this.#countDescendant(parent, -1, -this.#stats.int(node, StatOffset.dataLength));

    this.#rows.set(node, NAME, 0);
    this.#rows.set(node, DATA, 0);
    this.#rows.set(node, DATA_HASH, 0);
    this.#rows.set(node, PARENT, NO_NODE);
    this.#rows.set(node, PREVIOUS_SIBLING, NO_NODE);
    this.#hiddenOwnersHigh.set(node, 0);
    this.#hiddenOwnersLow.set(node, 0);
    this.#setId(node, 0);
    const statStart = this.#stats.start(node);
    this.#stats.bytes(node).fill(0, statStart, statStart + STAT_BYTES);
    this.#rows.set(node, NEXT_SIBLING, this.#freeIndex);
    this.#freeIndex = node;
    this.#count--;
  }

  /** The child of that name, or 0. */
  child(parent: number, bytes: Uint8Array, start: number, end: number): number {
    // To hash a name of a mebibyte takes milliseconds.
    if (end - start > this.#nameBytesMax) return NO_NODE;
    let node = this.#table.first(this.#hash(parent, bytes, start, end));
    while (node !== NO_NODE) {
      if (this.#rows.get(node, PARENT) === parent && this.#isNamed(node, bytes, start, end)) return node;
      node = this.#table.next();
    }
    return NO_NODE;
  }

  /** The node at a path, or 0. As in ZooKeeper the empty path is the root too; any other malformed path finds nothing. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (end - start <= 1) return end <= start || bytes[start] === SLASH ? ROOT : NO_NODE;
    if (bytes[start] !== SLASH) return NO_NODE;
    let node: number = ROOT;
    let segment = start + 1;
    let nameEndMax = segment + this.#nameBytesMax;
    for (let i = segment; ; i++) {
      if (i < end && bytes[i] !== SLASH) {
        // To look for the end of a name of a mebibyte takes milliseconds.
        if (i >= nameEndMax) return NO_NODE;
        continue;
      }
      if (i === segment) return NO_NODE;
      node = this.child(node, bytes, segment, i);
      if (i >= end || node === NO_NODE) return node;
      segment = i + 1;
      nameEndMax = segment + this.#nameBytesMax;
    }
  }

  exists(node: number): boolean {
    return this.id(node) !== 0;
  }

  id(node: number): number {
    return this.#rows.get(node, ID_HIGH) * 2 ** 32 + (this.#rows.get(node, ID_LOW) >>> 0);
  }

  parent(node: number): number {
    return this.#rows.get(node, PARENT);
  }

  firstChild(node: number): number {
    return this.#rows.get(node, FIRST_CHILD);
  }

  nextSibling(node: number): number {
    return this.#rows.get(node, NEXT_SIBLING);
  }

  aclId(node: number): number {
    return this.#rows.get(node, ACL);
  }

  setAclId(node: number, aclId: number): void {
    this.#rows.set(node, ACL, aclId);
  }

  /** Lets a slice show the name; empty for the root. */
  name(node: number, into: ByteSlice): void {
    const ref = this.#rows.get(node, NAME);
    if (ref === 0) setSlice(into, EMPTY, 0, 0);
    else setSlice(into, this.#pages.buffer(ref), this.#pages.start(ref), this.#nameEnd(ref));
  }

  /** How long the longest name is that there ever was. */
  get nameBytesMax(): number {
    return this.#nameBytesMax;
  }

  nameLength(node: number): number {
    const ref = this.#rows.get(node, NAME);
    return ref === 0 ? 0 : this.#nameEnd(ref) - this.#pages.start(ref);
  }

  hasData(node: number): boolean {
    return this.#rows.get(node, DATA) !== 0;
  }

  /** Lets a slice show the data; empty for null and for empty data. */
  data(node: number, into: ByteSlice): void {
    const ref = this.#rows.get(node, DATA);
    if (ref === 0 || ref === EMPTY_DATA) {
      setSlice(into, EMPTY, 0, 0);
      return;
    }
    const start = this.#pages.start(ref);
    setSlice(into, this.#pages.buffer(ref), start, start + this.#stats.int(node, StatOffset.dataLength));
  }

  dataHash(node: number): number {
    return this.#rows.get(node, DATA_HASH);
  }

  /** How long the longest data are that there ever were. */
  get dataBytesMax(): number {
    return this.#dataBytesMax;
  }

  setData(node: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.#dataBytesMax) this.#dataBytesMax = end - start;
    const ref = this.#rows.get(node, DATA);
    const isStored = ref !== 0 && ref !== EMPTY_DATA;
    let stored = EMPTY_DATA;
    if (end > start) {
      if (isStored) stored = this.#pages.replace(ref, bytes, start, end);
      else stored = this.#pages.put(node | IS_DATA, bytes, start, end);
    } else if (isStored) this.#pages.free(ref);
    this.#rows.set(node, DATA, stored);
    this.#rows.set(node, DATA_HASH, stored === EMPTY_DATA ? 0 : this.#pages.hash(stored, end - start));
    this.#setDataLength(node, end - start);
  }

  setNullData(node: number): void {
    const ref = this.#rows.get(node, DATA);
    if (ref !== 0 && ref !== EMPTY_DATA) this.#pages.free(ref);
    this.#rows.set(node, DATA, 0);
    this.#setDataLength(node, 0);
    this.#rows.set(node, DATA_HASH, 0);
  }

  statBytes(node: number): Buffer {
    return this.#stats.bytes(node);
  }

  statStart(node: number): number {
    return this.#stats.start(node);
  }

  statInt(node: number, offset: number): number {
    return this.#stats.int(node, offset);
  }

  setStatInt(node: number, offset: number, value: number): void {
    this.#stats.setInt(node, offset, value);
  }

  statLong(node: number, offset: number): number {
    return this.#stats.long(node, offset);
  }

  setStatLong(node: number, offset: number, value: number): void {
    this.#stats.setLong(node, offset, value);
  }

  /** Every word of the Stat goes into a hash. */
  hashStat(node: number, hash: WordHash): void {
    hash.words(this.#stats.view(node), this.#stats.start(node), STAT_BYTES / 4);
  }

  childCount(node: number): number {
    return this.#stats.int(node, StatOffset.numChildren);
  }

  /** How many nodes there are below, however deep. */
  descendantCount(node: number): number {
    return this.#descendantCounts.get(node);
  }

  /** How many bytes of data the nodes below have, however deep; the node's own are not among them. */
  bytesBelow(node: number): number {
    return this.#bytesBelow.get(node);
  }

  /** How many children the node was ever given, at most 2^31 - 1: ZooKeeper's stored cversion. */
  created(node: number): number {
    return (this.#stats.int(node, StatOffset.cversion) + this.childCount(node)) >>> 1;
  }

  setCreated(node: number, created: number): void {
    assert(created >= 0 && created <= CREATED_MAX, "a count of created children is from 0 to 2^31 - 1");
    this.#stats.setInt(node, StatOffset.cversion, 2 * created - this.childCount(node));
  }

  /** The owner as stored: of a container or TTL node too. */
  ownerHigh(node: number): number {
    return this.#hiddenOwnersHigh.get(node) || this.#stats.int(node, StatOffset.ephemeralOwner);
  }

  ownerLow(node: number): number {
    return this.#hiddenOwnersHigh.get(node) !== 0
      ? this.#hiddenOwnersLow.get(node)
      : this.#stats.int(node, StatOffset.ephemeralOwner + 4);
  }

  /** @param isSession whether the owner is a session, which the wire shows, or a marker, which it hides */
  setOwner(node: number, high: number, low: number, isSession: boolean): void {
    this.#stats.setInt(node, StatOffset.ephemeralOwner, isSession ? high : 0);
    this.#stats.setInt(node, StatOffset.ephemeralOwner + 4, isSession ? low : 0);
    this.#hiddenOwnersHigh.set(node, isSession ? 0 : high);
    this.#hiddenOwnersLow.set(node, isSession ? 0 : low);
  }

  isEphemeral(node: number): boolean {
    return (
      (this.#stats.int(node, StatOffset.ephemeralOwner) | this.#stats.int(node, StatOffset.ephemeralOwner + 4)) !== 0
    );
  }

  /** How many bytes the node's path has. */
  pathLength(node: number): number {
    if (node === ROOT) return 1;
    let length = 0;
    for (let at = node; at !== ROOT; at = this.#rows.get(at, PARENT)) length += 1 + this.nameLength(at);
    return length;
  }

  /** Writes the node's path so that it ends before `end`, and returns where it starts. */
  writePath(node: number, target: Uint8Array, end: number): number {
    if (node === ROOT) target[--end] = SLASH;
    for (let at = node; at !== ROOT; at = this.#rows.get(at, PARENT)) {
      const ref = this.#rows.get(at, NAME);
      const start = this.#pages.start(ref);
      const nameEnd = this.#nameEnd(ref);
      end -= nameEnd - start;
      copyBytes(this.#pages.buffer(ref), start, nameEnd, target, end);
      target[--end] = SLASH;
    }
    return end;
  }

  /** See {@link DataPages.compact}. */
  compact(budget: number): number {
    return this.#pages.compact(budget);
  }

  #takeIndex(id: number): number {
    let node = this.#freeIndex;
    if (node !== NO_NODE) this.#freeIndex = this.#rows.get(node, NEXT_SIBLING);
    else {
      node = this.#end++;
      this.#stats.reserve(node);
      this.#rows.reserve(node);
    }
    this.#setId(node, id);
    this.#count++;
    return node;
  }

  #setId(node: number, id: number): void {
    this.#rows.set(node, ID_LOW, id | 0);
    this.#rows.set(node, ID_HIGH, Math.floor(id / 2 ** 32));
  }

  /** With the same number of creations, the wire's cversion falls when numChildren rises. */
  #countChild(parent: number, change: number): void {
    this.#stats.setInt(parent, StatOffset.numChildren, this.#stats.int(parent, StatOffset.numChildren) + change);
    this.#stats.setInt(parent, StatOffset.cversion, this.#stats.int(parent, StatOffset.cversion) - change);
  }

  #setDataLength(node: number, length: number): void {
    const change = length - this.#stats.int(node, StatOffset.dataLength);
    this.#stats.setInt(node, StatOffset.dataLength, length);
    if (change !== 0) this.#countBytes(this.#rows.get(node, PARENT), change);
  }

  /** The root's parent is {@link NO_NODE}. */
  #countDescendant(parent: number, change: number, bytes: number): void {
    const counts = this.#descendantCounts;
    for (let at = parent; at !== NO_NODE; at = this.#rows.get(at, PARENT)) counts.set(at, counts.get(at) + change);
    if (bytes !== 0) this.#countBytes(parent, bytes);
  }

  #countBytes(parent: number, change: number): void {
    const bytes = this.#bytesBelow;
    for (let at = parent; at !== NO_NODE; at = this.#rows.get(at, PARENT)) bytes.set(at, bytes.get(at) + change);
  }

  #hash(parent: number, bytes: Uint8Array, start: number, end: number): number {
    return keyedHash(this.#key, parent, bytes, start, end);
  }

  #isNamed(node: number, bytes: Uint8Array, start: number, end: number): boolean {
    const ref = this.#rows.get(node, NAME);
    const name = this.#pages.buffer(ref);
    const slotEnd = this.#pages.slotEnd(ref);
    let at = this.#pages.start(ref);
    if (slotEnd - at < end - start) return false;
    for (let i = start; i < end; i++) if (name[at++] !== bytes[i]) return false;
    return at === slotEnd || name[at] === 0;
  }

  #nameEnd(ref: number): number {
    const name = this.#pages.buffer(ref);
    let end = this.#pages.slotEnd(ref);
    while (name[end - 1] === 0) end--;
    return end;
  }
}
