import type { TestBreak } from "@zooid/txn-log/sqlite";

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;
const LOW_BYTES_MAX = GIB;
const LOW_SHARE = 1 / 10;
const RESERVE_BYTES_MAX = 128 * MIB;
const RESERVE_SHARE = 1 / 20;
/**
 * Room beyond a mark, as a share of it, at which the level is left. It keeps the level from
 * changing with each write.
 */
const HYSTERESIS = 1 / 8;

export interface DiskOptions {
  /**
   * Free bytes below which the log keeps no more than it needs, and the server warns. 0: never.
   * Default: a tenth of the disk, at most 1 GiB.
   */
  readonly lowBytes?: number;
  /**
   * Free bytes below which writes that add data are refused. 0: never. Default: a twentieth of the
   * disk, at most 128 MiB.
   */
  readonly reserveBytes?: number;
  /** @internal For tests: how the disk fails. */
  readonly testBreak?: TestBreak;
}

/**
 * - `roomy`: nothing to do
 * - `low`: below the low mark
 * - `reserve`: below the reserve
 */
export type DiskLevel = "roomy" | "low" | "reserve";

export interface DiskSpace {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The level of a disk, from the level that it had before. */
export function diskLevelOf(space: DiskSpace, before: DiskLevel, options: DiskOptions): DiskLevel {
  const { lowBytes, reserveBytes } = diskMarksOf(space.totalBytes, options);
  const isBelow = (mark: number, wasBelow: boolean): boolean =>
    space.freeBytes < mark + (wasBelow ? mark * HYSTERESIS : 0);
  if (isBelow(reserveBytes, before === "reserve")) return "reserve";
  return isBelow(lowBytes, before !== "roomy") ? "low" : "roomy";
}

/** The marks in force on a disk of this size. The low mark is never below the reserve. */
export function diskMarksOf(
  totalBytes: number,
  { lowBytes, reserveBytes }: DiskOptions,
): { readonly lowBytes: number; readonly reserveBytes: number } {
  const reserve = reserveBytes ?? Math.min(RESERVE_BYTES_MAX, totalBytes * RESERVE_SHARE);
  const low = lowBytes ?? Math.min(LOW_BYTES_MAX, totalBytes * LOW_SHARE);
  return { lowBytes: Math.max(low, reserve), reserveBytes: reserve };
}
