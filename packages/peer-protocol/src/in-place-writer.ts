import { assert, copyBytes } from "@zooid/model";
import { writeFixed64, writeVarint } from "@zooid/wire/protobuf";
import type Long from "long";
import protobuf from "protobufjs/minimal.js";

const SPLIT = 2 ** 32;
/**
 * Lengths that are known only at a message's end are filled in there, as a varint of four bytes.
 */
export const LENGTH_BYTES = 4;

/**
 * The writer behind protobufjs's generated encoders: into a buffer of the caller's, where the
 * caller says, without a copy. Every method that they call is replaced.
 *
 * protobufjs's own writer moves a message to make room for its length. This one leaves four bytes
 * for it, as links between servers have had it from the beginning: any protobuf reader takes a
 * varint that is longer than it must be.
 */
export class InPlaceWriter extends protobuf.Writer {
  #target: Buffer = Buffer.alloc(0);
  readonly #starts: number[] = [];

  /** The message must fit behind `at`; a longer one is cut, and `pos` is beyond the buffer then. */
  start(target: Buffer, at: number): this {
    this.#target = target;
    this.pos = at;
    this.#starts.length = 0;
    return this;
  }

  /** A tag, or a number of 32 bits. */
  override uint32(value: number): this {
    assert(value >= 0 && Number.isSafeInteger(value), () => `${value} is no whole number from 0 to 2^53`);
    this.pos = writeVarint(this.#target, this.pos, value);
    return this;
  }

  /** The number of an enum's value. */
  override int32(value: number): this {
    return this.uint32(value);
  }

  override uint64(value: Long | number | string): this {
    assert(typeof value === "number", "numbers of messages are plain numbers");
    return this.uint32(value);
  }

  override bool(value: boolean): this {
    return this.uint32(value ? 1 : 0);
  }

  override fixed64(value: Long | number | string): this {
    assert(typeof value !== "string", "no text stands for a number");
    const high = typeof value === "number" ? Math.floor(value / SPLIT) : value.high;
    const low = typeof value === "number" ? value % SPLIT : value.low;
    this.pos = writeFixed64(this.#target, this.pos, high, low);
    return this;
  }

  override string(value: string): this {
    this.fork();
    this.pos += this.#target.write(value, this.pos, "utf8");
    return this.ldelim();
  }

  override bytes(value: Uint8Array | string): this {
    assert(typeof value !== "string", "no text stands for bytes");
    this.uint32(value.length);
    copyBytes(value, 0, value.length, this.#target, this.pos);
    this.pos += value.length;
    return this;
  }

  override uint32s(values: readonly number[]): this {
    this.fork();
    for (const value of values) this.uint32(value);
    return this.ldelim();
  }

  override fork(): this {
    this.pos += LENGTH_BYTES;
    this.#starts.push(this.pos);
    return this;
  }

  override ldelim(): this {
    const start = this.#starts.pop();
    assert(start !== undefined, "a message that ends has begun");
    writeLength(this.#target, start, this.pos - start);
    return this;
  }
}

/** Fills in the four bytes before `start`. */
export function writeLength(target: Uint8Array, start: number, length: number): void {
  target[start - 4] = (length & 0x7f) | 0x80;
  target[start - 3] = ((length >>> 7) & 0x7f) | 0x80;
  target[start - 2] = ((length >>> 14) & 0x7f) | 0x80;
  target[start - 1] = length >>> 21;
}
