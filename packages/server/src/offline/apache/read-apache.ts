import { StoreError } from "@zooid/txn-log";
import {
  type ApacheSnapshotParts,
  type ApacheTransaction,
  ApacheTree,
  apacheLogEntries,
  apacheTransaction,
} from "@zooid/txn-log/sqlite";
import { OfflineError } from "../offline-error.ts";
import { type ApacheDirectories, type ApacheFile, apacheFiles } from "./apache-files.ts";
import { memoryLeft, readSnapshot } from "./read-snapshot.ts";

/** The content of the data directory of a stopped Apache server. */
export interface ApacheState {
  /** Undefined: there is none, and the logs begin with the first transaction. */
  readonly snapshotFile: string | undefined;
  readonly logFiles: readonly string[];
  /** The last transaction. */
  readonly zxid: bigint;
  /** When that was; undefined if no log has it. */
  readonly timeMs: number | undefined;
  /** Whether the last digest in the logs was compared with that of the tree. */
  readonly isDigestChecked: boolean;
  readonly tree: ApacheTree;
}

/** Offset of the zxid in a transaction: behind the session and its counter. */
const ZXID_OFFSET = 12;
/** The low half of a zxid; the high one is the epoch. */
const COUNTER_MASK = 0xffff_ffffn;
/** Paths of these characters have the same bytes in every charset that a JVM may use. */
const ASCII = /^[\0-\x7f]*$/;

/**
 * Reads the newest snapshot that is whole, and replays the logs behind it as Apache's server does.
 *
 * @throws OfflineError and StoreError
 */
export async function readApache(directories: ApacheDirectories, warn: (text: string) => void): Promise<ApacheState> {
  const { snapshots, logs } = apacheFiles(directories);
  const { snapshot, tree } = await newestSnapshot(snapshots, warn);
  tree.addBuiltIn();
  const replay = new Replay(tree, snapshot?.zxid, warn);
  const files = logsBehind(logs, snapshot?.zxid);
  for (const file of files) replay.add(file.path, file === files.at(-1));
  if (snapshot === undefined && replay.zxid === 0n) {
    throw new OfflineError([`${directories.dataDir} has no snapshot, and its logs have no transaction`]);
  }
  return {
    snapshotFile: snapshot?.path,
    logFiles: files.map(({ path }) => path),
    zxid: replay.zxid,
    timeMs: replay.timeMs,
    isDigestChecked: replay.checkDigest(),
    tree,
  };
}

interface LoadedSnapshot {
  readonly snapshot: ApacheFile | undefined;
  readonly tree: ApacheTree;
}

async function newestSnapshot(files: readonly ApacheFile[], warn: (text: string) => void): Promise<LoadedSnapshot> {
  let newest: StoreError | undefined;
  for (const snapshot of files) {
    const tree = new ApacheTree();
    const damage = await damageIn(snapshot.path, tree);
    if (damage === undefined) return { snapshot, tree };
    newest ??= damage;
    if (snapshot !== files.at(-1)) warn(`${damage.message}; the snapshot before it is taken`);
  }
  if (newest !== undefined) throw newest;
  return { snapshot: undefined, tree: new ApacheTree() };
}

/** @returns why the snapshot is not whole; undefined if it is */
export async function damageIn(file: string, tree: ApacheSnapshotParts): Promise<StoreError | undefined> {
  try {
    await readSnapshot(file, tree, memoryLeft());
    return undefined;
  } catch (cause) {
    if (cause instanceof StoreError) return cause;
    throw cause;
  }
}

/** From the newest file that can have the first transaction behind the snapshot. */
export function logsBehind(logs: readonly ApacheFile[], snapshotZxid: bigint | undefined): readonly ApacheFile[] {
  if (snapshotZxid === undefined) return logs;
  const first = logs.findLastIndex(({ zxid }) => zxid <= snapshotZxid + 1n);
  return logs.slice(Math.max(0, first));
}

