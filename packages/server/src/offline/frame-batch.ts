import { FRAME_HEADER_BYTES, frameLength, frameZxid, writeFrameHeader, type Zxid } from "@zooid/model";

/** Gathers entries as the log takes them. */
export class FrameBatch {
  #bytes: Uint8Array = new Uint8Array(64 * 1024);
  #end = 0;

  /** Bytes that are gathered. */
  get length(): number {
    return this.#end;
  }

  add(zxid: Zxid, bytes: Uint8Array, start: number, end: number): void {
    const from = this.#end + FRAME_HEADER_BYTES;
    const to = from + end - start;
    if (to > this.#bytes.length) this.#grow(to);
    writeFrameHeader(this.#bytes, this.#end, zxid, end - start);
    this.#bytes.set(bytes.subarray(start, end), from);
    this.#end = to;
  }

  /** Hands over what is gathered, if anything is; the bytes are lent for the call. */
  flush(take: (bytes: Uint8Array, end: number) => void): void {
    if (this.#end > 0) take(this.#bytes, this.#end);
    this.#end = 0;
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, 2 * this.#bytes.length));
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#bytes = grown;
  }
}

/** Shows the entries of a batch. */
export function forEachFrame(
  bytes: Uint8Array,
  end: number,
  show: (zxid: Zxid, start: number, stop: number) => void,
): void {
  for (let at = 0; at < end; ) {
    const start = at + FRAME_HEADER_BYTES;
    const stop = start + frameLength(bytes, at);
    show(frameZxid(bytes, at), start, stop);
    at = stop;
  }
}
