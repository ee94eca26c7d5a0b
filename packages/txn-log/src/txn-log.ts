import type {
  Chain,
  EntryRun,
  EpochPromise,
  EpochRange,
  HistoryInstall,
  LatencyBuckets,
  LogPosition,
  LogState,
  Zxid,
} from "@zooid/model";

export type { EntryRun, EpochPromise, EpochRange, HistoryInstall, LogPosition, LogState };

/**
 * The durable log of one server: entries in zxid order, the promises and epochs that elections rest on, and the name of
 * the state file that the log continues.
 *
 * **Order.** Everything asked of a log (appends and all other writes) takes effect in the order of the calls. Appends are
 * completed in that order through {@link LogHandler}; the other writes answer through promises. A promise settles after the
 * completions of every append before it were reported.
 *
 * **Durability.** What was completed or resolved survives the process and the power. What was not may survive or not, but
 * always as a prefix of what was asked. One call is one transaction at most: a batch, a flip, a cut are there whole or
 * not at all.
 *
 * **Failure.** After {@link LogHandler.failed} the log takes and completes nothing more, every open promise rejects with
 * the same error, and nothing is retried: the process must end and recover from what is on disk.
 *
 * **A full disk** is no failure. A write without room is undone, waits with all behind it, and is tried again until there is
 * room ({@link LogHandler.roomChanged}): the log is then as slow as a disk can be. Only a close does not wait.
 *
 * Records are opaque here. A batch is one run of bytes, entry after entry: zxid (u64 BE), length (u32 BE), record. Within an
 * epoch counters rise by one; a new epoch begins with counter 1; anything else is a defect and fails the log.
 */
export interface TxnLog extends AsyncDisposable {
  /**
   * What is durable now: as found at open, then moved by every completed write, before its completion is reported. A new
   * object whenever something other than `tail` and `commitHint` changes; never changed in place otherwise.
   */
  readonly durable: DurableLog;

  /**
   * Hands a batch over. Never blocks and never throws for the disk's sake: the bytes are copied once before it returns, so the
   * caller may reuse them at once. An empty batch is not allowed.
   */
  append(batch: AppendBatch): void;

  /** Whether a write waits for room on the disk. */
  readonly isFull: boolean;

  /** While the disk has little room, only those entries are kept that are needed. */
  setLow(isLow: boolean): void;

  /** Records the epoch that was promised, and to whom. Lower or equal epochs than the recorded one are a defect. */
  setPromise(promise: EpochPromise): Promise<void>;

  /** The leader's own way to become a holder of an epoch; learners do it in {@link flip}. Never lowers it. */
  setCurrentEpoch(epoch: number): Promise<void>;

  /** Replaces the configurations named; the others stay. Their bytes are opaque. */
  setConfigs(configs: { readonly committed?: Uint8Array; readonly lastSeen?: Uint8Array }): Promise<void>;

  /** Gives a log that was made without one its ensemble's id. A defect when it has another and a history. */
  setEnsembleId(ensembleId: string): Promise<void>;

  /** Drops every entry above a zxid. A zxid below the floor, or one that the log does not hold, is a defect. */
  cut(to: Zxid): Promise<LogPosition>;

  /**
   * Opens a stage beside the log for what a leader sends in synchronization, dropping an earlier stage. Nothing visible
   * changes until {@link flip}; a restart drops it.
   *
   * @param after the position that staged entries continue: one of this log (where it will be cut), or that of a snapshot
   */
  beginStage(after: LogPosition): Promise<void>;

  /** Adds a batch to the stage; the bytes are copied before it returns. Resolves with the stage's new end. */
  stage(bytes: Uint8Array, start: number, end: number): Promise<LogPosition>;

  dropStage(): Promise<void>;

  /**
   * The atomic flip: cut to where the stage begins, add the staged entries, move epoch table, state file name, last-seen
   * configuration and `currentEpoch`, all in one transaction. Source: reference on ZAB, rule 3 and section 5.4 step S4.
   */
  flip(install: HistoryInstall): Promise<LogPosition>;

  /**
   * Reads durable entries after a zxid, in order, each checked against the chain. The answer ends at an entry's border, holds at
   * least one entry where there is one, and more only up to `bytesMax` in all. Rejects with `BELOW_FLOOR` when the log no longer holds
   * what follows, `DAMAGED` (with the place) when a row is not what was written.
   */
  read(after: Zxid, bytesMax: number): Promise<EntryRun>;

  /** The chain at a zxid that the log holds or that is its floor; undefined for any other. */
  chainAt(zxid: Zxid): Promise<Chain | undefined>;

  /**
   * Allows entries up to a zxid to be purged: they are in a *synced* state file. What goes, and when, is the log's own
   * choice, by whole segments: it keeps `logKeepBytes`, what `retentionMs` asks for, everything above the commit
   * hint and everything that is held.
   */
  allowPurge(upTo: Zxid): void;

  /** Keeps every entry after a zxid from being purged until the hold is disposed: for a learner's cursor, or a backup. */
  hold(after: Zxid): Disposable;

  stats(): LogStats;

  /** Finishes what was handed over, then closes. Stopping twice is harmless. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface AppendBatch {
  /** The role generation that asks; echoed in the completion, so that the core can tell its own from an earlier life's. */
  readonly generation: number;
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
  /** The commit point known now, written along as the hint. It may lag; it must never exceed what was committed. */
  readonly committed: Zxid;
  /** A configuration that an entry of this batch carries: durable in the same transaction. */
  readonly lastSeenConfig?: Uint8Array;
}

/** How a log reports. Calls come one at a time, in order, never from within a call to the log. */
export interface LogHandler {
  /** A batch, and so everything before it, is durable. Once for each append, in order. */
  appended(done: Appended): void;
  /** A write waits for room on the disk, for this reason; or, with `undefined`, it has found room. See {@link TxnLog.isFull}. */
  roomChanged(missing: string | undefined): void;
  /** The store cannot be trusted any more. Called once. */
  failed(error: Error): void;
  /** A sentence for operators, such as one on a slow sync. */
  warned(text: string): void;
}

export interface Appended {
  readonly generation: number;
  /** The batch's last entry, and the chain there. */
  readonly zxid: Zxid;
  readonly chain: Chain;
}

/** What is durable, with the log's own facts. */
export interface DurableLog extends LogState {
  readonly identity: LogState["identity"] & { readonly formatVersion: number };
  /** The file, in the same directory, whose state the log continues. */
  readonly stateFile: string;
  readonly committedConfig: Uint8Array | undefined;
  readonly lastSeenConfig: Uint8Array | undefined;
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
  /** Of segments; of entries in a log without. */
  readonly purgedCount: number;
}
