import { join } from "node:path";
import { isFloorUncommitted, knowsLevel, OWN_LEVELS } from "@zooid/model/storage";
import { Archive, type ArchiveOptions } from "../archive/archive.ts";
import { listBases } from "../archive/archive-base.ts";
import { basesFolderOf, listArchive, logFolderOf, makeArchiveFolder } from "../archive/archive-folder.ts";
import { DataDirectories } from "../directory/data-directories.ts";
import { LOG_RESERVE, releaseReserve } from "../directory/disk-reserve.ts";
import { inspectDirectory, isLogComplete, WITNESS_FILE } from "../directory/inspect-directory.ts";
import { MissingRoom } from "../directory/missing-room.ts";
import { setAside } from "../directory/set-aside.ts";
import { findWitnessDamage } from "../directory/witness.ts";
import { hasRoomForFile, isFull, isUnexplained } from "../disk/database.ts";
import { HistoryQueries } from "../history/history-queries.ts";
import { openSqliteLog, type SqliteTxnLog } from "../log/sqlite-txn-log.ts";
import { Scrub, type ScrubOptions } from "../scrub/scrub.ts";
import type { FoundDamage } from "../scrub/scrub-messages.ts";
import { diskIdFile, fetchDiskId, readDiskId } from "../segments/disk-id.ts";
import { ReaderLeases } from "../segments/reader-leases.ts";
import { SnapshotTransfers } from "../snapshots/snapshot-transfers.ts";
import { readyStateFile } from "../state/ready-state-file.ts";
import { openSqliteState, type SqliteStateStore } from "../state/sqlite-state-store.ts";
import type { StateStore } from "../state/state-store.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { Store, StoreOptions } from "./store.ts";
import { StoreError } from "./store-error.ts";

const WITHOUT_WITNESS =
  "it is rewritten; this start could not compare the log with it, so a damaged last commit looks like one that a power cut tore";
const MIB = 1024 * 1024;
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
