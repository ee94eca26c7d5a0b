import type { Zxid } from "@zooid/model";
import type { LogPosition } from "../log/txn-log.ts";
import type { SealedSegment } from "./sealed-segment.ts";

/** How a manifest changes. Pure. */

/**
 * The manifest as far as a log that ends at a position: a cut, or a roll when nothing lies above
 * the position.
 */
export function manifestUpTo(manifest: readonly SealedSegment[], end: LogPosition): SealedSegment[] {
  return manifest
    .filter(({ after }) => after.zxid < end.zxid)
    .map((sealed) => (sealed.end.zxid > end.zxid ? { ...sealed, end } : sealed));
}

/**
 * The oldest segments that may go: the log stays above `limit`, keeps `keepBytes` (the newest
 * segment's included), and everything that was sealed after `olderThanMs`.
 *
 * @returns how many of the manifest's first rows
 */
export function purgeCount(
  manifest: readonly SealedSegment[],
  keep: {
    readonly limit: Zxid;
    readonly newestBytes: number;
    readonly keepBytes: number;
    readonly olderThanMs: number;
  },
): number {
  let kept = keep.newestBytes;
  for (let i = manifest.length - 1; i >= 0; i--) {
    const { end, bytes, sealedMs } = manifest[i] as SealedSegment;
    if (kept >= keep.keepBytes && end.zxid <= keep.limit && sealedMs <= keep.olderThanMs) return i + 1;
    kept += bytes;
  }
  return 0;
}
