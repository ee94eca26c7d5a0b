import { dirname } from "node:path";
import { receiveMessageOnPort } from "node:worker_threads";
import { assertNever, formatZxid, InvariantError, type TxnDecoder, type Zxid } from "@zooid/model/storage";
import { CHECKPOINT_RESERVE, releaseReserve } from "../directory/disk-reserve.ts";
import { MissingRoom } from "../directory/missing-room.ts";
import { hasRoomForFile, storeErrorOf } from "../disk/database.ts";
import { type EntrySink, LogReader } from "../log/log-reader.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import { loadThread } from "../threads/loading.ts";
import { lowerPriority } from "../threads/lower-priority.ts";
import { BRISK, CALM, HURRIED, Pace, type Rhythm } from "../threads/pace.ts";
import { CheckpointPlan, type EntryRange } from "./checkpoint-plan.ts";
import { StateCheckpoint } from "./state-checkpoint.ts";
import { findPageDamage, removeStateFile, StateFile } from "./state-file.ts";
import type { CheckpointReport, RebuildStep, StateCommand, StateReport, StateThreadData } from "./state-messages.ts";
import { StateRebuild } from "./state-rebuild.ts";
import { damagedState } from "./state-rows.ts";
import type { CheckpointMark } from "./state-store.ts";

/**
 * The state thread: the one writer of the state file. It wakes at a lag, checkpoints what is
 * marked, and sleeps again.
 */

/** Below every other thread of the process; the call changes only the thread that makes it. */
const NICE = 10;
/** The bytes that one read of the log takes: its transaction must be short. */
const READ_BYTES = 256 * 1024;
/**
 * Limit of log bytes in one checkpoint. It bounds how long a transaction on the state file lasts,
 * up to two seconds. A checkpoint writes each node once and, in node order, visits each page once:
 * the larger the checkpoint, the cheaper each entry.
 */
const CHECKPOINT_BYTES_MAX = 256 * 1024 * 1024;
/** Lags from which a checkpoint is hastened, as multiples of the lag that begins one. */
const BRISK_LAG = 1.5;
const HURRIED_LAG = 4;
/** Time until a checkpoint that found no room is tried again. */
const FULL_RETRY_MS = 1_000;

class StateThread {
  readonly #data: StateThreadData;
  readonly #decoder: TxnDecoder;
  readonly #pace = new Pace();
  #stateFile: string;
  #state: StateFile;
  #checkpoint: StateCheckpoint;
  #log: LogReader | undefined;
  #marks: CheckpointMark[] = [];
  readonly #later: StateCommand[] = [];
  #lagBytes = 0;
  /** Bytes of the checkpoint in progress; the lag excludes them. */
  #checkpointingBytes = 0;
  /** The last checkpoint found no room. */
  #isFull = false;
  /**
   * A checkpoint found no room. Until no marks are left, each is checkpointed alone: a small
   * checkpoint needs less room.
   */
  #isCramped = false;
  /**
   * The file is closed since then; opening it undoes what that checkpoint left, which may need room
   * as well.
   */
  #isClosed = false;
  readonly #missingRoom = new MissingRoom(() => hasRoomForFile(dirname(this.#stateFile)));
  #timer: NodeJS.Timeout | undefined;
  /** Somebody reads the file, or is about to replace it. */
  #isStill = false;
  /** The rebuild of the file in progress. */
  #rebuild: StateRebuild | undefined;
  /** Flushes without an answer: they wait for room, or until the file may be written. */
  #flushes: number[] = [];

  constructor(data: StateThreadData, decoder: TxnDecoder) {
    this.#data = data;
    this.#decoder = decoder;
    this.#stateFile = data.stateFile;
    this.#state = new StateFile(data.stateFile, { testBreak: data.testBreak });
    this.#checkpoint = new StateCheckpoint(this.#state, decoder, undefined, this.#pace);
    this.#pace.rested = () => {
      this.#hear();
      this.#choosePace();
    };
    data.port.on("message", (command: StateCommand) => this.#run(() => this.#receive(command)));
  }

