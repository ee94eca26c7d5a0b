import { closeSync, existsSync, fsyncSync, openSync, readSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import { isEmptySegment } from "./empty-segment.ts";
import { createSegment, hasTables, UNFINISHED } from "./segment-file.ts";
import { formatSegmentName, type SegmentName, SPARE_FILE } from "./segment-name.ts";
import { WAL_HEADER_BYTES } from "./wal-scan.ts";

/**
 * The segment that is kept ready, so that a roll allocates nothing: its WAL has its full length
 * before the first commit.
 *
 * ```
 * old segment                               spare                              new segment
 * log-..7-...db      ── unlinked, 1
 * log-..7-...db-wal  ── header zeroed, 2 ── spare.db-wal, renamed last, 4 ──── log-..9-...db-wal
 *                       (or zeros, 2)       spare.db, whole and synced, 3 ──── log-..9-...db
 * ```
 *
 * A spare is whole exactly if both files are there, because the WAL gets its name last. SQLite
 * believes any whole WAL that lies beside a main file: so the header goes (2) before the WAL lies
 * beside another file (4), each step synced before the next.
 */

const ZEROS_BYTES = 256 * 1024;
/** The name of a WAL until its spare is whole. */
const LOOSE_WAL = "spare.wal";

/** Makes a spare with a new WAL of zeros. When there is no room for it, nothing is left of it. */
export function makeSpare(directory: string, options: { readonly pageBytes: number; readonly walBytes: number }): void {
  dropSpare(directory);
  try {
    writeZeros(join(directory, LOOSE_WAL), options.walBytes);
    completeSpare(directory, options.pageBytes);
  } catch (cause) {
    dropSpare(directory);
    throw cause;
  }
}

function writeZeros(wal: string, walBytes: number): void {
  const handle = openSync(wal, "wx", 0o600);
  try {
    const zeros = Buffer.alloc(ZEROS_BYTES);
    for (let at = 0; at < walBytes; ) at += writeSync(handle, zeros, 0, Math.min(ZEROS_BYTES, walBytes - at), at);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Makes a spare of a segment that the log no longer holds. No reader may have it open: it would get
 * wrong or missing rows without an error.
 */
export function recycleSegment(directory: string, old: SegmentName, pageBytes: number): void {
  dropSpare(directory);
  const file = join(directory, formatSegmentName(old));
  try {
    rmSync(file, { force: true });
    rmSync(`${file}-shm`, { force: true });
    syncDirectoryOf(file);
    eraseHeader(`${file}-wal`);
    renameSync(`${file}-wal`, join(directory, LOOSE_WAL));
    completeSpare(directory, pageBytes);
  } catch (cause) {
    dropSpare(directory);
    throw cause;
  }
}

function eraseHeader(wal: string): void {
  const handle = openSync(wal, "r+");
  try {
    writeSync(handle, Buffer.alloc(WAL_HEADER_BYTES), 0, WAL_HEADER_BYTES, 0);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Whether a segment's WAL may become the spare's: it is as long as asked for, and not much longer.
 */
export function isRecyclable(directory: string, old: SegmentName, walBytes: number): boolean {
  const size = statSync(join(directory, `${formatSegmentName(old)}-wal`), { throwIfNoEntry: false })?.size ?? 0;
  return size >= walBytes && size <= 2 * walBytes;
}

export function hasSpare(directory: string): boolean {
  const file = join(directory, SPARE_FILE);
  return hasTables(file) && isBlankWal(`${file}-wal`);
}

/**
 * Removes what is left of a spare that was not completed, and a damaged one: nothing is in it yet.
 */
export function tidySpare(directory: string): void {
  if (!isWhole(directory)) return dropSpare(directory);
  for (const name of [SPARE_FILE + UNFINISHED, LOOSE_WAL]) rmSync(join(directory, name), { force: true });
}

/** Removes a spare, whole or not. */
export function dropSpare(directory: string): void {
  for (const name of [`${SPARE_FILE}-wal`, SPARE_FILE, `${SPARE_FILE}-shm`, SPARE_FILE + UNFINISHED, LOOSE_WAL]) {
    rmSync(join(directory, name), { force: true });
  }
}

/**
 * Gives the spare the name of a segment. Durable when it returns; until its first transaction the
 * segment is an unfinished one.
 *
 * @returns false: there is none; a damaged one is removed
 */
export function takeSpare(directory: string, name: SegmentName): boolean {
  if (!hasSpare(directory)) return false;
  if (!isWhole(directory)) {
    dropSpare(directory);
    return false;
  }
  const spare = join(directory, SPARE_FILE);
  const file = join(directory, formatSegmentName(name));
  // A WAL without a main file is removed at open, so a crash between the two leaves nothing that
  // could be believed.
  renameSync(`${spare}-wal`, `${file}-wal`);
  renameSync(spare, file);
  syncDirectoryOf(file);
  return true;
}

function isWhole(directory: string): boolean {
  return hasSpare(directory) && isEmptySegment(join(directory, SPARE_FILE));
}

function completeSpare(directory: string, pageBytes: number): void {
  const spare = join(directory, SPARE_FILE);
  createSegment(spare, pageBytes);
  syncPath(directory);
  renameSync(join(directory, LOOSE_WAL), `${spare}-wal`);
  syncPath(directory);
}

function isBlankWal(file: string): boolean {
  if (!existsSync(file)) return false;
  const handle = openSync(file, "r");
  try {
    const header = Buffer.alloc(WAL_HEADER_BYTES);
    readSync(handle, header, 0, WAL_HEADER_BYTES, 0);
    return header.every((byte) => byte === 0);
  } finally {
    closeSync(handle);
  }
}
