import { rmSync } from "node:fs";
import { ZXID_NONE, type Zxid } from "@zooid/model";
import { syncPath } from "../disk/sync-path.ts";
import { type ListedBase, listBases, removeBase } from "./archive-base.ts";
import { basesFolderOf, type ListedFile, listArchive, logFolderOf } from "./archive-folder.ts";

/** The files that an archive loses where nothing up to a zxid shall be left of it. */
export interface PurgePlan {
  /** Files of the log with a transaction up to there, whole, since files are never changed. */
  readonly files: readonly ListedFile[];
  /**
   * Bases before the one that stays. Also those behind the zxid: a value of before may have been
   * the node's until later.
   */
  readonly bases: readonly ListedBase[];
}

/**
 * @param left the base that stays, which may have to be taken yet. Default: the newest one; without
 *   one, none is removed
 */
export function planPurge(archive: string, through: Zxid, left?: Zxid): PurgePlan {
  // No value was written up to there.
  if (through === ZXID_NONE) return { files: [], bases: [] };
  const bases = listBases(basesFolderOf(archive));
  const newest = left ?? bases.at(-1)?.zxid ?? ZXID_NONE;
  return {
    files: listArchive(logFolderOf(archive)).filter(({ after }) => after < through),
    bases: bases.filter(({ zxid }) => zxid < newest),
  };
}

/** Removes what a plan names. One that is cut short leaves the rest to the next plan. */
export function carryOutPurge(archive: string, { files, bases }: PurgePlan): void {
  for (const base of bases) removeBase(base);
  for (const { file } of files) rmSync(file, { force: true });
  if (bases.length > 0) syncPath(basesFolderOf(archive));
  if (files.length > 0) syncPath(logFolderOf(archive));
}