  #receive(command: StateCommand): void {
    switch (command.kind) {
      case "mark":
        this.#marks.push(command.mark);
        this.#lagBytes += command.mark.bytes;
        return this.#wake();
      case "flush":
        this.#flushes.push(command.id);
        if (!this.#isStill) this.#checkpointMarked();
        return;
      case "stand-still":
        // Without room it stands where it is: what follows is in the log.
        if (command.isCheckpointed) this.#checkpointMarked();
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.#isStill = true;
        return this.#report({ kind: "standing" });
      case "resume":
        this.#isStill = false;
        if (this.#flushes.length > 0) this.#checkpointMarked();
        return this.#wake();
      case "adopt":
        return this.#adopt(command.stateFile);
      case "rebuild":
        return this.#rebuildStep(command.step);
      case "close":
        return this.#close();
      default:
        return assertNever(command);
    }
  }

  /** Checkpoints when the lag asks for it, now or later. */
  #wake(): void {
    if (this.#isStill || this.#marks.length === 0) return;
    const { checkpointBytes } = this.#data;
    if (!this.#isFull && this.#lagBytes >= checkpointBytes) this.#checkpointAll(checkpointBytes);
    if (this.#marks.length === 0) return;
    this.#timer ??= setTimeout(
      () => this.#run(() => this.#checkpointAll()),
      this.#isFull ? FULL_RETRY_MS : this.#data.checkpointMs,
    );
  }

  /** Without success, the file in force stays what it is. */
  #rebuildStep(step: RebuildStep): void {
    try {
      this.#tryRebuildStep(step);
    } catch (cause) {
      this.#abandonRebuild();
      return this.#report({ kind: "not-rebuilt", detail: storeErrorOf(cause, this.#stateFile).detail });
    }
    // Past the rename there is no way back: what fails from here on ends the process.
    if (step.kind === "end") this.#switchRebuilt(step.to.zxid);
    this.#report({ kind: "rebuilt" });
  }

  #tryRebuildStep(step: RebuildStep): void {
    switch (step.kind) {
      case "begin":
        // What a checkpoint without room has left must be undone first, which needs the old file.
        if (this.#isClosed) this.#open();
        this.#rebuild = new StateRebuild(this.#stateFile, this.#data.testBreak);
        return;
      case "slice":
        return this.#rebuilding().add(step.slice);
      case "end": {
        const { from, to, nextNodeId, level } = step;
        const rebuild = this.#rebuilding();
        this.#log ??= new LogReader(this.#data.logDirectory, this.#data.leases);
        const log = this.#log;
        const chain = log.chainAt(from);
        if (chain === undefined) throw this.#split(from, "there is none");
        rebuild.finish({
          decoder: this.#decoder,
          pace: this.#pace,
          nextNodeId,
          level,
          read: (sink) => {
            const [applied] = this.#read(log, { zxid: from, chain }, to, sink);
            const { digestHigh, digestLow } = to;
            return { applied, digestHigh, digestLow, ensembleId: log.ensembleId() };
          },
        });
        return;
      }
      case "abandon":
        return this.#abandonRebuild();
      default:
        return assertNever(step);
    }
  }

  #rebuilding(): StateRebuild {
    if (this.#rebuild !== undefined) return this.#rebuild;
    throw new StoreError({ code: "SNAPSHOT_ENDED", reason: "another state was adopted" });
  }

  #abandonRebuild(): void {
    this.#rebuild?.abandon();
    this.#rebuild = undefined;
  }

  #switchRebuilt(upTo: Zxid): void {
    const startMs = performance.now();
    const rebuild = this.#rebuilding();
    this.#rebuild = undefined;
    this.#state.close();
    rebuild.switch();
    this.#open();
    const marks = this.#marks.filter(({ zxid }) => zxid <= upTo);
    this.#marks = this.#marks.slice(marks.length);
    const bytes = bytesOf(marks);
    this.#lagBytes -= bytes;
    const { meta } = this.#state;
    const ms = performance.now() - startMs;
    this.#report({ kind: "checkpointed", checkpoint: { meta, marks: marks.length, bytes, entries: 0, nodes: 0, ms } });
    if (this.#marks.length === 0) this.#foundRoom();
  }

  #adopt(stateFile: string): void {
    this.#abandonRebuild();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#marks = [];
    this.#lagBytes = 0;
    this.#state.close();
    removeStateFile(this.#stateFile);
    this.#stateFile = stateFile;
    this.#open();
    this.#foundRoom();
    this.#report({ kind: "adopted" });
  }

  /**
   * Checkpoints what is marked now. Marks may come faster than they are checkpointed, above all
   * while no write waits for them: a caller must not wait for those.
   */
  #checkpointMarked(): void {
    const last = this.#marks.at(-1);
    this.#checkpointAll(0, last?.zxid);
    if (!this.#isStill) this.#wake();
  }

