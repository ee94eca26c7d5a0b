import { join } from "node:path";
import {
  assert,
  earlierOf,
  formatZxid,
  isFloorUncommitted,
  knowsLevel,
  type LevelRange,
  OWN_LEVELS,
  type Zxid,
} from "@zooid/model/storage";
import type { ImportOptions } from "./apache/import-options.ts";
import { Archive, type ArchiveOptions } from "./archive/archive.ts";
import { listBases } from "./archive/archive-base.ts";
import { basesFolderOf, listArchive, logFolderOf, makeArchiveFolder } from "./archive/archive-folder.ts";
import { type HistoryPurgeParts, purgeHistory, purgeObstacle } from "./archive/history-purge.ts";
import type { HistoryPurge, HistoryPurgeOptions } from "./archive/history-purge-options.ts";
import { HistoryQueries } from "./archive/history-queries.ts";
import { hasRoomForFile, isFull, isUnexplained } from "./disk/database.ts";
import { DataDirectories } from "./directory/data-directories.ts";
import { LOG_RESERVE, releaseReserve } from "./directory/disk-reserve.ts";
import { inspectDirectory, isLogComplete, WITNESS_FILE } from "./directory/inspect-directory.ts";
import { MissingRoom } from "./directory/missing-room.ts";
import { setAside } from "./directory/set-aside.ts";
import { findWitnessDamage } from "./directory/witness.ts";
import { LogReader } from "./log/log-reader.ts";
import { openSqliteLog, type SqliteTxnLog } from "./log/sqlite-txn-log.ts";
import { Scrub, type ScrubOptions } from "./scrub/scrub.ts";
import type { FoundDamage } from "./scrub/scrub-messages.ts";
import { diskIdFile, fetchDiskId, readDiskId } from "./segments/disk-id.ts";
import { ReaderLeases } from "./segments/reader-leases.ts";
import { SnapshotTransfers } from "./snapshots/snapshot-transfers.ts";
import type { LiveTree } from "./state/live-tree.ts";
import { readyStateFile } from "./state/ready-state-file.ts";
import { openSqliteState, type SqliteStateStore } from "./state/sqlite-state-store.ts";
import type {
  PlacedState,
  SnapshotExport,
  SnapshotReceiver,
  SnapshotSource,
  StateMeta,
  StateSink,
  StateStore,
} from "./state/state-store.ts";
import { StoreError } from "./store/store-error.ts";
import type { TestBreak } from "./disk/test-break.ts";
import type { DurableLog, EpochRange, LogBranching, LogHandler, LogPosition, StoreLog } from "./log/txn-log.ts";

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
   * What the last open or replay of this directory found damaged. Damaged state files and segments
   * are moved to `damaged/<time>/`, with whatever cannot be used without them. A state that the log
   * can make again is made again; otherwise the log begins as an amnesiac, which `allowAmnesia`
   * must permit.
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
   * Shared memory for batches on their way; what does not fit waits in ordinary memory. Default 4
   * MiB.
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
   * counted in `state.lagBytes`. Who comes meanwhile gets the same state, until a whole
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

  /**
   * As {@link openSnapshot}, in the form in which Apache ZooKeeper writes its snapshots.
   *
   * @param sessions whether sessions and their ephemeral nodes are in it. Default: kept
   */
  exportSnapshot(sessions?: "kept" | "left out"): Promise<SnapshotExport>;

  /**
   * Makes ready to build a state from a snapshot of Apache ZooKeeper's, in pieces of any size;
   * otherwise as {@link receiveSnapshot}. It stands at the first zxid of an epoch that is later
   * than any in the snapshot or in this log.
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

  /** What {@link purgeHistory} would stop at before its first step. */
  purgeObstacle(through: Zxid): string | undefined;

  /**
   * Turns the log into the history of another ensemble, in one transaction: for a store that serves
   * no client, and is closed next. The state file follows at the next open.
   */
  branch(branching: LogBranching): Promise<void>;
}

const WITHOUT_WITNESS =
  "it is rewritten; this start could not compare the log with it, so a damaged last commit looks like one that a power cut tore";
const MIB = 1024 * 1024;
const REPLAY_BYTES = 256 * 1024;
const SEGMENTS_KEPT = 2;
const SEGMENT_BYTES_MIN = 64 * 1024;
/**
 * At 600 MB a second, segments of 32 MiB make writes of 64 KiB a tenth faster than those of 16 MiB.
 */
const SEGMENT_BYTES_MAX = 32 * MIB;

