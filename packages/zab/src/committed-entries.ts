import {
  type EntryRun,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  frameLength,
  frameZxid,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { FencedLog } from "./fenced-log.ts";
import type { ProposalQueue } from "./proposal-queue.ts";

/**
 * Entries that are committed and durable here, each shown once and in order. One object shows all:
 * pass it on, not its fields, and keep neither.
 */
export interface CommittedEntries {
  /**
   * Shows the next entry, after the one before was applied. False where there is none for now:
   * entries that must be read from the log first come with a later {@link ZabPeer.takeCommitted}.
   */
  next(): boolean;
  readonly zxid: Zxid;
  /** The entry's bytes, from `start` to `end`, until the next one is shown. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** Whether a later call may show more at once. */
  readonly hasMore: boolean;
}

/** Where there is no role, or its history is not committed. */
export const NO_ENTRIES: CommittedEntries = {
  next: () => false,
  zxid: ZXID_NONE,
  bytes: new Uint8Array(0),
  start: 0,
  end: 0,
  hasMore: false,
};

const READ_BYTES = 256 * 1024;

/**
 * Shows the committed entries of a role. Its initial history is in the log; entries after it are
 * still in memory.
 */
export class CommittedCursor implements CommittedEntries {
  zxid: Zxid = ZXID_NONE;
  bytes: Uint8Array = NO_ENTRIES.bytes;
  start = 0;
  end = 0;
  readonly #log: FencedLog;
  readonly #applied: () => Zxid;
  readonly #queue: ProposalQueue;
  readonly #release: ((batch: FrameBatch) => void) | undefined;
  /** Up to here entries are in the log alone. */
  readonly #historyEnd: Zxid;
  readonly #damaged: (reason: string) => void;
  #through: Zxid = ZXID_NONE;
  #run: { readonly bytes: Uint8Array; at: number } | undefined;
  #isReading = false;
  /** Whether this call shows entries of the history; those behind it come with a later one. */
  #isInHistory = false;
  #hasMoreHistory = false;
  #isOver = true;

  constructor(parts: {
    readonly log: FencedLog;
    /** The last entry that was applied. */
    readonly applied: () => Zxid;
    readonly queue: ProposalQueue;
    /** Called with each batch of which every entry was applied. */
    readonly release?: ((batch: FrameBatch) => void) | undefined;
    readonly historyEnd: Zxid;
    readonly damaged: (reason: string) => void;
  }) {
    this.#log = parts.log;
    this.#applied = parts.applied;
    this.#queue = parts.queue;
    this.#release = parts.release;
    this.#historyEnd = parts.historyEnd;
    this.#damaged = parts.damaged;
  }

  /** Entries up to and including `through` may be shown: they are committed and durable here. */
  open(through: Zxid): CommittedEntries {
    const applied = this.#applied();
    this.#through = through;
    this.#isInHistory = applied < this.#historyEnd;
    this.#hasMoreHistory = false;
    this.#isOver = applied >= through;
    return this;
  }

  next(): boolean {
    this.settle();
    if (this.#isOver) return false;
    return this.#isInHistory ? this.#nextOfHistory() : this.#queue.show(this.#through, this);
  }

  get hasMore(): boolean {
    if (this.#isOver) return false;
    return this.#isInHistory ? this.#hasMoreHistory : this.#queue.hasUpTo(this.#through);
  }

  /** The entry that was shown last is applied. */
  settle(): void {
    this.#queue.settle(this.#release);
  }

  #nextOfHistory(): boolean {
    const run = this.#run;
    if (run === undefined) {
      this.#read();
      return false;
    }
    const { bytes } = run;
    const isOver = run.at >= bytes.length;
    // Entries after the history are in memory. Entries not committed yet are read again once they
    // are.
    if (isOver || frameZxid(bytes, run.at) > Math.min(this.#through, this.#historyEnd)) {
      this.#run = undefined;
      this.#hasMoreHistory = this.#applied() < this.#through;
      return false;
    }
    this.#hasMoreHistory = true;
    this.zxid = frameZxid(bytes, run.at);
    this.bytes = bytes;
    this.start = run.at + FRAME_HEADER_BYTES;
    this.end = this.start + frameLength(bytes, run.at);
    run.at = this.end;
    return true;
  }

  #read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#log.read(this.#applied(), READ_BYTES, (result) => {
      this.#isReading = false;
      if (typeof result === "string") {
        this.#damaged(`the log cannot be read after the last applied entry: ${result}`);
        return;
      }
      this.#keep(result);
    });
  }

  #keep({ bytes, after, count }: EntryRun): void {
    if (after.zxid !== this.#applied() || count === 0) return;
    this.#run = { bytes, at: 0 };
  }
}
