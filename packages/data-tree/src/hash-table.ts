import { assert } from "@zooid/model";

/**
 * From a 32-bit hash to the ids that were filed under it, by extendible hashing: a directory indexed by the hash's high bits
 * points to segments, and a segment is an open-addressing table indexed by the low bits. A segment that fills up is split in two;
 * two neighbours that run empty become one again. So no insert ever rehashes more than one segment, however large the whole is.
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
 */

const SLOTS = 4096;
const HOME_MASK: number = SLOTS - 1;
const WRAP_MASK: number = SLOTS * 2 - 1;
const SPLIT_ABOVE: number = Math.floor(SLOTS * 0.75);
const MERGE_BELOW: number = Math.floor(SLOTS * 0.3);
/** Merging is looked into once in so many removals from a segment. */
const MERGE_EVERY = 64;
const DEPTH_MAX = 20;

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

  insert(hash: number, id: number): void {
    const slots = this.slots;
    let at = (hash & HOME_MASK) << 1;
    while (slots[at + 1] !== 0) at = (at + 2) & WRAP_MASK;
    slots[at] = hash;
    slots[at + 1] = id;
    this.count++;
  }

  /** Closes the gap that a removal leaves by moving later entries of the run back, so no tombstone ever lengthens a search. */
  remove(hash: number, id: number): void {
    const slots = this.slots;
    let hole = (hash & HOME_MASK) << 1;
    while (slots[hole + 1] !== id) {
      assert(slots[hole + 1] !== 0, "an id that is removed from the table was filed under its hash");
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
  }
}

export class HashTable {
  #directory: Segment[] = [new Segment(0)];
  #depth = 0;
  #count = 0;
  #searchSlots: Int32Array = this.#directory[0].slots;
  #searchHash = 0;
  #searchAt = 0;

  get count(): number {
    return this.#count;
  }

  /** The first id filed under the hash, or 0. {@link next} gives the others; an insert or removal ends the search. */
  first(hash: number): number {
    this.#searchSlots = this.#directory[this.#indexOf(hash)].slots;
    this.#searchHash = hash | 0;
    this.#searchAt = (hash & HOME_MASK) << 1;
    return this.next();
  }

  next(): number {
    const slots = this.#searchSlots;
    const hash = this.#searchHash;
    let at = this.#searchAt;
    for (;;) {
      const id = slots[at + 1];
      if (id === 0) return 0;
      const isEqual = slots[at] === hash;
      at = (at + 2) & WRAP_MASK;
      if (isEqual) {
        this.#searchAt = at;
        return id;
      }
    }
  }

  /** @param id a positive number, not yet in the table */
  insert(hash: number, id: number): void {
    let segment = this.#directory[this.#indexOf(hash)];
    while (segment.count >= SPLIT_ABOVE && segment.depth < DEPTH_MAX) {
      this.#split(segment, this.#indexOf(hash));
      segment = this.#directory[this.#indexOf(hash)];
    }
    assert(segment.count < SLOTS - 1, "no hash is shared by so many keys that a segment overflows");
    segment.insert(hash | 0, id);
    this.#count++;
  }

  remove(hash: number, id: number): void {
    const index = this.#indexOf(hash);
    const segment = this.#directory[index];
    segment.remove(hash | 0, id);
    this.#count--;
    if (segment.count % MERGE_EVERY === 0 && segment.depth > 0) this.#merge(segment, index);
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
