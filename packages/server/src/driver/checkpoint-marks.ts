import type { DataTree } from "@zooid/data-tree";
import { ZXID_NONE, type Zxid } from "@zooid/model";

/** A mark is set at the latest after so many bytes of log or entries. */
const MARK_BYTES = 16 * 1024 * 1024;
const MARK_ENTRIES = 50_000;
/** What a small entry takes in the log. */
const MARK_ENTRY_BYTES = 64;

/** What the state file may be brought forward to: a zxid with the digest of the tree there. */
export interface StateMark {
  readonly zxid: Zxid;
  readonly digestHigh: number;
  readonly digestLow: number;
  /** Bytes of log since the last mark. */
  readonly bytes: number;
}

/** Counts what goes into the log, and tells how far the state file may follow. */
export class CheckpointMarks {
  readonly #mark: (mark: StateMark) => void;
  #marked: Zxid = ZXID_NONE;
  #bytes = 0;
  #entryCount = 0;

  constructor(mark: (mark: StateMark) => void) {
    this.#mark = mark;
  }

  /** The state file is at a zxid, and nothing of the log counts before it. */
  begin(zxid: Zxid): void {
    this.#marked = zxid;
    this.#reset();
  }

  appended(bytes: number): void {
    this.#bytes += bytes;
    // An estimate: a batch of another server has no count here. It only decides how soon a mark is set.
    this.#entryCount += Math.ceil(bytes / MARK_ENTRY_BYTES);
  }

  get hasAppended(): boolean {
    return this.#entryCount > 0;
  }

  get isDue(): boolean {
    return this.#bytes >= MARK_BYTES || this.#entryCount >= MARK_ENTRIES;
  }

  /** The state file may follow to everything that a tree has applied; no transaction is applied in part. */
  set(tree: Pick<DataTree, "applied" | "digestHigh" | "digestLow">): void {
    const { applied, digestHigh, digestLow } = tree;
    // What was handed to the log may not have been applied yet: the next mark counts it.
    if (applied <= this.#marked) return;
    this.#marked = applied;
    this.#mark({ zxid: applied, digestHigh, digestLow, bytes: this.#bytes });
    this.#reset();
  }

  #reset(): void {
    this.#bytes = 0;
    this.#entryCount = 0;
  }
}