/** Applies the entries of the logs to a tree. */
class Replay {
  /** The last transaction of the tree; 0 before the first one. */
  zxid: bigint;
  timeMs: number | undefined;
  readonly #tree: ApacheTree;
  readonly #snapshotZxid: bigint | undefined;
  readonly #warn: (text: string) => void;
  #hasApplied = false;
  /** The digest that the server noted with its last change. */
  #digest: { readonly value: bigint; readonly zxid: bigint; readonly file: string } | undefined;

  constructor(tree: ApacheTree, snapshotZxid: bigint | undefined, warn: (text: string) => void) {
    this.#tree = tree;
    this.#snapshotZxid = snapshotZxid;
    this.#warn = warn;
    this.zxid = snapshotZxid ?? 0n;
  }

  /** @param isLast only the last file may end with a part of an entry that was being written */
  add(file: string, isLast: boolean): void {
    const entries = apacheLogEntries(file);
    for (;;) {
      const entry = entries.next();
      if (entry.done !== true) {
        this.#take(decodedEntry(file, entry.value), file);
        continue;
      }
      if (entry.value !== undefined && isLast)
        this.#warn(`${file}: no whole entry begins at byte ${entry.value}; the log is read up to that byte`);
      return;
    }
  }

  #take(transaction: ApacheTransaction, file: string): void {
    const { zxid, timeMs } = transaction;
    if (zxid === this.zxid) this.timeMs ??= Number(timeMs);
    // The snapshot has them.
    if (!this.#hasApplied && this.#snapshotZxid !== undefined && zxid <= this.#snapshotZxid) return;
    // A leader may have logged an entry twice, and applied it once.
    if (zxid === this.zxid) return;
    this.#checkFollows(zxid, file);
    this.#hasApplied = true;
    this.#tree.apply(transaction);
    this.zxid = zxid;
    this.timeMs = Number(timeMs);
    if (transaction.digest !== undefined) this.#digest = { value: transaction.digest, zxid, file };
    else if (transaction.changes.some(({ kind }) => kind !== "open-session")) this.#digest = undefined;
  }

  /** Within an epoch each zxid follows the one before, and each epoch begins with counter 1. */
  #checkFollows(zxid: bigint, file: string): void {
    const hasBefore = this.#hasApplied || this.#snapshotZxid !== undefined;
    if (hasBefore && zxid === this.zxid + 1n) return;
    if (zxid > this.zxid && (zxid & COUNTER_MASK) === 1n) return;
    if (hasBefore) {
      const found = zxid < this.zxid ? "" : ", and what was between them is missing";
      throw damaged(file, zxid, `it follows ${shown(this.zxid)}${found}`);
    }
    throw new OfflineError([
      `there is no snapshot, and the logs begin with ${shown(zxid)} in ${file}: what was before it is missing`,
    ]);
  }

  /** @returns whether there was one to compare with */
  checkDigest(): boolean {
    const noted = this.#digest;
    if (noted === undefined) return false;
    const found = this.#tree.digest;
    if (found === noted.value) return true;
    const place = `the state at ${shown(noted.zxid)}`;
    const text = `its digest is ${shown(found)}, and the server noted ${shown(noted.value)}`;
    const hasOther = [...this.#tree.nodes.keys()].some((path) => !ASCII.test(path));
    if (!hasOther) throw new StoreError({ code: "DAMAGED", file: noted.file, place, found: text });
    this.#warn(
      `${noted.file}: ${place} cannot be checked: ${text}; ` +
        "before Java 18 that depends on the locale where paths have other characters than those of ASCII",
    );
    return false;
  }
}

/** @throws StoreError DAMAGED for an entry of a log that is no transaction */
export function decodedEntry(file: string, bytes: Buffer): ApacheTransaction {
  try {
    return apacheTransaction(bytes);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    const place = bytes.length < ZXID_OFFSET + 8 ? "an entry" : shown(bytes.readBigInt64BE(ZXID_OFFSET));
    throw new StoreError({ code: "DAMAGED", file, place, found: cause.message }, { cause });
  }
}

function damaged(file: string, zxid: bigint, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place: `transaction ${shown(zxid)}`, found });
}

function shown(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`;
}
