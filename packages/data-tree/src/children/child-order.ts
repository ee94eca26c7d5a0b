import { type ByteSlice, emptySlice } from "@zooid/model";

/** Shows a node's name. */
export type ShowName = (node: number, into: ByteSlice) => void;

/** Nodes of one leaf: to insert one moves half as many integers on average. */
const LEAF_LENGTH = 512;

interface Leaf {
  readonly nodes: Int32Array;
  count: number;
}

/**
 * The children of one node in the order of their names' bytes: leaves of at most 512 node indexes,
 * found by binary search. To insert or remove a name costs some twenty comparisons, of the bytes
 * that differ from neither neighbour; a name behind all others, as sequential ones are, costs one.
 */
export class ChildOrder {
  readonly #show: ShowName;
  readonly #name: ByteSlice = emptySlice();
  readonly #other: ByteSlice = emptySlice();
  #leaves: Leaf[] = [];
  #count = 0;
  /** How many bytes the last compared names have in common. */
  #common = 0;
  /** Where the last search ended: a leaf, and a place in it. */
  #leaf = 0;
  #at = 0;

  constructor(show: ShowName) {
    this.#show = show;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Fills it with nodes in any order; nodes in order, or in the opposite order, take linear time.
   */
  fill(nodes: readonly number[]): void {
    const sorted = [...nodes].sort((a, b) => this.#compareNodes(a, b));
    this.#leaves = [];
    this.#count = sorted.length;
    // Three quarters full: the next insertions split nothing.
    const step = (LEAF_LENGTH * 3) / 4;
    for (let i = 0; i < sorted.length; i += step) {
      const leaf: Leaf = { nodes: new Int32Array(LEAF_LENGTH), count: Math.min(step, sorted.length - i) };
      leaf.nodes.set(sorted.slice(i, i + leaf.count));
      this.#leaves.push(leaf);
    }
  }

  /** @param name that of the node, which is not in the order yet */
  insert(node: number, { bytes, start, end }: Readonly<ByteSlice>): void {
    this.#seek(bytes, start, end);
    let leaf = this.#leaves[this.#leaf];
    let at = this.#at;
    if (leaf === undefined) {
      leaf = { nodes: new Int32Array(LEAF_LENGTH), count: 0 };
      this.#leaves.push(leaf);
    } else if (leaf.count === LEAF_LENGTH) {
      const isLast = this.#leaf === this.#leaves.length - 1 && at === LEAF_LENGTH;
      const right = this.#split(leaf, isLast ? LEAF_LENGTH : LEAF_LENGTH / 2);
      if (at > leaf.count || isLast) {
        at -= leaf.count;
        leaf = right;
      }
    }
    leaf.nodes.copyWithin(at + 1, at, leaf.count);
    leaf.nodes[at] = node;
    leaf.count++;
    this.#count++;
  }

  /** @param name that of the node, which is in the order */
  remove({ bytes, start, end }: Readonly<ByteSlice>): void {
    this.#seek(bytes, start, end);
    const leaf = this.#leaves[this.#leaf] as Leaf;
    leaf.nodes.copyWithin(this.#at, this.#at + 1, leaf.count);
    leaf.count--;
    this.#count--;
    if (leaf.count === 0) this.#leaves.splice(this.#leaf, 1);
  }

  /**
   * Appends the nodes behind a name, in order.
   *
   * @param after any bytes; the name itself is left out
   * @returns whether these are all
   */
  takeAfter(after: Readonly<ByteSlice>, limit: number, into: number[]): boolean {
    this.#seek(after.bytes, after.start, after.end);
    let leafAt = this.#leaf;
    let leaf = this.#leaves[leafAt];
    let at = this.#at;
    if (leaf !== undefined && at < leaf.count && this.#isNamed(leaf.nodes[at] as number, after)) at++;
    for (; leaf !== undefined; leaf = this.#leaves[++leafAt], at = 0) {
      for (; at < leaf.count; at++) {
        if (into.length === limit) return false;
        into.push(leaf.nodes[at] as number);
      }
    }
    return true;
  }

  /** Finds the first name that is not before a name. */
  #seek(bytes: Uint8Array, start: number, end: number): void {
    const leaves = this.#leaves;
    const last = leaves[leaves.length - 1];
    if (last === undefined) {
      this.#leaf = 0;
      this.#at = 0;
      return;
    }
    if (this.#compare(last.nodes[last.count - 1] as number, bytes, start, end, 0) < 0) {
      this.#leaf = leaves.length - 1;
      this.#at = last.count;
      return;
    }
    // The last leaf whose first name is before the wanted one, or the first leaf.
    let low = 0;
    let high = leaves.length;
    let lowCommon = 0;
    let highCommon = 0;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      const first = (leaves[middle] as Leaf).nodes[0] as number;
      if (this.#compare(first, bytes, start, end, Math.min(lowCommon, highCommon)) < 0) {
        low = middle;
        lowCommon = this.#common;
      } else {
        high = middle;
        highCommon = this.#common;
      }
    }
    this.#leaf = low;
    const leaf = leaves[low] as Leaf;
    // All before `from` are before the name, none from `to` on.
    let from = 0;
    let to = leaf.count;
    // The first leaf's names were not compared, so its low bound has nothing in common yet.
    let fromCommon = low === 0 ? 0 : lowCommon;
    let toCommon = highCommon;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (this.#compare(leaf.nodes[middle] as number, bytes, start, end, Math.min(fromCommon, toCommon)) < 0) {
        from = middle + 1;
        fromCommon = this.#common;
      } else {
        to = middle;
        toCommon = this.#common;
      }
    }
    // A name between two leaves belongs to the end of the first; one that begins the second is
    // found there.
    this.#at = from;
    const next = leaves[low + 1];
    if (from < leaf.count || next === undefined) return;
    if (this.#compare(next.nodes[0] as number, bytes, start, end, 0) !== 0) return;
    this.#leaf = low + 1;
    this.#at = 0;
  }

  /** Moves the nodes from a place on into a leaf of their own. */
  #split(leaf: Leaf, from: number): Leaf {
    const right: Leaf = { nodes: new Int32Array(LEAF_LENGTH), count: leaf.count - from };
    right.nodes.set(leaf.nodes.subarray(from, leaf.count));
    leaf.count = from;
    this.#leaves.splice(this.#leaf + 1, 0, right);
    return right;
  }

  #isNamed(node: number, { bytes, start, end }: Readonly<ByteSlice>): boolean {
    return this.#compare(node, bytes, start, end, 0) === 0;
  }

  /** Compares a node's name with another one, whose first bytes are known to be equal. */
  #compare(node: number, bytes: Uint8Array, start: number, end: number, equal: number): number {
    const name = this.#name;
    this.#show(node, name);
    const length = Math.min(name.end - name.start, end - start);
    let i = equal;
    while (i < length && name.bytes[name.start + i] === bytes[start + i]) i++;
    this.#common = i;
    if (i === length) return name.end - name.start - (end - start);
    return (name.bytes[name.start + i] as number) - (bytes[start + i] as number);
  }

  #compareNodes(a: number, b: number): number {
    const other = this.#other;
    this.#show(b, other);
    return this.#compare(a, other.bytes, other.start, other.end, 0);
  }
}
