import { frameZxid, type Zxid } from "@zooid/model/storage";
import { newRingMemory, RecordKind, type RingMemory, RingReader, RingWriter } from "../log/append-ring.ts";
import { BatchCursor } from "../log/entry-batch.ts";
import type { LoggedRun } from "../log/txn-log.ts";

/**
 * Carries appended entries to the archive's thread. Without it that thread reads each entry back
 * from the log, which costs about as much CPU as its other work on a small entry.
 *
 * ```
 * driver's thread               shared memory                       archive's thread
 * append ── copied ───────────▶ │ history 1: run │ run │ run │ ──▶  taken up to a mark, in order
 *           no room: left out                                       missing runs are read from the log
 * cut, install ── replaced      history 2                           runs of history 1 are passed over
 * ```
 *
 * An append never waits for the ring. Entries in the ring may not be committed: the reader takes
 * them up to a mark only, and the driver sends a mark after it has cut every entry that the mark
 * excludes.
 */
export interface FeedMemory {
  readonly ring: RingMemory;
  /** One number: the present history. */
  readonly history: SharedArrayBuffer;
}

/**
 * More than twice the bytes that are appended between two marks under load: the archive's thread
 * runs at low priority and may take them late.
 */
const FEED_BYTES = 8 * 1024 * 1024;
/**
 * A ring that was full is used again once this share of it is free, so that the log is read back in
 * one long run instead of many short ones.
 */
const FREE_SHARE = 1 / 4;
const FIRST_HISTORY = 1;

export function newFeedMemory(sizeBytes: number = FEED_BYTES): FeedMemory {
  const history = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  new Int32Array(history)[0] = FIRST_HISTORY;
  return { ring: newRingMemory(sizeBytes), history };
}

/** The driver's end of the feed. */
export class EntryFeed {
  readonly #ring: RingWriter;
  readonly #history: Int32Array;
  readonly #freeBytes: number;
  #isFull = false;
  #record = { kind: RecordKind.APPEND, generation: FIRST_HISTORY, committed: 0 };

  constructor(memory: FeedMemory) {
    this.#ring = new RingWriter(memory.ring);
    this.#history = new Int32Array(memory.history);
    this.#freeBytes = memory.ring.bytes.byteLength * FREE_SHARE;
  }

  /** Copies the frames of a batch, if there is room. */
  appended({ bytes, start, end }: LoggedRun): void {
    if (this.#isFull && !this.#ring.hasRoom(this.#freeBytes)) return;
    const isTaken = this.#ring.fits(end - start) && this.#ring.offer({ ...this.#record, bytes, start, end });
    this.#isFull = !isTaken;
  }

  /** The log was cut or replaced: it may lack entries that were appended so far. */
  replaced(): void {
    const history = Atomics.add(this.#history, 0, 1) + 1;
    this.#record = { ...this.#record, generation: history };
  }
}

/** The end of the feed at the archive's thread. */
export class EntryFeedReader {
  readonly #ring: RingReader;
  readonly #history: Int32Array;
  readonly #batch = new BatchCursor();
  /** Where the next frame begins in a run of which a part was taken; -1 if there is none. */
  #at = -1;

  constructor(memory: FeedMemory) {
    this.#ring = new RingReader(memory.ring);
    this.#history = new Int32Array(memory.history);
  }

  /**
   * The first entry after a zxid in the feed; the log may have entries between the two. Drops the
   * entries before it, so a caller that goes back to a lower zxid has to read them from the log.
   */
  next(after: Zxid): Zxid | undefined {
    const ring = this.#ring;
    for (;;) {
      if (this.#at === -1) {
        if (!ring.next()) return undefined;
        this.#at = ring.start;
      }
      const first = ring.generation === Atomics.load(this.#history, 0) ? this.#firstBehind(after) : undefined;
      if (first !== undefined) return first;
      this.#at = -1;
      ring.release();
    }
  }

  /**
   * Takes entries from the one that {@link next} has found through a zxid, at most one batch.
   *
   * @returns their frames; the bytes are lent until the next call
   */
  take(upTo: Zxid): LoggedRun {
    const { bytes } = this.#ring;
    const start = this.#at;
    const batch = this.#batch;
    batch.open(bytes, start, this.#ring.end);
    let end = start;
    while (batch.next() && batch.zxid <= upTo) end = batch.end;
    this.#at = end;
    return { bytes, start, end };
  }

  #firstBehind(after: Zxid): Zxid | undefined {
    const { bytes, end } = this.#ring;
    if (this.#at === end) return undefined;
    // Usually the first entry is the one.
    const first = frameZxid(bytes, this.#at);
    if (first > after) return first;
    const batch = this.#batch;
    batch.open(bytes, this.#at, end);
    while (batch.next()) {
      if (batch.zxid > after) return batch.zxid;
      this.#at = batch.end;
    }
    return undefined;
  }
}
