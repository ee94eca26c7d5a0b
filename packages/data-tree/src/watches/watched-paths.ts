import { type ByteSlice, type HashKey, keyedHash, setSlice } from "@zooid/model";
import { IntColumn } from "../nodes/columns.ts";
import { DataPages } from "../nodes/data-pages.ts";
import { HashTable } from "../nodes/hash-table.ts";

/** No path. */
const NONE = 0;
const SLASH = 0x2f;
/**
 * From here on the platform compares faster: an event on a deep path is compared with every path
 * above that is watched.
 */
const LONG_PATH_BYTES = 256;
/** The bytes of a path beside its own, in memory. */
const PATH_BYTES = 48;

/**
 * The paths that are watched, as indexes: their bytes lie in pages, and a hash table finds them.
 * The index of a path that was removed is used again.
 */
export class WatchedPaths {
  readonly #key: HashKey;
  readonly #hashes = new IntColumn();
  /** 0 for an index without a path. */
  readonly #refs = new IntColumn();
  /** The length of each path in bytes; for a free index, the next free one. */
  readonly #lengths = new IntColumn();
  readonly #table = new HashTable();
  readonly #pages: DataPages = new DataPages((path, ref) => this.#refs.set(path, ref));
  #end = 1;
  /** The bytes of all paths together. */
  #pathBytes = 0;
  #free: number = NONE;
  /**
   * The length of the longest path that was ever watched: a longer one is not watched, and is not
   * hashed.
   */
  #longestBytes = 0;

  constructor(key: HashKey) {
    this.#key = key;
  }

  /**
   * The bytes of the paths in memory, about. Room of removed ones is used again, and is not
   * counted.
   */
  get heldBytes(): number {
    return this.#pathBytes + this.#table.count * PATH_BYTES;
  }

  /** Every path's index is below it. */
  get end(): number {
    return this.#end;
  }

  /** Bytes of a path. */
  length(path: number): number {
    return this.#lengths.get(path);
  }

  exists(path: number): boolean {
    return this.#refs.get(path) !== 0;
  }

  /** The path's index, or 0. */
  find(bytes: Uint8Array, start: number, end: number): number {
    if (end - start > this.#longestBytes) return NONE;
    return this.findHashed(this.#hashOf(bytes, start, end), bytes, start, end);
  }

  /** Like {@link find}, with the hash of the whole path: see {@link hashOn}. */
  findHashed(hash: number, bytes: Uint8Array, start: number, end: number): number {
    let path = this.#table.first(hash);
    while (path !== NONE && !this.#isPath(path, bytes, start, end)) path = this.#table.next();
    return path;
  }

  findOrAdd(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.#hashOf(bytes, start, end);
    const found = this.findHashed(hash, bytes, start, end);
    if (found !== NONE) return found;
    let path = this.#free;
    if (path === NONE) path = this.#end++;
    else this.#free = this.#lengths.get(path);
    this.#hashes.set(path, hash);
    this.#refs.set(path, this.#pages.put(path, bytes, start, end));
    this.#lengths.set(path, end - start);
    this.#pathBytes += end - start;
    if (end - start > this.#longestBytes) this.#longestBytes = end - start;
    this.#table.insert(hash, path);
    return path;
  }

  remove(path: number): void {
    this.#pathBytes -= this.#lengths.get(path);
    this.#table.remove(this.#hashes.get(path), path);
    this.#pages.free(this.#refs.get(path));
    this.#refs.set(path, 0);
    this.#lengths.set(path, this.#free);
    this.#free = path;
  }

  /** Lets a slice show a path. */
  show(path: number, into: ByteSlice): void {
    const ref = this.#refs.get(path);
    const start = this.#pages.start(ref);
    setSlice(into, this.#pages.buffer(ref), start, start + this.#lengths.get(path));
  }

  /**
   * The hash of a path from that of its parent, 0 for the name in front of the first slash. So the
   * hashes of all ancestors are met on the way to a path's own.
   */
  hashOn(parentHash: number, bytes: Uint8Array, nameStart: number, nameEnd: number): number {
    return keyedHash(this.#key, parentHash, bytes, nameStart, nameEnd);
  }

  /** See {@link DataPages.compact}. */
  compact(budget: number): number {
    return this.#pages.compact(budget);
  }

  #hashOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = 0;
    let name = start;
    for (let at = start; at < end; at++) {
      if (bytes[at] !== SLASH) continue;
      hash = keyedHash(this.#key, hash, bytes, name, at);
      name = at + 1;
    }
    return keyedHash(this.#key, hash, bytes, name, end);
  }

  #isPath(path: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#lengths.get(path) !== end - start) return false;
    const ref = this.#refs.get(path);
    const kept = this.#pages.buffer(ref);
    let at = this.#pages.start(ref);
    if (end - start >= LONG_PATH_BYTES) return kept.compare(bytes, start, end, at, at + end - start) === 0;
    for (let i = start; i < end; i++, at++) if (kept[at] !== bytes[i]) return false;
    return true;
  }
}
