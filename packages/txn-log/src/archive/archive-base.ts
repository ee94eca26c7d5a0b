import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { formatZxid, type Zxid } from "@zooid/model/storage";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import { SNAPSHOT_CHUNK_BYTES, type SnapshotSource } from "../state/state-store.ts";
import { ARCHIVE_FORMAT, damaged, parseZxidName, zxidName } from "./archive-format.ts";
import {
  type BaseManifest,
  type BasePart,
  encodeManifest,
  MANIFEST_BYTES_MAX,
  MANIFEST_FILE,
  PART_BYTES_MAX,
  parseManifest,
  partName,
  sumOf,
} from "./base-manifest.ts";
import type { WrittenPart } from "./base-part.ts";

/**
 * A base of the archive: the whole state at one zxid, as learners get it, in parts of 16 MiB.
 *
 * ```
 * base/<zxid>/0000, 0001, …   the chunks of a snapshot, one after another
 * base/<zxid>/manifest.json   what it is, and the SHA-256 of each part; its last line is the SHA-256 of all before it
 * ```
 *
 * Its folder gets this name once it is complete.
 */

/** A state that the thread which reads it writes as a base, part by part. */
export interface BaseSource extends Omit<SnapshotSource, "next"> {
  /**
   * Writes the next part of a base, synced; undefined, and no file, where nothing is left. Rejects
   * as `next` does.
   */
  writePart(file: string): Promise<WrittenPart | undefined>;
}

/** A base by its folder's name. */
export interface ListedBase {
  readonly folder: string;
  readonly zxid: Zxid;
}

const UNFINISHED = "unfinished";
/** The bases of an archive, oldest first. */
export function listBases(bases: string): readonly ListedBase[] {
  if (!existsSync(bases)) return [];
  const listed = readdirSync(bases).flatMap((name) => {
    const zxid = parseZxidName(name);
    return zxid === undefined ? [] : [{ folder: join(bases, name), zxid }];
  });
  return listed.sort((a, b) => a.zxid - b.zxid);
}

/**
 * Writes a whole state as a base.
 *
 * @param bases the folder of all bases; made if it does not exist
 */
export async function writeBase(
  bases: string,
  source: BaseSource,
  {
    whole,
    ...info
  }: {
    readonly ensembleId: string;
    readonly takenMs: number;
    /** Called once all parts are written; the folder gets its name after it resolves. */
    readonly whole?: () => Promise<void>;
  },
): Promise<BaseManifest> {
  const { position, epochs, digestHigh, digestLow, nodeCount, sessionCount } = source;
  const folder = join(bases, UNFINISHED);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const parts = await writeParts(folder, source);
    const same = { epochs, digestHigh, digestLow, nodeCount, sessionCount, parts };
    const manifest: BaseManifest = { format: ARCHIVE_FORMAT, ...info, position, ...same };
    await writeFileWhole(join(folder, MANIFEST_FILE), (handle) => handle.writeFile(encodeManifest(manifest)));
    syncPath(folder);
    await whole?.();
    const named = join(bases, zxidName(position.zxid));
    rmSync(named, { recursive: true, force: true });
    renameSync(folder, named);
    syncDirectoryOf(named);
    return manifest;
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw cause;
  }
}

/** @throws StoreError `DAMAGED` or `NEWER_FORMAT` */
export function readManifest({ folder, zxid }: ListedBase): BaseManifest {
  const file = join(folder, MANIFEST_FILE);
  const manifest = parseManifest(readWhole(file, MANIFEST_BYTES_MAX), file);
  const found = manifest.position.zxid;
  if (found !== zxid) throw damaged(file, "its name", `it is of the base at ${formatZxid(found)}`);
  return manifest;
}

/**
 * The chunks of a base, as a receiver of snapshots takes them. Each part is read whole and checked
 * before anything of it is handed over.
 *
 * @throws StoreError `DAMAGED` with the part
 */
export function* readBase(base: ListedBase, manifest: BaseManifest): Generator<Uint8Array, void> {
  for (const number of manifest.parts.keys()) {
    const bytes = readBasePart(base, manifest, number);
    for (let at = 0; at < bytes.length; at += SNAPSHOT_CHUNK_BYTES) {
      yield bytes.subarray(at, Math.min(bytes.length, at + SNAPSHOT_CHUNK_BYTES));
    }
  }
}

/** @throws StoreError `DAMAGED` for a part that is not what the manifest says */
export function readBasePart({ folder }: ListedBase, { parts }: BaseManifest, number: number): Buffer {
  const file = join(folder, partName(number));
  const bytes = readWhole(file, PART_BYTES_MAX);
  const part = parts[number];
  if (bytes.length !== part?.bytes) throw damaged(file, "its end", `${bytes.length} bytes, not ${part?.bytes}`);
  if (sumOf(bytes) !== part.sha256) throw damaged(file, "its SHA-256", "another one");
  return bytes;
}

/** Removes a base. A removal that is cut short leaves a base whose manifest is gone. */
export function removeBase({ folder }: ListedBase): void {
  rmSync(join(folder, MANIFEST_FILE), { force: true });
  rmSync(folder, { recursive: true, force: true });
}

async function writeParts(folder: string, source: BaseSource): Promise<readonly BasePart[]> {
  const parts: BasePart[] = [];
  for (let isLast = false; !isLast; ) {
    const part = await source.writePart(join(folder, partName(parts.length)));
    if (part !== undefined) parts.push({ bytes: part.bytes, sha256: part.sha256 });
    isLast = part?.isLast ?? true;
  }
  return parts;
}

async function writeFileWhole(file: string, write: (handle: FileHandle) => Promise<void>): Promise<void> {
  const handle: FileHandle = await open(file, "wx", 0o600);
  try {
    await write(handle);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function readWhole(file: string, bytesMax: number): Buffer {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw damaged(file, "the file", "it is missing");
  // A pipe would be waited for.
  if (!stat.isFile()) throw damaged(file, "its kind", "it is no file");
  if (stat.size > bytesMax) throw damaged(file, "its end", `${stat.size} bytes, and at most ${bytesMax}`);
  return readFileSync(file);
}
