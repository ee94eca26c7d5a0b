import { type LogPosition, StoreError } from "@zooid/txn-log";
import type { ArchiveFooter } from "@zooid/txn-log/archive";
import { BackupError } from "../backup-error.ts";
import type { BackupFile, BackupListing } from "../contents/backup-listing.ts";
import { readBackupFooter, readBackupManifest } from "../contents/read-backup.ts";
import type { BackupTarget } from "../targets/backup-target.ts";

/** Where a backup ends, and when its bases were taken. */
export interface BackupEnd {
  /** The end of its newest file that is whole; undefined: there is none. */
  readonly end: LogPosition | undefined;
  /** The id that this file has; empty where a server alone wrote it. */
  readonly endEnsembleId: string;
  /** Where its bases that are whole stand, oldest first. */
  readonly bases: readonly LogPosition[];
  /** Where its newest base that is whole stands. */
  readonly base: LogPosition | undefined;
  /** By the zxid of each base that is whole, in ms since 1970. */
  readonly takenMs: ReadonlyMap<number, number>;
}

/** Files at the end that are looked at, where the last ones are damaged. */
const FILES_MAX = 100;

/**
 * Reads where a backup ends.
 *
 * @param damaged gets what is wrong with files that are passed over
 * @throws BackupError `FOREIGN` for the backup of another ensemble
 */
export async function readBackupEnd(
  target: BackupTarget,
  { bases, files }: BackupListing,
  ensembleId: string,
  damaged: (error: StoreError) => void,
): Promise<BackupEnd> {
  const takenMs = new Map<number, number>();
  const positions: LogPosition[] = [];
  for (const { zxid } of bases) {
    const manifest = await passing(() => readBackupManifest(target, zxid), damaged);
    if (manifest === undefined) continue;
    checkEnsemble(target, manifest.ensembleId, ensembleId);
    takenMs.set(zxid, manifest.takenMs);
    positions.push(manifest.position);
  }
  const last = await endOf(target, files, ensembleId, damaged);
  const endEnsembleId = last?.ensembleId ?? "";
  return { end: last?.end, endEnsembleId, bases: positions, base: positions.at(-1), takenMs };
}

async function endOf(
  target: BackupTarget,
  files: readonly BackupFile[],
  ensembleId: string,
  damaged: (error: StoreError) => void,
): Promise<ArchiveFooter | undefined> {
  for (const file of files.slice(-FILES_MAX).toReversed()) {
    const footer = await passing(() => readBackupFooter(target, file), damaged);
    if (footer === undefined) continue;
    checkEnsemble(target, footer.ensembleId, ensembleId);
    return footer;
  }
  return undefined;
}

/**
 * Files have no id that a member wrote before its ensemble was founded, or a server alone: their
 * chain shows whether they are of the same history.
 */
function checkEnsemble({ name: target }: BackupTarget, found: string, expected: string): void {
  if (found === expected || found === "") return;
  throw new BackupError({ code: "FOREIGN", target, expected: shown(expected), found: shown(found) });
}

function shown(ensembleId: string): string {
  return ensembleId === "" ? "a server alone" : `ensemble ${ensembleId.replace(/[^\x20-\x7e]/g, "?").slice(0, 100)}`;
}

/** Undefined where what is read is damaged or missing. */
export async function passing<T>(read: () => Promise<T>, damaged: (error: StoreError) => void): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "DAMAGED")) throw error;
    damaged(error);
    return undefined;
  }
}
