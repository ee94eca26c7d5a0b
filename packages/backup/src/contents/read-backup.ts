import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { formatZxid, type Zxid } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import {
  ArchiveFile,
  type ArchiveFooter,
  archiveFileName,
  type BaseManifest,
  basesFolderOf,
  encodeManifest,
  logFolderOf,
  MANIFEST_BYTES_MAX,
  MANIFEST_FILE,
  parseArchiveTail,
  parseManifest,
  partName,
  TAIL_BYTES,
  zxidName,
} from "@zooid/txn-log/archive";
import { type BackupTarget, objectPlace } from "../targets/backup-target.ts";
import { type BackupFile, basePartName, manifestName } from "./backup-listing.ts";

/** A file of the archive has at most four times the 8 MiB that are meant, and one entry. */
export const FILE_BYTES_MAX: number = 128 * 1024 * 1024;

/**
 * Reads the manifest of a base.
 *
 * @throws StoreError `DAMAGED` where it is missing, or is that of another base; `NEWER_FORMAT`
 */
export async function readBackupManifest(target: BackupTarget, zxid: Zxid): Promise<BaseManifest> {
  const name = manifestName(zxid);
  const place = objectPlace(target, name);
  const bytes = await target.get(name, MANIFEST_BYTES_MAX);
  if (bytes === undefined) throw missing(place);
  const manifest = parseManifest(bytes, place);
  if (manifest.position.zxid !== zxid) throw swapped(place, `the base at ${formatZxid(manifest.position.zxid)}`);
  return manifest;
}

/**
 * Reads a part of a base.
 *
 * @throws StoreError `DAMAGED` where it is missing, or not what the manifest says
 */
export async function readBackupPart(
  target: BackupTarget,
  { position, parts }: BaseManifest,
  number: number,
): Promise<Buffer> {
  const name = basePartName(position.zxid, number);
  const [place, part] = [objectPlace(target, name), parts[number]];
  const bytes = part === undefined ? undefined : await target.get(name, part.bytes);
  if (bytes === undefined || part === undefined) throw missing(place);
  if (bytes.length !== part.bytes) throw damage(place, "its end", `${bytes.length} bytes, not ${part.bytes}`);
  if (createHash("sha256").update(bytes).digest("hex") !== part.sha256)
    throw damage(place, "its SHA-256", "another one");
  return bytes;
}

/**
 * Reads what a file of the log says of itself.
 *
 * @throws StoreError `DAMAGED` where it is missing, or another file than its name says
 */
export async function readBackupFooter(target: BackupTarget, file: BackupFile): Promise<ArchiveFooter> {
  const place = objectPlace(target, file.name);
  const tail = await target.tail(file.name, TAIL_BYTES);
  if (tail === undefined) throw missing(place);
  const footer = parseArchiveTail(tail.bytes, { file: place, size: tail.size });
  checkRange(footer, file, place);
  return footer;
}

/**
 * Copies a base into an archive's folder. Every part is compared with the manifest.
 *
 * @throws StoreError `DAMAGED`
 */
export async function fetchBase(target: BackupTarget, manifest: BaseManifest, archive: string): Promise<void> {
  const folder = join(basesFolderOf(archive), zxidName(manifest.position.zxid));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const number of manifest.parts.keys())
    await writeFile(join(folder, partName(number)), await readBackupPart(target, manifest, number), { mode: 0o600 });
  await writeFile(join(folder, MANIFEST_FILE), encodeManifest(manifest), { mode: 0o600 });
}

/**
 * Copies a file of the log into an archive's folder, and checks all of it.
 *
 * @returns where it is
 * @throws StoreError `DAMAGED` with its place in the target
 */
export async function fetchFile(target: BackupTarget, file: BackupFile, archive: string): Promise<string> {
  const place = objectPlace(target, file.name);
  const bytes = await target.get(file.name, Math.min(FILE_BYTES_MAX, file.bytes));
  if (bytes === undefined) throw missing(place);
  const folder = logFolderOf(archive);
  const copy = join(folder, archiveFileName(file.after, file.end));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(copy, bytes, { mode: 0o600 });
  try {
    using opened = new ArchiveFile(copy);
    checkRange(opened.footer, file, place);
    opened.verify();
  } catch (error) {
    throw relocated(error, copy, place);
  }
  return copy;
}

/** An error about a copy, as one about what was copied. */
export function relocated(error: unknown, copy: string, place: string): unknown {
  if (error instanceof StoreError) {
    const { detail } = error;
    if (!("file" in detail) || !detail.file.startsWith(copy)) return error;
    return new StoreError({ ...detail, file: `${place}${detail.file.slice(copy.length)}` }, { cause: error });
  }
  // What is read was written by anybody: whatever reading it leads to is damage.
  const found = error instanceof Error ? error.message : String(error);
  return new StoreError({ code: "DAMAGED", file: place, place: "its content", found }, { cause: error });
}

function checkRange({ after, end }: ArchiveFooter, file: BackupFile, place: string): void {
  if (after.zxid === file.after && end.zxid === file.end) return;
  throw swapped(place, `the transactions after ${formatZxid(after.zxid)} up to ${formatZxid(end.zxid)}`);
}

function missing(file: string): StoreError {
  return damage(file, "the file", "it is missing");
}

function swapped(file: string, found: string): StoreError {
  return damage(file, "its name", `it has ${found}`);
}

function damage(file: string, place: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place, found });
}
