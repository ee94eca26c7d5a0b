import type { Chain, EntryRun, EpochPromise, HistoryInstall, LogPosition, LogState, Zxid } from "@zooid/model";

/**
 * The durable log, as the peer uses it. Writes take effect in the order of the calls and call back
 * in that order, appends through {@link ZabPeer.synced}. A callback never comes from within the
 * call. A write that fails never calls back: the process ends.
 */
export interface ZabLog {
  /** What is durable now. */
  readonly durable: LogState;
  /** @param lastSeenConfig a configuration that an entry of the batch carries: durable together with it */
  append(batch: LoggedRun, generation: number, committed: Zxid, lastSeenConfig?: Uint8Array): void;
  /** Replaces the configurations named. */
  setConfigs(configs: { readonly committed?: Uint8Array; readonly lastSeen?: Uint8Array }, done: () => void): void;
  setPromise(promise: EpochPromise, done: () => void): void;
  setCurrentEpoch(epoch: number, done: () => void): void;
  setEnsembleId(ensembleId: string, done: () => void): void;
  beginStage(after: LogPosition, done: () => void): void;
  /** The bytes are copied before it returns. */
  stage(run: LoggedRun, done: () => void): void;
  dropStage(done: () => void): void;
  /**
   * Cuts the log where the stage begins, appends the stage and sets the epoch, all in one
   * transaction.
   */
  installHistory(install: HistoryInstall, done: () => void): void;
  /**
   * Durable entries after a zxid, at least one where there is one, more up to `bytesMax`.
   * `below-floor` when they are no longer held. Not a write: it may call back at any time, also
   * after later writes.
   */
  read(after: Zxid, bytesMax: number, done: (result: EntryRun | "below-floor" | "damaged") => void): void;
  /** The chain at a zxid that the log holds or that is its floor. Not a write. */
  chainAt(zxid: Zxid, done: (chain: Chain | undefined) => void): void;
}

export interface LoggedRun {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}
