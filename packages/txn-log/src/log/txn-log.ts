import type { Chain, LatencyBuckets, LevelRaise, LogPosition, LogState, TxnLog, Zxid } from "@zooid/model";

export type {
  EntryRun,
  EpochPromise,
  EpochRange,
  HistoryInstall,
  LogConfigs,
  LoggedRun,
  LogPosition,
  LogState,
  ReadResult,
  RunMarks,
  TxnLog,
} from "@zooid/model";

/** The settings that may change while a log is open. */
export interface LogSettings {
  /** Log kept for learners even when the state is beyond it, in bytes on the disk. */
  readonly logKeepBytes: number;
  /** Log kept for questions about the past, in milliseconds; 0: none. */
  readonly retentionMs: number;
  /** A sync that takes longer, in milliseconds, is warned about and counted. */
  readonly fsyncWarnMs: number;
}

/**
 * The log of a store. Appends are completed through {@link LogHandler.appended}; all other
 * callbacks run in {@link LogHandler.completed}.
 *
 * **Failure.** After {@link LogHandler.failed} the log takes and completes nothing more, and
 * nothing is retried: the process must end and recover from what is on disk.
 *
 * **A full disk** is no failure. A write without room is undone, waits with all behind it, and is
 * tried again until there is room ({@link LogHandler.roomChanged}): the log is then as slow as a
 * disk can be. Only a close does not wait.
 *
 * Records are opaque here. Within an epoch counters rise by one; a new epoch begins with counter 1;
 * anything else is a defect and fails the log.
 */
export interface StoreLog extends TxnLog, AsyncDisposable {
  /**
   * As found at open, then moved by every completed write, before its completion is reported. A new
   * object whenever something other than `tail` and `commitHint` changes; never changed in place
   * otherwise.
   */
  readonly durable: DurableLog;

  /** Whether a write waits for room on the disk. */
  readonly isFull: boolean;

  /** While the disk has little room, only those entries are kept that are needed. */
  setLow(isLow: boolean): void;

  /**
   * Starts what {@link TxnLog.read} and {@link TxnLog.chainAt} need, which the first of them waits
   * for otherwise. For members of an ensemble: the first to read is a leader that has just been
   * elected, and no write is answered until it has read.
   */
  prepareReads(): void;

  /** Other settings, from the next commit and purge on; segments keep their size. */
  changeSettings(settings: LogSettings): void;

  /**
   * Drops every entry above a zxid. A zxid below the floor, or one that the log does not hold, is a
   * defect.
   */
  cut(to: Zxid, done: () => void): void;

  /**
   * Allows entries up to a zxid to be purged: they are in a *synced* state file. The log
   * chooses the segments and the time: it keeps `logKeepBytes`, what `retentionMs` asks for,
   * everything above the commit hint and everything that is held.
   */
  allowPurge(upTo: Zxid): void;

  /**
   * Keeps every entry after a zxid from being purged until the hold is disposed: for a learner's
   * cursor, or a backup.
   */
  hold(after: Zxid): Disposable;

  stats(): LogStats;

  /** Finishes what was handed over, then closes. Stopping twice is harmless. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How a log reports. Calls come one at a time, in order, never from within a call to the log. */
export interface LogHandler {
  /** A batch is handed over, of this size; {@link appended} follows once it is durable. */
  appending?(bytes: number): void;
  /** A batch, and so everything before it, is durable. Once for each append, in order. */
  appended(done: Appended): void;
  /** Runs the callback of a write or a question. Without it the log runs the step itself. */
  completed?(step: () => void): void;
  /**
   * A write waits for room on the disk, for this reason; or, with `undefined`, it has found room.
   * See {@link StoreLog.isFull}.
   */
  roomChanged(missing: string | undefined): void;
  /** The store cannot be trusted any more. Called once. */
  failed(error: Error): void;
  /** A sentence for operators. */
  warned(text: string, warning: StoreWarning): void;
}

/**
 * The subject of a sentence for operators. `repaired`: a start found a damaged file, and continues
 * without it. `unreadable`: a file cannot be read, or not be rebuilt from memory. `no-room`: the
 * state, or a start, needs room on its disk, or has it again. `slow`: syncs are slow, or the next
 * segment is not ready. `behind`: writes wait for the state file.
 */
export type StoreWarning = "repaired" | "unreadable" | "no-room" | "slow" | "behind";

export interface Appended {
  readonly generation: number;
  /** The batch's last entry, and the chain there. */
  readonly zxid: Zxid;
  readonly chain: Chain;
}

/** Where a history went on under another identity, see {@link LogBranching}. */
export interface LogBranch {
  /** The identity before: of the ensemble, and of this server in it. */
  readonly ensembleId: string;
  readonly sid: number;
  /** The end of what the two histories have in common. */
  readonly at: LogPosition;
}

/**
 * The change that turns a log into the history of another ensemble, in one transaction: all that is
 * logged counts as committed, and the server holds the epoch, so that the next one is above it.
 */
export interface LogBranching {
  readonly ensembleId: string;
  readonly sid: number;
  /** Above every epoch that is known. */
  readonly epoch: number;
  /** The configuration in force from then on. Opaque here. */
  readonly config: Uint8Array;
}

/** The durable state, with the log's own facts. */
export interface DurableLog extends LogState {
  readonly identity: LogState["identity"] & { readonly formatVersion: number };
  /** The file, in the same directory, whose state the log continues. */
  readonly stateFile: string;
  readonly committedConfig: Uint8Array | undefined;
  readonly lastSeenConfig: Uint8Array | undefined;
  readonly levelRaise: LevelRaise;
  /** Identities that the log had before, oldest first. */
  readonly branches: readonly LogBranch[];
}

/** Counts since open, and gauges. Durations in milliseconds. */
export interface LogStats {
  readonly batchCount: number;
  readonly entryCount: number;
  readonly appendedBytes: number;
  /** Transactions, each with one sync; several batches may share one. */
  readonly syncCount: number;
  readonly syncMsTotal: number;
  readonly syncMsMax: number;
  readonly syncMsLast: number;
  /** Their durations; undefined where nothing is synced. */
  readonly commitBuckets: LatencyBuckets | undefined;
  /** Syncs slower than `fsyncWarnMs`. */
  readonly slowSyncCount: number;
  /** Batches and bytes handed over and not completed. */
  readonly pendingBatches: number;
  readonly pendingBytes: number;
  /** How far the newest segment is written. */
  readonly walBytes: number;
  /** Files that the log consists of. */
  readonly segmentCount: number;
  /** Times a full segment was followed by another one, and how long that took in all. */
  readonly rollCount: number;
  readonly rollMsTotal: number;
  /** Times, and how long in all, the log took no batch because the next segment was not ready. */
  readonly stallCount: number;
  readonly stallMsTotal: number;
  /** Number of purged segments; of purged entries in a log without segments. */
  readonly purgedCount: number;
}
