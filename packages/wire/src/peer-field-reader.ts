import { type Chain, copyRange, type ServerId, serverId, WireError, type Zxid, zxidFromHalves } from "@zooid/model";
import type { EnvelopeMessage } from "./peer-link-message.ts";
import { fixed32, ProtobufReader } from "./protobuf-bytes.ts";

const ZXID_HIGH_MAX = 2 ** 21 - 1;
export const NO_BYTES: Uint8Array = new Uint8Array(0);
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads the kinds of field that these messages are made of. */
export class FieldReader extends ProtobufReader {
  override tag(): number {
    if (this.at >= this.end) return 0;
    const tag = this.varint();
    if (tag === 0) throw new WireError("VALUE", "a field has the tag 0");
    return tag;
  }

  flag(): boolean {
    return this.varint() !== 0;
  }

  choice<T extends string>(choices: readonly T[]): T {
    const number = this.varint();
    const value = choices[number];
    if (value === undefined) throw new WireError("VALUE", `${number} is none of ${choices.join(", ")}`);
    return value;
  }

  serverId(): ServerId {
    const value = this.varint();
    if (value > 254) throw new WireError("VALUE", `a server id is from 0 to 254, found ${value}`);
    return value as ServerId;
  }

  zxid(): Zxid {
    const at = this.fixed64();
    const high = fixed32(this.bytes, at + 4);
    if (high < 0 || high > ZXID_HIGH_MAX) throw new WireError("VALUE", `a zxid's epoch is ${high >>> 0}`);
    return zxidFromHalves(high, fixed32(this.bytes, at));
  }

  chain(): Chain {
    const at = this.fixed64();
    const high = fixed32(this.bytes, at + 4) >>> 0;
    return ((BigInt(high) << 32n) | BigInt(fixed32(this.bytes, at) >>> 0)) as Chain;
  }

  text(): string {
    const end = this.delimited();
    const value = utf8.decode(this.bytes.subarray(this.at, end));
    this.at = end;
    return value;
  }

  /** A copy, which the message may keep. */
  copy(): Uint8Array {
    const end = this.delimited();
    const value = copyRange(this.bytes, this.at, end);
    this.at = end;
    return value;
  }

  /** A reader of the message that comes here; this one goes on behind it. */
  message(): FieldReader {
    const end = this.delimited();
    const reader = new FieldReader();
    reader.reset(this.bytes, this.at, end);
    this.at = end;
    return reader;
  }
}

export type MessageOf<K extends EnvelopeMessage["kind"]> = Extract<EnvelopeMessage, { readonly kind: K }>;
/** A message while its fields come in. */
export type Filling<T> = { -readonly [K in keyof T]: T[K] };

export function onlyNumber(reader: FieldReader, field: number): number {
  let value = 0;
  for (let tag = reader.tag(); tag !== 0; tag = reader.tag()) {
    if (tag === field) value = reader.varint();
    else reader.skip(tag);
  }
  return value;
}

/** Has a message point to the bytes that come here. */
export function place(message: { bytes: Uint8Array; start: number; end: number }, reader: FieldReader): void {
  const end = reader.delimited();
  message.bytes = reader.bytes;
  message.start = reader.at;
  message.end = end;
  reader.at = end;
}

/** What a message that names no server means: zero is not written. */
export const SERVER_0: ServerId = serverId(0);
