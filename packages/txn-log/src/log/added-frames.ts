import { assert, FRAME_HEADER_BYTES, writeFrameHeader, type Zxid } from "@zooid/model/storage";

const FRAMES_FIRST = 1024;

/**
 * Zxids and lengths of the entries of an open transaction, whose frame headers were overwritten by
 * their chains: so that the batches can be put back as they came, and added again.
 */
export class AddedFrames {
  #values = new Float64Array(2 * FRAMES_FIRST);
  #count = 0;

  clear(): void {
    this.#count = 0;
  }

  add(zxid: Zxid, length: number): void {
    if (2 * this.#count === this.#values.length) {
      const grown = new Float64Array(2 * this.#values.length);
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values[2 * this.#count] = zxid;
    this.#values[2 * this.#count + 1] = length;
    this.#count++;
  }

  /**
   * Writes the headers of one batch again.
   *
   * @param from how many entries were added before the batch
   * @returns how many entries were added up to its end; of the batch that did not fit, perhaps not
   *   all were added
   */
  restore(bytes: Uint8Array, start: number, end: number, from: number): number {
    let at = start;
    let next = from;
    while (at < end && next < this.#count) {
      const length = this.#values[2 * next + 1] ?? 0;
      writeFrameHeader(bytes, at, (this.#values[2 * next] ?? 0) as Zxid, length);
      at += FRAME_HEADER_BYTES + length;
      next++;
    }
    assert(at <= end, "an added entry ends within its batch");
    return next;
  }
}
