import { copyBytes, FRAME_HEADER_BYTES, type FrameBatch, frameLength, frameZxid, type Zxid } from "@zooid/model";

/** Many times what batches have: buffers are used again and again. */
const CHUNK_BYTES = 1024 * 1024;
const KEPT_BYTES_MAX = 4 * CHUNK_BYTES;

/** Frames of consecutive entries, from the beginning of a buffer to `end`. */
interface Chunk {
  readonly bytes: Uint8Array;
  readonly first: Zxid;
  last: Zxid;
  end: number;
  /** The first zxid of each batch in it and where that begins. */
  readonly batches: { readonly first: Zxid; readonly start: number }[];
}

/** Frames up to and including those of `last`. */
export interface RecentFrames {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly last: Zxid;
}

/**
 * The entries delivered last, some 4 MiB of them, for observers that get them a little later. They
 * are copied into one buffer, so that a run of many small batches goes out as one message.
 */
export class RecentEntries {
  /** Oldest first. */
  readonly #chunks: Chunk[] = [];
  /** Memory of the chunks. */
  #sizeBytes = 0;

  /** Whether the entry after `after` is here. */
  holdsAfter(after: Zxid): boolean {
    const oldest = this.#chunks[0];
    const newest = this.#chunks.at(-1);
    return oldest !== undefined && newest !== undefined && oldest.first <= after + 1 && after < newest.last;
  }

  /**
   * Frames after `after` in one buffer, valid until the next call of {@link push}.
   *
   * @param after must satisfy {@link holdsAfter}
   */
  framesAfter(after: Zxid): RecentFrames | undefined {
    const chunk = this.#chunks.findLast(({ first }) => first <= after + 1);
    const batch = chunk?.batches.findLast(({ first }) => first <= after + 1);
    if (chunk === undefined || batch === undefined) return undefined;
    const { bytes, end, last } = chunk;
    let { start } = batch;
    while (frameZxid(bytes, start) <= after) start += FRAME_HEADER_BYTES + frameLength(bytes, start);
    return { bytes, start, end, last };
  }

  /** Copies a batch that continues the one before; the oldest entries make room for it. */
  push({ bytes, end, first, last }: FrameBatch): void {
    const newest = this.#chunks.at(-1);
    if (end > KEPT_BYTES_MAX || (newest !== undefined && newest.last + 1 !== first)) this.clear();
    if (end > KEPT_BYTES_MAX) return;
    const chunk = this.#withRoom(end, first);
    copyBytes(bytes, 0, end, chunk.bytes, chunk.end);
    chunk.batches.push({ first, start: chunk.end });
    chunk.end += end;
    chunk.last = last;
  }

  clear(): void {
    this.#chunks.length = 0;
    this.#sizeBytes = 0;
  }

  /**
   * The newest chunk, or a new one where the newest is full; it takes the oldest one's buffer over,
   * once there is no room for more.
   */
  #withRoom(bytes: number, first: Zxid): Chunk {
    const newest = this.#chunks.at(-1);
    if (newest !== undefined && newest.bytes.length - newest.end >= bytes) return newest;
    const size = Math.max(bytes, CHUNK_BYTES);
    let buffer: Uint8Array | undefined;
    while (this.#sizeBytes + size > KEPT_BYTES_MAX) {
      buffer = this.#chunks.shift()?.bytes;
      this.#sizeBytes -= buffer?.length ?? 0;
    }
    if (buffer?.length !== size) buffer = new Uint8Array(size);
    const chunk = { bytes: buffer, first, last: first, end: 0, batches: [] };
    this.#chunks.push(chunk);
    this.#sizeBytes += size;
    return chunk;
  }
}
