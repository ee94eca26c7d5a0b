import { randomInt } from "node:crypto";
import { rmSync } from "node:fs";
import {
  type BackupFile,
  type BackupTarget,
  fetchFile,
  listBackup,
  missingRanges,
  readBackupManifest,
  readBackupPart,
} from "@zooid/backup";
import { DataTree } from "@zooid/data-tree";
import { formatZxid, newTxnHeader, newTxnOp, type Zxid } from "@zooid/model";
import { StoreError } from "@zooid/txn-log";
import { ArchiveFile, type BaseManifest, BaseStateReader } from "@zooid/txn-log/archive";
import { TxnReader } from "@zooid/wire/txn";
import { treeSink } from "../storage/load-tree.ts";

/**
 * The result of replaying the last base but one and the files behind it, compared with the last
 * base.
 */
export type ReplayResult =
  | { readonly kind: "equal"; readonly from: Zxid; readonly to: Zxid; readonly entryCount: number }
  /** They lead to another state, at this transaction at the latest, or cannot be replayed. */
  | { readonly kind: "differs"; readonly from: Zxid; readonly to: Zxid; readonly at: Zxid; readonly found: string }
  /** There was nothing to compare, or not enough memory. */
  | { readonly kind: "skipped"; readonly reason: string };

export interface ReplayOptions {
  readonly target: BackupTarget;
  /** A folder for one file at a time. */
  readonly scratch: string;
  readonly signal: AbortSignal;
  readonly limits?: ReplayLimits;
}

/** A larger state is not replayed: it would be in memory a second time. */
export interface ReplayLimits {
  readonly nodesMax: number;
  readonly baseBytesMax: number;
}

export const REPLAY_LIMITS: ReplayLimits = { nodesMax: 1_000_000, baseBytesMax: 256 * 1024 * 1024 };

/**
 * Makes the state of a backup's newest base from the base before it and the files of the log in
 * between, as a restore would, and compares digests: at the end of each file that knows its own,
 * and at the base.
 *
 * @throws BackupError, and StoreError for what cannot be read
 */
export async function replayLastBase(options: ReplayOptions): Promise<ReplayResult> {
  const { target, limits = REPLAY_LIMITS } = options;
  const { bases, files } = await listBackup(target);
  const [before, newest] = bases.slice(-2);
  if (before === undefined || newest === undefined) return skipped("the backup has one base");
  const from = await readBackupManifest(target, before.zxid);
  const to = await readBackupManifest(target, newest.zxid);
  const reason = reasonAgainst({ from, to }, files, limits);
  if (reason !== undefined) return skipped(reason);
  const between = files.filter(({ after, end }) => end > before.zxid && after < newest.zxid);
  const replay = new Replay(options, from, to);
  try {
    return await replay.run(between.toSorted((a, b) => a.after - b.after));
  } catch (error) {
    // Whatever the tree says of transactions that do not fit it.
    if (!(error instanceof Error) || error instanceof StoreError || !replay.isApplying) throw error;
    return replay.differing(error.message);
  }
}

function skipped(reason: string): ReplayResult {
  return { kind: "skipped", reason };
}

function reasonAgainst(
  { from, to }: { readonly from: BaseManifest; readonly to: BaseManifest },
  files: readonly BackupFile[],
  { nodesMax, baseBytesMax }: ReplayLimits,
): string | undefined {
  const [start, end] = [from.position.zxid, to.position.zxid];
  const bytes = from.parts.reduce((sum, part) => sum + part.bytes, 0);
  if (from.nodeCount > nodesMax || bytes > baseBytesMax)
    return `the base at ${formatZxid(start)} has ${from.nodeCount} znodes and ${bytes} bytes, too much to be in memory a second time`;
  if (to.digestHigh === 0 && to.digestLow === 0) return `the digest at ${formatZxid(end)} is not known`;
  const [first] = files.filter((file) => file.end > start);
  const isMissing = first === undefined || first.after > start || (files.at(-1)?.end ?? 0) < end;
  const gap = missingRanges({ bases: [], files }).find((range) => range.end > start && range.after < end);
  if (start === end || (!isMissing && gap === undefined)) return undefined;
  return `transactions between the bases at ${formatZxid(start)} and ${formatZxid(end)} are not in the backup`;
}

