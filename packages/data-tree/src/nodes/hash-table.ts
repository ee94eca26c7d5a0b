import { assert } from "@zooid/model";

/**
 * From a 32-bit hash to the ids that were filed under it, by extendible hashing: a directory
 * indexed by the hash's high bits points to segments, and a segment is an open-addressing table
 * indexed by the low bits. A segment that fills up is split in two; two neighbours that run empty
 * become one again. So no insert ever rehashes more than one segment, however large the whole is.
 *
 * ```
 *  directory (2^depth)      segment: [hash, id] [hash, id] [0, 0] …   SLOTS slots, linear probing, an id of 0 ends a run
 *   00 ─┬─▶ segment, depth 1
 *   01 ─┘
 *   10 ───▶ segment, depth 2
 *   11 ───▶ segment, depth 2
 * ```
 *
 * The table does not know its keys: it offers every id with an equal hash, and the caller compares.
 *
 * Ids that no division separates stand beside the segments, in sets by hash: those behind the first
 * few of one hash, and those of a segment that is full and whose hashes agree in more bits than so
 * small a table should need. Hashes with a secret key hardly ever come to that. Where they do, an
 * insert and a removal cost what they cost elsewhere, and a search what the ids of its own hash
 * cost.
 */

const SLOTS = 4096;
const HOME_MASK: number = SLOTS - 1;
const WRAP_MASK: number = SLOTS * 2 - 1;
const SPLIT_ABOVE: number = Math.floor(SLOTS * 0.75);
const MERGE_BELOW: number = Math.floor(SLOTS * 0.3);
/** Number of removals from a segment between two checks whether it can be merged. */
const MERGE_EVERY = 64;
const DEPTH_MAX = 20;
/** Maximum length of the directory, as a multiple of the length that evenly spread hashes need. */
const DIRECTORY_SLACK = 16;
/** Ids of one hash that stand in a segment. */
const EQUAL_MAX = 8;

/** Holds a segment's slots while they are divided. */
const divided: Int32Array = new Int32Array(SLOTS * 2);

class Segment {
  readonly slots: Int32Array = new Int32Array(SLOTS * 2);
  /** How many of a hash's high bits all its entries share. */
  depth: number;
  count = 0;

  constructor(depth: number) {
    this.depth = depth;
  }

  /** Where the hash has room; -1 where as many of it stand here as may. */
  placeFor(hash: number): number {
    const slots = this.slots;
    let equal = 0;
    let at = (hash & HOME_MASK) << 1;
    for (; slots[at + 1] !== 0; at = (at + 2) & WRAP_MASK) if (slots[at] === hash && ++equal === EQUAL_MAX) return -1;
    return at;
  }

  put(at: number, hash: number, id: number): void {
    this.slots[at] = hash;
    this.slots[at + 1] = id;
    this.count++;
  }

  /** An entry of another segment, which had room there. */
  insert(hash: number, id: number): void {
    const slots = this.slots;
    let at = (hash & HOME_MASK) << 1;
    while (slots[at + 1] !== 0) at = (at + 2) & WRAP_MASK;
    this.put(at, hash, id);
  }

  /**
   * Closes the gap that a removal leaves by moving later entries of the run back, so no tombstone
   * ever lengthens a search. False for an id that does not stand here.
   */
  remove(hash: number, id: number): boolean {
    const slots = this.slots;
    let hole = (hash & HOME_MASK) << 1;
    while (slots[hole + 1] !== id) {
      if (slots[hole + 1] === 0) return false;
      hole = (hole + 2) & WRAP_MASK;
    }
    for (let scan = (hole + 2) & WRAP_MASK; slots[scan + 1] !== 0; scan = (scan + 2) & WRAP_MASK) {
      const home = (slots[scan] & HOME_MASK) << 1;
      if (((scan - home) & WRAP_MASK) < ((scan - hole) & WRAP_MASK)) continue;
      slots[hole] = slots[scan];
      slots[hole + 1] = slots[scan + 1];
      hole = scan;
    }
    slots[hole] = 0;
    slots[hole + 1] = 0;
    this.count--;
    return true;
  }
}

export class HashTable {
  #directory: Segment[] = [new Segment(0)];
  #depth = 0;
  #count = 0;
  #searchSlots: Int32Array = this.#directory[0].slots;
  #searchHash = 0;
  #searchAt = 0;
  /** Ids that stand in no segment. */
  readonly #beside = new Map<number, Set<number>>();
  /** Those of the hash that is searched, once the segment has no more. */
  #searchBeside: Iterator<number> | undefined;

  get count(): number {
    return this.#count;
  }

  get directoryLength(): number {
    return this.#directory.length;
  }

