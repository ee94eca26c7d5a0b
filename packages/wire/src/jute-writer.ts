import { type ByteSlice, copyBytes, zxidHigh, zxidLow } from "@zooid/model";
import { BufferPool, newWriteBuffer, type WriteBuffer } from "./buffer-pool.ts";

const NOTHING: WriteBuffer = newWriteBuffer(0);
/**
 * The replies of one turn are given room for this at first, or for as much as those of an earlier
 * turn.
 */
const FIRST_BYTES = 1024;
const FIRST_BYTES_MAX = 64 * 1024;

/**
 * Writes Jute's primitives, big-endian, into a buffer of a pool that grows as needed. Between turns
 * it holds no buffer, so ten thousand idle connections cost nothing here.
 *
 * A turn's replies to one connection lie one behind the other and leave in one write. A writer
 * begins with as much room as the turn before needed, up to a bound: a buffer that grows is copied,
 * and most connections send the same requests again and again.
 */
export class JuteWriter {
  bytes: Buffer = NOTHING.bytes;
  /** A view of the same bytes. */
  view: DataView = NOTHING.view;
  end = 0;
  readonly #pool: BufferPool;
  #buffer: WriteBuffer = NOTHING;
  #firstBytes = FIRST_BYTES;

  constructor(pool: BufferPool = new BufferPool()) {
    this.#pool = pool;
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    if (this.end + more <= this.bytes.length) return;
    const grown = this.#pool.takeToWrite(Math.max(this.#firstBytes, this.bytes.length * 2, this.end + more));
    if (this.end > 0) copyBytes(this.bytes, 0, this.end, grown.bytes, 0);
    if (this.#buffer !== NOTHING) this.#pool.giveWritten(this.#buffer);
    this.#use(grown);
  }

  /**
   * Passes the buffer on, to be returned to the pool by its receiver; the next write begins in
   * another one.
   */
  detach(): WriteBuffer {
    const buffer = this.#buffer;
    this.#firstBytes = Math.max(FIRST_BYTES, Math.min(this.end, FIRST_BYTES_MAX));
    this.#use(NOTHING);
    this.end = 0;
    return buffer;
  }

  /** Forgets what was written and gives the buffer back. */
  clear(): void {
    if (this.#buffer !== NOTHING) this.#pool.giveWritten(this.#buffer);
    this.#use(NOTHING);
    this.end = 0;
  }

  int(value: number): void {
    this.reserve(4);
    this.end = putInt(this.bytes, this.end, value);
  }

  bool(value: boolean): void {
    this.reserve(1);
    this.bytes[this.end++] = value ? 1 : 0;
  }

  long(high: number, low: number): void {
    this.reserve(8);
    this.end = putInt(this.bytes, putInt(this.bytes, this.end, high), low);
  }

  zxid(value: number): void {
    this.long(zxidHigh(value), zxidLow(value));
  }

  /** A buffer or a string: its length, then its bytes. */
  slice(slice: Readonly<ByteSlice>): void {
    this.range(slice.bytes, slice.start, slice.end);
  }

  range(bytes: Uint8Array, start: number, end: number): void {
    this.reserve(4 + end - start);
    const at = putInt(this.bytes, this.end, end - start);
    copyBytes(bytes, start, end, this.bytes, at);
    this.end = at + end - start;
  }

  /** Bytes as they are, without a length. */
  raw(bytes: Uint8Array, start: number, end: number): void {
    this.reserve(end - start);
    copyBytes(bytes, start, end, this.bytes, this.end);
    this.end += end - start;
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.reserve(4 + length);
    const at = putInt(this.bytes, this.end, length);
    this.end = at + this.bytes.write(value, at, length, "utf8");
  }

  /** A null buffer, string or vector. */
  null(): void {
    this.int(-1);
  }

  /** Leaves room for a frame's length and returns the place for {@link endFrame}. */
  beginFrame(): number {
    this.reserve(4);
    const at = this.end;
    this.end += 4;
    return at;
  }

  endFrame(at: number): void {
    putInt(this.bytes, at, this.end - at - 4);
  }

  #use(buffer: WriteBuffer): void {
    this.#buffer = buffer;
    this.bytes = buffer.bytes;
    this.view = buffer.view;
  }
}

export function putInt(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
  return at + 4;
}
