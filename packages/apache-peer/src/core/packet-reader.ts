import { ByteCursor } from "@zooid/wire/apache";
import { ApachePeerError } from "./peer-error.ts";
import { type IncomingPacket, isPacketType, packetName } from "./quorum-packet.ts";

/** Type, zxid and the length of the data. */
const HEAD_BYTES = 16;
/** Leaders send observers no identities; a few do no harm. */
const IDENTITY_COUNT_MAX = 16;
const IDENTITY_BYTES_MAX = 16 * 1024;
const TLS_CONTENT_FIRST = 20;
const TLS_CONTENT_LAST = 23;
const TLS_MAJOR = 3;

/**
 * Finds the packets in a stream that comes in pieces of any size. It keeps no more than one packet
 * that is not whole, and refuses a type or a length that is none as soon as it is there.
 */
export class PacketReader {
  readonly #dataBytesMax: number;
  #pieces: Buffer[] = [];
  #waiting = 0;
  /** How much has to be there before the next packet can be whole. */
  #need = 4;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(dataBytesMax: number) {
    this.#dataBytesMax = dataBytesMax;
  }

  /** @param piece is not changed while its packets are in use */
  push(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#waiting += piece.length;
  }

  /** The next packet; undefined where it is not whole. @throws ApachePeerError MALFORMED */
  next(): IncomingPacket | undefined {
    if (this.#waiting < this.#need) return undefined;
    this.#join();
    const cursor = new ByteCursor(this.#bytes, this.#at);
    const packet = this.#take(cursor);
    if (packet === undefined) {
      this.#need = cursor.needed - this.#at;
      return undefined;
    }
    this.#waiting -= cursor.at - this.#at;
    this.#at = cursor.at;
    this.#need = 4;
    return packet;
  }

  /** Everything behind the last packet, which is the caller's now. */
  takeRest(): Buffer {
    this.#join();
    const rest = this.#bytes.subarray(this.#at);
    this.#bytes = rest.subarray(rest.length);
    this.#at = 0;
    this.#waiting = 0;
    this.#need = 4;
    return rest;
  }

  #join(): void {
    if (this.#pieces.length === 0) return;
    const left = this.#bytes.subarray(this.#at);
    const [first] = this.#pieces;
    this.#bytes =
      left.length === 0 && first !== undefined && this.#pieces.length === 1
        ? first
        : Buffer.concat([left, ...this.#pieces]);
    this.#pieces = [];
    this.#at = 0;
  }

  #take(cursor: ByteCursor): IncomingPacket | undefined {
    const { bytes, at } = cursor;
    if (!cursor.has(4)) return undefined;
    const type = bytes.readInt32BE(at);
    if (!isPacketType(type))
      throw malformed(isTlsRecord(type) ? "a record of TLS, which is not set here" : `a packet of type ${type}`);
    if (!cursor.has(HEAD_BYTES)) return undefined;
    cursor.int();
    const zxid = cursor.long();
    const length = cursor.int();
    if (length < -1 || length > this.#dataBytesMax)
      throw malformed(`${packetName(type)} with ${length} bytes of data, where at most ${this.#dataBytesMax} are read`);
    if (!cursor.has(Math.max(length, 0) + 4)) return undefined;
    const data = length === -1 ? null : cursor.bytesOf(length);
    return this.#skipIdentities(cursor, type) ? { type, zxid, data } : undefined;
  }

  #skipIdentities(cursor: ByteCursor, type: number): boolean {
    const count = cursor.int();
    if (count < -1 || count > IDENTITY_COUNT_MAX) throw malformed(`${packetName(type)} with ${count} identities`);
    for (let left = 2 * count; left > 0; left--) {
      if (!cursor.has(4)) return false;
      const length = cursor.int();
      if (length < -1 || length > IDENTITY_BYTES_MAX)
        throw malformed(`${packetName(type)} with an identity of ${length} bytes`);
      if (!cursor.skip(Math.max(length, 0))) return false;
    }
    return true;
  }
}

/** The first bytes: a content type of TLS, then the major version 3, which all versions write. */
function isTlsRecord(firstBytes: number): boolean {
  const [contentType, major] = [firstBytes >>> 24, (firstBytes >>> 16) & 0xff];
  return contentType >= TLS_CONTENT_FIRST && contentType <= TLS_CONTENT_LAST && major === TLS_MAJOR;
}

function malformed(found: string): ApachePeerError {
  return new ApachePeerError({ code: "MALFORMED", found });
}
