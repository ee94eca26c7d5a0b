import { type ByteSlice, copyBytes, emptySlice, setSlice } from "@zooid/model";
import { NO_NODE, ROOT } from "../nodes/node-row.ts";
import type { NodeStore } from "../nodes/node-store.ts";
import type { TreeState } from "../tree-state.ts";

/** Limits of one answer about a session's ephemerals. */
export interface EphemeralPathsLimits {
  /** Bytes of the paths that are shown. */
  readonly bytesMax: number;
  /**
   * The work that is looked at: each ephemeral counts 1, each name above it and each 64 bytes too.
   * Those above count once for siblings that follow one another.
   */
  readonly workMax: number;
}

export const NO_EPHEMERAL_LIMITS: EphemeralPathsLimits = {
  bytesMax: Number.POSITIVE_INFINITY,
  workMax: Number.POSITIVE_INFINITY,
};
const BYTES_PER_WORK_LOG2 = 6;
/** Parents whose paths are kept at a time. */
const PARENT_COUNT = 16;
const PATH_BYTES_FIRST = 512;
const SLASH = 0x2f;

/** A parent's path with the slash behind it, and room for a child's name. */
interface ParentPath {
  parent: number;
  bytes: Buffer;
  nameStart: number;
  /**
   * The work that it counts where it does not follow itself: kept or not, so that a limit does not
   * depend on which are kept.
   */
  work: number;
  /** Whether it agrees with the prefix as far as both go. */
  isBelow: boolean;
}

/**
 * Writes the paths of ephemerals one by one. The paths of some parents are kept meanwhile: many
 * ephemerals stand below few.
 */
export class EphemeralPaths {
  readonly #store: NodeStore;
  readonly #parents: readonly ParentPath[] = Array.from({ length: PARENT_COUNT }, () => ({
    parent: NO_NODE,
    bytes: Buffer.allocUnsafeSlow(PATH_BYTES_FIRST),
    nameStart: 0,
    work: 0,
    isBelow: false,
  }));
  readonly #name = emptySlice();
  #workDone = 0;

  constructor(store: NodeStore) {
    this.#store = store;
  }

  /** The work of the last call, as `workMax` counts. */
  get workDone(): number {
    return this.#workDone;
  }

  /**
   * Shows those of a session's ephemerals whose paths begin with a prefix, the youngest first where
   * none was loaded. The slice is valid during the call.
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
    const name = this.#name;
    const path = emptySlice();
    const prefixLength = prefix.end - prefix.start;
    for (const one of this.#parents) one.parent = NO_NODE;
    this.#workDone = 0;
    let bytesLeft = bytesMax;
    let above = this.#parents[0] as ParentPath;
    for (let node = ephemerals.first(session.high, session.low); node !== NO_NODE; node = ephemerals.next(node)) {
      store.name(node, name);
      const nameLength = name.end - name.start;
      this.#workDone += 1 + (nameLength >> BYTES_PER_WORK_LOG2);
      const parent = store.parent(node);
      if (above.parent !== parent) {
        above = this.#parents[parent % PARENT_COUNT] as ParentPath;
        if (above.parent !== parent) this.#write(above, parent, prefix);
        this.#workDone += above.work;
      }
      if (this.#workDone > workMax) return false;
      const { nameStart } = above;
      if (!above.isBelow || nameStart + nameLength < prefixLength) continue;
      if (!agree(name.bytes, name.start, prefix, nameStart, prefixLength - nameStart)) continue;
      bytesLeft -= nameStart + nameLength;
      if (bytesLeft < 0) return false;
      reserve(above, nameStart + nameLength);
      copyBytes(name.bytes, name.start, name.end, above.bytes, nameStart);
      setSlice(path, above.bytes, 0, nameStart + nameLength);
      show(path);
    }
    return true;
  }

  #write(above: ParentPath, parent: number, prefix: Readonly<ByteSlice>): void {
    const length = this.#store.pathLength(parent);
    above.parent = parent;
    reserve(above, length + 1);
    const { bytes } = above;
    this.#store.writePath(parent, bytes, length);
    above.work = length >> BYTES_PER_WORK_LOG2;
    for (let i = 0; i < length; i++) if (bytes[i] === SLASH) above.work++;
    if (parent !== ROOT) bytes[length] = SLASH;
    above.nameStart = parent === ROOT ? length : length + 1;
    above.isBelow = agree(bytes, 0, prefix, 0, Math.min(above.nameStart, prefix.end - prefix.start));
  }
}

function reserve(above: ParentPath, length: number): void {
  const { bytes } = above;
  if (bytes.length >= length) return;
  above.bytes = Buffer.allocUnsafeSlow(length * 2);
  copyBytes(bytes, 0, bytes.length, above.bytes, 0);
}

/** Whether bytes are the same as a part of the prefix. */
function agree(bytes: Uint8Array, at: number, prefix: Readonly<ByteSlice>, from: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[at + i] !== prefix.bytes[prefix.start + from + i]) return false;
  return true;
}
