import { type ByteSlice, copyBytes } from "@zooid/model";

const BYTES_FIRST = 4096;
const HEADER_BYTES = 24;
/** In the client's number: its session is a local one, which the leader does not know. */
const LOCAL_BIT = 0x8000_0000;

/**
 * Requests that a learner forwards to its leader in one message; see `ForwardMessage` for the
 * layout.
 */
export class ForwardRun {
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_FIRST);
  #end = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get end(): number {
    return this.#end;
  }

  add(
    sequence: number,
    session: { readonly idHigh: number; readonly idLow: number; readonly isLocal: boolean },
    client: number,
    frame: Readonly<ByteSlice>,
  ): void {
    const { start, end } = frame;
    this.#reserve(HEADER_BYTES + end - start);
    const bytes = this.#bytes;
    const at = this.#end;
    bytes.writeDoubleBE(sequence, at);
    bytes.writeInt32BE(session.idHigh, at + 8);
    bytes.writeInt32BE(session.idLow, at + 12);
    bytes.writeInt32BE(session.isLocal ? client | LOCAL_BIT : client, at + 16);
    bytes.writeInt32BE(end - start, at + 20);
    copyBytes(frame.bytes, start, end, bytes, at + HEADER_BYTES);
    this.#end = at + HEADER_BYTES + end - start;
    this.#count++;
  }

  clear(): void {
    this.#end = 0;
    this.#count = 0;
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#end + more));
    copyBytes(this.#bytes, 0, this.#end, grown, 0);
    this.#bytes = grown;
  }
}

/** Reads a run of forwarded requests, one after the other. */
export class ForwardReader {
  sequence = 0;
  sessionHigh = 0;
  sessionLow = 0;
  client = 0;
  isLocal = false;
  /** Where the request's frame lies in {@link bytes}. */
  start = 0;
  end = 0;
  bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #limit = 0;

  open(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.end = start;
    this.#limit = end;
  }

  /** Where the run ends. */
  get limit(): number {
    return this.#limit;
  }

  /** Whether another whole request follows. */
  get hasNext(): boolean {
    const at = this.end;
    if (at + HEADER_BYTES > this.#limit) return false;
    const length = this.#view.getInt32(at + 20);
    return length >= 0 && at + HEADER_BYTES + length <= this.#limit;
  }

  /** False after the last whole request. */
  next(): boolean {
    const at = this.end;
    if (!this.hasNext) return false;
    const view = this.#view;
    this.sequence = view.getFloat64(at);
    this.sessionHigh = view.getInt32(at + 8);
    this.sessionLow = view.getInt32(at + 12);
    const client = view.getInt32(at + 16);
    this.isLocal = client < 0;
    this.client = client & ~LOCAL_BIT;
    this.start = at + HEADER_BYTES;
    this.end = this.start + view.getInt32(at + 20);
    return true;
  }
}
