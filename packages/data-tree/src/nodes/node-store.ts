import {
  assert,
  type ByteSlice,
  derivedKey,
  type HashKey,
  keyedHash,
  STAT_BYTES,
  StatOffset,
  setSlice,
} from "@zooid/model";
import { ChildListings } from "../children/child-listings.ts";
import type { WordHash } from "../digest.ts";
import { RecordColumn } from "./columns.ts";
import { DataPages, PAGE_COUNT_MAX } from "./data-pages.ts";
import { HashTable } from "./hash-table.ts";
import { LastParent } from "./last-parent.ts";
import { NodeNames } from "./node-names.ts";
import { NodeOwners } from "./node-owners.ts";
import { NO_NODE, NodeRows, ROOT } from "./node-row.ts";
import { SubtreeCounts } from "./subtree-counts.ts";

/**
 * Znodes as indexes into columns: nothing for a collector to walk, however many there are. A node
 * is a number, 0 is none, 1 the root; the index of a deleted node is used again, its node id never.
 * The Stat is kept in wire form and current at every moment, so a reply copies 68 bytes. What the
 * wire does not say is derived from it: the number of children ever created is (cversion +
 * numChildren) / 2 in unsigned arithmetic, exact because it stays below 2^31.
 */

// Constants of other modules are not folded into compiled code.
const NONE: number = NO_NODE;
const ROOT_NODE: number = ROOT;
const SLASH = 0x2f;
const EMPTY: Buffer = Buffer.alloc(0);
const EMPTY_DATA = -1; // of length 0, as against 0 for null; neither takes a slot
/** In a slot's owner word: the slot holds the node's data, not its name. */
const IS_DATA = -0x8000_0000;
const CREATED_MAX = 0x7fff_ffff;
/** More pages than all that may be in flight can take. */
const PAGES_LEFT_MIN = 131_072;

