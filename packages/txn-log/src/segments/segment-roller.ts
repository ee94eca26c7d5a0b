import { ControlWord, HelperState } from "../log/append-ring.ts";
import type { Keep, LogFile } from "../log/log-file.ts";
import { type HelperTask, LogStat } from "../log/log-messages.ts";
import type { ReaderLeases } from "./reader-leases.ts";
import type { SegmentName } from "./segment-name.ts";
import { hasSpare, isRecyclable } from "./spare-segment.ts";

/**
 * Committed bytes, as a share of the WAL's limit, or commits between two checks of its length: one
 * costs a tenth of a commit.
 */
const LOOK_SHARE = 1 / 32;
const LOOK_COMMITS = 16;
/** Share of the newest segment that is full when a spare is made. Short-lived logs need none. */
const SPARE_SHARE = 1 / 4;
/**
 * Share of a WAL that is left when the next segment begins, so that the last commit does not extend
 * the file.
 */
const RESERVE_SHARE = 1 / 8;
const RESERVE_BYTES_MAX = 4 * 1024 * 1024;
/**
 * Length of the newest WAL, as a multiple of its limit, from which the log waits for the spare that
 * is being made.
 */
const STALL_SHARE = 2;
/** Delay before another attempt, after a spare could not be made or a segment not be opened. */
const RETRY_MS = 1_000;
/** As many as one checkpoint of the state frees under a load that fills them quickly. */
const REUSABLE_MAX = 8;
const REUSABLE_MS = 60_000;

/**
 * Opens the next segment when the newest one is full, and has a spare made by then.
 *
 * ```
 *              newest segment ≥ 1/4, no spare            helper: made
 *  IDLE ──────────────────────────────────▶ RUNNING ───────────────────▶ IDLE, a spare is there ──▶ roll when the newest one is full
 *    ▲                                         │ helper: no room
 *    └────────────── a second later ── FAILED ◀┘        without a spare the newest segment grows beyond its length
 * ```
 *
 * Segments that the log no longer holds become the spare, or are removed, once no reader has them
 * open. A few wait to become the spare after it: several are let go at once, each time the state
 * was checkpointed, and a WAL of zeros would be written before it is written again.
 *
 * A segment that is used again holds, behind its own frames, some of those it had before. Where the
 * log must not hold them any more, {@link SegmentRoller.renew} begins one with zeros:
 *
 * ```
 * none ── asked ── helper: zeros ── rolled ──▶ none, and no segment before the newest is used again
 * ```
 */
export class SegmentRoller {
  readonly #file: LogFile;
  readonly #directory: string;
  readonly #leases: ReaderLeases;
  readonly #control: Int32Array;
  readonly #request: (task: HelperTask) => void;
  readonly #keep: () => Keep;
  readonly #stats: Float64Array;
  readonly #walBytesMax: number;
  readonly #rollBytes: number;
  readonly #warn: (text: string) => void;
  /** No reader has them open, and their WALs are as long as a spare's. */
  readonly #reusable: SegmentName[] = [];
  #reusableUntilMs = 0;
  /** The sequence of the newest segment when a spare was last seen. */
  #spareSeenIn = 0;
  #renewal: "none" | "asked" | "making" | "made" = "none";
  /** Segments with a smaller sequence are removed and not used again. */
  #unusedBelow = 0;
  #newCommits = 0;
  #newBytes = 0;
  #retryMs = 0;
  #hasWarned = false;

  constructor(parts: {
    readonly file: LogFile;
    readonly directory: string;
    readonly leases: ReaderLeases;
    readonly control: Int32Array;
    readonly request: (task: HelperTask) => void;
    /** The part that a purge leaves now. */
    readonly keep: () => Keep;
    readonly stats: Float64Array;
    /** How long the WAL of a segment is. */
    readonly walBytes: number;
    readonly warn: (text: string) => void;
  }) {
    this.#file = parts.file;
    this.#directory = parts.directory;
    this.#leases = parts.leases;
    this.#control = parts.control;
    this.#request = parts.request;
    this.#keep = parts.keep;
    this.#stats = parts.stats;
    this.#walBytesMax = parts.walBytes;
    this.#rollBytes = parts.walBytes - Math.min(parts.walBytes * RESERVE_SHARE, RESERVE_BYTES_MAX);
    this.#warn = parts.warn;
    this.#look();
  }

