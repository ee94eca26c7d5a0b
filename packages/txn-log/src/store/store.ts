import type { LevelRange, Zxid } from "@zooid/model/storage";
import type { ExportOptions } from "../apache/export-options.ts";
import type { ImportOptions } from "../apache/import-options.ts";
import type { Archive, ArchiveOptions } from "../archive/archive.ts";
import type { HistoryPurge, HistoryPurgeOptions } from "../archive/history-purge-options.ts";
import type { TestBreak } from "../disk/test-break.ts";
import type { HistoryQueries } from "../history/history-queries.ts";
import type { DurableLog, EpochRange, LogBranching, LogHandler, LogPosition, StoreLog } from "../log/txn-log.ts";
import type { Scrub, ScrubOptions } from "../scrub/scrub.ts";
import type { LiveTree } from "../state/live-tree.ts";
import type {
  PlacedState,
  SnapshotExport,
  SnapshotReceiver,
  SnapshotSource,
  StateMeta,
  StateSink,
  StateStore,
} from "../state/state-store.ts";
import type { StoreError } from "./store-error.ts";

export interface StoreOptions {
  /** Made, readable by its owner only, if it does not exist. */
  readonly directory: string;
  /**
   * Where the log lies, if apart from the state: on a disk of its own its syncs wait for nothing
   * else. Default: `directory`.
   */
  readonly logDirectory?: string;
  readonly sid: number;
  /** Must be the directory's, if it has one; a new directory gets it. */
  readonly ensembleId?: string;
  /** The handler of log and state alike. */
  readonly handler: LogHandler;
  /**
   * An ensemble of one: promise and hold the next epoch in the transaction that counts the start,
   * and call all that is logged committed.
   */
  readonly takeEpoch?: boolean;
  /**
   * Called with the log that was found, before anything is changed: throws where it must not be
   * opened. Default: any log is opened.
   */
  readonly admit?: (found: DurableLog) => void;
  /**
   * The feature levels that this server knows; data of another one are refused (`UNKNOWN_LEVEL`).
   * Default: those of this version.
   */
  readonly levels?: LevelRange;
  /**
   * Open a log that lost what it acked; it says `amnesiac` until an install ends that. Otherwise
   * such a log is refused.
   */
  readonly allowAmnesia?: boolean;
  /**
   * An offline command makes the directory, which is marked as unfinished; see `NewDirectories`.
   * Otherwise such a directory is refused.
   */
  readonly isUnfinished?: boolean;
  /**
   * The damage that the last open or replay of this directory found. Damaged state files and
   * segments are moved to `damaged/<time>/`, with all files that cannot be used without them. A
   * state that the log can make again is made again; otherwise the log begins as an amnesiac, which
   * `allowAmnesia` must permit.
   */
  readonly setAside?: StoreError;
  /**
   * Log kept for learners even when the state is beyond it, in bytes on the disk. Default 64 MiB.
   */
  readonly logKeepBytes?: number;
  /** Log kept for questions about the past. Default 0: none. */
  readonly retentionMs?: number;
  /** How long a segment of the log is. Default half of `logKeepBytes`, at most 32 MiB. */
  readonly segmentBytes?: number;
  /** A slower sync is warned about. Default 1000 ms. */
  readonly fsyncWarnMs?: number;
  /**
   * Shared memory for batches in transit; batches that do not fit wait in ordinary memory.
   * Default 4 MiB.
   */
  readonly ringBytes?: number;
  /**
   * The state is brought forward when it lags `checkpointBytes` behind the log, or after
   * `checkpointMs`. Defaults 64 MiB, 30 s.
   */
  readonly checkpointBytes?: number;
  readonly checkpointMs?: number;
  /**
   * How long a source of a snapshot may wait for the next chunk to be asked for, while the state
   * stands still. Default 60 s.
   */
  readonly snapshotHoldMs?: number;
  /** Specifier or URL of a module whose `TxnReader` decodes records. Default `@zooid/wire/txn`. */
  readonly decoderModule?: string;
  /** Checks state file and sealed segments in the background. Default: not. */
  readonly scrub?: ScrubOptions;
  /**
   * The tree in memory. With it, a state file that the scrub finds damaged is rebuilt, and one that
   * lacks the entries of a damaged segment. Undefined while there is none. Default: such files stay
   * as they are.
   */
  readonly liveTree?: () => LiveTree | undefined;
  /**
   * Copies committed entries into files that outlast the log's purge, for questions about the past,
   * backups and restores. Default: not. Needs a Node.js with zstd (22.15).
   */
  readonly archive?: ArchiveOptions;
  /** Breaks a promise on purpose. */
  readonly testBreak?: TestBreak;
}

