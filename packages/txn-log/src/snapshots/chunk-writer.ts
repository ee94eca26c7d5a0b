import { crc32 } from "node:zlib";
import { copyBytes } from "@zooid/model/storage";
import { CHUNK_BYTES, CHUNK_HEADER_BYTES, RECORD_HEADER_BYTES, sealChunk } from "./snapshot-format.ts";

/** Cuts a stream of records into full chunks. */
export class ChunkWriter {
  readonly #sealed: Buffer<ArrayBuffer>[] = [];
  readonly #header = Buffer.alloc(RECORD_HEADER_BYTES);
  #chunk = newChunk();
  #at = CHUNK_HEADER_BYTES;
  /** Up to where the chunk is contained in the sum. */
  #summed = CHUNK_HEADER_BYTES;
  #sum = 0;
  #index = 0;

  record(kind: number, body: Uint8Array, start: number, end: number): void {
    this.#header.writeUInt8(kind, 0);
    this.#header.writeUInt32BE(end - start, 1);
    this.put(this.#header, 0, RECORD_HEADER_BYTES);
    this.put(body, start, end);
  }

  /** Copies bytes to the stream's end. */
  put(bytes: Uint8Array, start: number, end: number): void {
    let from = start;
    while (from < end) {
      // A full chunk is sealed only now: should nothing follow, it is the last.
      if (this.#at === CHUNK_BYTES) this.#seal(false);
      const to = Math.min(end, from + CHUNK_BYTES - this.#at);
      copyBytes(bytes, from, to, this.#chunk, this.#at);
      this.#at += to - from;
      from = to;
    }
  }

  /** The CRC-32 of everything put so far. */
  sum(): number {
    this.#sum = crc32(this.#chunk.subarray(this.#summed, this.#at), this.#sum);
    this.#summed = this.#at;
    return this.#sum;
  }

  /** Nothing more will be put. */
  end(): void {
    this.#seal(true);
  }

  /** The oldest chunk that is whole; it is the caller's. */
  take(): Buffer<ArrayBuffer> | undefined {
    return this.#sealed.shift();
  }

  #seal(isLast: boolean): void {
    this.sum();
    // A short last chunk gets memory of its own size: it will travel between threads as a whole.
    const chunk = this.#at === CHUNK_BYTES ? this.#chunk : newChunk(this.#at);
    if (chunk !== this.#chunk) this.#chunk.copy(chunk, 0, 0, this.#at);
    sealChunk(chunk, this.#index++, isLast);
    this.#sealed.push(chunk);
    this.#chunk = isLast ? NO_BYTES : newChunk();
    this.#at = CHUNK_HEADER_BYTES;
    this.#summed = CHUNK_HEADER_BYTES;
  }
}

const NO_BYTES = Buffer.alloc(0);

function newChunk(size: number = CHUNK_BYTES): Buffer<ArrayBuffer> {
  return Buffer.allocUnsafeSlow(size);
}
