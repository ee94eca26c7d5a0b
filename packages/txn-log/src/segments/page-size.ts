/** What a segment took. */
export interface SegmentLoad {
  readonly entryBytes: number;
  readonly syncCount: number;
}

export const NOTHING_SEEN: SegmentLoad = { entryBytes: 0, syncCount: 0 };

/** A few syncs say little, unless their entries are large: of a mebibyte, a segment holds no more than a few. */
export function isEnoughToJudge({ entryBytes, syncCount }: SegmentLoad): boolean {
  return syncCount >= SYNCS_TO_JUDGE_BY || entryBytes >= BYTES_TO_JUDGE_BY;
}

/**
 * The page size of a segment, chosen by what the last one saw. Small pages save bytes where few entries share a sync: the last page of
 * each commit is written again by the next. Large pages save CPU time where many do. Measured (decision 0012): sizes between are worse than
 * both for entries of 1 KiB.
 */
export function pageBytesFor(seen: SegmentLoad): number {
  // Nothing seen: a server with little to do writes small commits.
  if (seen.syncCount === 0) return SMALL_PAGE_BYTES;
  return seen.entryBytes / seen.syncCount < BYTES_PER_SYNC_FOR_LARGE ? SMALL_PAGE_BYTES : LARGE_PAGE_BYTES;
}

export const SMALL_PAGE_BYTES = 1024;
export const LARGE_PAGE_BYTES = 8192;

const BYTES_PER_SYNC_FOR_LARGE = 32 * 1024;
const SYNCS_TO_JUDGE_BY = 16;
const BYTES_TO_JUDGE_BY = 16 * BYTES_PER_SYNC_FOR_LARGE;
