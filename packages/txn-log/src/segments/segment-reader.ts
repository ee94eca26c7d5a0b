import { crc32 } from "node:zlib";
import {
  copyBytes,
  FRAME_HEADER_BYTES,
  formatZxid,
  mayFollow,
  writeFrameHeader,
  type Zxid,
} from "@zooid/model/storage";
import { type Database, openReader, readErrorOf, readNamed, type Statement, sqliteCode } from "../disk/database.ts";
import { CHAIN_NONE, type Chain, ChainCursor, chainFromHalves, formatChain } from "../log/chain.ts";
import { CHAIN_BYTES, chainOfEntry } from "../log/schema.ts";
import type { EntryRun, LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import type { EntrySink } from "./entry-sink.ts";
import { readHead, type SegmentHead } from "./segment-schema.ts";

const CACHE_KIB = 128;
/** Rows of one run at most; measured, more gains nothing. */
const RUN_ROWS_MAX = 1024;
/**
 * More rows than the bytes are likely to hold are looked up, so that a run is not cut short for it.
 */
const RUN_ROWS_SPARE = 8;
const FRAME_OVER_ROW_BYTES = FRAME_HEADER_BYTES - CHAIN_BYTES;

export interface WalkLimits {
  /** Maximum bytes of the entries as frames; one entry is taken in any case, unless `isStrict`. */
  readonly bytesMax: number;
  readonly isStrict?: boolean;
  /** The last zxid wanted, if the log has later ones. */
  readonly upTo?: Zxid | undefined;
  /**
   * The chain at the entry before, for a caller that has walked there: the entry is not read again.
   */
  readonly chain?: Chain | undefined;
}

/** Where a walk came from and to. */
export type Walk = Omit<EntryRun, "bytes">;

/** The position of the entry before a segment's first one. */
const SELECT_BEGIN = "SELECT after_zxid, after_chain_high, after_chain_low FROM segment";
const SELECT_FLOOR = "SELECT floor_zxid, floor_chain_high, floor_chain_low FROM store";

/** Rows as they lie in the table, one behind another. */
interface Rows {
  readonly after: LogPosition;
  readonly zxids: readonly Zxid[];
  readonly sizes: readonly number[];
  readonly bytes: Buffer<ArrayBuffer>;
}

const NO_BYTES = Buffer.alloc(0);

/**
 * Entries out of one segment, through a connection of its own in transactions that last one run. It
 * sees exactly what is durable. Every row is checked against the chain.
 *
 * SQLite puts the rows of a run into one BLOB: a buffer for each would cost more than everything
 * else that is done with it, in time and in memory.
 */
export class SegmentReader implements Disposable {
  readonly #file: string;
  readonly #database: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  readonly #sizes: Statement;
  readonly #run: Statement;
  readonly #chainBytes: Statement;
  readonly #sizesOf: Statement;
  readonly #entriesOf: Statement;
  readonly #isHeld: Statement;
  readonly #position: Statement;
  readonly #chain = new ChainCursor();
  /**
   * Mean bytes of an entry in the last run, to look up no more rows than needed in the next one:
   * each costs a disk read.
   */
  #entryBytes = 0;

  constructor(file: string) {
    this.#file = file;
    const database = openReader(file, CACHE_KIB);
    this.#database = database;
    try {
      this.#begin = database.prepare("BEGIN");
      this.#commit = database.prepare("COMMIT");
      this.#rollback = database.prepare("ROLLBACK");
      // A bare parameter as LIMIT makes SQLite prepare the statement again for each value that is
      // bound.
      const rows = "SELECT zxid, length(entry) AS size FROM log WHERE zxid > ? AND zxid <= ? ORDER BY zxid LIMIT ? + 0";
      this.#sizes = database.prepare(`SELECT json_group_array(zxid), json_group_array(size) FROM (${rows})`).raw();
      // The bytes of a BLOB stay what they are when they are taken for text. The order is the
      // table's own; the chain proves it.
      const all = "SELECT CAST(group_concat(entry, '') AS BLOB) FROM log WHERE zxid > ? AND zxid <= ?";
      this.#run = database.prepare(all).pluck();
      // Each run asks for the chain of the entry before it. A whole entry of a mebibyte, read for
      // eight bytes, would be garbage outside of the heap, for which the collector runs every few
      // entries.
      const chainBytes = `SELECT substr(entry, 1, ${CHAIN_BYTES}) FROM log WHERE zxid = ?`;
      this.#chainBytes = database.prepare(chainBytes).pluck();
      // Rows come in the order of the JSON array. Zeros stand for a missing predecessor.
      const asked = "FROM json_each(?) AS asked LEFT JOIN log ON log.zxid = asked.value";
      this.#sizesOf = database.prepare(`SELECT json_group_array(length(log.entry)) ${asked}`).pluck();
      const chain = `ifnull(substr(earlier.entry, 1, ${CHAIN_BYTES}), zeroblob(${CHAIN_BYTES}))`;
      const blobs = ["log.entry", chain].map((column) => `CAST(group_concat(${column}, '') AS BLOB)`).join(", ");
      const earlier = "LEFT JOIN log AS earlier ON earlier.zxid = asked.value - 1";
      this.#entriesOf = database.prepare(`SELECT ${blobs} ${asked} ${earlier}`).raw();
      this.#isHeld = database.prepare("SELECT 1 FROM log WHERE zxid = ?").pluck();
      this.#position = database.prepare(SELECT_BEGIN).raw();
    } catch (cause) {
      database.close();
      // A damaged WAL hides the tables themselves.
      if (sqliteCode(cause) === "SQLITE_ERROR") throw damagedTables(file, cause);
      throw readErrorOf(cause, file);
    }
  }

  /**
   * Hands over the entries after a zxid, in order, each checked. The answer's count is 0 at the
   * log's end.
   */
  walk(after: Zxid, limits: WalkLimits, sink: EntrySink): Walk {
    const rows = this.#fetch(after, limits);
    const last = this.#hand(rows, sink);
    // Given back at once: the collector, which sees no pressure in its own heap, would let many of
    // them pile up.
    if (rows.bytes.length > 0) rows.bytes.buffer.transfer(0);
    return { after: rows.after, last, count: rows.zxids.length };
  }

  /**
   * Hands over the first of the entries with these zxids, and more of them up to `bytesMax`. Each
   * is checked against its predecessor, the entry at zxid - 1. Returns the count.
   *
   * @param zxids ascending, all of this segment
   */
  entries(zxids: Float64Array, bytesMax: number, sink: EntrySink): number {
    const asked = JSON.stringify([...zxids.subarray(0, RUN_ROWS_MAX)]);
    const sizes = readNamed(this.#file, () => JSON.parse(this.#sizesOf.get(asked) as string) as (number | null)[]);
    let bytes = 0;
    let count = 0;
    for (; count < sizes.length; count++) {
      const size = sizes[count];
      if (typeof size !== "number") throw this.#damaged(zxids[count] as Zxid, "the log holds no such entry");
      if (count > 0 && bytes + size > bytesMax) break;
      bytes += size;
    }
    const taken = zxids.subarray(0, count);
    const [found, before] = readNamed(this.#file, () => this.#entriesOf.get(JSON.stringify([...taken]))) as Buffer[];
    this.#handEach(taken, sizes as number[], { bytes: found ?? NO_BYTES, chains: before ?? NO_BYTES }, sink);
    return count;
  }

  /** The entries after a zxid as frames. */
  read(after: Zxid, limits: WalkLimits): EntryRun {
    const rows = this.#fetch(after, limits);
    const bytes = Buffer.allocUnsafeSlow(rows.bytes.length + rows.zxids.length * FRAME_OVER_ROW_BYTES);
    let at = 0;
    const last = this.#hand(rows, (zxid, source, start, end) => {
      writeFrameHeader(bytes, at, zxid, end - start);
      copyBytes(source, start, end, bytes, at + FRAME_HEADER_BYTES);
      at += FRAME_HEADER_BYTES + end - start;
    });
    return { bytes, after: rows.after, last, count: rows.zxids.length };
  }

  /** The chain of an entry in this file, or where the file begins. */
  chainAt(zxid: Zxid): Chain | undefined {
    const begin = this.#readBegin();
    return zxid === begin.zxid ? begin.chain : this.#chainOf(zxid);
  }

  /** The head in the first transaction of a segment; undefined when it is not there. */
  head(): SegmentHead | undefined {
    return readNamed(this.#file, () => readHead(this.#database, this.#file));
  }

  /** Where the log begins, as the newest segment says. */
  floor(): LogPosition {
    return this.#readPosition(this.#database.prepare(SELECT_FLOOR).raw());
  }

  ensembleId(): string {
    const select = "SELECT ensemble FROM store";
    return readNamed(this.#file, () => String(this.#database.prepare(select).pluck().get()));
  }

  /**
   * Throws `DAMAGED` unless the entry is there at which the manifest says that this segment ends.
   */
  assertEnd(end: LogPosition): void {
    const chain = this.#chainOf(end.zxid);
    if (chain === end.chain) return;
    throw new StoreError({
      code: "DAMAGED",
      file: this.#file,
      place: `entries up to ${formatZxid(end.zxid)}, chain ${formatChain(end.chain)}`,
      found: chain === undefined ? "the last one is missing" : `chain ${formatChain(chain)}`,
    });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }

  #fetch(after: Zxid, limits: WalkLimits): Rows {
    this.#begin.run();
    let rows: Rows;
    try {
      const begin = this.#readBegin();
      if (after < begin.zxid) {
        throw new StoreError({ code: "BELOW_FLOOR", asked: formatZxid(after), floor: formatZxid(begin.zxid) });
      }
      const chain = after === begin.zxid ? begin.chain : this.#chainAt(after, limits.chain);
      if (chain === undefined) throw this.#damaged(after, "the log holds no such entry");
      rows = this.#rows({ zxid: after, chain }, limits);
    } catch (cause) {
      // Behind a damaged page a commit fails as well, and would hide what was found.
      if (this.#database.inTransaction) this.#rollback.run();
      throw readErrorOf(cause, this.#file);
    }
    this.#commit.run();
    return rows;
  }

  #rows(after: LogPosition, { bytesMax, isStrict = false, upTo = Number.MAX_SAFE_INTEGER as Zxid }: WalkLimits): Rows {
    const rowsMax = Math.min(RUN_ROWS_MAX, Math.ceil(bytesMax / Math.max(1, this.#entryBytes)) + RUN_ROWS_SPARE);
    const found = this.#sizes.get(after.zxid, upTo, rowsMax) as [string, string];
    const [zxids, sizes] = found.map((list) => JSON.parse(list)) as [Zxid[], number[]];
    let total = 0;
    let count = 0;
    for (const size of sizes) {
      const grown = total + size + FRAME_OVER_ROW_BYTES;
      if ((count > 0 || isStrict) && grown > bytesMax) break;
      total = grown;
      count++;
    }
    zxids.length = count;
    sizes.length = count;
    if (count > 0) this.#entryBytes = total / count;
    const last = zxids.at(-1);
    if (last === undefined) return { after, zxids, sizes, bytes: NO_BYTES };
    // None where a flipped bit has taken the value of each row.
    return { after, zxids, sizes, bytes: (this.#run.get(after.zxid, last) ?? NO_BYTES) as Buffer<ArrayBuffer> };
  }

  #hand({ after, zxids, sizes, bytes }: Rows, sink: EntrySink): LogPosition {
    const chain = this.#chain;
    chain.set(after.chain);
    let last = after.zxid;
    let at = 0;
    for (let i = 0; i < zxids.length; i++) {
      const zxid = zxids[i] as Zxid;
      const size = sizes[i] as number;
      if (!mayFollow(last, zxid)) throw this.#damaged(zxid, `it follows ${formatZxid(last)}: entries between are lost`);
      if (size < CHAIN_BYTES) throw this.#damaged(zxid, `${size} bytes`);
      const start = at + CHAIN_BYTES;
      const end = at + size;
      chain.add(zxid, end - start, crc32(bytes.subarray(start, end)));
      if (end > bytes.length || chain.high !== bytes.readInt32BE(at) || chain.low !== bytes.readInt32BE(at + 4)) {
        throw this.#damaged(zxid, "its content does not match its chain");
      }
      sink(zxid, bytes, start, end);
      at = end;
      last = zxid;
    }
    return { zxid: last, chain: chain.value() };
  }

  #readBegin(): LogPosition {
    return this.#readPosition(this.#position);
  }

  #readPosition(statement: Statement): LogPosition {
    const row = readNamed(this.#file, () => statement.get()) as [Zxid, number, number] | undefined;
    if (row === undefined) throw damagedTables(this.#file);
    return { zxid: row[0], chain: chainFromHalves(row[1], row[2]) };
  }

  #handEach(
    zxids: Float64Array,
    sizes: readonly number[],
    { bytes, chains }: { readonly bytes: Buffer; readonly chains: Buffer },
    sink: EntrySink,
  ): void {
    let at = 0;
    for (const [i, wanted] of zxids.entries()) {
      const [zxid, before, size] = [wanted as Zxid, (wanted - 1) as Zxid, sizes[i] as number];
      const chain = this.#chainBefore(before, chains.subarray(CHAIN_BYTES * i, CHAIN_BYTES * (i + 1)));
      const entry = bytes.subarray(at, at + size) as Buffer<ArrayBuffer>;
      this.#hand({ after: { zxid: before, chain }, zxids: [zxid], sizes: [size], bytes: entry }, sink);
      at += size;
    }
  }

  /** @param read zeros if the file holds no entry at this zxid, as before its first entry */
  #chainBefore(zxid: Zxid, read: Buffer): Chain {
    const chain = chainOfBytes(read);
    if (chain !== undefined && chain !== CHAIN_NONE) return chain;
    const begin = this.#readBegin();
    if (zxid !== begin.zxid) throw this.#damaged(zxid, "the log holds no such entry");
    return begin.chain;
  }

  #chainAt(zxid: Zxid, known: Chain | undefined): Chain | undefined {
    if (known === undefined) return this.#chainOf(zxid);
    return readNamed(this.#file, () => this.#isHeld.get(zxid)) === undefined ? undefined : known;
  }

  #chainOf(zxid: Zxid): Chain | undefined {
    const bytes = readNamed(this.#file, () => this.#chainBytes.get(zxid)) as Buffer | null | undefined;
    return chainOfBytes(bytes);
  }

  #damaged(zxid: Zxid, found: string): StoreError {
    return new StoreError({ code: "DAMAGED", file: this.#file, place: `table log, row ${formatZxid(zxid)}`, found });
  }
}

/** Undefined if a flipped bit made the value NULL or shortened it. */
function chainOfBytes(bytes: Buffer | null | undefined): Chain | undefined {
  return bytes?.length === CHAIN_BYTES ? chainOfEntry(bytes) : undefined;
}

/** A flipped bit in the first transaction hides the rows that each segment has, or the tables. */
function damagedTables(file: string, cause?: unknown): StoreError {
  const found = cause instanceof Error ? cause.message : "its row is missing";
  return new StoreError({ code: "DAMAGED", file, place: "the first transaction", found }, { cause });
}