/**
 * Opens a data directory: locks it, looks before it touches, counts the start. Rejects with a
 * `StoreError`: with `DISK_FULL` where the reserve is used up too, and the directory can be opened
 * once there is room.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { directory, logDirectory = directory } = options;
  const directories = [directory, logDirectory];
  const hasRoom = (): boolean => directories.every(hasRoomForFile);
  const missingRoom = new MissingRoom(hasRoom);
  for (;;) {
    try {
      return await openOnce(options);
    } catch (cause) {
      const failure = openFailureOf(cause);
      if (failure === undefined || !missingRoom.mayExplain(failure)) throw cause;
      if (!isFull(failure) && hasRoom()) continue;
      const full = diskFull(directory, failure, cause);
      const isReleased = directories.map((each) => releaseReserve(each, LOG_RESERVE)).includes(true);
      if (!isReleased) throw full;
      options.handler.warned(`${full.message}; the reserve is used`, "no-room");
    }
  }
}

/** The cause, at whatever depth, that a disk without room may be behind. */
function openFailureOf(error: unknown): Error | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isFull(cause) || isUnexplained(cause)) return cause;
  }
  return undefined;
}

function diskFull(directory: string, failure: Error, cause: unknown): StoreError {
  if (failure instanceof StoreError && failure.code === "DISK_FULL") return failure;
  return new StoreError({ code: "DISK_FULL", file: directory, reason: failure.message }, { cause });
}

const WITHOUT_DISK_ID =
  "it is written again with another one. If an ensemble knows this voter by the id before, a quorum of other voters has to synchronize it before it counts";

async function openOnce(options: StoreOptions): Promise<Store> {
  const { directory, logDirectory = directory, handler, sid, ensembleId } = options;
  const place = new DataDirectories(directory, logDirectory, options.isUnfinished === true ? "unfinished" : "finished");
  let opened: SqliteTxnLog | undefined;
  try {
    if (options.setAside !== undefined) moveDamaged(options, options.setAside);
    const found = inspectDirectory({ directory, logDirectory }, { sid, ensembleId });
    const { levels = OWN_LEVELS } = options;
    // A raise that is not known to be committed counts as well: others may have committed it.
    if (!knowsLevel(levels, found.level)) {
      throw new StoreError({ code: "UNKNOWN_LEVEL", directory, level: found.level, known: levels });
    }
    // An opened log has counted the start, and taken an epoch where it is an ensemble of one:
    // others would wait for a leader of that epoch.
    if (found.log !== undefined) options.admit?.(found.log);
    if (found.shortened !== undefined && options.allowAmnesia !== true) throw found.shortened;
    const witnessDamage = findWitnessDamage(join(logDirectory, WITNESS_FILE));
    if (witnessDamage !== undefined) handler.warned(`${witnessDamage.message}; ${WITHOUT_WITNESS}`, "repaired");
    // An ensemble knows the disks of its members; a server alone has nothing to lose by a new id.
    if (found.log !== undefined && readDiskId(logDirectory) === undefined) {
      const isFetched = logDirectory !== directory && fetchDiskId(directory, logDirectory);
      if (!isFetched && options.allowAmnesia === true) {
        handler.warned(`${diskIdFile(logDirectory)} is missing, or holds no id; ${WITHOUT_DISK_ID}`, "repaired");
      }
    }
    const logKeepBytes = options.logKeepBytes ?? 64 * MIB;
    const segmentBytes = Math.max(SEGMENT_BYTES_MIN, Math.floor(logKeepBytes / SEGMENTS_KEPT));
    const leases = new ReaderLeases().memory;
    let checkpointing: StateStore | undefined;
    let archive: Archive | undefined;
    const log = await openSqliteLog({
      file: {
        directory: logDirectory,
        witnessFile: join(logDirectory, WITNESS_FILE),
        sid,
        ensembleId: ensembleId ?? found.leftState?.ensembleId,
        stateFile: found.leftState?.name,
        takeEpoch: options.takeEpoch === true,
        amnesiac: found.shortened !== undefined,
        applied: found.applied,
        stateLevel: found.stateLevel,
        leases,
        testBreak: options.testBreak,
      },
      handler,
      ringBytes: options.ringBytes ?? 4 * MIB,
      segmentBytes: options.segmentBytes ?? Math.min(SEGMENT_BYTES_MAX, segmentBytes),
      settings: {
        logKeepBytes,
        retentionMs: options.retentionMs ?? 0,
        fsyncWarnMs: options.fsyncWarnMs ?? 1_000,
      },
      // What is checkpointed may be purged.
      freeRoom: async () => checkpointing?.flush(),
    });
    opened = log;
    const stateFile = readyStateFile(directory, log.durable, found);
    const state = openSqliteState({
      stateFile,
      logDirectory,
      leases,
      decoderModule: options.decoderModule ?? "@zooid/wire/txn",
      checkpointBytes: options.checkpointBytes ?? 64 * MIB,
      checkpointMs: options.checkpointMs ?? 30_000,
      testBreak: options.testBreak,
      marked: (mark) => {
        log.noteCommitted(mark.zxid);
        archive?.advance(mark);
      },
      checkpointed: (meta) => log.allowPurge(meta.applied.zxid),
      roomChanged: (missing) => {
        if (missing === undefined) handler.warned("the state file has room on its disk again", "no-room");
        else handler.warned(`the state file waits for room on its disk: ${missing}`, "no-room");
      },
      failed: (error) => handler.failed(error),
    });
    checkpointing = state;
    const { snapshotHoldMs: holdMs = 60_000, testBreak } = options;
    const transfers = new SnapshotTransfers({ log, state, directory, holdMs, levels, testBreak });
    const rewrite = (): Promise<boolean> => rewriteState(transfers, options);
    const scrub =
      options.scrub === undefined ? undefined : newScrub(options.scrub, { log, state, logDirectory, leases, rewrite });
    // Before anything is checkpointed, and purged.
    if (options.archive !== undefined) {
      archive = newArchive(options.archive, { log, transfers, logDirectory, leases, options });
      log.observe(archive);
    }
    const history =
      options.archive === undefined
        ? undefined
        : new HistoryQueries(
            { archive: options.archive.folder, decoderModule: options.decoderModule ?? "@zooid/wire/txn" },
            () => log.durable.floor.zxid,
          );
    return new SqliteStore({ log, state, scrub, archive, history, transfers, place, directory, logDirectory, leases });
  } catch (cause) {
    await opened?.[Symbol.asyncDispose]();
    place.abandon();
    throw cause;
  }
}

