import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { formatZxid, type Zxid } from "@zooid/model/storage";
import { openReader } from "../disk/database.ts";
import { StoreError } from "../store/store-error.ts";
import type { EntrySink } from "./entry-sink.ts";
import { lockAsReader } from "./readers-lock.ts";
import type { SealedSegment } from "./sealed-segment.ts";
import { formatSegmentName, listSegments } from "./segment-name.ts";
import { SegmentReader } from "./segment-reader.ts";
import { readHead } from "./segment-schema.ts";

const CACHE_KIB = 256;
const RUN_BYTES = 256 * 1024;

/**
 * A segment that is written to no more. Its name and its range do not change until the log drops
 * it.
 */
export interface SealedSegmentFile extends SealedSegment {
  /** In the log's directory; beside it lies its WAL, `<file>-wal`, which holds the entries. */
  readonly file: string;
}

/**
 * The sealed segments of a log, for an archive, a backup or a query: of a running server, from this
 * or another process, or of one that is stopped. Nothing is written but the lock file
 * `zooid.readers`. While this is open, the log reuses no file; it still removes those that it need
 * not keep, which a read reports as `BELOW_FLOOR`.
 */
export class SealedSegments implements Disposable {
  readonly #directory: string;
  readonly #lock: Disposable;

  /** @param directory of the log, which is that of the data where they are not apart */
  constructor(directory: string) {
    this.#directory = directory;
    this.#lock = lockAsReader(directory);
  }

  /** The segments that the log holds now, oldest first, without the one that is being written. */
  list(): readonly SealedSegmentFile[] {
    // The newest file may be one whose first transaction is not there yet.
    for (const name of listSegments(readdirSync(this.#directory)).toReversed()) {
      const file = join(this.#directory, formatSegmentName(name));
      if (!existsSync(file)) continue;
      const database = openReader(file, CACHE_KIB);
      try {
        // One transaction for the row and what it sums up: the log may rewrite them between two
        // reads.
        database.exec("BEGIN");
        const head = readHead(database, file);
        if (head === undefined) continue;
        return head.manifest.map((sealed) => ({
          ...sealed,
          file: formatSegmentName({ sequence: sealed.sequence, after: sealed.after.zxid }),
        }));
      } finally {
        database.close();
      }
    }
    return [];
  }

  /**
   * Hands over the entries of a segment, in order, each checked against the chain, and the last one
   * against the segment's end. Synchronous.
   *
   * @param after the entry to begin behind; default: the segment's begin
   * @throws StoreError `BELOW_FLOOR` where the log no longer holds the segment, `DAMAGED` with the
   *   place
   */
  read(segment: SealedSegmentFile, sink: EntrySink, after: Zxid = segment.after.zxid): void {
    try {
      this.#read(segment, sink, after);
    } catch (cause) {
      // It was removed while it was opened, or between two runs.
      if (this.list().some(({ sequence }) => sequence === segment.sequence)) throw cause;
      const floor = formatZxid(this.list()[0]?.after.zxid ?? segment.end.zxid);
      throw new StoreError({ code: "BELOW_FLOOR", asked: formatZxid(after), floor }, { cause });
    }
  }

  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }

  #read({ file, end }: SealedSegmentFile, sink: EntrySink, after: Zxid): void {
    using reader = new SegmentReader(join(this.#directory, file));
    // A bit that flipped hides what follows it: without this a hidden tail would look like the end.
    reader.assertEnd(end);
    for (let at = after; at < end.zxid; ) {
      const walk = reader.walk(at, { bytesMax: RUN_BYTES, upTo: end.zxid }, sink);
      if (walk.count === 0) return;
      at = walk.last.zxid;
    }
  }
}
