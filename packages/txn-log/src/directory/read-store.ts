import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Zxid } from "@zooid/model";
import { highestEpoch } from "../log/log-book.ts";
import { LogReader } from "../log/log-reader.ts";
import type { DurableLog, LogPosition } from "../log/txn-log.ts";
import type { EntrySink } from "../segments/entry-sink.ts";
import { inspectSegments } from "../segments/segment-directory.ts";
import type { StoreError } from "../store/store-error.ts";
import { DataDirectories } from "./data-directories.ts";
import { inspectDirectory, refuseForeign, type StoreDirectories, WITNESS_FILE } from "./inspect-directory.ts";
import { refuseUnfinished } from "./unfinished.ts";
import { readWitness } from "./witness.ts";

/**
 * The content of a data directory, found out without changing it, and without knowing whose it is.
 */
export interface StoreFacts {
  /** Undefined: nothing was ever logged or promised here. */
  readonly log: DurableLog | undefined;
  /** Where the state stands; undefined without one. */
  readonly applied: LogPosition | undefined;
  /** The acked entries that are missing, if any. */
  readonly shortened: StoreError | undefined;
  /** Above every epoch that log or witness know is the next one. */
  readonly epochMax: number;
}

/**
 * Reads what a data directory holds; it is locked meanwhile.
 *
 * @throws StoreError where it is in use, another program's, or unreadable
 */
export function readStore(directories: StoreDirectories): StoreFacts {
  const { directory, logDirectory } = directories;
  if (!existsSync(directory) || !existsSync(logDirectory)) {
    for (const each of [directory, logDirectory]) refuseUnfinished(each);
    return NOTHING;
  }
  for (const each of [directory, logDirectory]) refuseForeign(each);
  return whileLocked(directories, () => {
    const { log, applied, shortened } = inspectDirectory(directories);
    const witness = readWitness(join(logDirectory, WITNESS_FILE));
    const epochs = [witness?.promise ?? 0, witness?.currentEpoch ?? 0, log === undefined ? 0 : highestEpoch(log)];
    return { log, applied, shortened, epochMax: Math.max(...epochs) };
  });
}

const NOTHING: StoreFacts = { log: undefined, applied: undefined, shortened: undefined, epochMax: 0 };
const WALK_BYTES = 256 * 1024;

/**
 * Hands over the entries after a zxid of a log that no thread has open, each checked.
 *
 * @returns how many there were; undefined for a log of an earlier version, which has no segments
 */
export function walkClosedLog(directories: StoreDirectories, after: Zxid, sink: EntrySink): number | undefined {
  const { logDirectory } = directories;
  return whileLocked(directories, () => {
    const { newest } = inspectSegments(logDirectory);
    if (newest === undefined) return undefined;
    using reader = LogReader.ofClosed(logDirectory, newest.name.sequence);
    let count = 0;
    for (let at = after; ; ) {
      const walk = reader.walk(at, { bytesMax: WALK_BYTES }, sink);
      if (walk.count === 0) return count;
      count += walk.count;
      at = walk.last.zxid;
    }
  });
}

function whileLocked<T>({ directory, logDirectory }: StoreDirectories, read: () => T): T {
  const place = new DataDirectories(directory, logDirectory);
  try {
    return read();
  } finally {
    place.abandon();
  }
}