class Replay {
  /** Whether what fails is what was read. */
  isApplying = false;
  readonly #options: ReplayOptions;
  readonly #from: BaseManifest;
  readonly #to: BaseManifest;
  readonly #tree = new DataTree({ hashKey: { k0: randomInt(2 ** 32) | 0, k1: randomInt(2 ** 32) | 0 } });
  readonly #reader = new TxnReader();
  readonly #header = newTxnHeader();
  readonly #op = newTxnOp();
  #entryCount = 0;

  constructor(options: ReplayOptions, from: BaseManifest, to: BaseManifest) {
    this.#options = options;
    this.#from = from;
    this.#to = to;
  }

  async run(files: readonly BackupFile[]): Promise<ReplayResult> {
    const { signal } = this.#options;
    await this.#load();
    const first = this.#found(this.#from);
    if (first !== undefined) return first;
    for (const file of files) {
      signal.throwIfAborted();
      const found = await this.#replay(file);
      if (found !== undefined) return found;
    }
    const last = this.#found(this.#to);
    if (last !== undefined) return last;
    const [from, to] = [this.#from.position.zxid, this.#to.position.zxid];
    if (this.#tree.applied !== to) return this.differing(`the files end at ${formatZxid(this.#tree.applied)}`);
    return { kind: "equal", from, to, entryCount: this.#entryCount };
  }

  differing(found: string): ReplayResult {
    const [from, to] = [this.#from.position.zxid, this.#to.position.zxid];
    return { kind: "differs", from, to, at: this.#tree.applied, found };
  }

  async #load(): Promise<void> {
    const { target, signal } = this.#options;
    const { parts, position } = this.#from;
    const tree = this.#tree;
    tree.beginLoad();
    const reader = new BaseStateReader(target.name, treeSink(tree));
    for (const number of parts.keys()) {
      signal.throwIfAborted();
      reader.add(await readBackupPart(target, this.#from, number));
    }
    const { nextNodeId: nextNode, level } = reader.end();
    tree.finishLoad({ applied: position.zxid, nextNode, level });
  }

  async #replay(file: BackupFile): Promise<ReplayResult | undefined> {
    const { target, scratch } = this.#options;
    const copy = await fetchFile(target, file, scratch);
    try {
      using archive = new ArchiveFile(copy);
      const { digestHigh, digestLow, end } = archive.footer;
      const tree = this.#tree;
      const upTo = this.#to.position.zxid;
      this.isApplying = true;
      archive.walk(file.after, (zxid, bytes, start, stop) => {
        if (zxid > tree.applied && zxid <= upTo) this.#apply(zxid, bytes, start, stop);
      });
      this.isApplying = false;
      return end.zxid === tree.applied ? this.#found({ digestHigh, digestLow }) : undefined;
    } finally {
      rmSync(copy, { force: true });
    }
  }

  #apply(zxid: Zxid, bytes: Uint8Array, start: number, stop: number): void {
    this.#entryCount++;
    this.#reader.open(bytes, start, stop, this.#header);
    this.#header.zxid = zxid;
    while (this.#reader.next(this.#op)) this.#tree.apply(this.#header, this.#op, undefined);
    this.#tree.finish(this.#header);
  }

  /** Undefined where the tree has that digest, or it is not known. */
  #found({ digestHigh, digestLow }: Pick<BaseManifest, "digestHigh" | "digestLow">): ReplayResult | undefined {
    if (digestHigh === 0 && digestLow === 0) return undefined;
    if (this.#tree.digestHigh === digestHigh && this.#tree.digestLow === digestLow) return undefined;
    return this.differing("its digest is not the one that the tree had there");
  }
}
