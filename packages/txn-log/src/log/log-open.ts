import type { TestBreak } from "../disk/test-break.ts";
import { newDiskId, readDiskId, writeDiskId } from "../segments/disk-id.ts";
import { hasFormatMark, writeFormatMark } from "../segments/format-mark.ts";
import { manifestUpTo } from "../segments/manifest.ts";
import { type FoundSegment, inspectSegments, repairSegments } from "../segments/segment-directory.ts";
import type { SegmentSequence } from "../segments/segment-sequence.ts";
import { withApplied, withStateLevel } from "./log-book.ts";
import { bootLog, newDurableLog } from "./log-boot.ts";
import { writeStoreRow } from "./schema.ts";
import type { DurableLog, LogPosition } from "./txn-log.ts";

export interface LogFileOptions {
  /** The directory of the segments. */
  readonly directory: string;
  readonly witnessFile: string;
  readonly sid: number;
  readonly ensembleId?: string | undefined;
  readonly takeEpoch: boolean;
  /** Whether a loss was found at open and accepted: the log starts as an amnesiac. */
  readonly amnesiac: boolean;
  /**
   * Where the state stands that the log continues: committed, whatever the log still knows of it.
   */
  readonly applied?: LogPosition | undefined;
  /** The feature level of that state. Default: 1. */
  readonly stateLevel?: number | undefined;
  /** The state that a new log begins behind, where another log was lost. */
  readonly stateFile?: string | undefined;
  /** Shared with the readers of this log; see {@link ReaderLeases}. */
  readonly leases: SharedArrayBuffer;
  readonly testBreak?: TestBreak | undefined;
}

/**
 * Opens or creates the segments of a log, and counts the start in a synced transaction. What should
 * be refused was refused before: this repairs what a crash left.
 */
export function openSegments(segments: SegmentSequence, options: LogFileOptions): DurableLog {
  const found = inspectSegments(options.directory);
  repairSegments(options.directory, found);
  const { newest, free } = found;
  const log = newest === undefined ? openFirst(segments, options) : openNewest(segments, newest, options);
  // Readers of an earlier process are gone.
  for (const name of free) segments.retired.push({ name, generation: 0 });
  return log;
}

/** Creates segment 1. */
function openFirst(segments: SegmentSequence, options: LogFileOptions): DurableLog {
  // Another log may have been here before, and come back.
  const diskId = newDiskId();
  writeDiskId(options.directory, diskId);
  const log = bootedLog(newDurableLog({ ...ownerOf(options), diskId, stateFile: options.stateFile }), options);
  // Before the first segment: a version of another format must not take the directory for an empty
  // one.
  if (!hasFormatMark(options.directory)) writeFormatMark(options.directory, log.identity.formatVersion);
  segments.begin({ after: log.tail, commitHint: log.commitHint, manifest: [] }, log);
  return log;
}

function openNewest(segments: SegmentSequence, newest: FoundSegment, options: LogFileOptions): DurableLog {
  const log = bootedLog(withDiskId(newest.log, options.directory), options);
  const hasNewFloor = log.floor !== newest.log.floor;
  if (newest.damage !== undefined && !options.amnesiac) throw newest.damage;
  if (newest.damage === undefined && !hasNewFloor) {
    segments.continueIn(newest);
    const { segment } = segments;
    segment.begin();
    writeStoreRow(segment.database, log);
    segment.commit();
    return log;
  }
  // What an amnesiac cannot use stays as it is, in segments that its log does not hold beyond what
  // is whole.
  segments.continueBehind(newest);
  const manifest = hasNewFloor ? [] : manifestUpTo(segments.sealedAt(log.tail, Date.now()), log.tail);
  segments.begin({ after: log.tail, commitHint: log.commitHint, manifest }, log);
  return log;
}

/** Logs of earlier versions have no disk id: they get one. */
function withDiskId(found: DurableLog, directory: string): DurableLog {
  let diskId = readDiskId(directory);
  if (diskId === undefined) {
    diskId = newDiskId();
    writeDiskId(directory, diskId);
  }
  return { ...found, identity: { ...found.identity, diskId } };
}

/** The log that was found, as the start changes it. */
function bootedLog(found: DurableLog, options: LogFileOptions): DurableLog {
  const { amnesiac, applied, stateLevel = 1, takeEpoch } = options;
  const behindState = withApplied({ ...found, amnesiac: found.amnesiac || amnesiac }, applied);
  return bootLog(withStateLevel(behindState, stateLevel), takeEpoch);
}

function ownerOf(options: LogFileOptions): { readonly sid: number; readonly ensembleId?: string } {
  return options.ensembleId === undefined ? { sid: options.sid } : { sid: options.sid, ensembleId: options.ensembleId };
}
