import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { UploadSettings } from "@zooid/backup";
import {
  CHAIN_NONE,
  counted,
  FRAME_HEADER_BYTES,
  formatZxid,
  type LevelRange,
  type LogPosition,
  levelAt,
  type ServerId,
  type Zxid,
} from "@zooid/model";
import { Histogram, type Replica } from "@zooid/replica";
import {
  type LogHandler,
  type PlacedState,
  type ReceivedSnapshot,
  type SnapshotExport,
  type SnapshotReceiver,
  type SnapshotSource,
  type StateMeta,
  StoreError,
  type StoreLog,
} from "@zooid/txn-log";
import {
  type ArchiveOptions,
  CHECKPOINT_RESERVE,
  type ExportOptions,
  type HistoryPurge,
  type HistoryQueries,
  type ImportOptions,
  isLogFile,
  type LiveTree,
  LOG_RESERVE,
  letStateStandAt,
  makeReserve,
  openStore,
  type PurgePlan,
  planPurge,
  type ScrubOptions,
  type Store,
} from "@zooid/txn-log/sqlite";
import { counter, gauge, type Metric, secondsGauge, summary } from "../admin/metric.ts";
import type { BackupLog } from "../backup/backup-reports.ts";
import { ServerBackup } from "../backup/server-backup.ts";
import type { ServerConfig } from "../config.ts";
import type { DiskOptions } from "../disk/disk-marks.ts";
import { archiveOptionsOf, archiveSettingsOf, type HistoryLog, historyMetrics } from "../disk/history-reports.ts";
import { damageFault, type ScrubLog, scrubMetrics, scrubOptionsOf, startRemedyOf } from "../disk/scrub-reports.ts";
import type { Checkpoint } from "../driver/driver-config.ts";
import { openOfKind, refuseFollowed, refuseOrdinary } from "../following/followed-directory.ts";
import { FOLLOWER_ID } from "../following/follower-id.ts";
import { logSettingsOf } from "../live-settings.ts";
import { refuseDataOfEnsemble } from "./ensemble-data.ts";
import { loadTree } from "./load-tree.ts";
import { PumpedMemoryLog } from "./pumped-memory-log.ts";
import { takeOverImported } from "./take-over-imported.ts";

/** Where a server's log and state lie. */
export interface Storage extends AsyncDisposable {
  readonly log: StoreLog;
  /**
   * Whether the tree stands where the log is durable. Default: always, since what is committed is
   * durable before it is applied.
   */
  isTreeLevel: () => boolean;
  /**
   * Loads the state and replays what follows it: all of the log for an ensemble of one, else what
   * is known to be committed. Answers what was found, in words for a log line.
   */
  recover(replica: Replica): Promise<string>;
  /** The newest state, for a learner that lacks too much. */
  openSnapshot(): Promise<SnapshotSource>;
  /** How often that was asked for. */
  readonly snapshotCount: number;
  /** The newest state, in Apache's form. */
  exportSnapshot(options?: ExportOptions): Promise<SnapshotExport>;
  /** Questions about the past; undefined where no history is kept. */
  readonly history: HistoryQueries | undefined;
  /** Writes what is marked into the history's files, and takes a base that is due. */
  flushHistory(): Promise<void>;
  /** Writes what is marked into the history's files. */
  flushHistoryFiles(): Promise<void>;
  /**
   * The files that a purge up to a zxid removes of the history, or the reason why there is none.
   */
  planPurge(through: Zxid): PurgePlan | string;
  /**
   * Removes all transactions up to a zxid, and each value that they wrote, unless the tree has it
   * still, from every file.
   *
   * @param mark marks what is applied as a checkpoint
   */
  purgeHistory(through: Zxid, mark: () => void): Promise<HistoryPurge>;
  /**
   * Changes the retention of the history, and its backup, from now on; it does nothing where no
   * history is kept, which a start decides.
   */
  changeHistory(settings: Pick<ServerConfig, "backup" | "history">): void;
  /** Copies the history to a target; undefined where none is set. */
  readonly backup: ServerBackup | undefined;
  /**
   * A state of Apache's form that is to be taken over; nothing is changed before {@link takeOver}.
   */
  importSnapshot(options?: ImportOptions): Promise<SnapshotReceiver>;
  /**
   * Begins a new history with a state that was imported. Nothing else may be written meanwhile; the
   * next start loads it.
   */
  takeOver(state: ReceivedSnapshot): Promise<void>;
  /**
   * Archives what was written up to now, and lets a state that was made of a backup stand at a
   * position, to be installed there.
   *
   * @throws StoreError, or an Error where the history cannot be written
   */
  placeRestored(restored: RestoredFile): Promise<PlacedState>;
  /** As {@link placeRestored}, without the archive, and with all sessions. */
  placeReady(ready: ReadyFile): Promise<PlacedState>;
  /** A state that a leader sends. */
  receiveSnapshot(position: LogPosition): Promise<SnapshotReceiver>;
  /**
   * The log names a state that was received: the tree becomes it.
   *
   * @returns where it stands
   */
  install(replica: Replica): LogPosition;
  /** The state file may be brought forward to here. */
  checkpoint(checkpoint: Checkpoint): void;
  /**
   * Whether the state file lags so far behind the log that no more should be written: a start would
   * have to replay all of it.
   */
  isBehind(): boolean;
  /** Makes the reserves for a full disk, unless they are there. */
  keepReserve(): Promise<void>;
  /**
   * While the disk has little room, the state file follows each checkpoint at once, and the log
   * keeps no more than it needs.
   */
  setLow(isLow: boolean): void;
  /** Bytes on disk. */
  usage(): { readonly stateBytes: number; readonly logBytes: number };
  /**
   * The newest state that is on disk whole, and when it was written, in seconds; undefined for a
   * memory.
   */
  lastState(): { readonly zxid: number; readonly writtenAtSeconds: number } | undefined;
  /** The damage that the background check of the files has found; undefined while none is known. */
  damage(): string | undefined;
  /** For `mntr` and metrics. */
  metrics(): Iterable<Metric>;
}

