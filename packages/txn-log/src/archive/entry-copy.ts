import { formatZxid, type Zxid } from "@zooid/model/storage";
import type { LogReader } from "../log/log-reader.ts";
import type { ArchiveFileWriter } from "./archive-file-writer.ts";
import type { EntryFeedReader } from "./entry-feed.ts";

const READ_BYTES = 256 * 1024;

/**
 * Copies committed entries into files of the archive: from the feed, or from the log where the feed
 * lacks them. The log's chain covers all earlier entries, so comparing it at the end of a file
 * verifies every entry of the file, whatever its source.
 */
export class EntryCopy {
  /** Entries that came from the feed. */
  fedCount = 0;
  /** Entries that were read back from the log. */
  readBackCount = 0;
  readonly #log: LogReader;
  readonly #feed: EntryFeedReader;

  constructor(log: LogReader, feed: EntryFeedReader) {
    this.#log = log;
    this.#feed = feed;
  }

  /**
   * Adds some of the entries that follow the writer's last one, up to a zxid that is committed.
   *
   * @throws Error if the log ends before them, or differs from what was copied before
   */
  copySome(writer: ArchiveFileWriter, upTo: Zxid): void {
    const fed = this.#feed.next(writer.last);
    if (fed === undefined || fed > upTo) {
      const count = this.#readBack(writer, upTo);
      if (count === 0) throw new Error(`the log ends before ${formatZxid(upTo)}, which is committed`);
      return;
    }
    // Only the log knows whether the first entry of an epoch follows the last one of another.
    if (fed !== writer.last + 1 && this.#readBack(writer, (fed - 1) as Zxid) > 0) return;
    const { bytes, start, end } = this.#feed.take(upTo);
    this.fedCount += writer.addFrames(bytes, start, end);
  }

  /**
   * Compares the chain at the last copied entry with the log's; to be called before a file ends.
   *
   * @throws Error if the log has other entries than were copied, or has purged them
   */
  prove({ end: { zxid, chain } }: ArchiveFileWriter): void {
    if (this.#log.chainAt(zxid) !== chain) throw otherEntries(zxid);
  }

  #readBack(writer: ArchiveFileWriter, upTo: Zxid): number {
    const walk = this.#log.walk(writer.last, { bytesMax: READ_BYTES, upTo }, (zxid, bytes, start, end) => {
      writer.add(zxid, bytes, start, end);
    });
    if (walk.last.chain !== writer.end.chain) throw otherEntries(walk.last.zxid);
    this.readBackCount += walk.count;
    return walk.count;
  }
}

function otherEntries(zxid: Zxid): Error {
  return new Error(`up to ${formatZxid(zxid)} the log has other entries than were copied, or has purged them`);
}
