import { receiveMessageOnPort } from "node:worker_threads";
import { assertNever, earlierOf, LatencyBuckets, ZXID_NONE, type Zxid } from "@zooid/model/storage";
import { LOG_RESERVE, releaseReserve } from "../directory/disk-reserve.ts";
import { isFull, storeErrorOf } from "../disk/database.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { SegmentRoller } from "../segments/segment-roller.ts";
import { loadThread } from "../threads/loading.ts";
import { AppendGroup, type GroupBatch } from "./append-group.ts";
import { ControlWord, RecordKind, RingReader } from "./append-ring.ts";
import { withConfigs, withCurrentEpoch, withEnsembleId, withPromise } from "./log-book.ts";
import { type Keep, LogFile } from "./log-file.ts";
import { COMMIT_BUCKETS_AT, type LogCommand, type LogReport, LogStat, type LogThreadData } from "./log-messages.ts";
import type { DurableLog, LogPosition, LogSettings } from "./txn-log.ts";

/**
 * The log thread: the one writer of the segments. It sleeps until something lies in the ring, puts
 * every batch that waits there into one transaction with one sync, reports, and looks again. It
 * never returns to its event loop.
 */

/** A group is committed at this size even if more batches wait. */
const GROUP_BYTES_MAX = 2 * 1024 * 1024;
/** Idle time before a purge, or a task that waits for a reader, runs on its own. */
const IDLE_MS = 50;
/** Time until a write that found no room is tried again. */
const FULL_RETRY_MS = 100;
/** Time that its user has to free room before the first retry, which would take that room. */
const FREEING_MS_MAX = 1_000;
/** Interval at which an idle log looks for entries that are old enough to be purged. */
const IDLE_RETENTION_MS = 1_000;

class LogThread {
  readonly #data: LogThreadData;
  readonly #control: Int32Array;
  readonly #stats: Float64Array;
  readonly #commitMs: LatencyBuckets;
  readonly #ring: RingReader;
  readonly #file: LogFile;
  readonly #roller: SegmentRoller;
  readonly #group: AppendGroup;
  /** Where the last write that was no append left the log, if it moved its end. */
  #position: LogPosition | undefined;
  /** The state that was last reported to the other side in full. */
  #reported: DurableLog;
  /** A write waits for room. */
  #isFull = false;
  /** The disk has little room: what need not be kept goes. */
  #isLow = false;
  #settings: LogSettings;
  readonly #nap = new Int32Array(new SharedArrayBuffer(4));
  /** Commands that wait for a segment which begins with a WAL of zeros. */
  #renewals: number[] = [];
  /** Something may go that is not gone. */
  #isPurgeDue = false;
  #closed = false;

  /** The segment that is written. */
  get file(): string {
    return this.#file.file;
  }