  /**
   * @param lagMin a lag below it is left: the next checkpoint is larger with it
   * @param upTo the last mark of interest
   */
  #checkpointAll(lagMin = 0, upTo: number = Number.POSITIVE_INFINITY): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#marks.length === 0) return this.#foundRoom();
    this.#hear();
    for (let next = this.#marks[0]; next !== undefined && next.zxid <= upTo; next = this.#marks[0]) {
      if (this.#lagBytes < lagMin) break;
      const marks = this.#takeMarks(upTo);
      try {
        if (this.#isClosed) this.#open();
        this.#checkpointMarks(marks);
      } catch (cause) {
        if (!this.#missingRoom.mayExplain(cause)) throw cause;
        this.#undo(marks);
        if (releaseReserve(dirname(this.#stateFile), CHECKPOINT_RESERVE)) continue;
        this.#waitForRoom(cause);
        return;
      }
      this.#hear();
    }
    this.#foundRoom();
    this.#checkpoint.release();
    this.#state.shrink();
  }

  /**
   * No mark waits for room any more. Every flush ends here, also one that another step than its own
   * has made good.
   */
  #foundRoom(): void {
    this.#missingRoom.clear();
    this.#isCramped = false;
    this.#setFull(undefined);
    if (this.#isStill) return;
    for (const id of this.#flushes.splice(0)) this.#report({ kind: "flushed", id });
  }

  /** A checkpoint found no room. Its transaction is undone with the connection. */
  #undo(marks: readonly CheckpointMark[]): void {
    this.#checkpointingBytes = 0;
    this.#marks.unshift(...marks);
    this.#lagBytes += bytesOf(marks);
    this.#isCramped = true;
    this.#state.close();
    this.#isClosed = true;
  }

  /** The checkpoint is tried again later. */
  #waitForRoom(cause: unknown): void {
    this.#setFull(cause instanceof Error ? cause.message : String(cause));
    this.#wake();
  }

  #open(): void {
    this.#state = new StateFile(this.#stateFile, { testBreak: this.#data.testBreak });
    this.#checkpoint = new StateCheckpoint(this.#state, this.#decoder, undefined, this.#pace);
    this.#isClosed = false;
  }

  #setFull(missing: string | undefined): void {
    const isFull = missing !== undefined;
    if (isFull !== this.#isFull) this.#report({ kind: "room-changed", missing });
    this.#isFull = isFull;
  }

  /**
   * Takes the marks that came while it checkpointed, so that it knows its lag. What else came waits
   * for its turn, with all behind it.
   */
  #hear(): void {
    for (;;) {
      const command = receiveMessageOnPort(this.#data.port)?.message as StateCommand | undefined;
      if (command === undefined) return;
      if (command.kind === "mark" && this.#later.length === 0) {
        this.#marks.push(command.mark);
        this.#lagBytes += command.mark.bytes;
      } else {
        this.#later.push(command);
      }
    }
  }

  /** The oldest marks that one checkpoint may hold; at least one. */
  #takeMarks(upTo: number): readonly CheckpointMark[] {
    const bytesMax = this.#isCramped ? 0 : CHECKPOINT_BYTES_MAX;
    let bytes = 0;
    let count = 0;
    for (const mark of this.#marks) {
      if (count > 0 && (bytes + mark.bytes > bytesMax || mark.zxid > upTo)) break;
      bytes += mark.bytes;
      count++;
    }
    return this.#marks.splice(0, count);
  }

  #checkpointMarks(marks: readonly CheckpointMark[]): void {
    const startMs = performance.now();
    const bytes = bytesOf(marks);
    this.#checkpointingBytes = bytes;
    this.#lagBytes -= bytes;
    this.#choosePace();
    const target = marks.at(-1);
    const { meta } = this.#state;
    let report: CheckpointReport = { meta, marks: marks.length, bytes, entries: 0, nodes: 0, ms: 0 };
    if (target !== undefined && target.zxid > meta.applied.zxid) {
      const bounds = { after: meta.applied.zxid, upTo: target.zxid, rowBytesMax: this.#checkpoint.rowBytesMax };
      const plan = new CheckpointPlan(marks, bounds, this.#pace);
      this.#log ??= new LogReader(this.#data.logDirectory, this.#data.leases);
      const log = this.#log;
      this.#state.begin();
      this.#checkpoint.begin(plan);
      const [applied, entries] = this.#read(log, meta.applied, target, this.#take, plan.skipped);
      this.#checkpoint.addLastWrites(plan, (zxids) => log.entries(zxids, READ_BYTES, this.#take));
      log.closeSealed();
      const nodes = this.#checkpoint.end();
      this.#state.commit({
        applied,
        digestHigh: target.digestHigh,
        digestLow: target.digestLow,
        ensembleId: log.ensembleId(),
        nextNodeId: this.#checkpoint.nextNodeId,
        level: this.#checkpoint.level,
      });
      report = { ...report, meta: this.#state.meta, entries, nodes, ms: performance.now() - startMs };
    }
    this.#checkpointingBytes = 0;
    this.#report({ kind: "checkpointed", checkpoint: report });
  }

  #choosePace(): void {
    this.#pace.rhythm = rhythmFor((this.#lagBytes + this.#checkpointingBytes) / this.#data.checkpointBytes);
  }

  /**
   * Hands the checkpoint the entries up to a mark. Only what is durable can be read, so nothing
   * else can be checkpointed.
   *
   * @param skipped ranges that are not read
   */
  #read(
    log: LogReader,
    from: LogPosition,
    target: Pick<CheckpointMark, "zxid" | "chain">,
    sink: EntrySink,
    skipped: readonly EntryRange[] = [],
  ): [applied: LogPosition, entries: number] {
    let at = from;
    let entries = 0;
    let passed = 0;
    while (at.zxid < target.zxid) {
      const range = skipped[passed];
      if (range !== undefined && range.first === at.zxid + 1) {
        if (entries === 0 && log.chainAt(at.zxid) !== at.chain) throw this.#split(at.zxid, "the chain is another one");
        const chain = log.chainAt(range.last);
        if (chain === undefined) throw this.#split(range.last, "the log holds no such entry");
        at = { zxid: range.last, chain };
        entries += range.last - range.first + 1;
        passed++;
        continue;
      }
      const upTo = range === undefined ? target.zxid : ((range.first - 1) as Zxid);
      // The first run reads the chain of the entry before it, which proves that the log is the
      // same.
      const chain = entries === 0 ? undefined : at.chain;
      const walk = log.walk(at.zxid, { bytesMax: READ_BYTES, upTo, chain }, sink);
      if (walk.after.chain !== at.chain) throw this.#split(at.zxid, "the chain is another one");
      if (walk.count === 0) throw this.#split(upTo, "the log ends before it");
      entries += walk.count;
      at = walk.last;
    }
    if (target.chain !== undefined && target.chain !== at.chain) throw this.#split(at.zxid, "the chain is another one");
    return [at, entries];
  }

