/**
 * The prices of work, in microseconds of the event loop, about, as measured on one core of a server
 * of 2024: budgets of reading, preparing, applying and of writes in flight count in it, so that the
 * same work has one price everywhere. Values whose names end in `Log2` are the amount that costs
 * one microsecond, as a power of two. docs/hostile-input.md has them in a table.
 */
export const PRICES = {
  /**
   * Each name of a path takes a look-up, and each byte is read several times. Paths below 128 bytes
   * are part of their request's price.
   */
  pathNamesPerUsLog2: 4,
  pathBytesPerUsLog2: 7,
  /**
   * A path that a write changes: it is looked up when the write is prepared and when it is applied.
   */
  pathOfWriteTimes: 2,
  /** Comparing a changed path with an ancestor that is watched. */
  ancestorBytesPerUsLog2: 13,
  /** A watcher of an ancestor that had its event already. */
  servedWatchersPerUsLog2: 6,
  /** A write in flight, and its bytes: above all the log writes these. */
  writeUs: 3,
  writeBytesPerUsLog2: 8,
  /**
   * A multi of more than 64 KiB, by its bytes, as if it had the smallest parts: about 29 bytes
   * each, prepared and applied.
   */
  multiBytesPerUsLog2: 2,
  /** Preparing a part of a multi, beside its path and the entries of its access list. */
  preparedPartUs: 5,
  preparedPartBytesPerUsLog2: 12,
  /** Applying an operation, and each entry of its access list but the first. */
  appliedOpUs: 2,
  appliedBytesPerUsLog2: 10,
  /** Firing a watch. */
  firedWatchUs: 1,
  listedNamesPerUsLog2: 3,
  listedEphemeralsPerUsLog2: 3,
  aclEntriesPerUsLog2: 3,
  childrenOfPagePerUsLog2: 1,
  /** A path of setWatches that is read, and one whose watch is restored. */
  setWatchesPathsReadPerUsLog2: 5,
  restoredWatchUs: 2,
} as const;
