import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openReader, readErrorOf } from "../disk/database.ts";
import { syncDirectoryOf } from "../disk/sync-path.ts";
import type { DurableLog } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import { hasFormatMark, writeFormatMark } from "./format-mark.ts";
import { hasTables, UNFINISHED } from "./segment-file.ts";
import {
  FORMAT_MARK_FILE,
  formatSegmentName,
  listSegments,
  parseSegmentName,
  type SegmentName,
  STAGE_FILE,
} from "./segment-name.ts";
import { readHead, readSegmentLog, type SegmentHead } from "./segment-schema.ts";
import { tidySpare } from "./spare-segment.ts";
import { eraseTear, NO_WAL, scanWal, type WalScan } from "./wal-scan.ts";

/**
 * The segments of a directory, found out before anything in it is changed.
 *
 * ```
 * each WAL beside no main file ────────────────────────▶ removed (SQLite would believe it under the next file of that name)
 * from the highest sequence down:
 *   no first transaction
 *     and the WAL is damaged, or holds a commit ───────▶ refused
 *     else an interrupted roll ────────────────────────▶ removed, the next lower one is looked at
 *   else the newest: its manifest names all others
 *     one of them is missing ──────────────────────────▶ refused
 *     torn last commit ────────────────────────────────▶ erased before SQLite writes behind it
 *     damaged ─────────────────────────────────────────▶ `damage`: refused, or left as it is by an amnesiac, which begins another segment
 * every other segment ─────────────────────────────────▶ free: the log no longer holds it
 * ```
 */
export interface FoundSegments {
  /** Undefined: no segment was ever begun here. */
  readonly newest: FoundSegment | undefined;
  /** Segments that the log no longer holds. */
  readonly free: readonly SegmentName[];
  /** Files that belong to no segment. */
  readonly strays: readonly string[];
}

export interface FoundSegment {
  readonly name: SegmentName;
  readonly head: SegmentHead;
  /** As far as SQLite shows it. */
  readonly log: DurableLog;
  readonly scan: WalScan;
  /** An acknowledged write is behind a bad frame, and SQLite hides it. */
  readonly damage: StoreError | undefined;
}

const CACHE_KIB = 256;
const WAL_OR_INDEX = /^(log-\d{8}-[0-9a-f]{16}\.db)-(?:wal|shm)$/;
/** The main files of segments, at the beginning of a name. */
const MAIN_FILE = /^log(?:-\d{8}-[0-9a-f]{16})?\.db/;
const WHOLE: WalScan = { pageBytes: 0, ...NO_WAL, commitCount: 0, lastFrame: 0, tail: "whole" };

/** Changes nothing. */
export function inspectSegments(directory: string): FoundSegments {
  const files = readdirSync(directory);
  const strays = files.filter((name) => {
    if (isUnfinished(name)) return true;
    const main = WAL_OR_INDEX.exec(name)?.[1] ?? name;
    return parseSegmentName(main) !== undefined && !hasTables(join(directory, main));
  });
  const names = listSegments(files.filter((name) => !strays.includes(name)));
  const unfinished: SegmentName[] = [];
  for (const name of names.toReversed()) {
    const newest = inspectSegment(directory, name);
    if (newest === undefined) {
      unfinished.push(name);
      continue;
    }
    const held = new Set(newest.head.manifest.map(({ sequence }) => sequence));
    refuseMissing(directory, newest);
    const free = names.filter(({ sequence }) => sequence < name.sequence && !held.has(sequence));
    return { newest, free, strays: [...strays, ...unfinished.flatMap(filesOf)] };
  }
  return { newest: undefined, free: [], strays: [...strays, ...unfinished.flatMap(filesOf)] };
}

/**
 * Does what {@link inspectSegments} found necessary, and nothing else. A crash in between leaves
 * the same to be found.
 */
export function repairSegments(directory: string, found: FoundSegments): void {
  // The main file goes before its WAL, so that a crash leaves a stray.
  for (const name of found.strays) rmSync(join(directory, name), { force: true });
  for (const suffix of ["", "-journal"]) rmSync(join(directory, STAGE_FILE + suffix), { force: true });
  tidySpare(directory);
  const { newest } = found;
  if (newest?.scan.tail === "torn") eraseTear(walOf(directory, newest.name), newest.scan);
  if (newest !== undefined && !hasFormatMark(directory)) {
    writeFormatMark(directory, newest.log.identity.formatVersion);
  }
  syncDirectoryOf(join(directory, FORMAT_MARK_FILE));
}

export function filesOf(name: SegmentName): string[] {
  const file = formatSegmentName(name);
  return [file, `${file}-wal`, `${file}-shm`];
}

/** Removes a segment that the log no longer holds and that no reader has open. */
export function removeSegment(directory: string, name: SegmentName): void {
  // The main file goes first: a WAL alone is removed at the next start.
  for (const file of filesOf(name)) rmSync(join(directory, file), { force: true });
}

/** Looks into one segment; undefined where its first transaction is not there. */
export function inspectSegment(directory: string, name: SegmentName): FoundSegment | undefined {
  const file = join(directory, formatSegmentName(name));
  const wal = walOf(directory, name);
  const scan = existsSync(wal) ? scanWal(wal) : WHOLE;
  const damage = scan.tail === "damaged" ? damagedWal(wal, scan) : undefined;
  const database = openReader(file, CACHE_KIB);
  try {
    const head = readHead(database, file);
    if (head === undefined && damage !== undefined) throw damage;
    if (head === undefined && scan.commitCount > 0) throw withoutTables(file, scan);
    if (head === undefined) return undefined;
    if (head.sequence !== name.sequence || head.after.zxid !== name.after) {
      const found = formatSegmentName({ sequence: head.sequence, after: head.after.zxid });
      throw new StoreError({ code: "DAMAGED", file, place: "table segment, row 1", found: `the name ${found}` });
    }
    return { name, head, log: readSegmentLog(database, file, head), scan, damage };
  } catch (cause) {
    throw readErrorOf(cause, file);
  } finally {
    database.close();
  }
}

/**
 * The first commit of a segment is its first transaction. If a WAL has commits and no such
 * transaction is seen, a flipped bit hides its table.
 */
function withoutTables(file: string, { commitCount }: WalScan): StoreError {
  const found = `there is none, though its WAL holds commits (${commitCount})`;
  return new StoreError({ code: "DAMAGED", file, place: "the first transaction", found });
}

function damagedWal(wal: string, { frameCount }: WalScan): StoreError {
  const place = `frame ${frameCount + 1}, or one of the same commit`;
  const found = "a commit that is not whole, and a whole one behind it";
  return new StoreError({ code: "DAMAGED", file: wal, place, found });
}

function refuseMissing(directory: string, { name, head }: FoundSegment): void {
  for (const { sequence, after } of head.manifest) {
    const file = join(directory, formatSegmentName({ sequence, after: after.zxid }));
    if (hasTables(file)) continue;
    const found = `the file is missing, which ${formatSegmentName(name)} names`;
    throw new StoreError({ code: "DAMAGED", file, place: "the segment", found });
  }
}

function walOf(directory: string, name: SegmentName): string {
  return join(directory, `${formatSegmentName(name)}-wal`);
}

/** Whether a file belongs to one whose making was cut short. */
function isUnfinished(name: string): boolean {
  const [main] = MAIN_FILE.exec(name) ?? [];
  return main !== undefined && name.startsWith(UNFINISHED, main.length);
}
