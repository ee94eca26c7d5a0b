import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openReader, syncDirectoryOf } from "../database.ts";
import { StoreError } from "../store-error.ts";
import type { DurableLog } from "../txn-log.ts";
import { hasTables } from "./segment-file.ts";
import { formatSegmentName, listSegments, parseSegmentName, type SegmentName } from "./segment-name.ts";
import { readHead, readSegmentLog, type SegmentHead } from "./segment-schema.ts";
import { eraseTear, scanWal, type WalScan } from "./wal-scan.ts";

/**
 * What a directory of segments is, found out before anything in it is changed.
 *
 * ```
 * each WAL beside no main file ────────────────────────▶ removed (SQLite would believe it under the next file of that name)
 * from the highest sequence down:
 *   scan of the WAL: damaged ──────────────────────────▶ refused
 *   no first transaction: an interrupted roll ─────────▶ removed, the next lower one is looked at
 *   else the newest: its manifest names all others
 *     one of them is missing ──────────────────────────▶ refused
 *     torn last commit ────────────────────────────────▶ erased before SQLite writes behind it
 * every other segment ─────────────────────────────────▶ free: the log no longer holds it
 * ```
 */
export interface FoundSegments {
  /** Undefined: no segment was ever begun here. */
  readonly newest: NewestSegment | undefined;
  /** Segments that the log no longer holds. */
  readonly free: readonly SegmentName[];
  /** Files that belong to no segment. */
  readonly strays: readonly string[];
}

export interface NewestSegment {
  readonly name: SegmentName;
  readonly head: SegmentHead;
  readonly log: DurableLog;
  readonly scan: WalScan;
}

const CACHE_KIB = 256;
const WAL_OR_INDEX = /^(log-\d{8}-[0-9a-f]{16}\.db)-(?:wal|shm)$/;

/** Changes nothing. Throws `DAMAGED` with file and frame when an acknowledged write is behind a bad frame. */
export function inspectSegments(directory: string): FoundSegments {
  const files = readdirSync(directory);
  const strays = files.filter((name) => {
    const main = WAL_OR_INDEX.exec(name)?.[1] ?? name;
    return parseSegmentName(main) !== undefined && !hasTables(join(directory, main));
  });
  const names = listSegments(files.filter((name) => !strays.includes(name)));
  const unfinished: SegmentName[] = [];
  for (const name of names.toReversed()) {
    const newest = inspectNewest(directory, name);
    if (newest === undefined) {
      unfinished.push(name);
      continue;
    }
    const held = new Set(newest.head.manifest.map(({ sequence }) => sequence));
    refuseMissing(directory, newest, names);
    const free = names.filter(({ sequence }) => sequence < name.sequence && !held.has(sequence));
    return { newest, free, strays: [...strays, ...unfinished.flatMap(filesOf)] };
  }
  return { newest: undefined, free: [], strays: [...strays, ...unfinished.flatMap(filesOf)] };
}

/** Does what {@link inspectSegments} found necessary, and nothing else. A crash in between leaves the same to be found. */
export function repairSegments(directory: string, found: FoundSegments): void {
  // The main file goes before its WAL, so that a crash leaves a stray.
  for (const name of found.strays) rmSync(join(directory, name), { force: true });
  const { newest } = found;
  if (newest?.scan.tail === "torn") eraseTear(walOf(directory, newest.name), newest.scan);
  syncDirectoryOf(join(directory, "any"));
}

export function filesOf(name: SegmentName): string[] {
  const file = formatSegmentName(name);
  return [file, `${file}-wal`, `${file}-shm`];
}

function inspectNewest(directory: string, name: SegmentName): NewestSegment | undefined {
  const file = join(directory, formatSegmentName(name));
  const wal = walOf(directory, name);
  const scan = readdirSync(directory).includes(`${formatSegmentName(name)}-wal`) ? scanWal(wal) : undefined;
  if (scan?.tail === "damaged") {
    const place = `frame ${scan.frameCount + 1}, or one of the same commit`;
    const found = "a commit that is not whole, and a whole one behind it";
    throw new StoreError({ code: "DAMAGED", file: wal, place, found });
  }
  const database = openReader(file, CACHE_KIB);
  try {
    const head = readHead(database, file);
    if (head === undefined) return undefined;
    if (head.sequence !== name.sequence || head.after.zxid !== name.after) {
      const found = formatSegmentName({ sequence: head.sequence, after: head.after.zxid });
      throw new StoreError({ code: "DAMAGED", file, place: "table segment, row 1", found: `the name ${found}` });
    }
    const whole: WalScan = { pageBytes: 0, frameCount: 0, commitCount: 0, lastFrame: 0, tail: "whole" };
    return { name, head, log: readSegmentLog(database, file, head), scan: scan ?? whole };
  } finally {
    database.close();
  }
}

function refuseMissing(directory: string, { name, head }: NewestSegment, names: readonly SegmentName[]): void {
  for (const { sequence, after } of head.manifest) {
    if (names.some((each) => each.sequence === sequence && each.after === after.zxid)) continue;
    const file = join(directory, formatSegmentName({ sequence, after: after.zxid }));
    const found = `the file is missing, which ${formatSegmentName(name)} names`;
    throw new StoreError({ code: "DAMAGED", file, place: "the segment", found });
  }
}

function walOf(directory: string, name: SegmentName): string {
  return join(directory, `${formatSegmentName(name)}-wal`);
}
