/**
 * Every disk that a power cut could leave between two calls, as far as it is bounded.
 *
 * After each call there is a cut. Synced changes are kept: a file's bytes by a sync of that file
 * which began after the write had ended, a name by a sync of each folder whose entries changed. Of
 * the calls that were not synced, the last `recentMax` are kept in every subset; a rename, an
 * unlink or a create is a call like a write, and no order is assumed between any two. Of the
 * unsynced calls before those there are four cases, each with all of the subsets: none, all, the
 * names alone, the bytes alone.
 *
 * So the bound leaves out some subsets where more than `recentMax` calls are unsynced, which is
 * within a commit of many pages, and for files that are never synced, such as the witness. A call
 * is kept whole or lost; `DiskHistory` tears them.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import {
  applied,
  applyName,
  type ContentCall,
  type DiskCall,
  type DiskCalls,
  type Inode,
  isNameCall,
  type NameCall,
  writeContent,
} from "./disk-calls.ts";

export interface CutStatesOptions {
  /** Cuts are made after the calls that end later. Default: after all of them. */
  readonly from?: bigint;
  /** Cuts are made after each call whose number it divides. Default 1: after each call. */
  readonly cutEvery?: number;
  readonly recentMax: number;
}

/** The disk after one cut. */
export interface CutState {
  /** Equal for equal disks. */
  readonly key: string;
  /** For a message. */
  readonly description: string;
  /** Whatever happened until then may have happened before the cut; undefined: without end. */
  readonly until: bigint | undefined;
  /** The content of a file below the root; undefined where it is not there. */
  read(path: string): Buffer | undefined;
  /** Writes the disk into an empty folder. */
  write(folder: string): void;
}

type Change = ContentCall | NameCall;

/** Whether there is a cut after the call at this index. */
export function isCut(
  { ended }: DiskCall,
  index: number,
  { from = 0n, cutEvery = 1 }: Pick<CutStatesOptions, "from" | "cutEvery">,
): boolean {
  return ended >= from && (index + 1) % cutEvery === 0;
}

/** In the order of the cuts. */
export function* cutStates({ root, rootFolder, list }: DiskCalls, options: CutStatesOptions): Generator<CutState> {
  const disk = new SyncedDisk(root, rootFolder);
  for (const [index, call] of list.entries()) {
    if (call.kind === "sync") disk.sync(call.inode, call.begun);
    else disk.add(call);
    if (!isCut(call, index, options)) continue;
    const until = list[index + 1]?.ended;
    for (const kept of keptSets(disk.unsynced, options.recentMax)) {
      const image = disk.imageWith(kept);
      const description = `after call ${index + 1} (${describe(call, root)}), ${kept.size} of ${disk.unsynced.length} unsynced calls kept: ${[...kept].map((each) => describe(each, root)).join(", ")}`;
      const { key, read, write } = image;
      yield { key, description, until, read, write };
    }
  }
}

/**
 * The fault of a record: how the disk that all of its calls lead to differs from the one that is
 * there; undefined: none.
 */
export function incompleteness({ root, rootFolder, list }: DiskCalls): string | undefined {
  const disk = new SyncedDisk(root, rootFolder);
  for (const call of list) if (call.kind !== "sync") disk.add(call);
  const image = disk.imageWith(new Set(disk.unsynced));
  const found = readdirSync(root, { withFileTypes: true, recursive: true })
    .map((entry) => ({ path: relative(root, join(entry.parentPath, entry.name)), isFolder: entry.isDirectory() }))
    // Indexes of SQLite's are not recorded.
    .filter(({ path }) => !path.endsWith("-shm"));
  const unknown = found.find(({ path }) => !image.paths.includes(path));
  if (unknown !== undefined) return `${unknown.path} is there, and was never made`;
  const gone = image.paths.find((path) => !found.some((each) => each.path === path));
  if (gone !== undefined) return `${gone} is gone, and was never removed`;
  const files = found.filter(({ isFolder }) => !isFolder);
  const other = files.find(({ path }) => image.read(path)?.equals(readFileSync(join(root, path))) !== true);
  return other === undefined ? undefined : `${other.path} holds what was never written`;
}

/** See above. */
function* keptSets(unsynced: readonly Change[], recentMax: number): Generator<ReadonlySet<Change>> {
  const border = Math.max(0, unsynced.length - recentMax);
  const [older, recent] = [unsynced.slice(0, border), unsynced.slice(border)];
  const bases = [older, older.filter(isNameCall), older.filter((change) => !isNameCall(change)), []];
  for (const base of older.length === 0 ? [[]] : bases)
    for (let mask = 0; mask < 2 ** recent.length; mask++) {
      // In the order of the calls.
      yield new Set([...base, ...recent.filter((_, i) => (mask & (1 << i)) !== 0)]);
    }
}

function describe(call: DiskCall, root: string): string {
  switch (call.kind) {
    case "write":
      return `${call.bytes.length} bytes at ${call.offset}`;
    case "resize":
      return `resized to ${call.offset}`;
    case "sync":
      return call.inode.isFolder ? "a folder synced" : "a file synced";
    case "rename":
      return `${relative(root, call.path)} renamed to ${relative(root, call.to)}`;
    case "add":
    case "remove":
      return `${call.kind} ${relative(root, call.path)}`;
  }
}

