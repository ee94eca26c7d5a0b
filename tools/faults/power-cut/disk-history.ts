/**
 * The record that shim.c makes, and the disk as a power cut at any moment of it could have left it.
 *
 * Kept for certain is only what was synced: a file's bytes by a sync of that file which began after
 * the write ended, a name by a sync of its folder. Of everything else a random part is kept, in the
 * ways that a real disk has: nothing of it, nearly all of it, or any subset, with one write torn
 * between blocks of 512 bytes. Names that were not synced are kept up to some point, as a
 * journalling file system does.
 */
import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Random } from "../../../packages/conformance/src/random.ts";

const BLOCK_BYTES = 512;
const HEAD_BYTES = 44;
const KINDS = [
  "started",
  "opened",
  "closed",
  "wrote",
  "resized",
  "synced",
  "renamed",
  "removed",
  "made folder",
  "linked",
] as const;

interface FileRecord {
  readonly kind: (typeof KINDS)[number];
  readonly isNew: boolean;
  readonly descriptor: number;
  readonly offset: number;
  readonly begun: bigint;
  readonly ended: bigint;
  readonly path: string;
  readonly bytes: Buffer;
}

interface Span {
  readonly begun: bigint;
  readonly ended: bigint;
}
interface ContentChange extends Span {
  readonly kind: "write" | "resize";
  readonly offset: number;
  readonly bytes: Buffer;
}
/** One file or folder, whatever its name is at the moment. */
interface Inode {
  readonly isFolder: boolean;
  readonly changes: ContentChange[];
  readonly syncs: Span[];
}
interface NameChange extends Span {
  readonly kind: "add" | "remove" | "rename";
  readonly path: string;
  readonly to: string;
  readonly inode: Inode | undefined;
  /** The folders whose entries change. */
  readonly folders: readonly Inode[];
}

export interface Loss {
  /** For a message: what was kept of the things that were not synced. */
  readonly description: string;
}

export class DiskHistory {
  readonly begun: bigint;
  readonly ended: bigint;
  readonly #root: string;
  readonly #rootFolder: Inode = newInode(true);
  readonly #names: NameChange[] = [];

  constructor(logFile: string, root: string) {
    this.#root = root;
    const records = readRecords(readFileSync(logFile));
    this.#replay(records);
    this.begun = records[0]?.begun ?? 0n;
    this.ended = records.at(-1)?.ended ?? 0n;
  }

