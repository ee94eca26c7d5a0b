import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { counted, formatZxid, type Zxid } from "@zooid/model";
import { type LogHandler, StoreError } from "@zooid/txn-log";
import { isLogFile, openStore } from "@zooid/txn-log/sqlite";
import { type DataDirectories, placesOf } from "./data-directories.ts";
import { OfflineError } from "./offline-error.ts";
import { wholeTree } from "./recover-member.ts";
import type { Survivor } from "./survivor.ts";

export interface SnapshotOptions {
  /**
   * The folder that gets the snapshot. Default file name: `snapshot.` and its zxid, as Apache
   * ZooKeeper names them.
   */
  readonly directory: string;
  /** The name in it. */
  readonly name?: string | undefined;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged: boolean;
  warn(text: string): void;
}

export interface WrittenSnapshot {
  readonly file: string;
  readonly zxid: Zxid;
  readonly nodeCount: number;
  readonly sizeBytes: number;
}

/** State, log and witness; whatever else lies in a data directory is no part of the data. */
const STATE_FILE = /^state-\d+\.db(?:-journal)?$/;
const WITNESS = "witness";

/**
 * Writes what a stopped server holds, all that is logged, as a snapshot in Apache ZooKeeper's form.
 *
 * The log is checkpointed into the state for that, in a copy: the last transactions may never have
 * been committed, and a member that rejoins its ensemble must not have them in its state.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function writeOfflineSnapshot(survivor: Survivor, options: SnapshotOptions): Promise<WrittenSnapshot> {
  if (survivor.damage !== undefined && !options.takesDamaged)
    throw new OfflineError([`${survivor.damage}; --force writes what is whole`]);
  const copy = mkdtempSync(join(options.directory, ".zooid-snapshot-"));
  try {
    copyData(survivor.directories, copy);
    return await writeFrom(copy, survivor.sid, options);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function copyData(directories: DataDirectories, copy: string): void {
  const { directory, logDirectory } = placesOf(directories);
  const take = (from: string, isTaken: (name: string) => boolean): void => {
    for (const name of readdirSync(from).filter(isTaken))
      copyFileSync(join(from, name), join(copy, name), constants.COPYFILE_FICLONE);
  };
  take(directory, (name) => STATE_FILE.test(name));
  take(logDirectory, (name) => name === WITNESS || (isLogFile(name) && !name.endsWith("-shm")));
}

async function writeFrom(dataDir: string, sid: number, options: SnapshotOptions): Promise<WrittenSnapshot> {
  const { promise: failure, reject } = Promise.withResolvers<never>();
  failure.catch(() => {});
  const handler: LogHandler = {
    appended: () => {},
    roomChanged: (missing) => {
      if (missing !== undefined) reject(new StoreError({ code: "DISK_FULL", file: dataDir, reason: missing }));
    },
    failed: reject,
    warned: options.warn,
  };
  await using store = await openStore({ directory: dataDir, sid, handler, allowAmnesia: options.takesDamaged });
  const tree = wholeTree(store, { dataDir });
  const { zxid, chain } = store.log.durable.tail;
  if (store.state.applied.applied.zxid < zxid) {
    const { digestHigh, digestLow } = tree;
    store.state.advance({ zxid, chain, digestHigh, digestLow, bytes: 1 });
  }
  await using snapshot = await Promise.race([store.exportSnapshot(), failure]);
  const name = options.name ?? `snapshot.${zxid.toString(16)}`;
  const file = join(options.directory, name);
  if (existsSync(file)) throw new OfflineError([`${file} exists, and is not written over`]);
  const sizeBytes = await writeWhole(file, () => snapshot.next());
  return { file, zxid, nodeCount: snapshot.nodeCount, sizeBytes };
}

/**
 * Written beside its place, synced and renamed: a file of that name is whole. It has hashes of
 * passwords.
 */
async function writeWhole(file: string, next: () => Promise<Uint8Array | undefined>): Promise<number> {
  const aside = join(dirname(file), `.${basename(file)}.part`);
  const handle = openSync(aside, "w", 0o600);
  let sizeBytes = 0;
  try {
    for (let piece = await next(); piece !== undefined; piece = await next()) {
      for (let at = 0; at < piece.length; ) at += writeSync(handle, piece, at);
      sizeBytes += piece.length;
    }
    fsyncSync(handle);
  } catch (error) {
    rmSync(aside, { force: true });
    throw error;
  } finally {
    closeSync(handle);
  }
  renameSync(aside, file);
  return sizeBytes;
}

/** For the line that says what was written. */
export function snapshotText({ file, zxid, nodeCount, sizeBytes }: WrittenSnapshot): string {
  return `${file} has ${counted(nodeCount, "znode")} up to ${formatZxid(zxid)}, ${sizeBytes} bytes`;
}
