import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { epochOf, type Zxid } from "@zooid/model";
import type { SnapshotContent } from "@zooid/txn-log";
import type { Store } from "@zooid/txn-log/sqlite";
import { withCopiedStore } from "../copied-store.ts";
import { OfflineError } from "../offline-error.ts";
import type { RestorePlan } from "../restore-plan.ts";
import { withRestoredStore } from "../restored-store.ts";
import type { Survivor } from "../survivor.ts";
import { syncFolder, writeWhole } from "../whole-file.ts";

/** The source of an export: all that a stopped server has logged, or a state of a history. */
export type ExportSource = { readonly survivor: Survivor } | { readonly plan: RestorePlan };

export interface ExportOptions {
  /** Gets the data; must be empty, or not exist. */
  readonly directory: string;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged: boolean;
  readonly signal?: AbortSignal;
  warn(text: string): void;
}

export interface Exported extends SnapshotContent {
  readonly zxid: Zxid;
}

/** Where ZooKeeper keeps its files, below its data directory. */
const FOLDER = "version-2";

/**
 * Makes a data directory of Apache ZooKeeper: a snapshot, and the epoch of its last transaction as
 * the one that the server accepted and is in. Sessions, and their ephemeral nodes, are left out: no
 * client could resume one, since Apache's servers derive a session's password from its id.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function exportToApache(source: ExportSource, options: ExportOptions): Promise<Exported> {
  const { directory, takesDamaged, signal, warn } = options;
  if (existsSync(directory) && (!statSync(directory).isDirectory() || readdirSync(directory).length > 0)) {
    throw new OfflineError([`${directory} is not an empty directory: the data gets one of its own`]);
  }
  const parent = dirname(directory);
  const made = mkdirSync(parent, { recursive: true });
  // On the same disk, so that files can be shared with the source, and renamed.
  const aside = mkdtempSync(join(parent, `.${basename(directory)}-`));
  try {
    const copy = join(aside, "copy");
    const whole = join(aside, "whole");
    const folder = join(whole, FOLDER);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const write = (store: Store): Promise<Exported> => writeApache(store, folder, signal);
    const exported =
      "survivor" in source
        ? await withCopiedStore(source.survivor, { copy, takesDamaged, warn }, write)
        : await withRestoredStore(source.plan, { copy, ...(signal === undefined ? {} : { signal }), warn }, write);
    signal?.throwIfAborted();
    syncFolder(whole);
    // In one step, or a kill could leave an empty directory that Apache's server starts on.
    if (existsSync(directory)) renameSync(folder, join(directory, FOLDER));
    else renameSync(whole, directory);
    syncFolder(directory);
    syncFolder(parent);
    return exported;
  } catch (error) {
    if (made !== undefined) rmSync(made, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

async function writeApache(store: Store, folder: string, signal: AbortSignal | undefined): Promise<Exported> {
  await using snapshot = await store.exportSnapshot("left out");
  const { position, nodeCount, leftOutCount, ttlCount, dataBytesMax, sizeBytes } = snapshot;
  const { zxid } = position;
  await writeWhole(join(folder, `snapshot.${zxid.toString(16)}`), () => {
    signal?.throwIfAborted();
    return snapshot.next();
  });
  for (const name of ["acceptedEpoch", "currentEpoch"]) {
    writeFileSync(join(folder, name), String(epochOf(zxid)), { mode: 0o600, flush: true });
  }
  syncFolder(folder);
  return { zxid, nodeCount, leftOutCount, ttlCount, dataBytesMax, sizeBytes };
}
