import { copyBytes } from "@zooid/model";

const BYTES_FIRST = 1024;
const ITEM_BYTES = 20;

/**
 * Requests of one connection that stand behind a write of the same session and wait for its commit: a copy of each frame with
 * the sequence number of the write before it, and when it came.
 *
 * ```
 * ┌──────────────┬────────────┬────────────┬───────┐
 * │ sequence f64 │ length u32 │ received f64 │ frame │ …
 * └──────────────┴────────────┴────────────┴───────┘
 * ```
 */
export class WaitingFrames {
  #bytes: Buffer = Buffer.allocUnsafeSlow(BYTES_FIRST);
  #start = 0;
  #end = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#end - this.#start;
  }

  push(after: number, receivedMs: number, bytes: Uint8Array, start: number, end: number): void {
    const size = ITEM_BYTES + end - start;
    this.#reserve(size);
    const at = this.#end;
    this.#bytes.writeDoubleLE(after, at);
    this.#bytes.writeInt32LE(end - start, at + 8);
    this.#bytes.writeDoubleLE(receivedMs, at + 12);
    copyBytes(bytes, start, end, this.#bytes, at + ITEM_BYTES);
    this.#end = at + size;
    this.#count++;
  }

  /**
   * Hands on, in order, every frame whose write has committed. The bytes are valid during the call; it must not push.
   */
  release(
    committed: number,
    handle: (bytes: Uint8Array, start: number, end: number, receivedMs: number) => void,
  ): void {
    while (this.#count > 0 && this.#bytes.readDoubleLE(this.#start) <= committed) {
      const start = this.#start + ITEM_BYTES;
      const end = start + this.#bytes.readInt32LE(this.#start + 8);
      const receivedMs = this.#bytes.readDoubleLE(this.#start + 12);
      this.#start = end;
      this.#count--;
      handle(this.#bytes, start, end, receivedMs);
    }
    if (this.#count === 0) {
      this.#start = 0;
      this.#end = 0;
    }
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
