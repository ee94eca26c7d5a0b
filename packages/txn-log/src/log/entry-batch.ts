import { crc32 } from "node:zlib";
import {
  assert,
  FRAME_HEADER_BYTES,
  formatZxid,
  frameLength,
  frameZxid,
  writeFrameHeader,
  type Zxid,
} from "@zooid/model/storage";
import type { ChainCursor } from "./chain.ts";

/** Writes one entry as a frame of a batch; returns where the next one goes. */
export function putEntry(target: Uint8Array, at: number, zxid: Zxid, record: Uint8Array): number {
  writeFrameHeader(target, at, zxid, record.length);
  target.set(record, at + FRAME_HEADER_BYTES);
  return at + FRAME_HEADER_BYTES + record.length;
}

/** Walks a batch. The fields tell of the entry that {@link next} stood on last. */
export class BatchCursor {
  zxid: Zxid = 0 as Zxid;
  /** The record's place in the bytes. */
  start = 0;
  end = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #limit = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#at = start;
    this.#limit = end;
  }

  /** Whether the entry that {@link next} stood on is the last. */
  get atEnd(): boolean {
    return this.#at === this.#limit;
  }

  /** False after the last entry; throws when the bytes do not end at an entry's border. */
  next(): boolean {
    const at = this.#at;
    const limit = this.#limit;
    if (at === limit) return false;
    if (at + FRAME_HEADER_BYTES > limit) assert(false, `a batch ends inside an entry's header at ${at} of ${limit}`);
    this.zxid = frameZxid(this.#bytes, at);
    this.start = at + FRAME_HEADER_BYTES;
    this.end = this.start + frameLength(this.#bytes, at);
    if (this.end > limit) assert(false, `entry ${formatZxid(this.zxid)} continues beyond its batch`);
    this.#at = this.end;
    return true;
  }

  /** Moves a chain over the current entry. */
  extend(chain: ChainCursor): void {
    chain.add(this.zxid, this.end - this.start, crc32(this.#bytes.subarray(this.start, this.end)));
  }

  record(): Uint8Array {
    return this.#bytes.subarray(this.start, this.end);
  }
}