/** Replay's callback for one entry: its record lies in the bytes, which are only lent. */
export type ReplaySink = (zxid: Zxid, bytes: Uint8Array, start: number, end: number) => void;

/** A server's data directory, or two: its log and the state behind it. */
export interface Store extends AsyncDisposable {
  readonly log: StoreLog;
  readonly state: StateStore;
  /** Undefined where none was asked for. */
  readonly scrub: Scrub | undefined;
  /** Undefined where none was asked for. */
  readonly archive: Archive | undefined;
  /** Questions about what the archive has; undefined without one. */
  readonly history: HistoryQueries | undefined;
  /**
   * Fills the tree from the state file in force, synchronously; `replay` continues from the
   * position in the answer.
   */
  loadState(sink: StateSink): StateMeta;
  /**
   * Hands over every entry after a position, in order, checking the chain; synchronously. To the
   * log's end, which is for an ensemble of one, or through a zxid: an ensemble's member replays
   * through `log.durable.commitHint`, for what lies above may never be committed.
   */
  replay(after: LogPosition, sink: ReplaySink, through?: Zxid): LogPosition;

  /**
   * Makes ready to send the newest state: checkpoints what is marked, then stands still there until
   * the last chunk is read. Meanwhile nothing is checkpointed, and the lag that comes up is not
   * counted in `state.lagBytes`. Later callers get the same state, until a whole
   * `checkpointBytes` has been marked behind it: then they wait for those before them.
   */
  openSnapshot(): Promise<SnapshotSource>;

  /**
   * Makes ready to build the state that a leader announced; one at a time. The old state stands
   * still until the new one is adopted or abandoned.
   *
   * @param epochs compared with what comes, if given
   */
  receiveSnapshot(position: LogPosition, epochs?: readonly EpochRange[]): Promise<SnapshotReceiver>;

  /**
   * Takes a whole state file that was made elsewhere, on the same disk, to be installed: see
   * {@link letStateStandAt}. Otherwise as {@link receiveSnapshot}.
   */
  placeState(file: string): Promise<PlacedState>;

  /** As {@link openSnapshot}, in the form in which Apache ZooKeeper writes its snapshots. */
  exportSnapshot(options?: ExportOptions): Promise<SnapshotExport>;

  /**
   * Makes ready to build a state from a snapshot of Apache ZooKeeper's, in pieces of any size;
   * otherwise as {@link receiveSnapshot}. It stands at the first zxid of an epoch that is later
   * than any in the snapshot or in this log, unless the options name the zxid.
   */
  importSnapshot(options?: ImportOptions): Promise<SnapshotReceiver>;

  /**
   * After an install with a snapshot is durable: the file that the log now names is the state, and
   * the old one goes. At once, so that {@link loadState} may follow; does nothing when the file is
   * in force already. Sources of the old state end. Throws when the file cannot be read, and then
   * the process must end.
   */
  adoptState(): StateMeta;

  /**
   * Removes all transactions up to a zxid, and each value that they wrote, unless the tree has it
   * still, from every file. One at a time; the archive must be kept.
   */
  purgeHistory(options: HistoryPurgeOptions): Promise<HistoryPurge>;

  /** The obstacle at which {@link purgeHistory} would stop before its first step. */
  purgeObstacle(through: Zxid): string | undefined;

  /**
   * Turns the log into the history of another ensemble, in one transaction: for a store that serves
   * no client, and is closed next. The state file follows at the next open.
   */
  branch(branching: LogBranching): Promise<void>;
}