interface Image extends Pick<CutState, "key" | "read" | "write"> {
  /** Below the root, folders among them. */
  readonly paths: readonly string[];
}

/** Files and names so far, the synced ones apart from the others. */
class SyncedDisk {
  readonly #root: string;
  readonly #names: Map<string, Inode>;
  /** The part of each file that is synced and not followed by an unsynced one. */
  readonly #contents = new Map<Inode, { content: Buffer; version: number; pending: ContentCall[] }>();
  /** Names: each with the folders that are to be synced still. */
  readonly #pendingNames: { readonly call: NameCall; readonly folders: Set<Inode> }[] = [];
  readonly #hashes = new Map<string, string>();
  readonly #numbers = new Map<Inode, number>();
  #unsynced: Change[] = [];

  constructor(root: string, rootFolder: Inode) {
    this.#root = root;
    this.#names = new Map([[root, rootFolder]]);
  }

  /** In the order of the calls. */
  get unsynced(): readonly Change[] {
    return this.#unsynced;
  }

  add(call: Change): void {
    this.#unsynced.push(call);
    if (isNameCall(call)) this.#pendingNames.push({ call, folders: new Set(call.folders) });
    else this.#contentOf(call.inode).pending.push(call);
  }

  sync(inode: Inode, begun: bigint): void {
    const synced = new Set<Change>();
    for (const change of this.#unsynced)
      if (!isNameCall(change) && change.inode === inode && change.ended <= begun) synced.add(change);
    for (const { call, folders } of this.#pendingNames) {
      if (call.ended <= begun) folders.delete(inode);
      if (folders.size === 0) synced.add(call);
    }
    this.#unsynced = this.#unsynced.filter((change) => !synced.has(change));
    this.#settle(inode);
  }

  imageWith(kept: ReadonlySet<Change>): Image {
    const unsynced = new Set(this.#unsynced);
    const isThere = (change: Change): boolean => kept.has(change) || !unsynced.has(change);
    const names = new Map(this.#names);
    for (const { call } of this.#pendingNames) if (isThere(call)) applyName(names, call);
    const paths = [...names.keys()].filter((path) => this.#isReachable(path, names)).sort();
    const files = paths.map((path) => {
      const inode = names.get(path);
      const changes = inode === undefined || inode.isFolder ? [] : this.#contentOf(inode).pending.filter(isThere);
      return { path, inode, changes };
    });
    const key = files.map(({ path, inode, changes }) => `${path} ${this.#hashOf(inode, changes)}`).join("\n");
    return {
      key,
      paths: paths.filter((path) => path !== this.#root).map((path) => relative(this.#root, path)),
      read: (path) => {
        const found = files.find((file) => file.path === join(this.#root, path));
        return found?.inode === undefined || found.inode.isFolder
          ? undefined
          : this.#content(found.inode, found.changes);
      },
      write: (folder) => {
        for (const { path, inode, changes } of files) {
          const target = join(folder, relative(this.#root, path));
          if (inode === undefined || inode.isFolder) mkdirSync(target, { recursive: true });
          else writeContent(target, this.#content(inode, changes));
        }
      },
    };
  }

  #isReachable(path: string, names: ReadonlyMap<string, Inode>): boolean {
    return path === this.#root || (names.has(dirname(path)) && this.#isReachable(dirname(path), names));
  }

  /** Forgets the synced changes up to the first unsynced one: they need not be kept apart. */
  #settle(inode: Inode): void {
    const unsynced = new Set(this.#unsynced);
    while (this.#pendingNames[0] !== undefined && !unsynced.has(this.#pendingNames[0].call)) {
      const { call } = this.#pendingNames[0];
      this.#pendingNames.shift();
      applyName(this.#names, call);
    }
    if (inode.isFolder) return;
    const file = this.#contentOf(inode);
    while (file.pending[0] !== undefined && !unsynced.has(file.pending[0])) {
      file.content = applied(file.content, file.pending[0]);
      file.pending.shift();
      file.version++;
    }
  }

  #contentOf(inode: Inode): { content: Buffer; version: number; pending: ContentCall[] } {
    const known = this.#contents.get(inode);
    if (known !== undefined) return known;
    const made = { content: Buffer.alloc(0), version: 0, pending: [] };
    this.#contents.set(inode, made);
    this.#numbers.set(inode, this.#numbers.size);
    return made;
  }

  #content(inode: Inode, changes: readonly ContentCall[]): Buffer {
    const { content: synced } = this.#contentOf(inode);
    // No other buffer is behind it, where it would grow.
    let content: Buffer = Buffer.alloc(synced.length);
    synced.copy(content);
    for (const change of changes) content = applied(content, change);
    return content;
  }

  #hashOf(inode: Inode | undefined, changes: readonly ContentCall[]): string {
    if (inode === undefined || inode.isFolder) return "folder";
    const { version, pending } = this.#contentOf(inode);
    const chosen = new Set(changes);
    const bits = pending.map((change) => (chosen.has(change) ? "1" : "0")).join("");
    const name = `${this.#numbers.get(inode)}/${version}/${bits}`;
    const known = this.#hashes.get(name);
    if (known !== undefined) return known;
    const hash = createHash("sha1").update(this.#content(inode, changes)).digest("base64");
    this.#hashes.set(name, hash);
    return hash;
  }
}
