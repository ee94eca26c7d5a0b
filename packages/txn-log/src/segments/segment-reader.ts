import { formatZxid, type Zxid } from "@zooid/model";
import { formatChain } from "../chain.ts";
import { openReader } from "../database.ts";
import { type EntrySink, LogReader } from "../log-reader.ts";
import { StoreError } from "../store-error.ts";
import type { LogPosition } from "../txn-log.ts";
import { readHead } from "./segment-schema.ts";

const CACHE_KIB = 64;
const WALK_BYTES = 256 * 1024;

/**
 * Reads one segment as far as the log holds it: after one position, through another. Each entry is checked against the chain, and so is the
 * end: SQLite would show a segment whose WAL is damaged as a shorter one, without an error.
 */
export class SegmentReader implements Disposable {
  readonly #file: string;
  readonly #reader: LogReader;
  readonly #end: LogPosition;

  /** @param end from the manifest of the newest segment */
  constructor(file: string, end: LogPosition) {
    this.#file = file;
    this.#end = end;
    refuseUnfinished(file);
    this.#reader = new LogReader(file, "segment");
  }

  /**
   * Hands over every entry after a zxid that this segment holds, or after the position where it begins, in order. Throws `DAMAGED` when an
   * entry or the end is not what was written.
   */
  readAll(after: Zxid, sink: EntrySink): void {
    let at = after;
    for (;;) {
      const walk = this.#reader.walk(at, { bytesMax: WALK_BYTES, upTo: this.#end.zxid }, sink);
      at = walk.last.zxid;
      if (walk.count > 0) continue;
      if (at === this.#end.zxid && walk.last.chain === this.#end.chain) return;
      throw new StoreError({
        code: "DAMAGED",
        file: this.#file,
        place: `entries up to ${formatZxid(this.#end.zxid)}, chain ${formatChain(this.#end.chain)}`,
        found: `entries up to ${formatZxid(at)}, chain ${formatChain(walk.last.chain)}`,
      });
    }
  }

  [Symbol.dispose](): void {
    this.#reader.close();
  }
}

/** A flipped bit in the first transaction hides even the tables' rows. */
function refuseUnfinished(file: string): void {
  const database = openReader(file, CACHE_KIB);
  try {
    if (readHead(database, file) !== undefined) return;
    throw new StoreError({ code: "DAMAGED", file, place: "table segment, row 1", found: "the row is missing" });
  } finally {
    database.close();
  }
}