  /** The moments at which any file changed or was synced. */
  moments(): readonly bigint[] {
    const inodes = new Set(this.#names.flatMap(({ inode }) => (inode === undefined ? [] : [inode])));
    return [...inodes]
      .flatMap(({ changes, syncs }) => [...changes, ...syncs])
      .flatMap(({ begun, ended }) => [begun, ended]);
  }

  /** Writes the disk of a moment into an empty folder. */
  restore(folder: string, { moment, random }: { readonly moment: bigint; readonly random: Random }): Loss {
    const losses: string[] = [];
    for (const [path, inode] of this.#namesAt(moment, random, losses)) {
      const target = join(folder, relative(this.#root, path));
      if (inode.isFolder) mkdirSync(target, { recursive: true });
      else writeContent(target, contentAt(inode, { moment, random, losses, name: relative(this.#root, path) }));
    }
    return { description: losses.length === 0 ? "nothing was unsynced" : losses.join("; ") };
  }

  #replay(records: readonly FileRecord[]): void {
    const names = new Map<string, Inode>([[this.#root, this.#rootFolder]]);
    const open = new Map<number, Inode>();
    const folderOf = (path: string): readonly Inode[] => {
      const folder = names.get(dirname(path));
      return folder === undefined ? [] : [folder];
    };
    for (const { kind, isNew, descriptor, offset, begun, ended, path, bytes } of records) {
      const span = { begun, ended };
      const inode = open.get(descriptor);
      switch (kind) {
        case "started":
          open.clear();
          break;
        case "opened": {
          let opened = names.get(path);
          if (opened === undefined) {
            opened = newInode(false);
            names.set(path, opened);
            if (!isNew) throw new Error(`${path} was there before it was made`);
            this.#names.push({ kind: "add", path, to: "", inode: opened, folders: folderOf(path), ...span });
          }
          open.set(descriptor, opened);
          break;
        }
        case "closed":
          open.delete(descriptor);
          break;
        case "wrote":
          inode?.changes.push({ kind: "write", offset, bytes, ...span });
          break;
        case "resized":
          inode?.changes.push({ kind: "resize", offset, bytes, ...span });
          break;
        case "synced":
          inode?.syncs.push(span);
          break;
        case "made folder": {
          const made = newInode(true);
          names.set(path, made);
          this.#names.push({ kind: "add", path, to: "", inode: made, folders: folderOf(path), ...span });
          break;
        }
        case "linked": {
          const target = String(bytes);
          const linked = names.get(path);
          if (linked !== undefined) names.set(target, linked);
          this.#names.push({ kind: "add", path: target, to: "", inode: linked, folders: folderOf(target), ...span });
          break;
        }
        case "removed":
          this.#names.push({ kind: "remove", path, to: "", inode: names.get(path), folders: folderOf(path), ...span });
          names.delete(path);
          break;
        case "renamed": {
          const to = String(bytes);
          const moved = names.get(path);
          const folders = [...folderOf(path), ...folderOf(to)];
          this.#names.push({ kind: "rename", path, to, inode: moved, folders, ...span });
          names.delete(path);
          if (moved !== undefined) names.set(to, moved);
          break;
        }
      }
    }
  }

  /**
   * Paths and what they name at a moment, folders before their contents; the root itself is always
   * there.
   */
  #namesAt(moment: bigint, random: Random, losses: string[]): ReadonlyMap<string, Inode> {
    const before = this.#names.filter(({ begun }) => begun <= moment);
    const unsynced = before.filter((change) => !change.folders.every((folder) => isSynced(folder, change, moment)));
    const kept = new Set(unsynced.slice(0, random.between(0, unsynced.length)));
    if (unsynced.length > 0) losses.push(`${kept.size} of ${unsynced.length} unsynced changes of names kept`);
    const names = new Map<string, Inode>([[this.#root, this.#rootFolder]]);
    for (const change of before) {
      if (unsynced.includes(change) && !kept.has(change)) continue;
      if (change.kind !== "add") names.delete(change.path);
      if (change.kind === "add" && change.inode !== undefined) names.set(change.path, change.inode);
      if (change.kind === "rename" && change.inode !== undefined) names.set(change.to, change.inode);
    }
    const reachable = [...names].filter(([path]) => path === this.#root || names.has(dirname(path)));
    return new Map(reachable.sort(([a], [b]) => a.length - b.length));
  }
}

function newInode(isFolder: boolean): Inode {
  return { isFolder, changes: [], syncs: [] };
}

function isSynced(inode: Inode, change: Span, moment: bigint): boolean {
  return inode.syncs.some(({ begun, ended }) => begun >= change.ended && ended <= moment);
}

interface ContentOptions {
  readonly moment: bigint;
  readonly random: Random;
  readonly losses: string[];
  readonly name: string;
}

function contentAt(inode: Inode, { moment, random, losses, name }: ContentOptions): Buffer {
  const before = inode.changes.filter(({ begun }) => begun <= moment);
  const synced = inode.syncs.filter(({ ended }) => ended <= moment).map(({ begun }) => begun);
  // Syncs by several threads overlap: the one that began last covers most.
  const lastSync = synced.toSorted((a, b) => Number(a - b)).at(-1) ?? 0n;
  const unsynced = before.filter(({ ended }) => ended > lastSync);
  const keptChance = random.pick([0, 0, 0.5, 0.9, 1]);
  const torn = unsynced.length > 0 ? random.pick(unsynced) : undefined;
  let content: Buffer = Buffer.alloc(0);
  let keptCount = 0;
  for (const change of before) {
    const isTorn = change === torn && change.kind === "write";
    if (change.ended > lastSync && !isTorn && !random.chance(keptChance)) continue;
    if (change.ended > lastSync) keptCount++;
    content = isTorn ? applyTorn(content, change, random) : applied(content, change);
  }
  if (unsynced.length > 0)
    losses.push(`${name}: ${keptCount} of ${unsynced.length} unsynced writes kept, one of them torn`);
  return content;
}

/** Grows the buffer by doubling; `length` of the result is the length of the file. */
function applied(content: Buffer, { kind, offset, bytes }: Pick<ContentChange, "kind" | "offset" | "bytes">): Buffer {
  if (kind === "resize") return resized(content, offset);
  const grown = offset + bytes.length > content.length ? resized(content, offset + bytes.length) : content;
  bytes.copy(grown, offset);
  return grown;
}

function resized(content: Buffer, length: number): Buffer {
  if (length <= content.length) return content.subarray(0, length);
  const room = content.buffer.byteLength - content.byteOffset;
  if (length <= room) {
    const grown = Buffer.from(content.buffer, content.byteOffset, length);
    grown.fill(0, content.length);
    return grown;
  }
  const store = Buffer.from(new ArrayBuffer(Math.max(length, room * 2)), 0, length);
  content.copy(store);
  return store;
}

function applyTorn(content: Buffer, { offset, bytes }: ContentChange, random: Random): Buffer {
  let torn = content;
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + BLOCK_BYTES - ((offset + at) % BLOCK_BYTES));
    if (random.chance(0.5))
      torn = applied(torn, { kind: "write", offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return torn;
}

function writeContent(file: string, content: Buffer): void {
  const descriptor = openSync(file, "w");
  for (let at = 0; at < content.length; ) at += writeSync(descriptor, content, at);
  closeSync(descriptor);
}

function readRecords(log: Buffer): readonly FileRecord[] {
  const records: FileRecord[] = [];
  for (let at = 0; at + HEAD_BYTES <= log.length; ) {
    const end = at + 4 + log.readUInt32LE(at);
    // The last record may be cut short by the kill that ended the recording.
    if (end > log.length) break;
    const kind = KINDS[log.readUInt8(at + 4) - 1];
    if (kind === undefined) throw new Error(`the record at ${at} makes no sense`);
    const pathEnd = at + HEAD_BYTES + log.readUInt32LE(at + 36);
    records.push({
      kind,
      isNew: log.readUInt8(at + 5) !== 0,
      descriptor: log.readInt32LE(at + 8),
      offset: Number(log.readBigInt64LE(at + 12)),
      begun: log.readBigUInt64LE(at + 20),
      ended: log.readBigUInt64LE(at + 28),
      path: log.toString("utf8", at + HEAD_BYTES, pathEnd),
      bytes: log.subarray(pathEnd, end),
    });
    at = end;
  }
  return records;
}
