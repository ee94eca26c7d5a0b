import { crc32 } from "node:zlib";
import { formatsAt, NO_RAISE, type Zxid } from "@zooid/model/storage";
import { stampedFormat, stampFormat } from "../directory/format-number.ts";
import type { Database } from "../disk/database.ts";
import { chainFromHalves, chainHigh, chainLow } from "../log/chain.ts";
import {
  createStoreTables,
  isUnfinished,
  readDurableLog,
  writeBranches,
  writeEpochs,
  writeStoreRow,
} from "../log/schema.ts";
import type { DurableLog, LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import type { SealedSegment } from "./sealed-segment.ts";

/**
 * The tables of a segment: those of `log.db` without the stage, and two more that its first
 * transaction fills.
 *
 * ```
 * segment    one row: the sequence, where the segment continues (zxid, chain), the commit hint then, a sum over it and the manifest
 * manifest   a row for each earlier segment that the log still holds: where it begins and where the log leaves it (zxid, chain), how
 *            far its file was written, when it was sealed
 * store      identity, promise, epochs, configurations, floor, name of the state file   (schema.ts)
 * epochs     first and last counter of each epoch
 * branches   a row for each identity that the log had before; made with the first one
 * log        the entries: zxid, chain and record, commit hint
 * ```
 *
 * The newest segment alone defines the log. A manifest row may end below the last entry of its
 * file: what lies above was cut.
 */
const SEGMENT_TABLES = `
  CREATE TABLE segment (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    sequence INTEGER NOT NULL,
    after_zxid INTEGER NOT NULL,
    after_chain_high INTEGER NOT NULL,
    after_chain_low INTEGER NOT NULL,
    commit_hint INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE manifest (
    sequence INTEGER PRIMARY KEY,
    after_zxid INTEGER NOT NULL,
    after_chain_high INTEGER NOT NULL,
    after_chain_low INTEGER NOT NULL,
    end_zxid INTEGER NOT NULL,
    end_chain_high INTEGER NOT NULL,
    end_chain_low INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    sealed_ms INTEGER NOT NULL
  ) STRICT;
`;

/** The facts of the segments in the first transaction of a segment. */
export interface SegmentHead {
  readonly sequence: number;
  readonly after: LogPosition;
  readonly commitHint: Zxid;
  /** Oldest first. */
  readonly manifest: readonly SealedSegment[];
}

/**
 * A segment is made in the lowest format that this version writes, since it may be made long before
 * it begins. Its first transaction gives it the format of the log.
 */
export function createSegmentTables(database: Database): void {
  createStoreTables(database);
  database.exec(SEGMENT_TABLES);
  stampFormat(database, formatsAt(NO_RAISE.level).log);
}

/** Within a transaction: replaces everything but the entries. */
export function writeHead(database: Database, head: SegmentHead, log: DurableLog): void {
  const { sequence, after, commitHint, manifest } = head;
  const { formatVersion } = log.identity;
  if (stampedFormat(database) !== formatVersion) stampFormat(database, formatVersion);
  database.exec("DELETE FROM manifest");
  const insert = database.prepare("INSERT INTO manifest VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  for (const sealed of manifest) insert.run(...manifestRow(sealed));
  database
    .prepare("INSERT OR REPLACE INTO segment VALUES (1, ?, ?, ?, ?, ?, ?)")
    .run(sequence, ...positionRow(after), commitHint, sumOf(head));
  writeEpochs(database, log.epochs);
  writeStoreRow(database, log);
  writeBranches(database, log.branches);
}

/** Undefined: the first transaction is not there. */
export function readHead(database: Database, file: string): SegmentHead | undefined {
  if (isUnfinished(database)) return undefined;
  const row = database.prepare("SELECT * FROM segment").raw().get() as number[] | undefined;
  if (row === undefined) throw damaged(file, "the row is missing");
  const [, sequence = 0, zxid = 0, high = 0, low = 0, commitHint = 0, sum = 0] = row;
  const rows = database.prepare("SELECT * FROM manifest ORDER BY sequence").raw().all() as number[][];
  const head: SegmentHead = {
    sequence,
    after: positionOf(zxid, high, low),
    commitHint: commitHint as Zxid,
    manifest: rows.map(sealedOf),
  };
  if (sum !== sumOf(head)) throw damaged(file, "its sum does not match");
  return head;
}

/** The facts of the whole log in the newest segment. */
export function readSegmentLog(database: Database, file: string, head: SegmentHead): DurableLog {
  return readDurableLog(database, file, { at: head.after, commitHint: head.commitHint });
}

function sealedOf(row: readonly number[]): SealedSegment {
  const [sequence = 0, az = 0, ah = 0, al = 0, ez = 0, eh = 0, el = 0, bytes = 0, sealedMs = 0] = row;
  return { sequence, after: positionOf(az, ah, al), end: positionOf(ez, eh, el), bytes, sealedMs };
}

function manifestRow({ sequence, after, end, bytes, sealedMs }: SealedSegment): number[] {
  return [sequence, ...positionRow(after), ...positionRow(end), bytes, sealedMs];
}

function positionRow({ zxid, chain }: LogPosition): [zxid: number, high: number, low: number] {
  return [zxid, chainHigh(chain), chainLow(chain)];
}

function positionOf(zxid: number, high: number, low: number): LogPosition {
  return { zxid: zxid as Zxid, chain: chainFromHalves(high, low) };
}

function sumOf({ sequence, after, commitHint, manifest }: SegmentHead): number {
  return crc32(JSON.stringify([sequence, positionRow(after), commitHint, manifest.map(manifestRow)]));
}

function damaged(file: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place: "table segment, row 1", found });
}
