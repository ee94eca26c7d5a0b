import {
  assert,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  frameLength,
  frameZxid,
  InvariantError,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { RecentEntries } from "./recent-entries.ts";

/** A run of entries inside a batch. */
export interface QueuedRun {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  readonly first: Zxid;
  readonly last: Zxid;
  readonly count: number;
}

/** The beginning of a run of frames, up to a zxid and about `bytesMax`; at least one entry. */
export function cutRun(bytes: Uint8Array, start: number, end: number, through: Zxid, bytesMax: number): QueuedRun {
  const first = frameZxid(bytes, start);
  let last = first;
  let count = 0;
  let at = start;
  while (at < end) {
    const zxid = frameZxid(bytes, at);
    const next = at + FRAME_HEADER_BYTES + frameLength(bytes, at);
    if (count > 0 && (zxid > through || next - start > bytesMax)) break;
    last = zxid;
    count++;
    at = next;
  }
  return { bytes, start, end: at, first, last, count };
}

/**
 * Batches proposed and not yet wholly delivered, oldest first; for observers, which get entries
 * later, also some delivered entries.
 */
export class ProposalQueue {
  readonly #recent = new RecentEntries();
  #keepsDelivered = false;
  readonly #batches: FrameBatch[] = [];
  /**
   * Index of the oldest batch: those before it were delivered, and are removed from time to time.
   */
  #head = 0;
  /** Where the next entry to deliver begins in the oldest batch. */
  #at = 0;
  /** Where the entry ends that is shown and not settled. */
  #shownEnd: number | undefined;
  // Read only: each turn asks for these.
  /** The last proposed zxid. */
  last: Zxid;
  /** Entries proposed and not delivered. */
  count = 0;
  sizeBytes = 0;

  constructor(last: Zxid) {
    this.last = last;
  }

  /** Whether entries delivered from now on are kept for a while. */
  keepDelivered(isWanted: boolean): void {
    this.#keepsDelivered = isWanted;
    if (!isWanted) this.#recent.clear();
  }

  /** Whether entries up to a zxid, or some of them, wait to be delivered. */
  hasUpTo(through: Zxid): boolean {
    const batch = this.#batches[this.#head];
    return batch !== undefined && frameZxid(batch.bytes, this.#at) <= through;
  }

  /** Whether the entry after `after` is still held here, delivered or not. */
  holdsAfter(after: Zxid): boolean {
    if (this.#recent.holdsAfter(after)) return true;
    const oldest = this.#batches[this.#head];
    // rule: no-hole-in-the-window
    return oldest !== undefined && oldest.first <= after + 1 && after < this.last;
  }

  /**
   * A run of held entries after `after`, in one buffer: valid until the next delivery.
   *
   * @param after must satisfy {@link holdsAfter}
   * @param through the last entry wanted
   * @param bytesMax most bytes, but one entry at least
   */
  runAfter(after: Zxid, through: Zxid, bytesMax: number): QueuedRun {
    const recent = this.#recent.holdsAfter(after) ? this.#recent.framesAfter(after) : undefined;
    if (recent !== undefined) {
      const { bytes, start, end, last } = recent;
      if (last > through || end - start > bytesMax) return cutRun(bytes, start, end, through, bytesMax);
      const first = frameZxid(bytes, start);
      // A leader proposes without gaps.
      return { bytes, start, end, first, last, count: last - first + 1 };
    }
    const batch = this.#batchAfter(after);
    const { bytes, end } = batch;
    if (batch.first === after + 1 && batch.last <= through && end <= bytesMax) {
      return { bytes, start: 0, end, first: batch.first, last: batch.last, count: batch.count };
    }
    let start = 0;
    while (frameZxid(bytes, start) <= after) start += FRAME_HEADER_BYTES + frameLength(bytes, start);
    return cutRun(bytes, start, end, through, bytesMax);
  }

  #batchAfter(after: Zxid): FrameBatch {
    // Learners are near the end, almost always in the newest batch.
    for (let i = this.#batches.length - 1; i >= this.#head; i--) {
      const batch = this.#batches[i] as FrameBatch;
      if (batch.first <= after + 1) return batch;
    }
    throw new InvariantError(`entry ${after + 1} is not held`);
  }

  /** Releases every batch undelivered: the role that proposed them has ended. */
  releaseAll(release?: (batch: FrameBatch) => void): void {
    for (let i = this.#head; i < this.#batches.length; i++) release?.(this.#batches[i] as FrameBatch);
    this.#shownEnd = undefined;
    this.#batches.length = 0;
    this.#head = 0;
    this.#at = 0;
    this.count = 0;
    this.sizeBytes = 0;
    this.#recent.clear();
  }

  push(batch: FrameBatch): void {
    assert(
      this.last === ZXID_NONE || batch.first > this.last,
      () => `proposals go up: ${batch.first} was proposed after ${this.last}`,
    );
    this.#batches.push(batch);
    this.last = batch.last;
    this.count += batch.count;
    this.sizeBytes += batch.end;
  }

  /**
   * Shows the next entry, if its zxid is not above `through`. It counts as outstanding, and its
   * batch is held, until {@link settle}.
   *
   * @returns whether there is one
   */
  show(through: Zxid, into: { zxid: Zxid; bytes: Uint8Array; start: number; end: number }): boolean {
    const batch = this.#batches[this.#head];
    if (batch === undefined) return false;
    const { bytes } = batch;
    const zxid = frameZxid(bytes, this.#at);
    if (zxid > through) return false;
    into.zxid = zxid;
    into.bytes = bytes;
    into.start = this.#at + FRAME_HEADER_BYTES;
    into.end = into.start + frameLength(bytes, this.#at);
    this.#shownEnd = into.end;
    return true;
  }

  /** The entry that was shown is applied; nothing happens where none is shown. */
  settle(release?: (batch: FrameBatch) => void): void {
    const end = this.#shownEnd;
    if (end === undefined) return;
    this.#shownEnd = undefined;
    this.count--;
    this.#at = end;
    const batch = this.#batches[this.#head] as FrameBatch;
    if (end === batch.end) this.#drop(batch, release);
  }

  #drop(batch: FrameBatch, release?: (batch: FrameBatch) => void): void {
    this.sizeBytes -= batch.end;
    this.#at = 0;
    this.#head++;
    if (this.#head > 64) {
      this.#batches.splice(0, this.#head);
      this.#head = 0;
    }
    if (this.#keepsDelivered) this.#recent.push(batch);
    release?.(batch);
  }
}
