import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { composeZxid, epochOf, type Zxid } from "@zooid/model";
import type { SnapshotContent } from "@zooid/txn-log";
import type { ExportOptions as SnapshotOptions, Store } from "@zooid/txn-log/sqlite";
import { withCopiedStore } from "../copied-store.ts";
import { OfflineError } from "../offline-error.ts";
import type { RestorePlan } from "../restore-plan.ts";
import { withRestoredStore } from "../restored-store.ts";
import type { Survivor } from "../survivor.ts";
import { syncFolder, writeWhole } from "../whole-file.ts";
import { apacheEpochAbove } from "./apache-epoch.ts";

/** The source of an export: all that a stopped server has logged, or a state of a history. */
export type ExportSource = { readonly survivor: Survivor } | { readonly plan: RestorePlan };

export interface ExportOptions {
  /** Gets the data; must be empty, or not exist. */
  readonly directory: string;
  /** Whether a damaged log is taken as far as it is whole. */
  readonly takesDamaged: boolean;
  /**
   * `keep`: sessions that Apache's servers can continue are in it, with their ephemeral nodes, and
   * its history begins in an epoch above each that this server knows. Default: drop.
   */
  readonly sessions?: "keep" | "drop";
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
 * the one that the server accepted and is in. Sessions with passwords of our own are left out, with
 * their ephemeral nodes: no client could continue one, since Apache's servers derive a session's
 * password from its id.
 *
 * @throws OfflineError and StoreError; nothing is left behind then
 */
export async function exportToApache(source: ExportSource, options: ExportOptions): Promise<Exported> {
  const { directory, takesDamaged, sessions, signal, warn } = options;
  const begin = sessions === "keep" ? beginOf(source, warn) : undefined;
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
    const write = (store: Store): Promise<Exported> => writeApache(store, folder, begin, signal);
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

/** The zxid at which Apache's history begins. */
function beginOf(source: ExportSource, warn: (text: string) => void): Zxid {
  const found = apacheEpochAbove("survivor" in source ? source.survivor.epochMax : epochOf(source.plan.zxid));
  if (typeof found === "string") throw new OfflineError([found]);
  if (found.warning !== undefined) warn(found.warning);
  return composeZxid(found.epoch, 1);
}

async function writeApache(
  store: Store,
  folder: string,
  begin: Zxid | undefined,
  signal: AbortSignal | undefined,
): Promise<Exported> {
  const form: SnapshotOptions =
    begin === undefined ? { sessions: "left out" } : { sessions: "derived", newHistoryAt: begin };
  await using snapshot = await store.exportSnapshot(form);
  const zxid = begin ?? snapshot.position.zxid;
  await writeWhole(join(folder, `snapshot.${zxid.toString(16)}`), () => {
    signal?.throwIfAborted();
    return snapshot.next();
  });
  for (const name of ["acceptedEpoch", "currentEpoch"]) {
    writeFileSync(join(folder, name), String(epochOf(zxid)), { mode: 0o600, flush: true });
  }
  syncFolder(folder);
  return { zxid, ...contentOf(snapshot) };
}

function contentOf(content: SnapshotContent): SnapshotContent {
  const { nodeCount, leftOutCount, sessionCount, leftOutSessionCount, shortestTimeoutMs } = content;
  const { ttlCount, dataBytesMax, sizeBytes } = content;
  return {
    nodeCount,
    leftOutCount,
    sessionCount,
    leftOutSessionCount,
    shortestTimeoutMs,
    ttlCount,
    dataBytesMax,
    sizeBytes,
  };
}
