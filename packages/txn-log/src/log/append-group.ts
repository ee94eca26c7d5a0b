import type { RunMarks, Zxid } from "@zooid/model";
import { chainHigh, chainLow } from "./chain.ts";
import type { LogFile } from "./log-file.ts";

/** A batch that waits for its commit. Its bytes are written to until then. */
export interface GroupBatch {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
  readonly generation: number;
  readonly committed: Zxid;
  readonly marks?: RunMarks | undefined;
}

/**
 * Batches that are committed together, with one sync. They are kept until then, so that a
 * transaction that found no room can be written again.
 */
export class AppendGroup {
  readonly #file: LogFile;
  #batches: GroupBatch[] = [];
  /** For each batch in the open transaction five numbers, as `LogReport` has them. */
  #done: number[] = [];
  #addedCount = 0;
  #bytes = 0;
  #isOpen = false;

  constructor(file: LogFile) {
    this.#file = file;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  get batchCount(): number {
    return this.#batches.length;
  }

  /** Bytes of all batches together. */
  get bytes(): number {
    return this.#bytes;
  }

  push(batch: GroupBatch): void {
    this.#batches.push(batch);
    this.#bytes += batch.end - batch.start;
  }

  /** Adds to the transaction what is not in it yet. */
  add(): void {
    if (!this.#isOpen) {
      this.#file.begin();
      this.#isOpen = true;
    }
    for (let batch = this.#batches[this.#addedCount]; batch !== undefined; batch = this.#batches[this.#addedCount]) {
      const { bytes, start, end, generation, committed, marks } = batch;
      const tail = this.#file.add(bytes, start, end, committed);
      if (marks !== undefined) this.#file.addMarks(marks);
      this.#done.push(generation, tail.zxid, chainHigh(tail.chain), chainLow(tail.chain), committed);
      this.#addedCount++;
    }
  }

  commit(): void {
    this.#file.commit();
    this.#isOpen = false;
  }

  /** The commands that {@link commit} made durable. */
  get done(): readonly number[] {
    return this.#done;
  }

  /**
   * After a write that failed, of this group or of anything else.
   *
   * @returns whether the log holds exactly what it held before, so that the group can be added
   *   again
   */
  undo(): boolean {
    this.#isOpen = false;
    this.#done = [];
    this.#addedCount = 0;
    return this.#file.undo(this.#batches);
  }

  clear(): void {
    this.#batches = [];
    this.#done = [];
    this.#addedCount = 0;
    this.#bytes = 0;
    this.#isOpen = false;
  }
}