  /** @param bytes what the commit brought; infinite where that says nothing about what it wrote */
  committed(bytes: number): void {
    this.#newCommits++;
    this.#newBytes += bytes;
  }

  /** When {@link idle} has something to do, in milliseconds from now, if nothing else happens. */
  dueInMs(pollMs: number): number {
    if (this.#isWaiting) return pollMs;
    if (this.#reusable.length === 0) return Number.POSITIVE_INFINITY;
    return Math.max(pollMs, this.#reusableUntilMs - performance.now());
  }

  /** Whether something waits for a reader or for the helper. */
  get #isWaiting(): boolean {
    return this.#file.retired.length > 0 || this.#helperState() !== HelperState.IDLE || this.isRenewing;
  }

  /** Begins a segment with a spare of zeros; {@link isRenewing} until it is the newest one. */
  renew(): void {
    this.#unusedBelow = this.#file.sequence + 1;
    if (!this.isRenewing) this.#renewal = "asked";
    this.#tidy();
  }

  get isRenewing(): boolean {
    return this.#renewal !== "none";
  }

  /** Between two batches. */
  turn(): void {
    const isDue = this.#newCommits >= LOOK_COMMITS || this.#newBytes >= this.#walBytesMax * LOOK_SHARE;
    if (isDue) this.#advance();
    else if (this.#isWaiting) this.#tidy();
  }

  /** When nothing has happened for a while. */
  idle(): void {
    this.#look();
    this.#tidy();
  }

  /**
   * A write found no room: removes files, purges, and opens the spare, if there is one. @returns
   * whether it was opened
   */
  noRoom(): boolean {
    this.idle();
    const count = this.#stats[LogStat.ROLLS];
    if (this.#isSpareReady()) this.#roll();
    return this.#stats[LogStat.ROLLS] !== count;
  }

  #advance(): void {
    let bytes = this.#look();
    this.#tidy();
    if (bytes >= this.#rollBytes && this.#isSpareReady()) bytes = this.#roll();
    if (bytes >= this.#walBytesMax * STALL_SHARE && this.#helperState() === HelperState.RUNNING) this.#stall();
  }

  #look(): number {
    const bytes = this.#file.walBytes();
    this.#newCommits = 0;
    this.#newBytes = 0;
    this.#stats[LogStat.WAL_BYTES] = bytes;
    this.#stats[LogStat.SEGMENTS] = this.#file.segmentCount;
    return bytes;
  }

  #roll(): number {
    const startMs = performance.now();
    const obstacle = this.#file.roll(this.#keep(), Date.now());
    if (obstacle !== undefined) {
      const reason = obstacle.cause instanceof Error ? obstacle.cause.message : String(obstacle.cause);
      this.#warnOnce(`the next segment of the log could not be begun, and the newest one grows: ${reason}`);
      this.#retryMs = performance.now() + RETRY_MS;
      return this.#look();
    }
    this.#hasWarned = false;
    this.#stats[LogStat.ROLLS] = (this.#stats[LogStat.ROLLS] ?? 0) + 1;
    this.#stats[LogStat.ROLL_MS_TOTAL] = (this.#stats[LogStat.ROLL_MS_TOTAL] ?? 0) + performance.now() - startMs;
    this.#tidy();
    return this.#look();
  }

  /** Lets the helper make a spare, and remove what no reader has open. */
  #tidy(): void {
    const state = this.#helperState();
    if (state === HelperState.RUNNING) return;
    if (state === HelperState.FAILED) {
      this.#warnOnce("the next segment of the log could not be made ready, and the newest one grows");
      this.#retryMs = performance.now() + RETRY_MS;
    }
    if (state !== HelperState.IDLE) Atomics.store(this.#control, ControlWord.HELPER, HelperState.IDLE);
    if (this.#renewal === "making") this.#renewal = state === HelperState.FAILED ? "asked" : "made";
    if (this.#renewal === "made") return this.#beginRenewed();
    const remove = this.#setAside(this.#takeClosed());
    const isDue = (this.#stats[LogStat.WAL_BYTES] ?? 0) >= this.#walBytesMax * SPARE_SHARE;
    const mayMake = isDue || this.#reusable.length > 0;
    const isSpareDue = this.#renewal === "asked" || (mayMake && !this.#hasSpare());
    const isWanted = isSpareDue && performance.now() >= this.#retryMs;
    if (remove.length === 0 && !isWanted) return;
    const options = { pageBytes: this.#file.pageBytes(), walBytes: this.#walBytesMax };
    const spare = isWanted ? { recycle: this.#reusable.shift(), ...options } : undefined;
    if (this.#renewal === "asked" && isWanted) this.#renewal = "making";
    Atomics.store(this.#control, ControlWord.HELPER, HelperState.RUNNING);
    this.#request({ remove, spare });
  }

  #beginRenewed(): void {
    const { sequence } = this.#file;
    this.#unusedBelow = sequence + 1;
    this.#renewal = "none";
    this.#roll();
    if (this.#file.sequence === sequence) this.#renewal = "asked";
  }

  /** Keeps some of the segments for spares. @returns those to be removed, earlier ones with them */
  #setAside(closed: readonly SegmentName[]): SegmentName[] {
    const reusable = this.#reusable;
    if (closed.length === 0 && reusable.length === 0) return [];
    const nowMs = performance.now();
    if (closed.length > 0) this.#reusableUntilMs = nowMs + REUSABLE_MS;
    const max = nowMs < this.#reusableUntilMs && !this.isRenewing ? this.#reusableMax() : 0;
    const remove = reusable.splice(max);
    for (const name of closed) {
      const mayKeep = reusable.length < max && name.sequence >= this.#unusedBelow;
      const isKept = mayKeep && isRecyclable(this.#directory, name, this.#walBytesMax);
      (isKept ? reusable : remove).push(name);
    }
    return remove;
  }

  /** On a disk with little room only the spare itself is kept. */
  #reusableMax(): number {
    if (this.#keep().bytes > 0) return REUSABLE_MAX;
    return this.#hasSpare() ? 0 : 1;
  }

  /** Those that no reader knows any more. */
  #takeClosed(): SegmentName[] {
    const { retired } = this.#file;
    const closed: SegmentName[] = [];
    for (let i = 0; i < retired.length; ) {
      const each = retired[i];
      if (each === undefined || !this.#leases.areClosed(each.generation)) i++;
      else closed.push(...retired.splice(i, 1).map(({ name }) => name));
    }
    return closed;
  }

  #isSpareReady(): boolean {
    return !this.isRenewing && performance.now() >= this.#retryMs && this.#hasSpare();
  }

  /** Only the beginning of a segment takes the spare, and to look costs four system calls. */
  #hasSpare(): boolean {
    const { sequence } = this.#file;
    if (this.#spareSeenIn !== sequence && hasSpare(this.#directory)) this.#spareSeenIn = sequence;
    return this.#spareSeenIn === sequence;
  }

  #helperState(): number {
    return Atomics.load(this.#control, ControlWord.HELPER);
  }

  #stall(): void {
    const startMs = performance.now();
    this.#stats[LogStat.STALLS] = (this.#stats[LogStat.STALLS] ?? 0) + 1;
    for (;;) {
      const seen = Atomics.load(this.#control, ControlWord.WAKE);
      if (this.#helperState() !== HelperState.RUNNING) break;
      Atomics.wait(this.#control, ControlWord.WAKE, seen, 1_000);
    }
    this.#stats[LogStat.STALL_MS_TOTAL] = (this.#stats[LogStat.STALL_MS_TOTAL] ?? 0) + performance.now() - startMs;
    this.#tidy();
    if (this.#isSpareReady()) this.#roll();
  }

  #warnOnce(text: string): void {
    if (!this.#hasWarned) this.#warn(text);
    this.#hasWarned = true;
  }
}
