import type { LevelRaise } from "../levels/level-raise.ts";
import type { Chain, EntryRun, EpochPromise, HistoryInstall, LogPosition, LogState } from "./history.ts";
import type { Zxid } from "./zxid.ts";

/**
 * Entries in the framing of batches, somewhere in a buffer: zxid (u64 BE), length (u32 BE), record.
 */
export interface LoggedRun {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** The facts that a log has of a run besides its entries; durable together with them. */
export interface RunMarks {
  /** The last configuration that one of them carries. */
  readonly lastSeenConfig?: Uint8Array;
  /** The last raise of the feature level among them. */
  readonly levelRaise?: LevelRaise;
}

/** Configurations of the ensemble to be replaced; the others stay. Their bytes are opaque. */
export interface LogConfigs {
  readonly committed?: Uint8Array;
  readonly lastSeen?: Uint8Array;
}

/**
 * Entries, or why there are none: the log holds them no longer, or what it holds is not what was
 * written.
 */
export type ReadResult = EntryRun | "below-floor" | "damaged";

/**
 * The log of one server: entries in zxid order, and the promises and epochs that elections rest on.
 *
 * **Order.** Writes take effect in the order of the calls, and are completed in that order: appends
 * in the way that the log was opened with, all others by their callbacks.
 *
 * **Durability.** A completed write survives the process and the power. Writes that were not
 * completed may survive or not, but always as a prefix of those asked for. One call is one
 * transaction at most.
 *
 * **Callbacks** never come from within the call. A write that fails never calls back, nor does a
 * question to a log that has failed: the process ends.
 */
export interface TxnLog {
  /** The durable state now. */
  readonly durable: LogState;
  /**
   * Never blocks; the bytes are copied before it returns. An empty run is not allowed.
   *
   * @param generation echoed in the completion
   * @param committed the commit point known now, written along as the hint: it may lag
   */
  append(run: LoggedRun, generation: number, committed: Zxid, marks?: RunMarks): void;
  setConfigs(configs: LogConfigs, done: () => void): void;
  /** The epoch that was promised, and to whom. Epochs not above the recorded one are a defect. */
  setPromise(promise: EpochPromise, done: () => void): void;
  /**
   * The leader's own way to become a holder of an epoch; learners do it by {@link installHistory}.
   * Never lowers it.
   */
  setCurrentEpoch(epoch: number, done: () => void): void;
  /**
   * Gives a log that was made without one its ensemble's id. A defect when it has another and a
   * history.
   */
  setEnsembleId(ensembleId: string, done: () => void): void;
  /**
   * Opens a stage beside the log for what a leader sends in synchronization, dropping an earlier
   * stage. Nothing visible changes until {@link installHistory}; a restart drops it.
   *
   * @param after the position that staged entries continue: one of this log (where it will be cut),
   *   or that of a snapshot
   */
  beginStage(after: LogPosition, done: () => void): void;
  /** Adds a run to the stage. The bytes are copied before it returns. */
  stage(run: LoggedRun, done: () => void): void;
  dropStage(done: () => void): void;
  /**
   * Cuts the log where the stage begins, appends the stage and sets the epoch, all in one
   * transaction.
   */
  installHistory(install: HistoryInstall, done: () => void): void;
  /**
   * Durable entries after a zxid, at least one where there is one, more up to `bytesMax`. Not a
   * write: it may call back at any time, also after later writes.
   */
  read(after: Zxid, bytesMax: number, done: (result: ReadResult) => void): void;
  /**
   * The chain at a zxid that the log holds or that is its floor; undefined for any other. Not a
   * write. One that cannot be read never calls back.
   */
  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void;
}
