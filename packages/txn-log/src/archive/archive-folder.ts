import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { syncPath } from "../disk/sync-path.ts";
import { type ListedBase, listBases, readManifest, removeBase } from "./archive-base.ts";
import { ArchiveFile } from "./archive-file.ts";
import { UNFINISHED_FILE } from "./archive-file-writer.ts";
import { parseArchiveFileName } from "./archive-format.ts";
import type { ArchiveFiles } from "./archive-messages.ts";

/** A file of the archive by its name. */
export interface ListedFile {
  readonly file: string;
  readonly after: Zxid;
  readonly end: Zxid;
  readonly bytes: number;
  /** When it was written, in ms since 1970. */
  readonly mtimeMs: number;
}

/** Makes the folder of the log's files, and removes what a crash left. */
export function makeArchiveFolder(archive: string): void {
  const folder = logFolderOf(archive);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  rmSync(join(folder, UNFINISHED_FILE), { force: true });
}

/**
 * The files of a folder by their end, and those that end at one zxid by their beginning. None where
 * there is no folder.
 */
export function listArchive(folder: string): readonly ListedFile[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).flatMap((name) => {
    const range = parseArchiveFileName(name);
    const file = join(folder, name);
    const stat = range === undefined ? undefined : statSync(file, { throwIfNoEntry: false });
    return range === undefined || stat?.isFile() !== true
      ? []
      : [{ file, ...range, bytes: stat.size, mtimeMs: stat.mtimeMs }];
  });
  return files.sort((a, b) => a.end - b.end || a.after - b.after);
}

/**
 * Two changes of a folder that are further apart, in ms, give it different modification times.
 * Those of file systems have the resolution of the kernel's tick.
 */
const TICK_MS_MAX = 100;

/**
 * The files of a folder, listed again only when it has changed: a look at each of some thousand
 * files takes longer than the answer to most questions.
 */
export class ArchiveListing {
  readonly #folder: string;
  #files: readonly ListedFile[] = [];
  /** When the folder had changed before it was listed; undefined where that is too recent. */
  #changedNs: bigint | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The same array until the folder changes. */
  files(): readonly ListedFile[] {
    const stat = statSync(this.#folder, { bigint: true, throwIfNoEntry: false });
    if (stat !== undefined && stat.mtimeNs === this.#changedNs) return this.#files;
    const isSettled = stat !== undefined && Date.now() - Number(stat.mtimeMs) > TICK_MS_MAX;
    this.#files = listArchive(this.#folder);
    this.#changedNs = isSettled ? stat.mtimeNs : undefined;
    return this.#files;
  }
}

/** Ranges that no file has, between the first file and the last one. */
export function gapsIn(files: readonly ListedFile[]): readonly { readonly after: Zxid; readonly end: Zxid }[] {
  const gaps: { after: Zxid; end: Zxid }[] = [];
  let end = files[0]?.end;
  for (const file of files.slice(1)) {
    if (end !== undefined && file.after > end) gaps.push({ after: end, end: file.after });
    if (end === undefined || file.end > end) end = file.end;
  }
  return gaps;
}

/** The folder of the log's files in an archive, and that of the bases. */
export function logFolderOf(archive: string): string {
  return join(archive, "log");
}

export function basesFolderOf(archive: string): string {
  return join(archive, "base");
}

export interface Retention {
  readonly retainMs: number;
  readonly retainBytes: number;
  readonly nowMs: number;
}

/**
 * Removes bases and files of the log that are older than the retained time. The newest base before
 * that time stays, with the files after it: the first retained states are made from them.
 *
 * @returns the files of the log that are left
 */
export function retainArchive(archive: string, { retainMs, retainBytes, nowMs }: Retention): ArchiveFiles {
  const bases = listBases(basesFolderOf(archive));
  const horizon = bases.findLast((base) => takenMsOf(base) < nowMs - retainMs)?.zxid ?? bases[0]?.zxid;
  for (const base of bases) if (horizon !== undefined && base.zxid < horizon) removeBase(base);
  const folder = logFolderOf(archive);
  const files = [...listArchive(folder)];
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  let removed = 0;
  for (const { file, end, bytes: size } of files.slice(0, -1)) {
    const isOld = lastMsOf(file) < nowMs - retainMs && end <= (horizon ?? end);
    if (bytes <= retainBytes && !isOld) break;
    rmSync(file, { force: true });
    bytes -= size;
    removed++;
  }
  if (removed > 0) syncPath(folder);
  return { count: files.length - removed, bytes };
}

/** Infinite for a damaged base, so that it does not count as one before the retained time. */
function takenMsOf(base: ListedBase): number {
  try {
    return readManifest(base).takenMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Infinite for an unreadable file: it stays until `retainBytes` is exceeded; `inspect` names it.
 */
function lastMsOf(file: string): number {
  try {
    using opened = new ArchiveFile(file);
    return opened.footer.lastMs;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
