/**
 * A transaction log as Apache ZooKeeper writes it, `log.` and the zxid of its first entry:
 *
 * ```
 *  header  "ZKLG" · version 2 i32 · database 0 i64
 *  entry   Adler-32 of the transaction i64 · length i32 · transaction · 0x42
 * ```
 *
 * It ends at a length of 0, since files grow by zeros, or where an entry is not whole: the server
 * was stopped, or the file was copied, while that was written.
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { Adler32 } from "@zooid/wire/apache";
import { StoreError } from "../store/store-error.ts";

const MAGIC = 0x5a4b_4c47;
const VERSION = 2;
const HEADER_BYTES = 16;
const ENTRY_HEADER_BYTES = 12;
const END_BYTE = 0x42;
/** No transaction is longer: by default a server takes requests of up to 1 MiB. */
const TXN_BYTES_MAX = 512 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

/**
 * The transactions of a file, in its order, each a copy.
 *
 * @returns the place of what is no whole entry behind the last one; undefined if it ends there
 * @throws StoreError DAMAGED for an entry that is not what was written, or for another kind of file
 */
export function* apacheLogEntries(file: string): Generator<Buffer, number | undefined, undefined> {
  const source = new FileSource(file);
  try {
    const header = source.take(HEADER_BYTES);
    // The server was stopped before it had written one.
    if (header === undefined || header.every((byte) => byte === 0)) return undefined;
    if (header.readUInt32BE(0) !== MAGIC || header.readInt32BE(4) !== VERSION) {
      const found = "it is no transaction log of Apache ZooKeeper's";
      throw new StoreError({ code: "DAMAGED", file, place: "its header", found });
    }
    for (;;) {
      const at = source.position;
      const head = source.take(ENTRY_HEADER_BYTES);
      if (head === undefined) return source.isZero() ? undefined : at;
      const [sum, length] = [head.readBigInt64BE(0), head.readInt32BE(8)];
      if (length === 0) return source.isZero() && sum === 0n ? undefined : at;
      if (length < 0 || length > TXN_BYTES_MAX) throw damaged(file, at, `a transaction of ${length} bytes`);
      const whole = source.take(length + 1);
      if (whole === undefined || whole[length] !== END_BYTE) return at;
      const adler = new Adler32();
      adler.add(whole, 0, length);
      if (BigInt(adler.value) !== sum) throw damaged(file, at, "its sum is another one");
      yield whole.subarray(0, length);
    }
  } finally {
    source.close();
  }
}

function damaged(file: string, at: number, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place: `the entry at byte ${at}`, found });
}

/** Reads a file from its start, in pieces. */
class FileSource {
  readonly #fd: number;
  readonly #size: number;
  #piece: Buffer = Buffer.alloc(0);
  #at = 0;
  #read = 0;

  constructor(file: string) {
    this.#fd = openSync(file, "r");
    this.#size = fstatSync(this.#fd).size;
  }

  get position(): number {
    return this.#read - (this.#piece.length - this.#at);
  }

  /** A copy of the next bytes; undefined where the file has fewer. */
  take(count: number): Buffer | undefined {
    if (count > this.#size - this.position) return undefined;
    if (this.#piece.length - this.#at < count) this.#fill(count);
    this.#at += count;
    return Buffer.from(this.#piece.subarray(this.#at - count, this.#at));
  }

  /** Whether nothing but zeros is left; reads to the end. */
  isZero(): boolean {
    for (;;) {
      const rest = this.#piece.subarray(this.#at);
      if (!rest.equals(Buffer.alloc(rest.length))) return false;
      this.#at = this.#piece.length;
      if (this.position >= this.#size) return true;
      this.#fill(1);
    }
  }

  #fill(count: number): void {
    const rest = this.#piece.subarray(this.#at);
    const piece = Buffer.alloc(Math.max(PIECE_BYTES, count));
    rest.copy(piece);
    let length = rest.length;
    while (length < count) {
      const got = readSync(this.#fd, piece, length, piece.length - length, this.#read);
      if (got === 0) break;
      length += got;
      this.#read += got;
    }
    this.#piece = piece.subarray(0, length);
    this.#at = 0;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
