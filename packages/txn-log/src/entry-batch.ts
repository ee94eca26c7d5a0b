import { crc32 } from "node:zlib";
import { assert, type Zxid, zxidFromHalves, zxidHigh, zxidLow } from "@zooid/model";
import type { ChainCursor } from "./chain.ts";

/**
 * Entries on their way to the log, one behind the other, as leader, learners and log pass them on without looking inside:
 *
 * ```
 *  | zxid: u64 BE | length: u32 BE | record: length bytes | zxid … |
 * ```
 */
export const ENTRY_HEADER_BYTES = 12;

/** Writes one entry; returns where the next one goes. */
export function putEntry(target: Uint8Array, at: number, zxid: Zxid, record: Uint8Array): number {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
  view.setInt32(at, zxidHigh(zxid));
  view.setInt32(at + 4, zxidLow(zxid));
  view.setUint32(at + 8, record.length);
  target.set(record, at + ENTRY_HEADER_BYTES);
  return at + ENTRY_HEADER_BYTES + record.length;
}

/** Walks a batch. The fields tell of the entry that {@link next} stood on last. */
export class BatchCursor {
  zxid: Zxid = 0 as Zxid;
  /** The record's place in the bytes. */
  start = 0;
  end = 0;
  #view: DataView = new DataView(new ArrayBuffer(0));
  #bytes: Uint8Array = new Uint8Array(0);
  #at = 0;
  #limit = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#at = start;
    this.#limit = end;
  }

  /** False after the last entry; throws when the bytes do not end at an entry's border. */
  next(): boolean {
    const at = this.#at;
    if (at === this.#limit) return false;
    assert(at + ENTRY_HEADER_BYTES <= this.#limit, `a batch ends inside an entry's header at ${at} of ${this.#limit}`);
    const length = this.#view.getUint32(at + 8);
    this.zxid = zxidFromHalves(this.#view.getInt32(at), this.#view.getInt32(at + 4));
    this.start = at + ENTRY_HEADER_BYTES;
    this.end = this.start + length;
    assert(this.end <= this.#limit, `entry 0x${this.zxid.toString(16)} says ${length} bytes and the batch has fewer`);
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
