import { copyBytes, type HashKey, keyedHash } from "@zooid/model/storage";

const ROWS_FIRST = 1024;
const NAME_BYTES_FIRST = 16 * 1024;
const SLASH = 0x2f;
const NONE = -1;

/**
 * The paths of a tree's nodes, for as long as a state is written in another form: a node's parent
 * and name by its place in the order in which they came, parents first. Typed arrays, so that a
 * million of them cost the collector nothing.
 */
export class PathIndex {
  readonly #key: HashKey;
  #ids = new Float64Array(ROWS_FIRST);
  #parents = new Int32Array(ROWS_FIRST);
  /** Where each name begins; it ends where the next one does. */
  #starts = new Uint32Array(ROWS_FIRST + 1);
  #names: Buffer = Buffer.allocUnsafeSlow(NAME_BYTES_FIRST);
  /** Places by the hash of parent and name, open addressing. */
  #table = new Int32Array(ROWS_FIRST * 2).fill(NONE);
  #count = 0;

  /** @param key what those who choose names do not know */
  constructor(key: HashKey) {
    this.#key = key;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Adds a node and returns its place.
   *
   * @param id above those of all before it
   * @param parent the place of its parent; -1 for the root, which comes first and has no name
   */
  add(id: number, parent: number, bytes: Uint8Array, start: number, end: number): number {
    if (this.#count === this.#ids.length) this.#grow();
    const place = this.#count++;
    const nameStart = this.#starts[place] as number;
    const nameEnd = nameStart + end - start;
    this.#makeRoom(nameEnd);
    copyBytes(bytes, start, end, this.#names, nameStart);
    this.#ids[place] = id;
    this.#parents[place] = parent;
    this.#starts[place + 1] = nameEnd;
    this.#insert(place);
    return place;
  }

  /** The place of a node by its id; -1 for one that is not there. */
  placeOf(id: number): number {
    let low = 0;
    let high = this.#count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#ids[middle] as number;
      if (found === id) return middle;
      if (found < id) low = middle + 1;
      else high = middle - 1;
    }
    return NONE;
  }

  /** The place of a child by its name; -1 where there is none. */
  child(parent: number, bytes: Uint8Array, start: number, end: number): number {
    const mask = this.#table.length - 1;
    for (let slot = this.#hash(parent, bytes, start, end) & mask; ; slot = (slot + 1) & mask) {
      const place = this.#table[slot] as number;
      if (place === NONE || this.#is(place, parent, bytes, start, end)) return place;
    }
  }

  /** The place of a node by its path, the root's being empty; -1 where there is none. */
  find(path: Uint8Array, start: number, end: number): number {
    let place = this.#count === 0 ? NONE : 0;
    for (let at = start; at < end && place !== NONE; ) {
      const next = path.indexOf(SLASH, at + 1);
      const stop = next === -1 || next > end ? end : next;
      place = this.child(place, path, at + 1, stop);
      at = stop;
    }
    return place;
  }

  /** How long a node's path is; 0 for the root. */
  pathLength(place: number): number {
    let length = 0;
    for (let at = place; at > 0; at = this.#parents[at] as number) length += 1 + this.#nameLength(at);
    return length;
  }

  /** Writes a node's path, of which the length is known. */
  writePath(place: number, into: Uint8Array, length: number): void {
    let end = length;
    for (let at = place; at > 0; at = this.#parents[at] as number) {
      const start = end - this.#nameLength(at);
      copyBytes(this.#names, this.#starts[at] as number, this.#starts[at + 1] as number, into, start);
      into[start - 1] = SLASH;
      end = start - 1;
    }
  }

  #nameLength(place: number): number {
    return (this.#starts[place + 1] as number) - (this.#starts[place] as number);
  }

  #hash(parent: number, bytes: Uint8Array, start: number, end: number): number {
    return keyedHash(this.#key, parent, bytes, start, end);
  }

  #is(place: number, parent: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#parents[place] !== parent || this.#nameLength(place) !== end - start) return false;
    let at = this.#starts[place] as number;
    for (let i = start; i < end; i++) if (this.#names[at++] !== bytes[i]) return false;
    return true;
  }

  #insert(place: number): void {
    const start = this.#starts[place] as number;
    const mask = this.#table.length - 1;
    const hash = this.#hash(this.#parents[place] as number, this.#names, start, this.#starts[place + 1] as number);
    let slot = hash & mask;
    while (this.#table[slot] !== NONE) slot = (slot + 1) & mask;
    this.#table[slot] = place;
  }

  #makeRoom(nameBytes: number): void {
    if (nameBytes <= this.#names.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(nameBytes, this.#names.length * 2));
    this.#names.copy(grown);
    this.#names = grown;
  }

  #grow(): void {
    const rows = this.#ids.length * 2;
    const ids = new Float64Array(rows);
    const parents = new Int32Array(rows);
    const starts = new Uint32Array(rows + 1);
    ids.set(this.#ids);
    parents.set(this.#parents);
    starts.set(this.#starts);
    this.#ids = ids;
    this.#parents = parents;
    this.#starts = starts;
    this.#table = new Int32Array(rows * 2).fill(NONE);
    for (let place = 0; place < this.#count; place++) this.#insert(place);
  }
}
