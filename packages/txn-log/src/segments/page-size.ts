/**
 * The page size of a segment, chosen by what the last one saw. Small pages save bytes where few entries share a sync: the last page of
 * each commit is written again by the next. Large pages save CPU time where many do. Measured (decision 0012): sizes between are worse than
 * both for entries of 1 KiB.
 */
export function pageBytesFor(seen: { readonly entryBytes: number; readonly syncCount: number }): number {
  // Nothing seen: a server with little to do writes small commits.
  if (seen.syncCount === 0) return SMALL_PAGE_BYTES;
  return seen.entryBytes / seen.syncCount < BYTES_PER_SYNC_FOR_LARGE ? SMALL_PAGE_BYTES : LARGE_PAGE_BYTES;
}

export const SMALL_PAGE_BYTES = 1024;
export const LARGE_PAGE_BYTES = 8192;

const BYTES_PER_SYNC_FOR_LARGE = 32 * 1024;
