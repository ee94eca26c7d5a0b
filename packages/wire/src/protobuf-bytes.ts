import { WireError } from "@zooid/model";

/**
 * The pieces of protobuf's encoding that codecs written by hand need, straight into a buffer.
 * Generated code makes an object for each message and each number of 64 bits, which costs more than
 * the rest of the encoding where every write passes.
 */

const SPLIT = 2 ** 32;

/** Bytes of an unsigned varint; values up to 2^53. */
export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value < 0x1000_0000) return 4;
  if (value < 0x8_0000_0000) return 5;
  if (value < 0x400_0000_0000) return 6;
  if (value < 0x2_0000_0000_0000) return 7;
  return 8;
}

/** Writes an unsigned number below 2^53. @returns where it ends */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let rest = value;
  let end = at;
  while (rest >= 0x8000_0000) {
    target[end++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  rest |= 0;
  while (rest >= 0x80) {
    target[end++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[end++] = rest;
  return end;
}

/** Signed 32-bit numbers as sint32 carries them. */
export function zigzag(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}

export function unzigzag(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

/** Writes the halves of a number of 64 bits, the low one first. @returns where they end */
export function writeFixed64(target: Uint8Array, at: number, high: number, low: number): number {
  target[at] = low;
  target[at + 1] = low >>> 8;
  target[at + 2] = low >>> 16;
  target[at + 3] = low >>> 24;
  target[at + 4] = high;
  target[at + 5] = high >>> 8;
  target[at + 6] = high >>> 16;
  target[at + 7] = high >>> 24;
  return at + 8;
}

/** Half of a number of 64 bits, signed; the low half begins where the number does. */
export function fixed32(source: Uint8Array, at: number): number {
  return (
    (source[at] as number) |
    ((source[at + 1] as number) << 8) |
    ((source[at + 2] as number) << 16) |
    ((source[at + 3] as number) << 24)
  );
}

/** Reads protobuf fields out of a range of bytes. Reused: `reset` points it at the next range. */
export class ProtobufReader {
  bytes: Uint8Array = new Uint8Array(0);
  at = 0;
  end = 0;

  reset(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
  }

  /** The next field's tag, or 0 at the end. */
  tag(): number {
    return this.at >= this.end ? 0 : this.varint();
  }

  /** An unsigned number, exact up to 2^53; throws on more than ten bytes and on larger values. */
  varint(): number {
    const { bytes } = this;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      if (this.at >= this.end) throw new WireError("TRUNCATED", "a varint reaches past the end of its message");
      const byte = bytes[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new WireError("VALUE", `varint ${value} is beyond 2^53`);
        return value;
      }
      scale *= 0x80;
    }
    throw new WireError("LENGTH", "a varint has more than ten bytes");
  }

  uint32(): number {
    return this.varint() % SPLIT;
  }

  sint32(): number {
    return unzigzag(this.uint32());
  }

  /**
   * The end of a length-delimited field whose bytes begin at `at`; the caller moves on from there.
   */
  delimited(): number {
    const length = this.varint();
    const end = this.at + length;
    if (end > this.end)
      throw new WireError("TRUNCATED", `a field of ${length} bytes reaches past the end of its message`);
    return end;
  }

  /** Moves past eight bytes and says where they began. */
  fixed64(): number {
    const start = this.at;
    if (start + 8 > this.end) throw new WireError("TRUNCATED", "a fixed64 reaches past the end of its message");
    this.at = start + 8;
    return start;
  }

  /** Skips an unknown field. */
  skip(tag: number): void {
    switch (tag & 7) {
      case 0:
        this.varint();
        return;
      case 1:
        this.fixed64();
        return;
      case 2:
        this.at = this.delimited();
        return;
      case 5:
        if (this.at + 4 > this.end) throw new WireError("TRUNCATED", "a fixed32 reaches past the end of its message");
        this.at += 4;
        return;
      default:
        throw new WireError("VALUE", `field tag ${tag} has no known wire type`);
    }
  }
}