export class NodeStore {
  readonly #key: HashKey;
  readonly #pageCountMax: number;
  readonly #stats = new RecordColumn(STAT_BYTES);
  readonly #rows = new NodeRows();
  /** The owner of each node as stored: of containers and TTL nodes too. */
  readonly owners: NodeOwners = new NodeOwners(this.#stats);
  readonly #subtrees = new SubtreeCounts(this.#rows);
  readonly #table = new HashTable();
  readonly #pages: DataPages = new DataPages((owner, ref) => {
    if (owner < 0) this.#rows.setDataRef(owner & ~IS_DATA, ref);
    else this.#rows.setNameRef(owner, ref);
  });
  readonly #names = new NodeNames(this.#rows, this.#pages);
  readonly listings: ChildListings = new ChildListings(this.#stats, this.#rows, this.#names);
  readonly #lastParent = new LastParent();
  #nameBytesMax = 0;
  #dataBytesMax = 0;
  #end: number = ROOT_NODE;
  #freeIndex: number = NONE;
  #count = 0;

  /**
   * @param key secret, so that clients cannot choose names that collide
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
   * Whether names and data have nearly as many pages as refs can name: some 60 GiB of small values,
   * 16 GiB of values that have pages of their own. The rest is for transactions that are proposed
   * already.
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

  /**
   * Adds a node that {@link child} does not find. Its Stat is all zero; the parent's counts one
   * child more.
   */
  create(parent: number, bytes: Uint8Array, start: number, end: number, id: number): number {
    const node = this.#takeIndex(id);
    this.#putName(node, bytes, start, end);
    this.#table.insert(this.#hash(parent, bytes, start, end), node);
    this.#rows.setParent(node, parent);
    const sibling = this.#rows.firstChild(parent);
    this.#rows.setNextSibling(node, sibling);
    if (sibling !== NONE) this.#rows.setPreviousSibling(sibling, node);
    this.#rows.setFirstChild(parent, node);
    this.#countChild(parent, 1);
    this.listings.added(parent, node, bytes, start, end);
    this.#subtrees.addNodes(parent, 1, 0);
    return node;
  }

  /** Removes a node that has no children. */
  remove(node: number): void {
    assert(this.#rows.firstChild(node) === NONE && node !== ROOT_NODE, "a node that is removed is a leaf");
    const parent = this.#rows.parent(node);
    const name = this.#rows.nameRef(node);
    const nameStart = this.#pages.start(name);
    this.listings.removing(parent, node);
    this.#table.remove(this.#hash(parent, this.#pages.buffer(name), nameStart, this.#names.end(name)), node);
    this.#pages.free(name);
    this.#rows.setNameRef(node, 0);
    const data = this.#rows.dataRef(node);
    if (data !== 0 && data !== EMPTY_DATA) this.#pages.free(data);

    const next = this.#rows.nextSibling(node);
    const previous = this.#rows.previousSibling(node);
    if (previous === NONE) this.#rows.setFirstChild(parent, next);
    else this.#rows.setNextSibling(previous, next);
    if (next !== NONE) this.#rows.setPreviousSibling(next, previous);
    this.#countChild(parent, -1);
    this.#subtrees.addNodes(parent, -1, -this.#stats.int(node, StatOffset.dataLength));

    this.#rows.setDataRef(node, 0);
    this.#rows.setDataHash(node, 0);
    this.#rows.addListedBytes(node, -this.#rows.listedBytes(node));
    this.#rows.setParent(node, NONE);
    this.#rows.setPreviousSibling(node, NONE);
    this.owners.forget(node);
    this.#rows.setId(node, 0);
    const statStart = this.#stats.start(node);
    this.#stats.bytes(node).fill(0, statStart, statStart + STAT_BYTES);
    this.#rows.setNextSibling(node, this.#freeIndex);
    this.#freeIndex = node;
    this.#count--;
    this.#lastParent.removed(node);
  }

  /** The child of that name, or 0. */
  child(parent: number, bytes: Uint8Array, start: number, end: number): number {
    // To hash a name of a mebibyte takes milliseconds.
    if (end - start > this.#nameBytesMax) return NONE;
    let node = this.#table.first(this.#hash(parent, bytes, start, end));
    while (node !== NONE) {
      if (this.#rows.parent(node) === parent && this.#isNamed(node, bytes, start, end)) return node;
      node = this.#table.next();
    }
    return NONE;
  }

  /**
   * The node at a path, or 0. As in ZooKeeper the empty path is the root too; any other malformed
   * path finds nothing.
   */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (end - start <= 1) return end <= start || bytes[start] === SLASH ? ROOT_NODE : NONE;
    if (bytes[start] !== SLASH) return NONE;
    const parent = this.#lastParent.above(bytes, start, end);
    let node: number = parent === NONE ? ROOT_NODE : parent;
    let segment = start + 1 + (parent === NONE ? 0 : this.#lastParent.length);
    let nameEndMax = segment + this.#nameBytesMax;
    for (let i = segment; ; i++) {
      if (i < end && bytes[i] !== SLASH) {
        // To look for the end of a name of a mebibyte takes milliseconds.
        if (i >= nameEndMax) return NONE;
        continue;
      }
      if (i === segment) return NONE;
      if (i >= end && node !== ROOT_NODE) this.#lastParent.note(node, bytes, start, segment - 1);
      node = this.child(node, bytes, segment, i);
      if (i >= end || node === NONE) return node;
      segment = i + 1;
      nameEndMax = segment + this.#nameBytesMax;
    }
  }

  /** The last node on the way to a path: the root at least. */
  nearest(bytes: Uint8Array, start: number, end: number): number {
    let node: number = ROOT_NODE;
    for (let segment = start + 1; segment < end; ) {
      const limit = Math.min(end, segment + this.#nameBytesMax + 1);
      let nameEnd = segment;
      while (nameEnd < limit && bytes[nameEnd] !== SLASH) nameEnd++;
      const child = this.child(node, bytes, segment, nameEnd);
      if (child === NONE) break;
      node = child;
      segment = nameEnd + 1;
    }
    return node;
  }

  exists(node: number): boolean {
    return this.id(node) !== 0;
  }

  id(node: number): number {
    return this.#rows.id(node);
  }

  parent(node: number): number {
    return this.#rows.parent(node);
  }

  firstChild(node: number): number {
    return this.#rows.firstChild(node);
  }

  nextSibling(node: number): number {
    return this.#rows.nextSibling(node);
  }

  aclId(node: number): number {
    return this.#rows.aclId(node);
  }

  setAclId(node: number, aclId: number): void {
    this.#rows.setAclId(node, aclId);
  }

  /** Lets a slice show the name; empty for the root. */
  name(node: number, into: ByteSlice): void {
    this.#names.show(node, into);
  }

  /** Length of the longest name that there ever was. */
  get nameBytesMax(): number {
    return this.#nameBytesMax;
  }

  nameLength(node: number): number {
    return this.#names.length(node);
  }

  hasData(node: number): boolean {
    return this.#rows.dataRef(node) !== 0;
  }

  /** Lets a slice show the data; empty for null and for empty data. */
  data(node: number, into: ByteSlice): void {
    const ref = this.#rows.dataRef(node);
    if (ref === 0 || ref === EMPTY_DATA) {
      setSlice(into, EMPTY, 0, 0);
      return;
    }
    const start = this.#pages.start(ref);
    setSlice(into, this.#pages.buffer(ref), start, start + this.#stats.int(node, StatOffset.dataLength));
  }

  dataHash(node: number): number {
    return this.#rows.dataHash(node);
  }

  /** Length of the longest data that there ever were. */
  get dataBytesMax(): number {
    return this.#dataBytesMax;
  }

  setData(node: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.#dataBytesMax) this.#dataBytesMax = end - start;
    const ref = this.#rows.dataRef(node);
    const isStored = ref !== 0 && ref !== EMPTY_DATA;
    let stored = EMPTY_DATA;
    if (end > start) {
      if (isStored) stored = this.#pages.replace(ref, bytes, start, end);
      else stored = this.#pages.put(node | IS_DATA, bytes, start, end);
    } else if (isStored) this.#pages.free(ref);
    this.#rows.setDataRef(node, stored);
    this.#rows.setDataHash(node, stored === EMPTY_DATA ? 0 : this.#pages.hash(stored, end - start));
    this.#setDataLength(node, end - start);
  }

  setNullData(node: number): void {
    const ref = this.#rows.dataRef(node);
    if (ref !== 0 && ref !== EMPTY_DATA) this.#pages.free(ref);
    this.#rows.setDataRef(node, 0);
    this.#setDataLength(node, 0);
    this.#rows.setDataHash(node, 0);
  }

  statBytes(node: number): Buffer {
    return this.#stats.bytes(node);
  }

  statView(node: number): DataView {
    return this.#stats.view(node);
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
    return this.#subtrees.nodesBelow(node);
  }

  /**
   * How many bytes of data the nodes below have, however deep; the node's own are not among them.
   */
  bytesBelow(node: number): number {
    return this.#subtrees.bytesBelow(node);
  }

  /** How many children the node was ever given, at most 2^31 - 1: ZooKeeper's stored cversion. */
  created(node: number): number {
    return (this.#stats.int(node, StatOffset.cversion) + this.childCount(node)) >>> 1;
  }

  setCreated(node: number, created: number): void {
    assert(created >= 0 && created <= CREATED_MAX, "a count of created children is from 0 to 2^31 - 1");
    this.#stats.setInt(node, StatOffset.cversion, 2 * created - this.childCount(node));
  }

  /** How many bytes the node's path has. */
  pathLength(node: number): number {
    return this.#names.pathLength(node);
  }

  /** Writes the node's path so that it ends before `end`, and returns where it starts. */
  writePath(node: number, target: Uint8Array, end: number): number {
    return this.#names.writePath(node, target, end);
  }

  /** See {@link DataPages.compact}. */
  compact(budget: number): number {
    return this.#pages.compact(budget);
  }

  #takeIndex(id: number): number {
    let node = this.#freeIndex;
    if (node !== NONE) this.#freeIndex = this.#rows.nextSibling(node);
    else {
      node = this.#end++;
      this.#stats.reserve(node);
      this.#rows.reserve(node);
    }
    this.#rows.setId(node, id);
    this.#count++;
    return node;
  }

  /** With the same number of creations, the wire's cversion falls when numChildren rises. */
  #countChild(parent: number, change: number): void {
    this.#stats.setInt(parent, StatOffset.numChildren, this.#stats.int(parent, StatOffset.numChildren) + change);
    this.#stats.setInt(parent, StatOffset.cversion, this.#stats.int(parent, StatOffset.cversion) - change);
  }

  #setDataLength(node: number, length: number): void {
    const change = length - this.#stats.int(node, StatOffset.dataLength);
    this.#stats.setInt(node, StatOffset.dataLength, length);
    if (change !== 0) this.#subtrees.addBytes(this.#rows.parent(node), change);
  }

  #putName(node: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start > this.#nameBytesMax) this.#nameBytesMax = end - start;
    const ref = this.#pages.put(node, bytes, start, end);
    const slot = this.#pages.buffer(ref);
    const slotEnd = this.#pages.slotEnd(ref);
    for (let at = this.#pages.start(ref) + end - start; at < slotEnd; at++) slot[at] = 0;
    this.#rows.setNameRef(node, ref);
  }

  #hash(parent: number, bytes: Uint8Array, start: number, end: number): number {
    return keyedHash(this.#key, parent, bytes, start, end);
  }

  #isNamed(node: number, bytes: Uint8Array, start: number, end: number): boolean {
    const ref = this.#rows.nameRef(node);
    const name = this.#pages.buffer(ref);
    const slotEnd = this.#pages.slotEnd(ref);
    let at = this.#pages.start(ref);
    if (slotEnd - at < end - start) return false;
    for (let i = start; i < end; i++) if (name[at++] !== bytes[i]) return false;
    return at === slotEnd || name[at] === 0;
  }
}
