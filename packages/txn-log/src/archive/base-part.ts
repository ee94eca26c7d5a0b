import { createHash } from "node:crypto";
import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from "node:fs";
import { type BasePart, CHUNKS_PER_PART } from "./base-manifest.ts";

/** A part that was written, and whether another one follows. */
export interface WrittenPart extends BasePart {
  readonly isLast: boolean;
}

/**
 * Number of chunks that are synced together. A write to the server's log waits on the disk until
 * such a sync is over.
 */
const CHUNKS_PER_SYNC = 4;

/**
 * Writes the next chunks of a snapshot as one part of a base, and syncs it. For a thread that no
 * client waits for: the sum of a chunk alone takes about a millisecond.
 *
 * @param chunks gives undefined behind the last one
 * @param rested called after each chunk: clients go first
 * @returns undefined where no chunk is left: then there is no file
 */
export function writeBasePart(
  file: string,
  chunks: ChunkQueue,
  rested: () => void = () => {},
): WrittenPart | undefined {
  if (chunks.first() === undefined) return undefined;
  const hash = createHash("sha256");
  const handle = openSync(file, "wx", 0o600);
  let bytes = 0;
  try {
    for (let count = 1; count <= CHUNKS_PER_PART; count++) {
      const chunk = chunks.take();
      if (chunk === undefined) break;
      hash.update(chunk);
      bytes += chunk.length;
      for (let at = 0; at < chunk.length; ) at += writeSync(handle, chunk, at);
      if (count % CHUNKS_PER_SYNC === 0) fdatasyncSync(handle);
      rested();
    }
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  return { bytes, sha256: hash.digest("hex"), isLast: chunks.first() === undefined };
}

/** Chunks, with a look at the next one. */
export class ChunkQueue {
  readonly #next: () => Uint8Array | undefined;
  #first: Uint8Array | undefined;
  #isEnded = false;

  constructor(next: () => Uint8Array | undefined) {
    this.#next = next;
  }

  first(): Uint8Array | undefined {
    if (this.#first === undefined && !this.#isEnded) {
      this.#first = this.#next();
      this.#isEnded = this.#first === undefined;
    }
    return this.#first;
  }

  take(): Uint8Array | undefined {
    const first = this.first();
    this.#first = undefined;
    return first;
  }
}
