import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { assertNever, frameZxid, LatencyBuckets, ZXID_NONE, type Zxid } from "@zooid/model";
import { ControlWord, RecordKind, RingReader } from "./append-ring.ts";
import { chainHigh, chainLow } from "./chain.ts";
import { isFull, storeErrorOf } from "./database.ts";
import { withConfigs, withCurrentEpoch, withEnsembleId, withPromise } from "./log-book.ts";
import { type Keep, LogFile } from "./log-file.ts";
import { COMMIT_BUCKETS_AT, type LogCommand, type LogReport, LogStat, type LogThreadData } from "./log-messages.ts";
import { ReaderLeases } from "./segments/reader-leases.ts";
import { SegmentRoller } from "./segments/segment-roller.ts";
import type { DurableLog, LogPosition } from "./txn-log.ts";

/**
 * The log thread: the one writer of the segments. It sleeps until something lies in the ring, puts every batch that waits there into one
 * transaction with one sync, reports, and looks again. It never returns to its event loop.
 */

/** A group is committed at this size even if more batches wait. */
const GROUP_BYTES_MAX = 2 * 1024 * 1024;
/** How long nothing must happen before a purge, or what waits for a reader, takes a turn of its own. */
const IDLE_MS = 50;
/** How often a log with nothing to do looks whether something has become old enough to go. */
const IDLE_RETENTION_MS = 1_000;

class LogThread {
  readonly #data: LogThreadData;
  readonly #control: Int32Array;
  readonly #stats: Float64Array;
  readonly #commitMs: LatencyBuckets;
  readonly #ring: RingReader;
  readonly #file: LogFile;
  readonly #roller: SegmentRoller;
  /** The open group: for each batch five numbers as `LogReport` has them, and its first zxid for a refusal. */
  #group: number[] = [];
  #groupFirsts: { generation: number; zxid: Zxid }[] = [];
  #groupBytes = 0;
  #open = false;
  /** The state that was last reported to the other side in full. */
  #reported: DurableLog;
  #full = false;
  #purgeAllowed: Zxid = ZXID_NONE;
  /** Something may go that is not gone. */
  #isPurgeDue = false;
  #closed = false;

