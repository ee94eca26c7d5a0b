import { copyBytes, WireError } from "@zooid/model";
import type { BufferPool } from "./buffer-pool.ts";

/**
 * Takes one whole frame, without its length. The bytes are valid during the call only. False stops
 * the cutting for now.
 */
export type FrameSink = (bytes: Uint8Array, start: number, end: number) => boolean;

/**
 * Decides about a frame above the limit, by its length and its first bytes: true skips it, and the
 * next frame is read; false ends the stream as for any invalid length.
 */
export type OversizeSink = (length: number, bytes: Uint8Array, start: number, end: number) => boolean;

/** Bytes of a frame above the limit that its sink sees: the header of a reply. */
export const OVERSIZE_HEAD_BYTES = 16;

/**
 * Cuts a stream of chunks into length-prefixed frames. A frame that lies within one chunk is handed
 * on where it lies; one that spans chunks is gathered in a buffer that grows with what arrives,
 * never by what the length claims.
 *
 * ```
 *  chunk 1   length │ frame, in place │ length │ gath
 *  chunk 2   ered │ length │ frame, in place
 * ```
 *
 * Bytes behind a frame whose sink returned false are kept until `resume`.
 */
export class Framer {
  readonly #frameBytesMax: number;
  readonly #pool: Pick<BufferPool, "take" | "give">;
  /** The unfinished frame, or what waits for `resume`: from `#start` to `#end`. */
  #kept: Buffer = NOTHING;
  #start = 0;
  #end = 0;
  #stopped = false;
  #oversized: OversizeSink | undefined;
  /** Bytes still to come of a frame that is skipped. */
  #skipBytes = 0;

  /** @param pool where buffers of long frames come from and go to: fresh memory is slow to write */
  constructor(frameBytesMax: number, pool: Pick<BufferPool, "take" | "give"> = NO_POOL) {
    this.#frameBytesMax = frameBytesMax;
    this.#pool = pool;
  }

  /** Skips frames above the limit where the sink agrees, instead of ending the stream. */
  skipOversized(sink: OversizeSink): void {
    this.#oversized = sink;
  }

  /** Bytes that arrived and were not handed on yet. */
  get keptBytes(): number {
    return this.#end - this.#start;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /**
   * Throws a WireError for a length that is not between 1 and the limit; the stream cannot be read
   * on after it.
   */
  push(chunk: Buffer, sink: FrameSink): void {
    if (this.#stopped || this.keptBytes > 0) {
      // A frame that is skipped has nothing kept before its end.
      this.#keep(chunk, 0);
      if (!this.#stopped) this.#cutKept(sink);
      return;
    }
    const used = this.#cut(chunk, this.#skip(0, chunk.length), chunk.length, sink);
    if (used < chunk.length) this.#keep(chunk, used);
  }

  resume(sink: FrameSink): void {
    this.#stopped = false;
    this.#cutKept(sink);
  }

  /** Hands on whole frames between two places and returns where it stopped. */
  #cut(bytes: Buffer, start: number, end: number, sink: FrameSink): number {
    let at = start;
    while (end - at >= 4) {
      const length = bytes.readInt32BE(at);
      if (length <= 0 || length > this.#frameBytesMax) {
        if (length > OVERSIZE_HEAD_BYTES && this.#oversized !== undefined) {
          const head = at + 4 + OVERSIZE_HEAD_BYTES;
          if (head > end) break;
          if (this.#oversized(length, bytes, at + 4, head)) {
            this.#skipBytes = 4 + length;
            at = this.#skip(at, end);
            continue;
          }
        }
        throw new WireError(
          "FRAME_SIZE",
          `a frame of ${length} bytes; between 1 and ${this.#frameBytesMax} are allowed`,
        );
      }
      const frameEnd = at + 4 + length;
      if (frameEnd > end) break;
      const wantsMore = sink(bytes, at + 4, frameEnd);
      at = frameEnd;
      if (!wantsMore) {
        this.#stopped = true;
        break;
      }
    }
    return at;
  }

  /** Leaves out what belongs to a skipped frame, and returns where the rest begins. */
  #skip(start: number, end: number): number {
    const skipped = Math.min(this.#skipBytes, end - start);
    this.#skipBytes -= skipped;
    return start + skipped;
  }

  #cutKept(sink: FrameSink): void {
    const kept = this.#kept;
    const used = this.#cut(kept, this.#start, this.#end, sink);
    // The sink may have pushed nothing: only `#cut` and `#keep` move these.
    this.#start = used;
    if (this.#start === this.#end) {
      this.#start = 0;
      this.#end = 0;
      if (kept.length > KEPT_BYTES_IDLE) {
        this.#kept = NOTHING;
        this.#pool.give(kept);
      }
    }
  }

  #keep(chunk: Buffer, from: number): void {
    const more = chunk.length - from;
    if (this.#end + more > this.#kept.length) {
      const held = this.#end - this.#start;
      const kept = this.#kept;
      const room = held + more <= kept.length / 2 ? kept : this.#roomFor(held + more);
      copyBytes(kept, this.#start, this.#end, room, 0);
      this.#kept = room;
      if (room !== kept && kept.length > KEPT_BYTES_IDLE) this.#pool.give(kept);
      this.#start = 0;
      this.#end = held;
    }
    copyBytes(chunk, from, chunk.length, this.#kept, this.#end);
    this.#end += more;
  }

  #roomFor(bytes: number): Buffer {
    const length = Math.max(256, 2 ** Math.ceil(Math.log2(bytes * 1.25)));
    return length > KEPT_BYTES_IDLE ? this.#pool.take(length) : Buffer.allocUnsafeSlow(length);
  }
}

const NOTHING = Buffer.alloc(0);
const NO_POOL: Pick<BufferPool, "take" | "give"> = { take: Buffer.allocUnsafeSlow, give: () => {} };
/**
 * A larger buffer is given up once it is empty: most connections send small requests, and there may
 * be many of them.
 */
const KEPT_BYTES_IDLE = 4096;
