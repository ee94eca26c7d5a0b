import { type ByteSlice, copyBytes, emptySlice } from "@zooid/model";
import { NO_NODE, type NodeStore, ROOT } from "./node-store.ts";
import type { TreeState } from "./tree-state.ts";

/** What one look at a session's ephemerals may tell. */
export interface EphemeralPathsLimits {
  /** Bytes of the paths that are shown. */
  readonly bytesMax: number;
  /** What is looked at: each ephemeral counts 1, each name above it and each 64 bytes too. Those above are looked at once for siblings that follow one another. */
  readonly workMax: number;
}

export const NO_EPHEMERAL_LIMITS: EphemeralPathsLimits = {
  bytesMax: Number.POSITIVE_INFINITY,
  workMax: Number.POSITIVE_INFINITY,
};
const BYTES_PER_WORK_LOG2 = 6;
const PATH_BYTES_FIRST = 512;
const SLASH = 0x2f;

/** Writes the paths of ephemerals one by one into one buffer. */
export class EphemeralPaths {
  readonly #store: NodeStore;
  readonly #path: { bytes: Buffer; start: number; end: number } = {
    bytes: Buffer.allocUnsafeSlow(PATH_BYTES_FIRST),
    start: 0,
    end: 0,
  };
  readonly #name = emptySlice();
  #workDone = 0;

  constructor(store: NodeStore) {
    this.#store = store;
  }

  /** What the last call looked at, as `workMax` counts. */
  get workDone(): number {
    return this.#workDone;
  }

  /**
   * Shows those of a session's ephemerals whose paths begin with a prefix, the youngest first where none was loaded. The slice is valid during
   * the call.
   *
   * @returns false where a limit is reached; some were shown then
   */
  forEach(
    { ephemerals }: TreeState,
    session: { readonly high: number; readonly low: number },
    prefix: Readonly<ByteSlice>,
    { bytesMax, workMax }: EphemeralPathsLimits,
    show: (path: Readonly<ByteSlice>) => void,
  ): boolean {
    const store = this.#store;
    const path = this.#path;
    const name = this.#name;
    const prefixLength = prefix.end - prefix.start;
    this.#workDone = 0;
    let bytesLeft = bytesMax;
    // Siblings stand behind one another: the path of their parent is written once, and compared once.
    let parent: number = NO_NODE;
    let nameStart = 0;
    let isBelow = false;
    for (let node = ephemerals.first(session.high, session.low); node !== NO_NODE; node = ephemerals.next(node)) {
      store.name(node, name);
      const nameLength = name.end - name.start;
      this.#workDone += 1 + (nameLength >> BYTES_PER_WORK_LOG2);
      if (store.parent(node) !== parent) {
        parent = store.parent(node);
        nameStart = this.#writeParent(parent);
        isBelow = agree(path.bytes, 0, prefix, 0, Math.min(nameStart, prefixLength));
      }
      if (this.#workDone > workMax) return false;
      if (!isBelow || nameStart + nameLength < prefixLength) continue;
      if (!agree(name.bytes, name.start, prefix, nameStart, prefixLength - nameStart)) continue;
      path.end = nameStart + nameLength;
      bytesLeft -= path.end;
      if (bytesLeft < 0) return false;
      this.#reserve(path.end);
      copyBytes(name.bytes, name.start, name.end, path.bytes, nameStart);
      show(path);
    }
    return true;
  }

  /** Writes a parent's path with the slash in front of a child's name. @returns where the name begins */
  #writeParent(parent: number): number {
    const length = this.#store.pathLength(parent);
    this.#reserve(length + 1);
    const { bytes } = this.#path;
    this.#store.writePath(parent, bytes, length);
    this.#workDone += length >> BYTES_PER_WORK_LOG2;
    for (let i = 0; i < length; i++) if (bytes[i] === SLASH) this.#workDone++;
    if (parent === ROOT) return length;
    bytes[length] = SLASH;
    return length + 1;
  }

  #reserve(length: number): void {
    const { bytes } = this.#path;
    if (bytes.length >= length) return;
    this.#path.bytes = Buffer.allocUnsafeSlow(length * 2);
    copyBytes(bytes, 0, bytes.length, this.#path.bytes, 0);
  }
}

/** Whether bytes are the same as a part of the prefix. */
function agree(bytes: Uint8Array, at: number, prefix: Readonly<ByteSlice>, from: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[at + i] !== prefix.bytes[prefix.start + from + i]) return false;
  return true;
}