function moveDamaged({ directory, logDirectory = directory, handler }: StoreOptions, damage: StoreError): void {
  const folders = setAside({
    directory,
    logDirectory,
    damage,
    isLogComplete: isLogComplete(logDirectory),
    nowMs: Date.now(),
  });
  if (folders.length > 0)
    handler.warned(`${damage.message}; the damaged files are now in ${folders.join(" and ")}`, "repaired");
}

function newArchive(
  archive: ArchiveOptions,
  parts: {
    readonly log: SqliteTxnLog;
    readonly transfers: SnapshotTransfers;
    readonly logDirectory: string;
    readonly leases: SharedArrayBuffer;
    readonly options: StoreOptions;
  },
): Archive {
  const { log, transfers, logDirectory, leases, options } = parts;
  makeArchiveFolder(archive.folder);
  const { floor } = log.durable;
  // Without files the state that was copied last is where it begins.
  const begin = listBases(basesFolderOf(archive.folder)).at(-1)?.zxid ?? floor.zxid;
  const end = listArchive(logFolderOf(archive.folder)).at(-1)?.end ?? begin;
  return new Archive({
    options: archive,
    logDirectory,
    leases,
    decoderModule: options.decoderModule ?? "@zooid/wire/txn",
    after: floor.zxid,
    begin,
    isBehindGap: end < floor.zxid,
    hold: (after) => log.hold(after),
    openSnapshot: () => transfers.open(),
    ensembleId: () => log.durable.identity.ensembleId,
    isStateCommitted: () => !isFloorUncommitted(log.durable),
  });
}

function newScrub(
  options: ScrubOptions,
  parts: {
    readonly log: SqliteTxnLog;
    readonly state: SqliteStateStore;
    readonly logDirectory: string;
    readonly leases: SharedArrayBuffer;
    readonly rewrite: () => Promise<boolean>;
  },
): Scrub {
  const { log, state, logDirectory, leases, rewrite } = parts;
  const retire = async ({ end }: FoundDamage): Promise<"retired" | "needed"> => {
    // Checkpointing would read the segment, and fail.
    if (state.applied.applied.zxid < end) return "needed";
    // Since the open, nothing may have been checkpointed that would have allowed it.
    log.allowPurge(state.applied.applied.zxid);
    await new Promise<void>((resolve) => log.discard(end, resolve));
    return "retired";
  };
  return new Scrub({ options, logDirectory, leases, stateFile: state.stateFile, retire, rewrite });
}

/**
 * Writes the state file from the tree in memory. False where there is none, or where it could not
 * be written.
 */
