import { WireError } from "@zooid/model";
import { fixed32 } from "@zooid/wire/protobuf";
import Long from "long";
import protobuf from "protobufjs/minimal.js";

const SPLIT = 2 ** 32;
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The reader behind protobufjs's generated decoders: they keep the schema, this keeps the bounds.
 *
 * Every method that they call is replaced, so that any bytes are a record or a WireError, and
 * nothing is allocated by a length or a count that bytes only claim:
 *
 * - a field, and each message inside another, ends within what it is in
 * - numbers are exact up to 2^53; more is refused, never rounded
 * - a record has at most `elementsMax` texts, numbers of 32 bits and messages inside it
 * - unknown fields are skipped, not kept; groups, which nest without a bound, are refused
 * - bytes are not copied: they last as long as the frame does
 */
export class BoundedReader extends protobuf.Reader {
  readonly #elementsMax: number;
  #elements = 0;

  constructor(bytes: Uint8Array, start: number, end: number, elementsMax: number) {
    super(bytes);
    this.pos = start;
    this.len = end;
    this.discardUnknown = true;
    this.#elementsMax = elementsMax;
  }

  override tag(): number {
    const tag = this.#varint();
    if (tag === 0) throw new WireError("VALUE", "a field has the tag 0");
    // Generated code takes the low 32 bits: a longer tag would pass for another field's.
    if (tag >= SPLIT) throw new WireError("VALUE", `a field has the tag ${tag}`);
    return tag;
  }

  /** The length of a message inside another. */
  override size(): number {
    this.#countElement();
    return this.#length();
  }

  override uint32(): number {
    this.#countElement();
    return this.#varint();
  }

  /** The number of an enum's value. */
  override int32(): number {
    return this.#varint();
  }

  override uint64(): Long {
    const value = this.#varint();
    return Long.fromBits((value % SPLIT) | 0, (value / SPLIT) | 0, true);
  }

  override bool(): boolean {
    return this.#varint() !== 0;
  }

  override fixed64(): Long {
    const at = this.pos;
    this.#skip(8);
    return Long.fromBits(fixed32(this.buf, at), fixed32(this.buf, at + 4), true);
  }

  override stringVerify(): string {
    this.#countElement();
    return utf8.decode(this.bytes());
  }

  override bytes(): Uint8Array {
    const length = this.#length();
    const start = this.pos;
    this.pos += length;
    return this.buf.subarray(start, this.pos);
  }

  override uint32s(array: number[] = []): number[] {
    const length = this.#length();
    const { len } = this;
    this.len = this.pos + length;
    while (this.pos < this.len) array.push(this.uint32());
    this.len = len;
    return array;
  }

  override skipType(wireType: number): this {
    switch (wireType) {
      case 0:
        this.#varint();
        return this;
      case 1:
        this.#skip(8);
        return this;
      case 2:
        this.#skip(this.#length());
        return this;
      case 5:
        this.#skip(4);
        return this;
      default:
        throw new WireError("VALUE", `a field has the wire type ${wireType}`);
    }
  }

  #countElement(): void {
    if (++this.#elements > this.#elementsMax) {
      throw new WireError("LENGTH", `a message has more than ${this.#elementsMax} elements`);
    }
  }

  #length(): number {
    const length = this.#varint();
    if (length > this.len - this.pos) {
      throw new WireError("TRUNCATED", `a field of ${length} bytes reaches past the end of its message`);
    }
    return length;
  }

  #skip(bytes: number): void {
    if (bytes > this.len - this.pos) {
      throw new WireError("TRUNCATED", `a field of ${bytes} bytes reaches past the end of its message`);
    }
    this.pos += bytes;
  }

  #varint(): number {
    const { buf, len } = this;
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      if (this.pos >= len) throw new WireError("TRUNCATED", "a varint reaches past the end of its message");
      const byte = buf[this.pos++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) throw new WireError("VALUE", `varint ${value} is beyond 2^53`);
        return value;
      }
      scale *= 0x80;
    }
    throw new WireError("LENGTH", "a varint has more than ten bytes");
  }
}
