import { type ByteSlice, setSlice, sliceText, WireError, type Zxid, zxidFromHalves } from "@zooid/model";

const NOTHING = Buffer.alloc(0);

/**
 * Reads Jute's primitives out of one frame. Total: every read either lies within the frame or
 * throws a {@link WireError}, and nothing is allocated by a length that the bytes only claim.
 *
 * ```
 *  int               4 bytes, big-endian, signed
 *  long              8 bytes, the same
 *  boolean           1 byte: 0 is false
 *  buffer, ustring   length int │ as many bytes; a length of -1 is null
 *  vector            count int │ as many elements; a count of -1 is null
 *  record            its fields, one behind the other
 * ```
 *
 * Bytes do not say what they are: records have no tags, no lengths and no versions. Both sides know
 * a request by its op and an answer by the request with its xid, and a record grows only at its
 * end, where a reader that finds bytes left knows that the field is there.
 */
export class JuteReader {
  bytes: Buffer = NOTHING;
  at = 0;
  end = 0;

  reset(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = start;
    this.end = end;
  }

  get rest(): number {
    return this.end - this.at;
  }

  int(): number {
    const { bytes, at } = this;
    if (at + 4 > this.end) throw truncated("an int");
    this.at = at + 4;
    return intAt(bytes, at);
  }

  bool(): boolean {
    if (this.at >= this.end) throw truncated("a boolean");
    return this.bytes[this.at++] !== 0;
  }

  /** A zxid, or another long that is small enough for a double. */
  zxid(): Zxid {
    const high = this.int();
    return zxidFromHalves(high, this.int());
  }

  /** A buffer or a string: false for null, else its bytes in `into`. */
  slice(into: ByteSlice): boolean {
    const length = this.int();
    if (length < 0) {
      if (length !== -1) throw new WireError("LENGTH", `a length of ${length}`);
      setSlice(into, this.bytes, this.at, this.at);
      return false;
    }
    const { at } = this;
    if (at + length > this.end)
      throw new WireError("TRUNCATED", `${length} bytes are claimed, ${this.end - at} are left`);
    setSlice(into, this.bytes, at, at + length);
    this.at = at + length;
    return true;
  }

  text(): string | null {
    const slice: ByteSlice = { bytes: this.bytes, start: 0, end: 0 };
    return this.slice(slice) ? sliceText(slice) : null;
  }

  /**
   * A vector's count: -1 for null; anything below is an empty vector, as in Apache. A count that
   * the rest of the frame cannot hold is refused before anybody loops over it.
   *
   * @param elementBytesMin the fewest bytes that one element takes
   */
  count(elementBytesMin: number): number {
    const count = this.int();
    if (count < -1) return 0;
    if (count * elementBytesMin > this.rest) {
      throw new WireError("LENGTH", `${count} elements are claimed, ${this.rest} bytes are left`);
    }
    return count;
  }
}

export function intAt(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

function truncated(what: string): WireError {
  return new WireError("TRUNCATED", `${what} reaches past the end of its frame`);
}
