import { crc32 } from "node:zlib";
import { FRAME_HEADER_BYTES, formatZxid, writeFrameHeader, type Zxid } from "@zooid/model";
import { type Chain, ChainCursor, chainFromHalves } from "./chain.ts";
import { type Database, openReader, type Statement } from "./database.ts";
import { mayFollow } from "./log-book.ts";
import { CHAIN_BYTES, chainOfEntry } from "./schema.ts";
import { StoreError } from "./store-error.ts";
import type { LogPosition, LogRun } from "./txn-log.ts";

const CACHE_KIB = 512;

/**
 * Entries out of `log.db`, through a connection of its own in transactions that last one run, so that no reader pins the WAL. It sees
 * exactly what is durable. Every row is checked against the chain.
 */
export class LogReader {
  readonly #file: string;
  readonly #database: Database;
  readonly #rows: Statement;
  readonly #entry: Statement;
  readonly #floor: Statement;

  constructor(file: string) {
    this.#file = file;
    this.#database = openReader(file, CACHE_KIB);
    this.#rows = this.#database.prepare("SELECT zxid, entry FROM log WHERE zxid > ? ORDER BY zxid").raw();
    this.#entry = this.#database.prepare("SELECT entry FROM log WHERE zxid = ?").pluck();
    this.#floor = this.#database.prepare("SELECT floor_zxid, floor_chain_high, floor_chain_low FROM store").raw();
  }

  /** @param upTo the last zxid wanted, if the log goes on beyond it */
  read(after: Zxid, bytesMax: number, upTo: number = Number.MAX_SAFE_INTEGER): LogRun {
    this.#database.exec("BEGIN");
    try {
      const floor = this.#readFloor();
      if (after < floor.zxid) {
        throw new StoreError({ code: "BELOW_FLOOR", asked: formatZxid(after), floor: formatZxid(floor.zxid) });
      }
      const chain = after === floor.zxid ? floor.chain : this.#chainOf(after);
      if (chain === undefined) throw this.#damaged(after, "the log holds no such entry");
      return this.#run({ zxid: after, chain }, bytesMax, upTo);
    } finally {
      this.#database.exec("COMMIT");
    }
  }

  chainAt(zxid: Zxid): Chain | undefined {
    const floor = this.#readFloor();
    return zxid === floor.zxid ? floor.chain : this.#chainOf(zxid);
  }

  ensembleId(): string {
    return String(this.#database.prepare("SELECT ensemble FROM store").pluck().get());
  }

  close(): void {
    this.#database.close();
  }

  #run(after: LogPosition, bytesMax: number, upTo: number): LogRun {
    const entries: Buffer[] = [];
    const zxids: Zxid[] = [];
    const chain = new ChainCursor();
    chain.set(after.chain);
    let size = 0;
    let last = after.zxid;
    for (const row of this.#rows.iterate(after.zxid)) {
      const [zxid, entry] = row as [Zxid, Buffer];
      if (zxid > upTo) break;
      const record = entry.length - CHAIN_BYTES;
      if (entries.length > 0 && size + FRAME_HEADER_BYTES + record > bytesMax) break;
      if (!mayFollow(last, zxid)) throw this.#damaged(zxid, `it follows ${formatZxid(last)}: entries between are lost`);
      if (record < 0) throw this.#damaged(zxid, `${entry.length} bytes`);
      chain.add(zxid, record, crc32(entry.subarray(CHAIN_BYTES)));
      if (chain.high !== entry.readInt32BE(0) || chain.low !== entry.readInt32BE(4)) {
        throw this.#damaged(zxid, "its content does not match its chain");
      }
      entries.push(entry);
      zxids.push(zxid);
      size += FRAME_HEADER_BYTES + record;
      last = zxid;
    }
    return {
      bytes: frame(zxids, entries, size),
      after,
      last: { zxid: last, chain: chain.value() },
      count: entries.length,
    };
  }

  #readFloor(): LogPosition {
    const [zxid, high, low] = this.#floor.get() as [Zxid, number, number];
    return { zxid, chain: chainFromHalves(high, low) };
  }

  #chainOf(zxid: Zxid): Chain | undefined {
    const entry = this.#entry.get(zxid) as Buffer | undefined;
    return entry === undefined ? undefined : chainOfEntry(entry);
  }

  #damaged(zxid: Zxid, found: string): StoreError {
    return new StoreError({ code: "DAMAGED", file: this.#file, place: `table log, row ${formatZxid(zxid)}`, found });
  }
}

function frame(zxids: readonly Zxid[], entries: readonly Buffer[], size: number): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(size);
  let at = 0;
  entries.forEach((entry, i) => {
    writeFrameHeader(bytes, at, zxids[i] ?? (0 as Zxid), entry.length - CHAIN_BYTES);
    at += FRAME_HEADER_BYTES;
    at += entry.copy(bytes, at, CHAIN_BYTES);
  });
  return bytes;
}