  constructor(data: LogThreadData) {
    this.#data = data;
    this.#control = new Int32Array(data.ring.control);
    this.#stats = new Float64Array(data.stats);
    this.#commitMs = new LatencyBuckets(this.#stats, COMMIT_BUCKETS_AT);
    this.#ring = new RingReader(data.ring);
    this.#file = new LogFile(data.options);
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
    }
    this.#file.close();
    this.#data.helper.close();
    this.#data.port.close();
  }

  /** A thread with nothing to do sleeps: waking up is most of what an idle server costs. */
  #sleepMs(): number {
    if (this.#isPurgeDue || this.#roller.isWaiting) return IDLE_MS;
    return this.#data.retentionMs > 0 ? IDLE_RETENTION_MS : Number.POSITIVE_INFINITY;
  }

  /** Between two groups. */
  #turn(): void {
    this.#roller.turn();
    this.#reportFloor();
  }

  /** Everything that waits, one group or more. False when there was nothing. */
  #takeAll(): boolean {
    let took = false;
    while (!this.#closed && this.#ring.next()) {
      took = true;
      const { kind, start, end, generation, committed } = this.#ring;
      if (kind === RecordKind.APPEND) {
        this.#append(this.#ring.bytes, { start, end, generation, committed: committed as Zxid });
      } else {
        this.#command();
        // Where the ring never runs empty, small groups end with commands alone.
        if (!this.#closed) this.#turn();
      }
      if (this.#groupBytes >= GROUP_BYTES_MAX) {
        this.#commitGroup();
        this.#turn();
      }
    }
    this.#commitGroup();
    return took;
  }

  #append(
    bytes: Buffer,
    batch: {
      readonly start: number;
      readonly end: number;
      readonly generation: number;
      readonly committed: Zxid;
      readonly lastSeenConfig?: Uint8Array | undefined;
    },
  ): void {
    const { start, end, generation } = batch;
    const zxid = frameZxid(bytes, start);
    if (this.#full) {
      this.#commitGroup();
      this.#refuse([{ generation, zxid }], "the disk is full");
      this.#ring.release();
      return;
    }
    this.#groupFirsts.push({ generation, zxid });
    try {
      if (!this.#open) {
        this.#file.begin();
        this.#open = true;
      }
      const tail = this.#file.add(bytes, start, end, batch.committed);
      if (batch.lastSeenConfig !== undefined) this.#file.addConfig(batch.lastSeenConfig);
      const done = [generation, tail.zxid, chainHigh(tail.chain), chainLow(tail.chain), batch.committed];
      this.#group.push(...done);
      this.#groupBytes += end - start;
    } catch (error) {
      this.#refuseGroup(error);
    }
  }

  #commitGroup(): void {
    if (!this.#open) return this.#ring.release();
    try {
      this.#sync();
    } catch (error) {
      return this.#refuseGroup(error);
    }
    const done = this.#group;
    this.#count(LogStat.BATCHES, done.length / 5);
    this.#count(LogStat.BYTES, this.#groupBytes);
    this.#roller.committed(this.#groupBytes);
    this.#stats[LogStat.ENTRIES] = this.#file.entryCount;
    const { log } = this.#file;
    const changed = isMoreThanTail(this.#reported, log);
    if (changed) this.#reported = log;
    this.#clearGroup();
    this.#report({ kind: "appended", done, log: changed ? log : undefined });
  }

  #sync(): void {
    const startMs = performance.now();
    this.#file.commit();
    const tookMs = performance.now() - startMs;
    this.#commitMs.note(tookMs);
    this.#count(LogStat.SYNCS, 1);
    this.#count(LogStat.SYNC_MS_TOTAL, tookMs);
    this.#stats[LogStat.SYNC_MS_LAST] = tookMs;
    this.#stats[LogStat.SYNC_MS_MAX] = Math.max(this.#stats[LogStat.SYNC_MS_MAX] ?? 0, tookMs);
    if (tookMs <= this.#data.fsyncWarnMs) return;
    this.#count(LogStat.SLOW_SYNCS, 1);
    const text = `fsync-ing the write ahead log in the log thread took ${Math.round(tookMs)}ms which will adversely affect operation latency.`;
    this.#report({ kind: "warned", text });
  }

  /**
   * An append failed. Without room nothing is wrong with what is on the disk: the frames of an unfinished commit are overwritten by
   * the next one, and should a crash make them whole, they were never acked. That is true only if the tail is still what it was.
   * Everything else ends the log.
   */
  #refuseGroup(error: unknown): void {
    if (!isFull(error) || !this.#file.rollback()) throw error;
    const refused = this.#groupFirsts;
    this.#clearGroup();
    this.#full = true;
    this.#stats[LogStat.FULL] = 1;
    this.#refuse(refused, error instanceof Error ? error.message : String(error));
  }

  #refuse(refused: readonly { generation: number; zxid: Zxid }[], reason: string): void {
    this.#report({ kind: "refused", refused, reason });
  }

  #clearGroup(): void {
    this.#group = [];
    this.#groupFirsts = [];
    this.#groupBytes = 0;
    this.#open = false;
    this.#ring.release();
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
        const { bytes, generation, committed, lastSeenConfig } = command.batch;
        const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
        this.#append(buffer, { start: 0, end: bytes.length, generation, committed, lastSeenConfig });
        // Its bytes are not the ring's: they must be written before anything else is taken.
        return this.#commitGroup();
      }
      case "resume":
        this.#full = false;
        this.#stats[LogStat.FULL] = 0;
        return;
      case "promise":
        file.change(withPromise(file.log, command.promise));
        return this.#answer(command.id);
      case "epoch":
        file.change(withCurrentEpoch(file.log, command.epoch));
        return this.#answer(command.id);
      case "configs":
        file.change(withConfigs(file.log, command));
        return this.#answer(command.id);
      case "ensemble":
        file.change(withEnsembleId(file.log, command.ensembleId));
        return this.#answer(command.id);
      case "cut":
        return this.#answer(command.id, file.cut(command.to));
      case "begin-stage":
        file.beginStage(command.after);
        return this.#answer(command.id);
      case "stage":
        return this.#answer(command.id, file.stage(Buffer.from(command.bytes)));
      case "drop-stage":
        file.dropStage();
        return this.#answer(command.id);
      case "flip":
        return this.#answer(command.id, file.flip(command.flip));
      case "committed":
        return file.noteCommitted(command.zxid);
      case "purge":
        this.#purgeAllowed = command.upTo;
        this.#isPurgeDue = true;
        return;
      case "close":
        this.#closed = true;
        return;
      default:
        return assertNever(command);
    }
  }

  #answer(id: number, at?: LogPosition): void {
    const { log } = this.#file;
    this.#reported = log;
    this.#report({ kind: "answer", id, log, at });
  }

  #keep(): Keep {
    const { logKeepBytes, retentionMs } = this.#data;
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
      // Tried again when the next one is allowed, or with the beginning of a segment.
      if (!isFull(error) || !this.#file.rollback()) throw error;
      return;
    }
    this.#reportFloor();
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
    reported.lastSeenConfig !== log.lastSeenConfig
  );
}

const data = workerData as LogThreadData;
try {
  new LogThread(data).run();
} catch (cause) {
  // Poisoned: nothing more is written or completed, and the file is left as it is for the next start.
  data.port.postMessage({
    kind: "failed",
    detail: storeErrorOf(cause, data.options.directory).detail,
  } satisfies LogReport);
  data.port.close();
  data.helper.close();
}