  readonly #take: EntrySink = (zxid, bytes, start, end) => {
    this.#checkpoint.add(zxid, bytes, start, end);
    this.#pace.step(end - start);
  };

  #split(zxid: Zxid, found: string): StoreError {
    const place = `the entry ${formatZxid(zxid)} that the state was to continue with`;
    return new StoreError({ code: "DAMAGED", file: this.#data.logDirectory, place, found });
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#log?.[Symbol.dispose]();
    this.#abandonRebuild();
    this.#state.close();
    this.#data.port.close();
  }

  /** Does one thing, then what was asked for meanwhile. */
  #run(act: () => void): void {
    this.#guard(act);
    for (let next = this.#later.shift(); next !== undefined; next = this.#later.shift()) {
      const command = next;
      this.#guard(() => this.#receive(command));
    }
  }

  #guard(act: () => void): void {
    try {
      act();
    } catch (cause) {
      clearTimeout(this.#timer);
      const error = this.#damageBehind(cause) ?? storeErrorOf(cause, this.#stateFile);
      this.#report({ kind: "failed", detail: error.detail });
      this.#data.port.close();
    }
  }

  /**
   * A node that is not found may be one that a flipped bit in the file's index hides: then the file
   * is at fault, not the transaction.
   */
  #damageBehind(cause: unknown): StoreError | undefined {
    if (!(cause instanceof InvariantError) || this.#isClosed) return undefined;
    const found = findPageDamage(this.#stateFile);
    return found === undefined ? undefined : damagedState(this.#stateFile, "a page", found);
  }

  #report(report: StateReport): void {
    this.#data.port.postMessage(report);
  }
}

function rhythmFor(lag: number): Rhythm {
  if (lag >= HURRIED_LAG) return HURRIED;
  return lag >= BRISK_LAG ? BRISK : CALM;
}

function bytesOf(marks: readonly CheckpointMark[]): number {
  return marks.reduce((sum, mark) => sum + mark.bytes, 0);
}

const data = loadThread<StateThreadData>();
lowerPriority(NICE);
try {
  const { TxnReader } = (await import(data.decoderModule)) as { readonly TxnReader: new () => TxnDecoder };
  new StateThread(data, new TxnReader());
} catch (cause) {
  data.port.postMessage({ kind: "failed", detail: storeErrorOf(cause, data.stateFile).detail } satisfies StateReport);
  data.port.close();
}
