/** The load of a segment. */
export interface SegmentLoad {
  readonly entryBytes: number;
  readonly entryCount: number;
  readonly syncCount: number;
}

export const NOTHING_SEEN: SegmentLoad = { entryBytes: 0, entryCount: 0, syncCount: 0 };

/**
 * A few syncs say little, unless their entries are large: of a mebibyte, a segment holds no more
 * than a few.
 */
export function isEnoughToJudge({ entryBytes, syncCount }: SegmentLoad): boolean {
  return syncCount >= SYNCS_TO_JUDGE_BY || entryBytes >= BYTES_TO_JUDGE_BY;
}

/**
 * The page size of a segment, chosen by what the last one saw. Small pages save bytes where few
 * entries share a sync: the last page of each commit is written again by the next. Large pages save
 * CPU time where many do. Sizes between do not pay for entries of 1 KiB (decision 0012). For large
 * entries still larger pages save system calls: SQLite makes two for each page.
 */
export function pageBytesFor(seen: SegmentLoad): number {
  // Nothing seen: a server with little to do writes small commits.
  if (seen.syncCount === 0) return SMALL_PAGE_BYTES;
  if (seen.entryBytes / seen.syncCount < BYTES_PER_SYNC_FOR_LARGE) return SMALL_PAGE_BYTES;
  const bytesPerEntry = seen.entryBytes / seen.entryCount;
  return PAGES_BY_ENTRY.find(({ entryBytesMin }) => bytesPerEntry >= entryBytesMin)?.pageBytes ?? LARGE_PAGE_BYTES;
}

export const SMALL_PAGE_BYTES = 1024;
export const LARGE_PAGE_BYTES = 8192;
const PAGES_BY_ENTRY = [
  { entryBytesMin: 256 * 1024, pageBytes: 32_768 },
  { entryBytesMin: 32 * 1024, pageBytes: 16_384 },
];
/** Page sizes, in bytes, of all segments that this version makes. */
export const PAGE_SIZES: readonly number[] = [
  SMALL_PAGE_BYTES,
  LARGE_PAGE_BYTES,
  ...PAGES_BY_ENTRY.map(({ pageBytes }) => pageBytes),
];

const BYTES_PER_SYNC_FOR_LARGE = 32 * 1024;
const SYNCS_TO_JUDGE_BY = 16;
const BYTES_TO_JUDGE_BY = 16 * BYTES_PER_SYNC_FOR_LARGE;