  constructor(data: LogThreadData) {
    this.#data = data;
    this.#settings = data.settings;
    this.#control = new Int32Array(data.ring.control);
    this.#stats = new Float64Array(data.stats);
    this.#commitMs = new LatencyBuckets(this.#stats, COMMIT_BUCKETS_AT);
    this.#ring = new RingReader(data.ring);
    this.#file = new LogFile(data.options);
    this.#group = new AppendGroup(this.#file);
    this.#reported = this.#file.log;
    this.#roller = new SegmentRoller({
      file: this.#file,
      directory: data.options.directory,
      leases: new ReaderLeases(data.options.leases),
      control: this.#control,
      request: (task) => {
        data.helper.postMessage(task);
        this.#report({ kind: "helper-due" });
      },
      keep: () => this.#keep(),
      stats: this.#stats,
      walBytes: data.segmentBytes,
      warn: (text) => this.#report({ kind: "warned", text }),
    });
    this.#report({ kind: "ready", log: this.#file.log });
  }

  run(): void {
    while (!this.#closed) {
      const seen = Atomics.load(this.#control, ControlWord.WAKE);
      if (this.#takeAll()) {
        this.#turn();
        continue;
      }
      if (Atomics.wait(this.#control, ControlWord.WAKE, seen, this.#sleepMs()) !== "timed-out") {
        this.#turn();
        continue;
      }
      this.#purgeIdle();
      this.#roller.idle();
      this.#reportRenewed();
    }
    this.#file.close();
    this.#data.helper.close();
    this.#data.port.close();
  }

  /** A thread with nothing to do sleeps: waking up is most of what an idle server costs. */
  #sleepMs(): number {
    if (this.#isPurgeDue) return IDLE_MS;
    return Math.min(
      this.#roller.dueInMs(IDLE_MS),
      this.#settings.retentionMs > 0 ? IDLE_RETENTION_MS : Number.POSITIVE_INFINITY,
    );
  }

  /** Between two groups. */
  #turn(): void {
    this.#roller.turn();
    this.#reportFloor();
    this.#reportRenewed();
  }

  #reportRenewed(): void {
    if (this.#renewals.length === 0 || this.#roller.isRenewing) return;
    const { log } = this.#file;
    this.#reported = log;
    for (const id of this.#renewals.splice(0)) this.#report({ kind: "answer", id, log, at: undefined });
  }

  /** Everything that waits, one group or more. False when there was nothing. */
  #takeAll(): boolean {
    let took = false;
    while (!this.#closed && this.#ring.next()) {
      took = true;
      const { kind, start, end, generation, committed } = this.#ring;
      if (kind === RecordKind.APPEND) {
        this.#append({ bytes: this.#ring.bytes, start, end, generation, committed: committed as Zxid });
      } else {
        this.#command();
        // Where the ring never runs empty, small groups end with commands alone.
        if (!this.#closed) this.#turn();
      }
      if (this.#group.bytes >= GROUP_BYTES_MAX) {
        this.#commitGroup();
        this.#turn();
      }
    }
    this.#commitGroup();
    return took;
  }

  #append(batch: GroupBatch): void {
    this.#group.push(batch);
    this.#withRoom(() => this.#group.add());
  }

  #commitGroup(): void {
    const group = this.#group;
    if (group.isEmpty) return this.#ring.release();
    if (!this.#withRoom(() => this.#sync())) return;
    const { done } = group;
    this.#count(LogStat.BATCHES, group.batchCount);
    this.#count(LogStat.BYTES, group.bytes);
    this.#roller.committed(group.bytes);
    this.#stats[LogStat.ENTRIES] = this.#file.entryCount;
    const { log } = this.#file;
    const changed = isMoreThanTail(this.#reported, log);
    if (changed) this.#reported = log;
    group.clear();
    this.#ring.release();
    this.#report({ kind: "appended", done, log: changed ? log : undefined });
  }

  #sync(): void {
    this.#group.add();
    const startMs = performance.now();
    this.#group.commit();
    const tookMs = performance.now() - startMs;
    this.#commitMs.note(tookMs);
    this.#count(LogStat.SYNCS, 1);
    this.#count(LogStat.SYNC_MS_TOTAL, tookMs);
    this.#stats[LogStat.SYNC_MS_LAST] = tookMs;
    this.#stats[LogStat.SYNC_MS_MAX] = Math.max(this.#stats[LogStat.SYNC_MS_MAX] ?? 0, tookMs);
    if (tookMs <= this.#settings.fsyncWarnMs) return;
    this.#count(LogStat.SLOW_SYNCS, 1);
    const text = `fsync-ing the write ahead log in the log thread took ${Math.round(tookMs)}ms which will adversely affect operation latency.`;
    this.#report({ kind: "warned", text });
  }

  /**
   * Writes, and where there is no room writes again until there is. Without room nothing is wrong
   * with what is on the disk: the frames of an unfinished commit are overwritten by the next one,
   * and should a crash make them whole, they were never acked. That is true only if the tail is
   * still what it was. Everything else ends the log.
   *
   * @returns false for a log that is closed meanwhile: nothing was written, and nothing more will
   *   be
   */
  #withRoom(write: () => void): boolean {
    while (!this.#closed) {
      try {
        write();
        if (this.#isFull) this.#setFull(undefined);
        return true;
      } catch (error) {
        if (!isFull(error) || !this.#group.undo()) throw error;
        this.#waitForRoom(error);
      }
    }
    return false;
  }

  #waitForRoom(error: unknown): void {
    if (!this.#isFull) this.#askForRoom(error);
    const { purgedCount } = this.#file;
    const hasBegun = this.#roller.noRoom();
    this.#purgeIdle();
    this.#reportFloor();
    const isFreed = hasBegun || this.#file.purgedCount > purgedCount;
    if (!isFreed && this.#releaseReserve()) return;
    if (!hasBegun) Atomics.wait(this.#nap, 0, 0, FULL_RETRY_MS);
    if (Atomics.load(this.#control, ControlWord.CLOSING) === 1) this.#closed = true;
  }

  #askForRoom(error: unknown): void {
    const control = this.#control;
    Atomics.store(control, ControlWord.FREEING, 1);
    this.#setFull(error instanceof Error ? error.message : String(error));
    if (Atomics.load(control, ControlWord.CLOSING) === 0) Atomics.wait(control, ControlWord.FREEING, 1, FREEING_MS_MAX);
  }

  #releaseReserve(): boolean {
    return releaseReserve(this.#data.options.directory, LOG_RESERVE);
  }

  #setFull(missing: string | undefined): void {
    this.#isFull = missing !== undefined;
    this.#stats[LogStat.FULL] = this.#isFull ? 1 : 0;
    this.#report({ kind: "room-changed", missing });
  }

  #command(): void {
    this.#commitGroup();
    this.#roller.committed(Number.POSITIVE_INFINITY);
    const received = receiveMessageOnPort(this.#data.port);
    if (received === undefined) throw new Error("a command was announced in the ring and did not come");
    const command: LogCommand = received.message;
    const file = this.#file;
    switch (command.kind) {
      case "append": {
        const { bytes, generation, committed, marks } = command.batch;
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        this.#append({ bytes: buffer, start: 0, end: bytes.length, generation, committed, marks });
        // Its bytes are not the ring's: they must be written before anything else is taken.
        return this.#commitGroup();
      }
      case "promise":
        return this.#change(command.id, () => file.change(withPromise(file.log, command.promise)));
      case "epoch":
        return this.#change(command.id, () => file.change(withCurrentEpoch(file.log, command.epoch)));
      case "configs":
        return this.#change(command.id, () => file.change(withConfigs(file.log, command)));
      case "ensemble":
        return this.#change(command.id, () => file.change(withEnsembleId(file.log, command.ensembleId)));
      case "branch":
        return this.#change(command.id, () => file.branch(command.branching));
      case "cut":
        return this.#write(command.id, () => file.cut(command.to));
      case "begin-stage":
        return this.#change(command.id, () => file.beginStage(command.after));
      case "stage":
        return this.#write(command.id, () => file.stage(Buffer.from(command.bytes)));
      case "drop-stage":
        return this.#change(command.id, () => file.dropStage());
      case "install-history":
        return this.#write(command.id, () => file.installHistory(command.install));
      case "committed":
        return file.noteCommitted(command.zxid);
      case "purge":
        this.#isPurgeDue = true;
        return;
      case "low":
        this.#isLow = command.isLow;
        this.#isPurgeDue = true;
        return;
      case "settings":
        this.#settings = command.settings;
        this.#isPurgeDue = true;
        return;
      case "discard":
        return this.#change(command.id, () => this.#discard(command.upTo));
      case "renew":
        this.#renewals.push(command.id);
        return this.#roller.renew();
      case "close":
        this.#closed = true;
        return;
      default:
        return assertNever(command);
    }
  }

  #change(id: number, change: () => void): void {
    this.#write(id, () => {
      change();
      return undefined;
    });
  }

  #write(id: number, write: () => LogPosition | undefined): void {
    const isWritten = this.#withRoom(() => {
      this.#position = write();
    });
    if (!isWritten) return;
    const { log } = this.#file;
    this.#reported = log;
    this.#report({ kind: "answer", id, log, at: this.#position });
  }

  get #purgeAllowed(): Zxid {
    return (this.#stats[LogStat.PURGE_ALLOWED] ?? ZXID_NONE) as Zxid;
  }

  #keep(): Keep {
    const { logKeepBytes, retentionMs } = this.#settings;
    if (this.#isLow || this.#isFull) {
      return { above: this.#purgeAllowed, bytes: 0, olderThanMs: Number.POSITIVE_INFINITY };
    }
    return { above: this.#purgeAllowed, bytes: logKeepBytes, olderThanMs: Date.now() - retentionMs };
  }

  /** Under a load that never rests, segments are purged along with the beginning of others. */
  #purgeIdle(): void {
    this.#isPurgeDue = false;
    const count = this.#file.purgeable(this.#keep());
    if (count === 0) return;
    try {
      this.#file.purge(count);
    } catch (error) {
      if (!isFull(error) || !this.#file.undo()) throw error;
      // The reserve has room for this commit. Without it: when the next one is allowed, or with the
      // beginning of a segment.
      if (this.#isFull && this.#releaseReserve()) this.#purgeIdle();
      return;
    }
    this.#reportFloor();
  }

  /** Lets go of segments up to a zxid that need not be kept, whatever else asks for them. */
  #discard(upTo: Zxid): void {
    const above = earlierOf(upTo, this.#purgeAllowed);
    const count = this.#file.purgeable({ above, bytes: 0, olderThanMs: Number.POSITIVE_INFINITY });
    if (count > 0) this.#file.purge(count);
  }

  #reportFloor(): void {
    const { log } = this.#file;
    if (log.floor === this.#reported.floor) return;
    this.#reported = log;
    this.#stats[LogStat.PURGED] = this.#file.purgedCount;
    this.#report({ kind: "purged", log });
  }

  #count(stat: number, by: number): void {
    this.#stats[stat] = (this.#stats[stat] ?? 0) + by;
  }

  #report(report: LogReport): void {
    this.#data.port.postMessage(report);
  }
}

/** Whether the other side could not tell by a completion alone. */
function isMoreThanTail(reported: DurableLog, log: DurableLog): boolean {
  return (
    reported.epochs.length !== log.epochs.length ||
    reported.floor !== log.floor ||
    reported.lastSeenConfig !== log.lastSeenConfig ||
    reported.levelRaise !== log.levelRaise
  );
}

const data = loadThread<LogThreadData>();
let thread: LogThread | undefined;
try {
  thread = new LogThread(data);
  thread.run();
} catch (cause) {
  // Poisoned: nothing more is written or completed, and the file is left as it is for the next
  // start.
  data.port.postMessage({
    kind: "failed",
    detail: storeErrorOf(cause, thread?.file ?? data.options.directory).detail,
  } satisfies LogReport);
  data.port.close();
  data.helper.close();
}
