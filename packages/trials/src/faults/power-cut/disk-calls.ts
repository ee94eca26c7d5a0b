/** The record that shim.c makes, as calls in the order in which they took effect. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";

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

export interface Span {
  readonly begun: bigint;
  readonly ended: bigint;
}
export interface ContentCall extends Span {
  readonly kind: "write" | "resize";
  readonly inode: Inode;
  readonly offset: number;
  readonly bytes: Buffer;
}
export interface SyncCall extends Span {
  readonly kind: "sync";
  readonly inode: Inode;
}
export interface NameCall extends Span {
  readonly kind: "add" | "remove" | "rename";
  readonly path: string;
  readonly to: string;
  readonly inode: Inode | undefined;
  /** The folders whose entries change. */
  readonly folders: readonly Inode[];
}
/** A call that changes the disk, or makes a change last. */
export type DiskCall = ContentCall | SyncCall | NameCall;

/** One file or folder, whatever its name is at the moment. */
export interface Inode {
  readonly isFolder: boolean;
  readonly changes: ContentCall[];
  readonly syncs: SyncCall[];
}

export class DiskCalls {
  readonly root: string;
  readonly rootFolder: Inode = newInode(true);
  readonly list: DiskCall[] = [];
  readonly #names: Map<string, Inode>;
  readonly #open = new Map<number, Inode>();

  /** A disk on which nothing is but the root. */
  constructor(root: string) {
    this.root = root;
    this.#names = new Map([[root, this.rootFolder]]);
  }

  /** A file gets a descriptor, and is made unless it is there. */
  opened(path: string, descriptor: number, span: Span): void {
    let inode = this.#names.get(path);
    if (inode === undefined) {
      inode = newInode(false);
      this.#names.set(path, inode);
      this.list.push({ kind: "add", path, to: "", inode, folders: this.#foldersOf(path), ...span });
    }
    this.#open.set(descriptor, inode);
  }

  has(path: string): boolean {
    return this.#names.has(path);
  }

  closed(descriptor: number): void {
    this.#open.delete(descriptor);
  }

  /** Descriptors are those of one process. */
  processStarted(): void {
    this.#open.clear();
  }

  wrote(descriptor: number, offset: number, bytes: Buffer, span: Span): void {
    this.#changed(descriptor, "write", offset, bytes, span);
  }

  resized(descriptor: number, size: number, span: Span): void {
    this.#changed(descriptor, "resize", size, Buffer.alloc(0), span);
  }

  synced(descriptor: number, span: Span): void {
    const inode = this.#open.get(descriptor);
    if (inode === undefined) return;
    const call: SyncCall = { kind: "sync", inode, ...span };
    inode.syncs.push(call);
    this.list.push(call);
  }

  madeFolder(path: string, span: Span): void {
    const inode = newInode(true);
    this.#names.set(path, inode);
    this.list.push({ kind: "add", path, to: "", inode, folders: this.#foldersOf(path), ...span });
  }

  linked(path: string, to: string, span: Span): void {
    const inode = this.#names.get(path);
    if (inode !== undefined) this.#names.set(to, inode);
    this.list.push({ kind: "add", path: to, to: "", inode, folders: this.#foldersOf(to), ...span });
  }

  removed(path: string, span: Span): void {
    const inode = this.#names.get(path);
    this.list.push({ kind: "remove", path, to: "", inode, folders: this.#foldersOf(path), ...span });
    this.#names.delete(path);
  }

  renamed(path: string, to: string, span: Span): void {
    const inode = this.#names.get(path);
    const folders = [...this.#foldersOf(path), ...this.#foldersOf(to)];
    const call: NameCall = { kind: "rename", path, to, inode, folders, ...span };
    this.list.push(call);
    applyName(this.#names, call);
  }

  #changed(descriptor: number, kind: ContentCall["kind"], offset: number, bytes: Buffer, span: Span): void {
    const inode = this.#open.get(descriptor);
    if (inode === undefined) return;
    const call: ContentCall = { kind, inode, offset, bytes, ...span };
    inode.changes.push(call);
    this.list.push(call);
  }

  #foldersOf(path: string): readonly Inode[] {
    const folder = this.#names.get(dirname(path));
    return folder === undefined ? [] : [folder];
  }
}

/** The calls in a file that shim.c wrote, of processes that began with an empty folder. */
export function readDiskCalls(logFile: string, root: string): DiskCalls {
  const calls = new DiskCalls(root);
  for (const { kind, isNew, descriptor, offset, begun, ended, path, bytes } of readRecords(readFileSync(logFile))) {
    const span = { begun, ended };
    switch (kind) {
      case "started":
        calls.processStarted();
        break;
      case "opened":
        if (!isNew && !calls.has(path)) throw new Error(`${path} was there before it was made`);
        calls.opened(path, descriptor, span);
        break;
      case "closed":
        calls.closed(descriptor);
        break;
      case "wrote":
        calls.wrote(descriptor, offset, bytes, span);
        break;
      case "resized":
        calls.resized(descriptor, offset, span);
        break;
      case "synced":
        calls.synced(descriptor, span);
        break;
      case "made folder":
        calls.madeFolder(path, span);
        break;
      case "linked":
        calls.linked(path, String(bytes), span);
        break;
      case "removed":
        calls.removed(path, span);
        break;
      case "renamed":
        calls.renamed(path, String(bytes), span);
        break;
    }
  }
  return calls;
}

/** Whether a call changes the entry of a folder. */
export function isNameCall(call: DiskCall): call is NameCall {
  return call.kind === "add" || call.kind === "remove" || call.kind === "rename";
}

/** Applies a call to names: a folder keeps its content. */
export function applyName(names: Map<string, Inode>, { kind, path, to, inode }: NameCall): void {
  if (kind === "rename" && inode?.isFolder === true) {
    for (const [name, each] of [...names].filter(([name]) => name.startsWith(`${path}/`))) {
      names.delete(name);
      names.set(to + name.slice(path.length), each);
    }
  }
  if (kind !== "add") names.delete(path);
  if (kind !== "remove" && inode !== undefined) names.set(kind === "rename" ? to : path, inode);
}

/** Grows the buffer by doubling; `length` of the result is the length of the file. */
export function applied(
  content: Buffer,
  { kind, offset, bytes }: Pick<ContentCall, "kind" | "offset" | "bytes">,
): Buffer {
  if (kind === "resize") return resized(content, offset);
  const grown = offset + bytes.length > content.length ? resized(content, offset + bytes.length) : content;
  bytes.copy(grown, offset);
  return grown;
}

function newInode(isFolder: boolean): Inode {
  return { isFolder, changes: [], syncs: [] };
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

export function writeContent(file: string, content: Buffer): void {
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