  /**
   * The first id filed under the hash, or 0. {@link next} gives the others; an insert or removal
   * ends the search.
   */
  first(hash: number): number {
    this.#searchSlots = this.#directory[this.#indexOf(hash)].slots;
    this.#searchHash = hash | 0;
    this.#searchAt = (hash & HOME_MASK) << 1;
    this.#searchBeside = undefined;
    return this.next();
  }

  next(): number {
    const slots = this.#searchSlots;
    const hash = this.#searchHash;
    let at = this.#searchAt;
    for (;;) {
      const id = slots[at + 1];
      if (id === 0) return this.#beside.size === 0 ? 0 : this.#nextBeside();
      const isEqual = slots[at] === hash;
      at = (at + 2) & WRAP_MASK;
      if (isEqual) {
        this.#searchAt = at;
        return id;
      }
    }
  }

  #nextBeside(): number {
    this.#searchBeside ??= this.#beside.get(this.#searchHash)?.values();
    const next = this.#searchBeside?.next();
    return next === undefined || next.done === true ? 0 : next.value;
  }

  /** @param id a positive number, not yet in the table */
  insert(hash: number, id: number): void {
    hash |= 0;
    let segment = this.#directory[this.#indexOf(hash)];
    while (segment.count >= SPLIT_ABOVE && this.#canSplit(segment)) {
      this.#split(segment, this.#indexOf(hash));
      segment = this.#directory[this.#indexOf(hash)];
    }
    this.#count++;
    const at = segment.count < SPLIT_ABOVE ? segment.placeFor(hash) : -1;
    if (at >= 0) segment.put(at, hash, id);
    else this.#putBeside(hash, id);
  }

  remove(hash: number, id: number): void {
    hash |= 0;
    const index = this.#indexOf(hash);
    const segment = this.#directory[index];
    this.#count--;
    if (!segment.remove(hash, id)) {
      this.#removeBeside(hash, id);
      return;
    }
    if (segment.count % MERGE_EVERY === 0 && segment.depth > 0) this.#merge(segment, index);
  }

  #putBeside(hash: number, id: number): void {
    const ids = this.#beside.get(hash);
    if (ids === undefined) this.#beside.set(hash, new Set([id]));
    else ids.add(id);
  }

  #removeBeside(hash: number, id: number): void {
    const ids = this.#beside.get(hash);
    assert(ids?.delete(id) === true, "an id that is removed from the table was filed under its hash");
    if (ids.size === 0) this.#beside.delete(hash);
  }

  /**
   * Whether a division may help: a directory much longer than the entries are many would be the
   * work of hashes that agree.
   */
  #canSplit(segment: Segment): boolean {
    if (segment.depth < this.#depth) return true;
    const length = this.#directory.length * 2;
    return this.#depth < DEPTH_MAX && length <= DIRECTORY_SLACK * (1 + this.#count / SPLIT_ABOVE);
  }

  #indexOf(hash: number): number {
    return (hash >>> 1) >>> (31 - this.#depth);
  }

  #split(segment: Segment, index: number): void {
    if (segment.depth === this.#depth) {
      const wider: Segment[] = [];
      for (const entry of this.#directory) wider.push(entry, entry);
      this.#directory = wider;
      this.#depth++;
      index *= 2;
    }
    const bit = 31 - segment.depth;
    segment.depth++;
    const other = new Segment(segment.depth);
    divided.set(segment.slots);
    segment.slots.fill(0);
    segment.count = 0;
    for (let at = 0; at < divided.length; at += 2) {
      if (divided[at + 1] !== 0) ((divided[at] >>> bit) & 1 ? other : segment).insert(divided[at], divided[at + 1]);
    }
    this.#point(index, segment.depth, segment, other);
  }

  #merge(segment: Segment, index: number): void {
    const span = 1 << (this.#depth - segment.depth);
    const buddy = this.#directory[index ^ span];
    if (buddy.depth !== segment.depth || buddy.count + segment.count > MERGE_BELOW) return;
    const merged = new Segment(segment.depth - 1);
    for (const { slots } of [segment, buddy]) {
      for (let at = 0; at < slots.length; at += 2) if (slots[at + 1] !== 0) merged.insert(slots[at], slots[at + 1]);
    }
    this.#point(index, segment.depth, merged, merged);
  }

  /** Lets the two halves of the directory range around `index` point to two segments. */
  #point(index: number, depth: number, zero: Segment, one: Segment): void {
    const span = 1 << (this.#depth - depth);
    const from = index & ~(span * 2 - 1);
    for (let i = 0; i < span; i++) {
      this.#directory[from + i] = zero;
      this.#directory[from + span + i] = one;
    }
    this.#searchSlots = zero.slots;
  }
}