/** In the data directory: where a state of the past is made. */
export const RESTORING_FOLDER = "restoring";

/** A state of the past, in a file on the disk of the data directory. */
export interface RestoredFile {
  readonly stateFile: string;
  readonly position: LogPosition;
  readonly ensembleId: string;
  readonly keepsSessions: boolean;
}

/** A state of another ensemble, in a file on the disk of the data directory. */
export interface ReadyFile extends Omit<RestoredFile, "keepsSessions"> {
  readonly level: number;
}

/**
 * Opens the data directory, or memory where the configuration names none. Rejects with a
 * StoreError.
 *
 * @param damage what the last start found damaged: the files are moved away before this one
 */
export async function openStorage(
  {
    dataDir: directory,
    logDir,
    fsyncWarnMs,
    stateLagBytesMax,
    retention,
    history,
    backup,
    disk,
    scrub,
    healDamage,
    levels,
    ensemble,
    follow,
  }: ServerConfig,
  sid: ServerId,
  handler: LogHandler,
  reports: ScrubLog & HistoryLog & BackupLog,
  damage?: StoreError,
): Promise<Storage> {
  const isAlone = ensemble === undefined;
  if (directory === undefined) return openMemoryStorage(handler, sid, isAlone);
  const logDirectory = logDir ?? directory;
  const limits = { stateLagBytesMax, ...logSettingsOf({ retention, fsyncWarnMs }) };
  const follows = follow !== undefined;
  // Others have what this server loses: the other members, or the ensemble that it follows.
  const hasOthers = !isAlone || follows;
  const scrubOptions = scrubOptionsOf(scrub, !hasOthers, reports);
  const isHealedNext = hasOthers && healDamage && damage === undefined;
  const remedy = isHealedNext ? undefined : startRemedyOf(!hasOthers, [...new Set([directory, logDirectory])]);
  const found = { damage, remedy, healDamage };
  return await openSqliteStorage({
    directory,
    logDirectory,
    sid,
    isAlone,
    follows,
    levels,
    handler,
    scrub: scrubOptions,
    archive: archiveOptionsOf(history, directory, reports),
    backup,
    reports,
    ...found,
    ...limits,
    testBreak: disk.testBreak,
  });
}

/**
 * Keeps nothing: for tests and demonstrations.
 *
 * @param isAlone whether the server is an ensemble of one; a member of a larger one keeps its whole
 *   log, since it has no state to send
 */
