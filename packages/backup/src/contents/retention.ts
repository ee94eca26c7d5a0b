import { ZXID_NONE, type Zxid } from "@zooid/model";
import type { BackupListing } from "./backup-listing.ts";

/** A base and when it was taken; undefined where that cannot be read. */
export type TakenAt = ReadonlyMap<number, number | undefined>;

/**
 * Plans the removal of objects that no state from a time on needs: bases before the newest one that
 * was taken earlier, the files of the log that end before it, and the rest of bases that are not
 * whole and lie before it. Without such a base everything stays. Strangers' files always do.
 *
 * @param takenMs of each base, by its zxid
 * @returns names in the order in which they are to be removed: a base begins with its manifest, and
 *   files go after the bases that they continue
 */
export function planRetention(
  { bases, unfinished, files }: BackupListing,
  takenMs: TakenAt,
  fromMs: number,
): readonly string[] {
  const first = bases.findLast(({ zxid }) => (takenMs.get(zxid) ?? Number.POSITIVE_INFINITY) <= fromMs);
  if (first === undefined) return [];
  const old = [...bases, ...unfinished].filter(({ zxid }) => zxid < first.zxid);
  return [
    ...old.sort((a, b) => a.zxid - b.zxid).flatMap(({ names }) => names),
    ...files.filter(({ end }) => end <= first.zxid).map(({ name }) => name),
  ];
}

/**
 * Plans the removal of all transactions up to a zxid from a backup: every base but the newest one,
 * which may have values of before, and the files of the log with a transaction up to there, whole.
 *
 * @param left the base that stays, which may have to be taken yet. Default: the newest one
 * @returns names in the order in which they are to be removed; undefined where no base is behind
 *   the zxid, so that nothing would be left to restore
 */
export function planBackupPurge(
  { bases, unfinished, files }: BackupListing,
  through: Zxid,
  left: Zxid | undefined = bases.at(-1)?.zxid,
): readonly string[] | undefined {
  if (left === undefined || left < through) return undefined;
  // No value was written up to there.
  if (through === ZXID_NONE) return [];
  const old = [...bases, ...unfinished].filter(({ zxid }) => zxid < left);
  return [
    ...old.sort((a, b) => a.zxid - b.zxid).flatMap(({ names }) => names),
    ...files.filter(({ after }) => after < through).map(({ name }) => name),
  ];
}
