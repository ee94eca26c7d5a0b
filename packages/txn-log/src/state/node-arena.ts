import { assert, copyBytes, StatOffset } from "@zooid/model/storage";
import type { Pace } from "../threads/pace.ts";
import { dataStart, RowOffset, rowLength, sealRow } from "./node-row.ts";
import { RowHeads } from "./row-heads.ts";
import type { StateFile } from "./state-file.ts";

/** When an arena is full. */
export interface ArenaLimits {
  readonly bytes: number;
  /** Nodes in the file that are changed or removed. */
  readonly knownCount: number;
  readonly newCount: number;
  /**
   * Minimum bytes of data from which the head of a row, the part before the data, is kept when the
   * row is written.
   */
  readonly headDataBytes: number;
  /** Maximum number of heads that are kept. */
  readonly headCount: number;
}

/**
 * For a checkpoint in node order: the more rows are written at once, the fewer times each page is
 * visited.
 */
const WIDE = { bytes: 16 * 1024 * 1024, knownCount: 65_536 };

const LIMITS: ArenaLimits = {
  bytes: 4 * 1024 * 1024,
  knownCount: 16_384,
  newCount: 32_768,
  headDataBytes: 4096,
  headCount: 4096,
};

/**
 * The rows that a checkpoint has touched, all in one buffer that is used again and again: with an
 * object and some small buffers for each node, a checkpoint of 50 000 of them would leave more
 * memory behind than the tree that they belong to.
 *
 * ```
 *  bytes   │ row │ row │ row that was moved │ row │ …          │ free │
 *  places    known: id → place             new: id - first new id → place
 * ```
 *
 * A full arena is written into the file's open transaction and emptied, so its size bounds the
 * memory of a checkpoint, whatever is checkpointed. A place is good until the next call that may
 * need room.
 */
export class NodeArena {
  bytes: Buffer<ArrayBuffer> = NO_BYTES;
  /** How many rows were written or removed. */
  writtenCount = 0;
  readonly #state: StateFile;
  readonly #narrow: ArenaLimits;
  #limits: ArenaLimits;
  readonly #known = new Map<number, number>();
  readonly #new: Int32Array;
  readonly #heads: RowHeads;
  /** New nodes have this id or a higher one, below {@link #endNew}. */
  #firstNew = Number.POSITIVE_INFINITY;
  #endNew = 0;
  #end = FIRST_PLACE;

  readonly #pace: Pace | undefined;

  constructor(state: StateFile, limits: ArenaLimits = LIMITS, pace?: Pace) {
    this.#pace = pace;
    this.#state = state;
    this.#narrow = limits;
    this.#limits = limits;
    this.#new = new Int32Array(limits.newCount);
    this.#heads = new RowHeads(limits);
  }