function openMemoryStorage(handler: LogHandler, sid: number, isAlone: boolean): Storage {
  const log = new PumpedMemoryLog({ sid, handler, takeEpoch: isAlone });
  const unable = (): Promise<never> => Promise.reject(new StoreError({ code: "SNAPSHOT_ENDED", reason: NO_STATE }));
  return {
    log,
    isTreeLevel: () => true,
    recover: () => Promise.resolve("nothing is kept"),
    openSnapshot: unable,
    snapshotCount: 0,
    receiveSnapshot: unable,
    exportSnapshot: unable,
    history: undefined,
    flushHistory: () => Promise.resolve(),
    flushHistoryFiles: () => Promise.resolve(),
    changeHistory: () => {},
    planPurge: () => NO_HISTORY,
    purgeHistory: () => Promise.resolve({ kind: "obstacle", reason: NO_HISTORY }),
    backup: undefined,
    importSnapshot: unable,
    takeOver: unable,
    placeRestored: unable,
    placeReady: unable,
    install: ({ tree }) => ({ zxid: tree.applied, chain: CHAIN_NONE }),
    checkpoint: ({ zxid }) => {
      if (isAlone) log.allowPurge(zxid);
    },
    isBehind: () => false,
    keepReserve: () => Promise.resolve(),
    setLow: () => {},
    usage: () => ({ stateBytes: 0, logBytes: 0 }),
    lastState: () => undefined,
    damage: () => undefined,
    metrics: () => [],
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

const NO_HISTORY = "a server that keeps everything in memory has no history";
const NO_STATE = "a server that keeps everything in memory has no state file";

export interface SqliteStorageOptions {
  readonly directory: string;
  readonly logDirectory: string;
  readonly sid: number;
  /**
   * An ensemble of one, which takes an epoch at each start and calls all that it logged committed.
   */
  readonly isAlone: boolean;
  /** It follows an Apache ensemble, whose history its log has. */
  readonly follows: boolean;
  readonly levels: LevelRange;
  readonly fsyncWarnMs: number;
  readonly stateLagBytesMax: number;
  readonly logKeepBytes: number;
  readonly retentionMs: number;
  readonly handler: LogHandler;
  readonly scrub: ScrubOptions | undefined;
  readonly archive: ArchiveOptions | undefined;
  readonly backup: UploadSettings | undefined;
  readonly reports: BackupLog;
  readonly healDamage: boolean;
  readonly damage: StoreError | undefined;
  /** The operator's remedy of damage; undefined where the next start can do without. */
  readonly remedy: string | undefined;
  /** For tests: how the disk fails. */
  readonly testBreak: DiskOptions["testBreak"];
}

/** The state file follows from this much log on. */
const CHECKPOINT_BYTES = 64 * 1024 * 1024;
/** It must have begun to follow well before writes wait for it. */
const CHECKPOINT_SHARE = 1 / 8;
const BEHIND_WARN_MS = 60_000;

/** Opens a data directory. Rejects with a StoreError. */
async function openSqliteStorage(options: SqliteStorageOptions): Promise<Storage> {
  const {
    stateLagBytesMax,
    isAlone,
    follows,
    scrub,
    archive,
    backup: _,
    reports: __,
    damage,
    remedy,
    healDamage,
    testBreak,
    ...rest
  } = options;
  let replica: Replica | undefined;
  let storage: Storage | undefined;
  const { directory, logDirectory } = options;
  const open = (): Promise<Store> =>
    openStore({
      ...rest,
      ...(scrub === undefined ? {} : { scrub }),
      ...(archive === undefined ? {} : { archive }),
      ...(damage === undefined ? {} : { setAside: damage }),
      ...(testBreak === undefined ? {} : { testBreak }),
      ...(healDamage
        ? { liveTree: () => (replica === undefined ? undefined : liveTreeOf(replica, storage?.isTreeLevel)) }
        : {}),
      ...(follows ? { ensembleId: FOLLOWER_ID } : {}),
      takeEpoch: isAlone && !follows,
      admit: (found) => {
        if (follows) return refuseOrdinary(found);
        refuseFollowed(found);
        if (isAlone) refuseDataOfEnsemble(found);
      },
      // Others know what this server may have forgotten; it has no vote until they have reported
      // it.
      allowAmnesia: !isAlone || follows,
      checkpointBytes: Math.min(CHECKPOINT_BYTES, Math.ceil(stateLagBytesMax * CHECKPOINT_SHARE)),
    });
  const refuse = follows ? refuseOrdinary : refuseFollowed;
  const store = await withRemedy(remedy, () => openOfKind({ directory, logDirectory }, refuse, open));
  // Of a restore that did not end.
  rmSync(join(options.directory, RESTORING_FOLDER), { recursive: true, force: true });
  storage = new SqliteStorage(store, options, (recovered) => {
    replica = recovered;
  });
  return storage;
}

/**
 * The tree as the store writes it to a file. It holds what is committed, and that is durable here
 * before it is applied.
 */
function liveTreeOf(replica: Replica, isLevel: () => boolean = () => true): LiveTree {
  const { tree } = replica;
  return {
    capture: () => (replica.isApplying || !isLevel() ? undefined : tree.capture()),
    position: () => {
      if (replica.isApplying || !isLevel()) return undefined;
      return { zxid: tree.applied, digestHigh: tree.digestHigh, digestLow: tree.digestLow };
    },
  };
}

/** Damage that keeps a server from starting says what to do. */
async function withRemedy<T>(hint: string | undefined, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (cause) {
    if (hint === undefined || !(cause instanceof StoreError) || cause.detail.code !== "DAMAGED") throw cause;
    throw new StoreError({ ...cause.detail, hint }, { cause });
  }
}

class SqliteStorage implements Storage {
  readonly log: StoreLog;
  isTreeLevel: () => boolean = () => true;
  readonly #store: Store;
  #backup: ServerBackup | undefined;
  #wantedBackup: UploadSettings | undefined;
  /** A backup that is not continued gives up what it does, before another one begins. */
  #backupEnd: Promise<void> | undefined;
  readonly #options: SqliteStorageOptions;
  // What the start took, in milliseconds, and what it replayed.
  readonly #loadMs = new Histogram();
  readonly #stateLoadMs = new Histogram();
  readonly #replayMs = new Histogram();
  readonly #replayed = new Histogram();
  #snapshotCount = 0;
  #isLow = false;
  #wasBehind = false;
  #behindCount = 0;
  #behindWarnedMs = Number.NEGATIVE_INFINITY;
  /** Whose tree the state is, once it is whole. */
  #replica: Replica | undefined;
  #isClosed = false;

  /** Called when the tree is whole in memory. */
  readonly #recovered: (replica: Replica) => void;

  constructor(store: Store, options: SqliteStorageOptions, recovered: (replica: Replica) => void) {
    this.#recovered = recovered;
    this.#store = store;
    this.#options = options;
    this.log = store.log;
    this.#wantedBackup = options.backup;
    this.#followBackup();
  }

  recover(replica: Replica): Promise<string> {
    return withRemedy(this.#options.remedy, async () => this.#recover(replica));
  }

  #recover(replica: Replica): string {
    const { tree } = replica;
    const startMs = performance.now();
    const meta = this.#load(replica);
    this.#stateLoadMs.note(Math.round(performance.now() - startMs));
    const replayStartMs = performance.now();
    let replayed = 0;
    let replayedBytes = 0;
    const through = this.#options.isAlone ? undefined : this.log.durable.commitHint;
    this.#store.replay(
      meta.applied,
      (zxid, bytes, start, end) => {
        replayed++;
        replayedBytes += FRAME_HEADER_BYTES + end - start;
        replica.replay(zxid, bytes, start, end);
      },
      through,
    );
    this.#replayed.note(replayed);
    this.#replayMs.note(Math.round(performance.now() - replayStartMs));
    // What is committed and durable, the state file may follow.
    if (replayed > 0) {
      this.checkpoint({
        zxid: tree.applied,
        digestHigh: tree.digestHigh,
        digestLow: tree.digestLow,
        bytes: replayedBytes,
      });
    }
    this.#recovered(replica);
    this.#replica = replica;
    const tookMs = Math.round(performance.now() - startMs);
    this.#loadMs.note(tookMs);
    const nodes = `${counted(tree.nodeCount, "znode")} and ${counted(tree.sessionCount, "session")} at ${formatZxid(tree.applied)}`;
    const lost = this.log.durable.amnesiac ? "; it has lost part of its log and has no vote until synchronized" : "";
    return `recovered ${nodes} in ${tookMs} ms, ${counted(replayed, "transaction")} from the log${lost}`;
  }

  get snapshotCount(): number {
    return this.#snapshotCount;
  }

  openSnapshot(): Promise<SnapshotSource> {
    this.#snapshotCount++;
    return this.#store.openSnapshot();
  }

  get history(): HistoryQueries | undefined {
    return this.#store.history;
  }

  get backup(): ServerBackup | undefined {
    return this.#backup;
  }

  changeHistory({ history, backup }: Pick<ServerConfig, "backup" | "history">): void {
    const { archive } = this.#store;
    if (archive === undefined || this.#isClosed) return;
    archive.change(archiveSettingsOf(history));
    this.#wantedBackup = backup;
    this.#followBackup();
  }

  /** Begins, changes or ends the backup. */
  #followBackup(): void {
    if (this.#isClosed || this.#backupEnd !== undefined) return;
    const settings = this.#wantedBackup;
    if (settings !== undefined && this.#backup !== undefined) return this.#backup.change(settings);
    if (settings !== undefined) {
      const { directory, sid, isAlone, reports: log } = this.#options;
      this.#backup = new ServerBackup({ settings, log, store: this.#store, directory, sid, isAlone });
      return;
    }
    const ending = this.#backup;
    if (ending === undefined) return;
    this.#backup = undefined;
    this.#backupEnd = ending[Symbol.asyncDispose]().then(() => {
      this.#backupEnd = undefined;
      this.#followBackup();
    });
  }

  async flushHistory(): Promise<void> {
    await this.#store.archive?.flush();
  }

  async flushHistoryFiles(): Promise<void> {
    await this.#store.archive?.flushFiles();
  }

  planPurge(through: Zxid): PurgePlan | string {
    const { archive } = this.#store;
    const obstacle = this.#store.purgeObstacle(through);
    return (
      obstacle ?? (archive === undefined ? NO_HISTORY : planPurge(archive.folder, through, this.log.durable.tail.zxid))
    );
  }

  purgeHistory(through: Zxid, mark: () => void): Promise<HistoryPurge> {
    const replica = this.#replica;
    if (replica === undefined) return Promise.resolve({ kind: "obstacle", reason: "the server has not started yet" });
    return this.#store.purgeHistory({
      through,
      tree: liveTreeOf(replica, this.isTreeLevel),
      mark,
      isEnded: () => this.#isClosed,
    });
  }

  exportSnapshot(options?: ExportOptions): Promise<SnapshotExport> {
    return this.#store.exportSnapshot(options);
  }

  importSnapshot(options?: ImportOptions): Promise<SnapshotReceiver> {
    return this.#store.importSnapshot(options);
  }

  takeOver(state: ReceivedSnapshot): Promise<void> {
    return takeOverImported(this.log, state);
  }

  async placeRestored({ stateFile, position, ensembleId, keepsSessions }: RestoredFile): Promise<PlacedState> {
    const archived = await this.#store.archive?.flushFiles();
    const fault = archived?.unable.files;
    if (fault !== undefined) throw new Error(`what was written up to now cannot be archived: ${fault}`);
    const { commitHint, levelRaise } = this.log.durable;
    const level = this.#replica?.zab.level ?? levelAt(levelRaise, commitHint);
    letStateStandAt(stateFile, { position, ensembleId, sessions: keepsSessions ? "keep" : "end", level });
    return await this.#store.placeState(stateFile);
  }

  async placeReady({ stateFile, ...ready }: ReadyFile): Promise<PlacedState> {
    letStateStandAt(stateFile, { ...ready, sessions: "keep" });
    return await this.#store.placeState(stateFile);
  }

  receiveSnapshot(position: LogPosition): Promise<SnapshotReceiver> {
    return this.#store.receiveSnapshot(position);
  }

  install(replica: Replica): LogPosition {
    this.#store.adoptState();
    return this.#load(replica).applied;
  }

  #load({ tree }: Replica): StateMeta {
    return loadTree(tree, this.#store, join(this.#options.directory, this.log.durable.stateFile));
  }

  checkpoint(checkpoint: Checkpoint): void {
    this.#store.state.advance(checkpoint);
    if (this.#isLow) this.#checkpoint();
  }

  setLow(isLow: boolean): void {
    this.#isLow = isLow;
    this.log.setLow(isLow);
    this.#store.archive?.setLow(isLow);
    if (isLow) this.#checkpoint();
  }

  #checkpoint(): void {
    // The store reports what fails.
    this.#store.state.flush().catch(() => {});
  }

  isBehind(): boolean {
    const { lagBytes } = this.#store.state;
    const isBehind = lagBytes > this.#options.stateLagBytesMax;
    if (isBehind && !this.#wasBehind) this.#noteBehind(lagBytes);
    this.#wasBehind = isBehind;
    return isBehind;
  }

  #noteBehind(lagBytes: number): void {
    this.#behindCount++;
    const nowMs = performance.now();
    if (nowMs - this.#behindWarnedMs < BEHIND_WARN_MS) return;
    this.#behindWarnedMs = nowMs;
    const { handler, stateLagBytesMax } = this.#options;
    const limit = `${mebibytes(stateLagBytesMax)} MiB (stateLagBytesMax)`;
    handler.warned(
      `writes wait for the state file, which is ${mebibytes(lagBytes)} MiB of log behind; the limit is ${limit}`,
      "behind",
    );
  }

  async keepReserve(): Promise<void> {
    const { directory, logDirectory } = this.#options;
    await makeReserve(directory, CHECKPOINT_RESERVE);
    for (const each of new Set([directory, logDirectory])) await makeReserve(each, LOG_RESERVE);
  }

  usage(): { readonly stateBytes: number; readonly logBytes: number } {
    const { directory, logDirectory } = this.#options;
    let stateBytes = 0;
    let logBytes = 0;
    for (const each of new Set([directory, logDirectory])) {
      for (const name of readdirSync(each)) {
        const { size } = statSync(join(each, name), { throwIfNoEntry: false }) ?? { size: 0 };
        if (isLogFile(name)) logBytes += size;
        else stateBytes += size;
      }
    }
    return { stateBytes, logBytes };
  }

  lastState(): { readonly zxid: number; readonly writtenAtSeconds: number } {
    const { applied } = this.#store.state;
    const file = join(this.#options.directory, this.log.durable.stateFile);
    const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    return { zxid: applied.applied.zxid, writtenAtSeconds: Math.floor(written / 1000) };
  }

  damage(): string | undefined {
    const { scrub } = this.#store;
    return scrub === undefined ? undefined : damageFault(scrub.status);
  }

  *metrics(): IterableIterator<Metric> {
    yield* scrubMetrics(this.#store.scrub?.status);
    yield* historyMetrics(this.#store.archive?.status);
    if (this.backup !== undefined) yield* this.backup.metrics();
    const log = this.log.stats();
    const state = this.#store.state.stats();
    yield summary("fsynctime", {
      count: log.syncCount,
      sum: Math.round(log.syncMsTotal),
      max: Math.round(log.syncMsMax),
    });
    if (log.commitBuckets !== undefined) {
      yield { kind: "histogram", name: "zooid_commit_seconds", values: [{ labels: {}, buckets: log.commitBuckets }] };
    }
    yield summary("snapshottime", { count: state.checkpointCount, sum: Math.round(state.checkpointMsTotal) });
    yield summary("sync_processor_batch_size", { count: log.syncCount, sum: log.entryCount });
    yield summary("dbinittime", this.#loadMs);
    yield summary("startup_snap_load_time", this.#stateLoadMs);
    yield summary("startup_txns_loaded", this.#replayed);
    yield summary("startup_txns_load_time", this.#replayMs);
    yield gauge("zooid_log_wal_bytes", log.walBytes);
    yield gauge("zooid_log_segments", log.segmentCount);
    yield counter("zooid_log_stalls_total", log.stallCount);
    yield gauge("zooid_log_pending_bytes", log.pendingBytes);
    yield counter("zooid_log_purged_segments_total", log.purgedCount);
    yield gauge("zooid_state_lag_bytes", state.lagBytes);
    yield counter("zooid_state_lag_waits_total", this.#behindCount);
    yield counter("zooid_state_checkpoints_total", state.checkpointCount);
    yield secondsGauge("zooid_state_last_checkpoint_seconds", state.checkpointMsLast);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#backupEnd;
    await this.#backup?.[Symbol.asyncDispose]();
    await this.#store[Symbol.asyncDispose]();
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
