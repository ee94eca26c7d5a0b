/**
 * The record that shim.c makes, and the disk as a power cut at any moment of it could have left it.
 *
 * Kept for certain is only what was synced: a file's bytes by a sync of that file which began after
 * the write ended, a name by a sync of its folder. Of everything else a random part is kept, in the
 * ways that a real disk has: nothing of it, nearly all of it, or any subset, with one write torn
 * between blocks of 512 bytes. Names that were not synced are kept up to some point, as a
 * journalling file system does.
 */
import { mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Random } from "@zooid/conformance/internal/random";
import {
  applied,
  applyName,
  type ContentCall,
  type DiskCalls,
  type Inode,
  isNameCall,
  type NameCall,
  readDiskCalls,
  type Span,
  writeContent,
} from "./disk-calls.ts";

const BLOCK_BYTES = 512;

export interface Loss {
  /** For a message: what was kept of the things that were not synced. */
  readonly description: string;
}

export class DiskHistory {
  readonly begun: bigint;
  readonly ended: bigint;
  readonly #calls: DiskCalls;
  readonly #names: readonly NameCall[];

  constructor(logFile: string, root: string) {
    this.#calls = readDiskCalls(logFile, root);
    const { list } = this.#calls;
    this.#names = list.filter(isNameCall);
    this.begun = list[0]?.begun ?? 0n;
    this.ended = list.at(-1)?.ended ?? 0n;
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
      const target = join(folder, relative(this.#calls.root, path));
      if (inode.isFolder) mkdirSync(target, { recursive: true });
      else writeContent(target, contentAt(inode, { moment, random, losses, name: relative(this.#calls.root, path) }));
    }
    return { description: losses.length === 0 ? "nothing was unsynced" : losses.join("; ") };
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
    const names = new Map<string, Inode>([[this.#calls.root, this.#calls.rootFolder]]);
    for (const change of before) {
      if (unsynced.includes(change) && !kept.has(change)) continue;
      applyName(names, change);
    }
    const reachable = [...names].filter(([path]) => path === this.#calls.root || names.has(dirname(path)));
    return new Map(reachable.sort(([a], [b]) => a.length - b.length));
  }
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

function applyTorn(content: Buffer, { offset, bytes }: ContentCall, random: Random): Buffer {
  let torn = content;
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + BLOCK_BYTES - ((offset + at) % BLOCK_BYTES));
    if (random.chance(0.5))
      torn = applied(torn, { kind: "write", offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return torn;
}
