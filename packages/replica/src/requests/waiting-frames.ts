import { copyBytes } from "@zooid/model";

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

  /** The frame that {@link take} took last; valid until the next push. */
  bytes: Uint8Array = this.#bytes;
  start = 0;
  end = 0;
  receivedMs = 0;

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

  push(after: number, receivedMs: number, answerBytes: number, bytes: Uint8Array, start: number, end: number): void {
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

  /** Takes the oldest frame, which {@link bytes}, {@link start} and {@link end} show. */
  take(): void {
    const at = this.#start;
    this.bytes = this.#bytes;
    this.start = at + ITEM_BYTES;
    this.end = this.start + this.#bytes.readInt32LE(at + 8);
    this.receivedMs = this.#bytes.readDoubleLE(at + 12);
    this.#answerBytes -= this.#bytes.readUInt32LE(at + 20);
    this.#start = this.end;
    this.#count--;
    if (this.#count > 0) return;
    this.#start = 0;
    this.#end = 0;
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