  /** A place for a node that is new, the newest of all; the bytes there are left to the caller. */
  create(id: number, length: number): number {
    if (!this.#fits(length) || id - this.#firstNew >= this.#limits.newCount) this.write();
    if (this.#firstNew === Number.POSITIVE_INFINITY) this.#firstNew = id;
    const place = this.#take(length);
    this.#new[id - this.#firstNew] = place;
    this.#endNew = id + 1;
    return place;
  }

  /**
   * Where a node's row lies, fetched from the file if need be; `undefined` when there is no such
   * node, or no more.
   */
  find(id: number): number | undefined {
    if (id >= this.#firstNew) return id < this.#endNew ? placeOrNone(this.#new[id - this.#firstNew]) : undefined;
    const known = this.#known.get(id);
    if (known !== undefined) return placeOrNone(known);
    const row = this.#state.node(id);
    if (row === undefined) return undefined;
    if (!this.#fits(row.length) || this.#known.size === this.#limits.knownCount) this.write();
    const place = this.#take(row.length);
    row.copy(this.bytes, place);
    this.#known.set(id, place);
    return place;
  }

  /**
   * Gives a node's row room for other data, keeping all else; returns its place, or `undefined`
   * when there is no such node. The data's length and bytes are left to the caller.
   */
  replaceData(id: number, dataLength: number): number | undefined {
    let place = this.#placeHead(id, dataLength) ?? this.find(id);
    if (place === undefined) return undefined;
    let data = dataStart(this.bytes, place);
    const length = data - place + dataLength;
    if (length <= rowLength(this.bytes, place)) return place;
    if (!this.#fits(length)) {
      this.write();
      place = this.#found(id);
      data = dataStart(this.bytes, place);
    }
    const moved = this.#take(length);
    copyBytes(this.bytes, place, data, this.bytes, moved);
    if (id >= this.#firstNew) this.#new[id - this.#firstNew] = moved;
    else this.#known.set(id, moved);
    return moved;
  }

  /**
   * A row whose head alone is known gets room for other data, so that its old data need not be
   * read.
   */
  #placeHead(id: number, dataLength: number): number | undefined {
    const heads = this.#heads;
    if (id >= this.#firstNew || this.#known.has(id) || !heads.find(id)) return undefined;
    if (!this.#fits(heads.end - heads.start + dataLength) || this.#known.size === this.#limits.knownCount) {
      this.write();
      // The rows that were written may have taken its slot.
      if (!heads.find(id)) return undefined;
    }
    const place = this.#take(heads.end - heads.start + dataLength);
    copyBytes(heads.bytes, heads.start, heads.end, this.bytes, place);
    // The row is as long as it says.
    this.bytes.writeInt32BE(dataLength, place + RowOffset.stat + StatOffset.dataLength);
    this.#known.set(id, place);
    return place;
  }

  /**
   * False when the node is known to be gone. Whether one in the file exists turns out when it is
   * removed.
   */
  remove(id: number): boolean {
    if (id >= this.#firstNew) {
      if (id >= this.#endNew || placeOrNone(this.#new[id - this.#firstNew]) === undefined) return false;
      this.#new[id - this.#firstNew] = REMOVED;
      return true;
    }
    if (this.#known.get(id) === REMOVED) return false;
    if (this.#known.size === this.#limits.knownCount) this.write();
    this.#known.set(id, REMOVED);
    return true;
  }

  /** Writes everything in the order of ids, and empties the arena. */
  write(): void {
    const state = this.#state;
    for (const id of Float64Array.from(this.#known.keys()).sort()) {
      const place = this.#known.get(id) ?? REMOVED;
      const row = place === REMOVED ? undefined : sealRow(this.bytes, place);
      if (row === undefined) {
        state.deleteNode(id);
        this.#heads.forget(id);
      } else {
        state.updateNode(id, row);
        this.#heads.keep(id, row);
      }
      this.#pace?.step(row?.length ?? 0);
    }
    this.writtenCount += this.#known.size;
    for (let id = this.#firstNew; id < this.#endNew; id++) {
      const place = placeOrNone(this.#new[id - this.#firstNew]);
      if (place === undefined) continue;
      const row = sealRow(this.bytes, place);
      state.insertNode(id, row);
      this.#heads.keep(id, row);
      this.#pace?.step(row.length);
      this.writtenCount++;
    }
    state.endInserts();
    this.#known.clear();
    if (this.#endNew > 0) this.#new.fill(0, 0, this.#endNew - this.#firstNew);
    this.#firstNew = Number.POSITIVE_INFINITY;
    this.#endNew = 0;
    this.#end = FIRST_PLACE;
    if (this.bytes.length > this.#limits.bytes) this.#freeBytes();
  }

  /** Bytes of rows that it holds before it is written. */
  get byteLimit(): number {
    return this.#limits.bytes;
  }

  /** Writes everything, and raises the limits until {@link release}. */
  widen(): void {
    this.write();
    this.release();
    this.#limits = { ...this.#narrow, ...WIDE };
  }

  /** Frees the memory; the next row allocates it again. */
  release(): void {
    assert(this.#end === FIRST_PLACE, "an arena is given back when it is written");
    this.#limits = this.#narrow;
    this.#freeBytes();
  }

  #freeBytes(): void {
    if (this.bytes !== NO_BYTES) this.bytes.buffer.transfer(0);
    this.bytes = NO_BYTES;
  }

  #found(id: number): number {
    const place = this.find(id);
    assert(place !== undefined, "a row is there while it is changed");
    return place;
  }

  #fits(length: number): boolean {
    return this.#end === FIRST_PLACE || this.#end + length <= this.bytes.length;
  }

  /** Only rows that are larger than a whole arena make it grow. */
  #take(length: number): number {
    const place = this.#end;
    this.#end += length;
    if (this.#end > this.bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(this.#limits.bytes, this.#end));
      this.bytes.copy(grown, 0, 0, place);
      if (this.bytes !== NO_BYTES) this.bytes.buffer.transfer(0);
      this.bytes = grown;
    }
    return place;
  }
}

const NO_BYTES = Buffer.alloc(0);
/** Marks a node that was removed; 0 is no node. */
const REMOVED = -1;
const FIRST_PLACE = 1;

function placeOrNone(place: number | undefined): number | undefined {
  return place === undefined || place < FIRST_PLACE ? undefined : place;
}