async function rewriteState(transfers: SnapshotTransfers, { liveTree, handler }: StoreOptions): Promise<boolean> {
  const tree = liveTree?.();
  if (tree === undefined) return false;
  try {
    await transfers.rebuild(tree);
    return true;
  } catch (cause) {
    const isClosed = cause instanceof StoreError && cause.code === "CLOSED";
    if (!isClosed) handler.warned(`the state file cannot be written from memory: ${textOf(cause)}`, "unreadable");
    return false;
  }
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

class SqliteStore implements Store {
  readonly log: SqliteTxnLog;
  readonly state: StateStore;
  readonly scrub: Scrub | undefined;
  readonly archive: Archive | undefined;
  readonly history: HistoryQueries | undefined;
  readonly #state: SqliteStateStore;
  readonly #directory: string;
  readonly #transfers: SnapshotTransfers;
  readonly #place: DataDirectories;
  readonly #logDirectory: string;
  readonly #leases: SharedArrayBuffer;
  #closing: Promise<void> | undefined;

  constructor(parts: {
    readonly log: SqliteTxnLog;
    readonly state: SqliteStateStore;
    readonly scrub: Scrub | undefined;
    readonly archive: Archive | undefined;
    readonly history: HistoryQueries | undefined;
    readonly transfers: SnapshotTransfers;
    readonly place: DataDirectories;
    readonly directory: string;
    readonly logDirectory: string;
    readonly leases: SharedArrayBuffer;
  }) {
    this.log = parts.log;
    this.state = parts.state;
    this.scrub = parts.scrub;
    this.archive = parts.archive;
    this.history = parts.history;
    this.#state = parts.state;
    this.#directory = parts.directory;
    this.#transfers = parts.transfers;
    this.#place = parts.place;
    this.#logDirectory = parts.logDirectory;
    this.#leases = parts.leases;
  }

  loadState(sink: StateSink): StateMeta {
    return this.state.load(sink);
  }

  replay(after: LogPosition, sink: ReplaySink, through?: Zxid): LogPosition {
    // The state may know more to be committed than the log's hint says.
    if (through !== undefined && through <= after.zxid) return after;
    using reader = new LogReader(this.#logDirectory, this.#leases);
    const { tail } = this.log.durable;
    let at = after;
    for (;;) {
      const walk = reader.walk(at.zxid, { bytesMax: REPLAY_BYTES, upTo: through }, sink);
      if (walk.after.chain !== at.chain) {
        throw new StoreError({
          code: "DAMAGED",
          file: this.#logDirectory,
          place: `table log, row ${formatZxid(at.zxid)}`,
          found: "the state was of another history",
        });
      }
      if (walk.count === 0) break;
      at = walk.last;
    }
    assert(at.zxid >= earlierOf(through ?? tail.zxid, tail.zxid), "replay comes to where it was to end");
    return at;
  }

  openSnapshot(): Promise<SnapshotSource> {
    return this.#transfers.open();
  }

  receiveSnapshot(position: LogPosition, epochs?: readonly EpochRange[]): Promise<SnapshotReceiver> {
    return this.#transfers.receive(position, epochs);
  }

  placeState(file: string): Promise<PlacedState> {
    return this.#transfers.place(file);
  }

  exportSnapshot(sessions: "kept" | "left out" = "kept"): Promise<SnapshotExport> {
    return this.#transfers.export(sessions);
  }

  importSnapshot(options?: ImportOptions): Promise<SnapshotReceiver> {
    return this.#transfers.import(options);
  }

  adoptState(): StateMeta {
    const before = this.#state.stateFile;
    const meta = this.#transfers.adopt();
    this.scrub?.setStateFile(this.#state.stateFile);
    if (this.#state.stateFile !== before) this.archive?.adopted(meta.applied.zxid);
    return meta;
  }

  purgeHistory(options: HistoryPurgeOptions): Promise<HistoryPurge> {
    const parts = this.#purgeParts();
    if (typeof parts === "string") return Promise.resolve({ kind: "obstacle", reason: parts });
    return purgeHistory(parts, { ...options, isEnded: () => options.isEnded() || this.#closing !== undefined });
  }

  purgeObstacle(through: Zxid): string | undefined {
    const parts = this.#purgeParts();
    return typeof parts === "string" ? parts : purgeObstacle(parts, through);
  }

  /** Or why there is no purge. */
  #purgeParts(): HistoryPurgeParts | string {
    const { archive, log } = this;
    if (archive === undefined) return "this server keeps no history: zooid.history.retainMs is 0";
    if (archive.isLow)
      return "the disk has little room: nothing is added to the history, and no copy of the state is taken";
    const places = { directory: this.#directory, logDirectory: this.#logDirectory };
    const leases = new ReaderLeases(this.#leases);
    return { archive, log, state: this.#state, transfers: this.#transfers, leases, ...places };
  }

  branch(branching: LogBranching): Promise<void> {
    return new Promise((resolve) => this.log.branch(branching, resolve));
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.archive?.stop();
    this.#transfers.stop();
    await this.scrub?.close();
    await this.#transfers.close();
    await this.history?.[Symbol.asyncDispose]();
    await this.archive?.close();
    await this.state[Symbol.asyncDispose]();
    await this.log[Symbol.asyncDispose]();
    this.#place[Symbol.dispose]();
  }
}

export { apacheLogEntries } from "./apache/apache-log.ts";
export { derivedPasswordHash } from "./apache/apache-password.ts";
export { ApacheSnapshotDecoder, type ApacheSnapshotParts } from "./apache/apache-snapshot-decoder.ts";
export { type ApacheChange, type ApacheTransaction, apacheTransaction } from "./apache/apache-transaction.ts";
export { type ApacheNode, ApacheTree, type OwnedCount } from "./apache/apache-tree.ts";
export { apacheTreeSnapshot } from "./apache/apache-tree-snapshot.ts";
export { APACHE_EPOCH_GAP, type ImportedSessions, type ImportOptions } from "./apache/import-options.ts";
export {
  Archive,
  type ArchiveEvent,
  type ArchiveOptions,
  type ArchivePart,
  type ArchiveParts,
  type ArchiveSettings,
  type ArchiveStatus,
} from "./archive/archive.ts";
export { type BaseSource, type ListedBase, listBases, readBase, readManifest } from "./archive/archive-base.ts";
export { type ArchiveBlock, ArchiveFile } from "./archive/archive-file.ts";
export { basesFolderOf, gapsIn, type ListedFile, listArchive, logFolderOf } from "./archive/archive-folder.ts";
export type { ArchiveFooter, Extent } from "./archive/archive-format.ts";
export type { ArchiveFiles } from "./archive/archive-messages.ts";
export type { BaseManifest, BasePart } from "./archive/base-manifest.ts";
export type { WrittenPart } from "./archive/base-part.ts";
export type { HistoryPurge, HistoryPurgeOptions } from "./archive/history-purge-options.ts";
export { HistoryQueries } from "./archive/history-queries.ts";
export {
  type ChangeSink,
  type ChangesPage,
  type ChangesQuery,
  type ChildrenLimits,
  type HistoryBranch,
  HistoryReader,
  type PastAnswer,
  type PastChildrenAnswer,
  type UnknownPast,
} from "./archive/history-reader.ts";
export type { HistoryThreadData } from "./archive/history-thread.ts";
export { type PurgePlan, planPurge } from "./archive/purge-plan.ts";
export {
  type FileTimes,
  isReadFor,
  placeOfTime,
  type TimedFile,
  type TimePlace,
  timedFiles,
} from "./archive/time-places.ts";
export { hasZstd } from "./archive/zstd.ts";
export { type Access, accessFault } from "./directory/access-fault.ts";
export { CHECKPOINT_RESERVE, LOG_RESERVE, makeReserve, type Reserve } from "./directory/disk-reserve.ts";
export type { StoreDirectories } from "./directory/inspect-directory.ts";
export { makeDirectory } from "./directory/make-directory.ts";
export { NewDirectories } from "./directory/new-directories.ts";
export { readStore, type StoreFacts, walkClosedLog } from "./directory/read-store.ts";
export { UNFINISHED_FILE } from "./directory/unfinished.ts";
export type { AppendObserver } from "./log/sqlite-txn-log.ts";
export { Scrub, type ScrubDamage, type ScrubOptions, type ScrubParts, type ScrubStatus } from "./scrub/scrub.ts";
export type { FoundDamage } from "./scrub/scrub-messages.ts";
export type { EntrySink } from "./segments/entry-sink.ts";
export { readSegment, type SegmentSummary } from "./segments/read-segment.ts";
export { type SealedSegmentFile, SealedSegments } from "./segments/sealed-segments.ts";
export { isLogFile } from "./segments/segment-name.ts";
export { isLastChunk } from "./snapshots/snapshot-format.ts";
export type { LiveCapture, LiveNode, LivePosition, LiveSession, LiveSink, LiveTree } from "./state/live-tree.ts";
export { letStateStandAt } from "./state/restored-state.ts";
export { CHECKPOINTS_FULL_FILE, FULL_FILE, type TestBreak } from "./disk/test-break.ts";
