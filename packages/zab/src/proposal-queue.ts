import {
  assert,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  frameLength,
  frameZxid,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { ZabSinks } from "./events.ts";

/** Batches that were proposed and not yet wholly delivered, oldest first. */
export class ProposalQueue {
  readonly #batches: FrameBatch[] = [];
  /** Index of the oldest batch; what lies before it was delivered. Moved down now and then, so that the array stays short. */
  #head = 0;
  /** Where the next entry to deliver begins in the oldest batch. */
  #at = 0;
  #last: Zxid;
  #outstandingCount = 0;
  #outstandingBytes = 0;

  constructor(last: Zxid) {
    this.#last = last;
  }

  /** The last proposed zxid. */
  get last(): Zxid {
    return this.#last;
  }

  /** Entries proposed and not delivered. */
  get count(): number {
    return this.#outstandingCount;
  }

  get sizeBytes(): number {
    return this.#outstandingBytes;
  }

  push(batch: FrameBatch): void {
    assert(
      this.#last === ZXID_NONE || batch.first > this.#last,
      `proposals go up: ${batch.first} was proposed after ${this.#last}`,
    );
    this.#batches.push(batch);
    this.#last = batch.last;
    this.#outstandingCount += batch.count;
    this.#outstandingBytes += batch.end;
  }

  /**
   * Delivers the entries up to and including a zxid, in order.
   *
   * @returns how many were delivered; fewer than are due when `most` was reached
   */
  deliver(through: Zxid, most: number, sinks: ZabSinks): number {
    let delivered = 0;
    while (this.#head < this.#batches.length && delivered < most) {
      const batch = this.#batches[this.#head] as FrameBatch;
      const { bytes, end } = batch;
      let at = this.#at;
      while (at < end && delivered < most) {
        const zxid = frameZxid(bytes, at);
        if (zxid > through) {
          this.#at = at;
          return delivered;
        }
        const start = at + FRAME_HEADER_BYTES;
        at = start + frameLength(bytes, at);
        sinks.deliver(zxid, bytes, start, at);
        delivered++;
        this.#outstandingCount--;
      }
      this.#at = at;
      if (at === end) this.#drop(batch, sinks);
    }
    return delivered;
  }

  #drop(batch: FrameBatch, sinks: ZabSinks): void {
    this.#outstandingBytes -= batch.end;
    this.#at = 0;
    this.#head++;
    if (this.#head > 64) {
      this.#batches.splice(0, this.#head);
      this.#head = 0;
    }
    sinks.release(batch);
  }
}
