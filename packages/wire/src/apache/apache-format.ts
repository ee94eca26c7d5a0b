/**
 * A snapshot as Apache ZooKeeper writes it, in Jute. Numbers are big-endian, a string or buffer is
 * its length and its bytes.
 *
 * ```
 *  header   "ZKSN" · version 2 u32 · -1 i64
 *  sessions count i32 · (id i64 · timeout i32) …
 *  lists    count i32 · (key i64 · count i32 · (permissions i32 · scheme · id) …) …
 *  nodes    (path · data, -1 for null · key of its list i64 · stat, 60 bytes) …, parents first, the root by an empty path · "/"
 *  seal     Adler-32 of all before it i64 · "/"
 *  digest   zxid i64 · version i32 · digest i64 · seal            from 3.6 on
 *  last     zxid of the last transaction i64 · seal               from 3.9 on
 * ```
 *
 * The stat is the client's without the lengths, in stored form: cversion counts the children ever
 * created, and containers and TTL nodes have an owner. The key -1 is the open list.
 */
export const APACHE_MAGIC = 0x5a4b_534e;
export const APACHE_VERSION = 2;
export const APACHE_HEADER_BYTES = 16;
export const APACHE_SESSION_BYTES = 12;
export const APACHE_STAT_BYTES = 60;
/** Where a stat of a client has two lengths that a stored one does not have. */
export const STAT_LENGTHS_START = 52;
export const STAT_LENGTHS_BYTES = 8;
/** A path that ends the nodes, and each seal. */
export const END_PATH = "/";
export const SEAL_BYTES = 13;
export const DIGEST_BYTES = 20;
export const LAST_ZXID_BYTES = 8;
/** The version of the digests that Apache ZooKeeper computes since 3.7. */
export const APACHE_DIGEST_VERSION = 2;

const MODULUS = 65_521;
/** As many bytes as can be added up before the sums leave what is exact and quick. */
const STRETCH = 3800;

/** Java's checksum of a stream. */
export class Adler32 {
  #low = 1;
  #high = 0;

  add(bytes: Uint8Array, start: number, end: number): void {
    let low = this.#low;
    let high = this.#high;
    for (let at = start; at < end; ) {
      const stop = Math.min(end, at + STRETCH);
      for (; at < stop; at++) {
        low += bytes[at] as number;
        high += low;
      }
      low %= MODULUS;
      high %= MODULUS;
    }
    this.#low = low;
    this.#high = high;
  }

  get value(): number {
    return this.#high * 65_536 + this.#low;
  }
}

/** An i32. */
export function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** An i64. */
export function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

/** A string or buffer behind its length, which is -1 for null. */
export function field(bytes: Buffer | null): Buffer {
  return bytes === null ? int(-1) : Buffer.concat([int(bytes.length), bytes]);
}
