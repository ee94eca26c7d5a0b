import { type ByteSlice, OpCode, type TxnOp } from "@zooid/model/storage";
import { changesChildren } from "../archive/path-index.ts";

/** Bounds the memory for names that come and go to some tens of MiB. */
const BYTES_MAX = 8 * 1024 * 1024;

/**
 * The effect of some changes, one after another, on the children of a node: all of them where a
 * create or a delete of the node itself is among the changes, else those that they create and
 * delete.
 */
export class ChildrenEffect {
  readonly #path: Buffer;
  /** Whether the child of a name exists behind the changes. */
  readonly #names = new Map<string, boolean>();
  #bytes = 0;
  #isWhole = false;

  constructor(path: Buffer) {
    this.#path = path;
  }

  /** Whether there are more names than are kept: the effect is of no use. */
  get isTooLarge(): boolean {
    return this.#bytes > BYTES_MAX;
  }

  /** Takes the next change of the node or of a child of it; the op is lent. */
  apply({ op, path }: Readonly<TxnOp>): void {
    if (!changesChildren(op)) return;
    const isDelete = op === OpCode.DELETE || op === OpCode.DELETE_CONTAINER;
    const { bytes, start, end } = path;
    if (end - start === this.#path.length) {
      // No child outlives its parent.
      this.#names.clear();
      this.#bytes = 0;
      this.#isWhole = true;
      return;
    }
    const nameStart = start + (this.#path.length === 1 ? 1 : this.#path.length + 1);
    this.#set(Buffer.from(bytes.buffer, bytes.byteOffset + nameStart, end - nameStart).toString("utf8"), !isDelete);
  }

  /** Puts changes that were before these behind them. */
  precede(earlier: ChildrenEffect): void {
    if (this.#isWhole) return;
    for (const [name, exists] of earlier.#names) if (!this.#names.has(name)) this.#set(name, exists);
    this.#isWhole = earlier.#isWhole;
  }

  /** The same, for a state that was before. */
  precedeState(names: readonly string[]): void {
    if (this.#isWhole) return;
    for (const name of names) if (!this.#names.has(name)) this.#set(name, true);
    this.#isWhole = true;
  }

  /** Those that exist. */
  names(): readonly string[] {
    return [...this.#names].filter(([, exists]) => exists).map(([name]) => name);
  }

  #set(name: string, exists: boolean): void {
    if (this.isTooLarge) return;
    if (!this.#names.has(name)) this.#bytes += name.length;
    this.#names.set(name, exists);
  }
}

/** Whether an op changes a node, or creates or deletes a child of it. */
export function isOfChildren(slice: Readonly<ByteSlice>, path: Buffer): boolean {
  const { bytes, start, end } = slice;
  const length = end - start;
  if (length < path.length || path.compare(bytes, start, start + path.length) !== 0) return false;
  if (length === path.length) return true;
  const nameStart = path.length === 1 ? start + 1 : start + path.length + 1;
  return bytes[nameStart - 1] === SLASH && bytes.subarray(nameStart, end).indexOf(SLASH) === -1;
}

const SLASH = 0x2f;
