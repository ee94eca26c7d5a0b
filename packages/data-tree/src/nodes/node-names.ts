import { type ByteSlice, copyBytes, setSlice } from "@zooid/model";
import type { DataPages } from "./data-pages.ts";
import { type NodeRows, ROOT } from "./node-row.ts";

const SLASH = 0x2f;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * The names of nodes, and paths made of them. Names lie in slots filled up with zero bytes. No name
 * holds one, so a name's length needs no column.
 */
export class NodeNames {
  readonly #rows: NodeRows;
  readonly #pages: DataPages;

  constructor(rows: NodeRows, pages: DataPages) {
    this.#rows = rows;
    this.#pages = pages;
  }

  /** Lets a slice show the name; empty for the root. */
  show(node: number, into: ByteSlice): void {
    const ref = this.#rows.nameRef(node);
    if (ref === 0) setSlice(into, EMPTY, 0, 0);
    else setSlice(into, this.#pages.buffer(ref), this.#pages.start(ref), this.end(ref));
  }

  length(node: number): number {
    const ref = this.#rows.nameRef(node);
    return ref === 0 ? 0 : this.end(ref) - this.#pages.start(ref);
  }

  /** Number of bytes of the node's path. */
  pathLength(node: number): number {
    if (node === ROOT) return 1;
    let length = 0;
    for (let at = node; at !== ROOT; at = this.#rows.parent(at)) length += 1 + this.length(at);
    return length;
  }

  /** Writes the node's path so that it ends before `end`, and returns where it starts. */
  writePath(node: number, target: Uint8Array, end: number): number {
    if (node === ROOT) target[--end] = SLASH;
    for (let at = node; at !== ROOT; at = this.#rows.parent(at)) {
      const ref = this.#rows.nameRef(at);
      const start = this.#pages.start(ref);
      const nameEnd = this.end(ref);
      end -= nameEnd - start;
      copyBytes(this.#pages.buffer(ref), start, nameEnd, target, end);
      target[--end] = SLASH;
    }
    return end;
  }

  /** Where the name that lies at a ref ends. */
  end(ref: number): number {
    const name = this.#pages.buffer(ref);
    let end = this.#pages.slotEnd(ref);
    while (name[end - 1] === 0) end--;
    return end;
  }
}
