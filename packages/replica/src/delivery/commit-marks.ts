import type { Zxid } from "@zooid/model";

/** Marks that are kept: one for each batch, of which a busy server has a few hundred a second. */
const MARKS = 4096;

/**
 * When zxids were reached, as a ring of marks: the newest zxid of a batch, and the time. A mark
 * costs two numbers, so that each batch has one and any write can be looked up afterwards.
 */
export class CommitMarks {
  readonly #zxids = new Float64Array(MARKS);
  readonly #timesMs = new Float64Array(MARKS);
  #count = 0;
  #last = 0;

  /** Everything up to a zxid is reached. Nothing happens if it was before. */
  reached(zxid: Zxid, nowMs: number): void {
    if (zxid <= this.#last) return;
    this.#last = zxid;
    const slot = this.#count % MARKS;
    this.#zxids[slot] = zxid;
    this.#timesMs[slot] = nowMs;
    this.#count++;
  }

  /** When a zxid was reached; undefined if it was not, or if its mark is gone. */
  timeOf(zxid: Zxid): number | undefined {
    const oldest = Math.max(0, this.#count - MARKS);
    // The first mark at or above the zxid.
    let low = oldest;
    let high = this.#count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if ((this.#zxids[middle % MARKS] as number) < zxid) low = middle + 1;
      else high = middle;
    }
    // At the oldest mark that is left it may have been an earlier one.
    if (low === this.#count || (low === oldest && oldest > 0)) return undefined;
    return this.#timesMs[low % MARKS];
  }
}
