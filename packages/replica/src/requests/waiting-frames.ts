import { type ByteSlice, copyBytes, setSlice } from "@zooid/model";

const BYTES_FIRST = 1024;
const ITEM_BYTES = 24;

/**
 * The waiting requests of one connection: a copy of each frame, with the count of the connection's
 * writes and syncs before it, and the time when it came.
 *
 * ```
 * ┌──────────────┬────────────┬──────────────┬──────────────────┬───────┐
 * │ sequence f64 │ length u32 │ received f64 │ answer bytes u32 │ frame │ …
 * └──────────────┴────────────┴──────────────┴──────────────────┴───────┘
 * ```
 */
export class WaitingFrames {
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_FIRST);
  #start = 0;
  #end = 0;
  #count = 0;
  #answerBytes = 0;

  get count(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#end - this.#start;
  }

  /** The estimated bytes of the answers to all of them. */
  get answerBytes(): number {
    return this.#answerBytes;
  }

  push(after: number, receivedMs: number, answerBytes: number, frame: Readonly<ByteSlice>): void {
    const { bytes, start, end } = frame;
    const size = ITEM_BYTES + end - start;
    this.#reserve(size);
    const at = this.#end;
    this.#bytes.writeDoubleLE(after, at);
    this.#bytes.writeInt32LE(end - start, at + 8);
    this.#bytes.writeDoubleLE(receivedMs, at + 12);
    this.#bytes.writeUInt32LE(answerBytes, at + 20);
    copyBytes(bytes, start, end, this.#bytes, at + ITEM_BYTES);
    this.#end = at + size;
    this.#count++;
    this.#answerBytes += answerBytes;
  }

  /** Whether the oldest frame waits for no write or sync any more. */
  isDue(committed: number): boolean {
    return this.#count > 0 && this.#bytes.readDoubleLE(this.#start) <= committed;
  }

  /**
   * Takes the oldest frame.
   *
   * @param frame shows it until the next push
   * @returns when it came, in milliseconds
   */
  take(frame: ByteSlice): number {
    const at = this.#start;
    const start = at + ITEM_BYTES;
    const end = start + this.#bytes.readInt32LE(at + 8);
    setSlice(frame, this.#bytes, start, end);
    const receivedMs = this.#bytes.readDoubleLE(at + 12);
    this.#answerBytes -= this.#bytes.readUInt32LE(at + 20);
    this.#count--;
    this.#start = this.#count > 0 ? end : 0;
    if (this.#count === 0) this.#end = 0;
    return receivedMs;
  }

  #reserve(more: number): void {
    if (this.#end + more <= this.#bytes.length) return;
    const held = this.#end - this.#start;
    const target =
      held + more <= this.#bytes.length / 2
        ? this.#bytes
        : Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, 2 * (held + more)));
    copyBytes(this.#bytes, this.#start, this.#end, target, 0);
    this.#bytes = target;
    this.#start = 0;
    this.#end = held;
  }
}
