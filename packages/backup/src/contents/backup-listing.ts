import { counterOf, earlierOf, laterOf, type Zxid } from "@zooid/model";
import {
  archiveFileName,
  MANIFEST_FILE,
  parseArchiveFileName,
  parsePartName,
  parseZxidName,
  partName,
  zxidName,
} from "@zooid/txn-log/archive";
import type { BackupTarget, TargetObject } from "../targets/backup-target.ts";

/**
 * A backup has the files of a server's archive under the same names:
 *
 * ```
 * log/<after>-<end>           transactions after a zxid and up to another one
 * base/<zxid>/0000, 0001, …   a whole state
 * base/<zxid>/manifest.json   written last: without it the base is none
 * lease.json                  which server uploads
 * ```
 */
export interface BackupListing {
  /** With a manifest, oldest first. */
  readonly bases: readonly BackupBase[];
  /** Without one: an upload that has not ended, or a removal. */
  readonly unfinished: readonly BackupBase[];
  /** By their end, and those that end at one zxid by their beginning. */
  readonly files: readonly BackupFile[];
  /** Names that no backup has. */
  readonly strangers: readonly string[];
}

export interface BackupBase {
  readonly zxid: Zxid;
  /** Bytes of each part that is there, by its number. */
  readonly parts: ReadonlyMap<number, number>;
  /** All objects of it, the manifest first: without it the rest counts no longer. */
  readonly names: readonly string[];
}

export interface BackupFile {
  readonly name: string;
  readonly after: Zxid;
  readonly end: Zxid;
  readonly bytes: number;
}

const LOG = "log/";
const BASE = "base/";

/**
 * The files of the log whose names begin at a zxid or later.
 *
 * @throws BackupError as the target
 */
export async function listBackupFiles(target: BackupTarget, from: Zxid): Promise<readonly BackupFile[]> {
  return parseListing(await target.list(LOG, `${LOG}${zxidName(from)}`)).files;
}

/**
 * The bases with a manifest, oldest first.
 *
 * @throws BackupError as the target
 */
export async function listBackupBases(target: BackupTarget): Promise<readonly BackupBase[]> {
  return parseListing(await target.list(BASE)).bases;
}

/** @throws BackupError as the target */
export async function listBackup(target: BackupTarget): Promise<BackupListing> {
  return parseListing([...(await target.list(LOG)), ...(await target.list(BASE))]);
}

export function parseListing(objects: readonly TargetObject[]): BackupListing {
  const files: BackupFile[] = [];
  const bases = new Map<Zxid, ListedBase>();
  const strangers: string[] = [];
  for (const { name, bytes } of objects) {
    const range = name.startsWith(LOG) ? parseArchiveFileName(name.slice(LOG.length)) : undefined;
    const place = parseBaseName(name);
    if (range !== undefined) {
      files.push({ name, ...range, bytes });
    } else if (place !== undefined) {
      const base = bases.get(place.zxid) ?? newListedBase();
      bases.set(place.zxid, base);
      if (place.part === undefined) {
        base.hasManifest = true;
        base.names.unshift(name);
      } else {
        base.parts.set(place.part, bytes);
        base.names.push(name);
      }
    } else {
      strangers.push(name);
    }
  }
  files.sort((a, b) => a.end - b.end || a.after - b.after);
  const sorted = [...bases].sort(([a], [b]) => a - b);
  const listed = (isWhole: boolean): readonly BackupBase[] =>
    sorted
      .filter(([, base]) => base.hasManifest === isWhole)
      .map(([zxid, { parts, names }]) => ({ zxid, parts, names }));
  return { bases: listed(true), unfinished: listed(false), files, strangers };
}

interface ListedBase {
  readonly parts: Map<number, number>;
  readonly names: string[];
  hasManifest: boolean;
}

function newListedBase(): ListedBase {
  return { parts: new Map(), names: [], hasManifest: false };
}

function parseBaseName(name: string): { readonly zxid: Zxid; readonly part: number | undefined } | undefined {
  const [root, folder = "", file = "", ...more] = name.split("/");
  const zxid = `${root}/` === BASE && more.length === 0 ? parseZxidName(folder) : undefined;
  if (zxid === undefined) return undefined;
  if (file === MANIFEST_FILE) return { zxid, part: undefined };
  const part = parsePartName(file);
  return part === undefined ? undefined : { zxid, part };
}

export function logName(after: Zxid, end: Zxid): string {
  return `${LOG}${archiveFileName(after, end)}`;
}

export function manifestName(zxid: Zxid): string {
  return `${BASE}${zxidName(zxid)}/${MANIFEST_FILE}`;
}

export function basePartName(zxid: Zxid, number: number): string {
  return `${BASE}${zxidName(zxid)}/${partName(number)}`;
}

/**
 * Ranges that no file has, between the first file or base and the last one: a backup has the files
 * behind its oldest base, and those up to its newest one.
 */
export function missingRanges({
  bases,
  files,
}: Pick<BackupListing, "bases" | "files">): readonly Pick<BackupFile, "after" | "end">[] {
  const gaps: { after: Zxid; end: Zxid }[] = [];
  const [first, newest] = [files[0], bases.at(-1)];
  if (first === undefined) return [];
  let end = earlierOf(first.end, bases[0]?.zxid ?? first.end);
  for (const file of [...files].sort((a, b) => a.after - b.after)) {
    if (file.after > end) gaps.push({ after: end, end: file.after });
    end = laterOf(end, file.end);
  }
  // The first zxid of an epoch may be that of a state, and is no transaction.
  if (newest !== undefined && newest.zxid > end && counterOf(newest.zxid) > 0)
    gaps.push({ after: end, end: newest.zxid });
  return gaps;
}
