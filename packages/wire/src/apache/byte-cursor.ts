/**
 * Walks over the bytes of a stream that are there. A caller asks with {@link has} before it reads;
 * where the answer is no, {@link needed} says how far the bytes have to reach.
 */
export class ByteCursor {
  readonly bytes: Buffer;
  at: number;
  /** Where the bytes have to reach to. */
  needed = 0;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  has(count: number): boolean {
    this.needed = this.at + count;
    return this.needed <= this.bytes.length;
  }

  int(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  long(): bigint {
    this.at += 8;
    return this.bytes.readBigInt64BE(this.at - 8);
  }

  bytesOf(count: number): Buffer {
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }

  skip(count: number): boolean {
    if (!this.has(count)) return false;
    this.at += count;
    return true;
  }
}
