/** A longer path is not kept. */
const PATH_BYTES_MAX = 256;
const SLASH = 0x2f;
const NONE = 0;

/**
 * The path of the node that the last lookups went through: siblings are often asked for one after
 * another, and comparing their parent's path costs less than hashing each name of it. A path is
 * copied only when the same parent comes twice in a row, so that lookups all over the tree pay for
 * a comparison alone.
 */
export class LastParent {
  readonly #path = new Uint8Array(PATH_BYTES_MAX);
  #length = 0;
  #node = NONE;
  #candidate = NONE;

  /** The node whose path is kept, if the given path lies below it; else 0. */
  above(bytes: Uint8Array, start: number, end: number): number {
    const length = this.#length;
    if (length === 0 || end - start <= length || bytes[start + length] !== SLASH) return NONE;
    const path = this.#path;
    // Paths of different parents differ near their ends more often than near the root.
    for (let i = length - 1; i >= 0; i--) if (path[i] !== bytes[start + i]) return NONE;
    return this.#node;
  }

  /** How long the kept path is. */
  get length(): number {
    return this.#length;
  }

  /** A lookup went through a node, whose path is given, to a child of it. */
  note(node: number, bytes: Uint8Array, start: number, end: number): void {
    if (node === this.#node || end - start > PATH_BYTES_MAX) return;
    if (node !== this.#candidate) {
      this.#candidate = node;
      return;
    }
    this.#path.set(bytes.subarray(start, end));
    this.#length = end - start;
    this.#node = node;
  }

  /** A node was removed: its number will mean another one. */
  removed(node: number): void {
    if (node === this.#candidate) this.#candidate = NONE;
    if (node !== this.#node) return;
    this.#node = NONE;
    this.#length = 0;
  }
}
