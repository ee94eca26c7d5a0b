import { CheckpointState, ControlWord } from "./append-ring.ts";
import { isFull } from "./database.ts";
import type { LogFile } from "./log-file.ts";
import { LogStat } from "./log-messages.ts";

/** Beyond so many marks the log waits for a checkpoint before it takes another batch. */
const STALL_MARKS = 8;
/** How long a RESTART waits for readers: their transactions last one run of rows. */
const BUSY_TIMEOUT_MS = 20;
/** The WAL's size is asked for after so much was committed, for asking costs a tenth of a small commit. */
const LOOK_SHARE = 1 / 32;
const LOOK_COMMITS = 16;
/** When idle, less than this share of a mark is not worth two syncs. */
const IDLE_SHARE = 1 / 16;

/**
 * Keeps the WAL at its mark, so that commits overwrite it in place instead of making it longer.
 *
 * ```
 *           WAL ≥ mark                helper: PASSIVE done              RESTART done
 *  IDLE ──────────────────▶ RUNNING ───────────────────────▶ DONE ────────────────────▶ IDLE
 *                            log thread goes on                log thread, between batches
 * ```
 *
 * A passive checkpoint alone never lets a WAL begin anew while writes go on; a RESTART alone stops them for the whole copy. Together the
 * copy happens beside the writes and the stop is for what arrived meanwhile.
 */
export class WalRecycler {
  readonly #file: LogFile;
  readonly #control: Int32Array;
  readonly #requestCheckpoint: () => void;
  readonly #stats: Float64Array;
  readonly #markBytes: number;
  readonly #warn: (text: string) => void;
  #startedMs = 0;
  /** Committed since the WAL's size was last asked for. */
  #newCommits = 0;
  #newBytes = 0;

  constructor(parts: {
    readonly file: LogFile;
    readonly control: Int32Array;
    readonly requestCheckpoint: () => void;
    readonly stats: Float64Array;
    readonly markBytes: number;
    readonly warn: (text: string) => void;
  }) {
    this.#file = parts.file;
    this.#control = parts.control;
    this.#requestCheckpoint = parts.requestCheckpoint;
    this.#stats = parts.stats;
    this.#markBytes = parts.markBytes;
    this.#warn = parts.warn;
    this.#file.setBusyTimeout(BUSY_TIMEOUT_MS);
  }

  /** @param bytes what the commit brought; infinite where that says nothing about what it wrote */
  committed(bytes: number): void {
    this.#newCommits++;
    this.#newBytes += bytes;
  }

  /** Between two batches. */
  turn(): void {
    const isDue = this.#newCommits >= LOOK_COMMITS || this.#newBytes >= this.#markBytes * LOOK_SHARE;
    if (!isDue && Atomics.load(this.#control, ControlWord.CHECKPOINT) < CheckpointState.DONE) return;
    const bytes = this.#advance(this.#markBytes);
    if (bytes >= this.#markBytes * STALL_MARKS) this.#stall();
  }

  /** When nothing has happened for a while: a short WAL is quickly read at the next start. */
  idle(): void {
    this.#advance(this.#markBytes * IDLE_SHARE);
  }

  #advance(fromBytes: number): number {
    const state = Atomics.load(this.#control, ControlWord.CHECKPOINT);
    if (state === CheckpointState.DONE) this.#restart();
    if (state === CheckpointState.FAILED) {
      this.#warn("a checkpoint of the write ahead log failed and will be tried again");
      Atomics.store(this.#control, ControlWord.CHECKPOINT, CheckpointState.IDLE);
    }
    const bytes = this.#file.walBytes();
    this.#newCommits = 0;
    this.#newBytes = 0;
    this.#stats[LogStat.WAL_BYTES] = bytes;
    if (bytes >= fromBytes && state === CheckpointState.IDLE) {
      this.#startedMs = performance.now();
      Atomics.store(this.#control, ControlWord.CHECKPOINT, CheckpointState.RUNNING);
      this.#requestCheckpoint();
    }
    return bytes;
  }

  #restart(): void {
    try {
      // A reader in the way: the next turn tries again, with less to copy.
      if (!this.#file.restartWal()) return;
    } catch (error) {
      // The main file cannot grow. The WAL keeps everything; sooner or later it cannot grow either, and appends are refused.
      if (!isFull(error)) throw error;
      Atomics.store(this.#control, ControlWord.CHECKPOINT, CheckpointState.FAILED);
      return;
    }
    Atomics.store(this.#control, ControlWord.CHECKPOINT, CheckpointState.IDLE);
    this.#stats[LogStat.CHECKPOINTS] = (this.#stats[LogStat.CHECKPOINTS] ?? 0) + 1;
    const tookMs = performance.now() - this.#startedMs;
    this.#stats[LogStat.CHECKPOINT_MS_TOTAL] = (this.#stats[LogStat.CHECKPOINT_MS_TOTAL] ?? 0) + tookMs;
  }

  #stall(): void {
    const startMs = performance.now();
    this.#stats[LogStat.STALLS] = (this.#stats[LogStat.STALLS] ?? 0) + 1;
    for (;;) {
      const seen = Atomics.load(this.#control, ControlWord.WAKE);
      const running = Atomics.load(this.#control, ControlWord.CHECKPOINT) === CheckpointState.RUNNING;
      if (running) Atomics.wait(this.#control, ControlWord.WAKE, seen, 1_000);
      if (Atomics.load(this.#control, ControlWord.CHECKPOINT) === CheckpointState.FAILED) break;
      if (this.#advance(this.#markBytes) < this.#markBytes * STALL_MARKS) break;
    }
    this.#stats[LogStat.STALL_MS_TOTAL] = (this.#stats[LogStat.STALL_MS_TOTAL] ?? 0) + performance.now() - startMs;
  }
}
