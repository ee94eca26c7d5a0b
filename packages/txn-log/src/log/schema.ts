import { crc32 } from "node:zlib";
import { counterOf, epochOf, type Zxid } from "@zooid/model/storage";
import { refuseOtherFormat } from "../directory/format-number.ts";
import type { Database } from "../disk/database.ts";
import { StoreError } from "../store/store-error.ts";
import { CHAIN_NONE, type Chain, chainFromHalves, chainHigh, chainLow } from "./chain.ts";
import type { DurableLog, EpochRange, LogBranch, LogPosition } from "./txn-log.ts";

/**
 * The tables that every segment has.
 *
 * `log.entry` is the entry's chain (8 bytes) and its record. `committed`, on the last row of each
 * batch, is the commit hint: written there it dirties no page that the batch does not dirty anyway.
 * For the same reason `epochs.last` is written only when an epoch ends; the newest epoch's last
 * counter is that of the last row.
 */
const STORE_TABLES = `
  CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format INTEGER NOT NULL,
    ensemble TEXT NOT NULL,
    sid INTEGER NOT NULL,
    boot_count INTEGER NOT NULL,
    promise_epoch INTEGER NOT NULL,
    promise_sid INTEGER NOT NULL,
    promise_incarnation INTEGER NOT NULL,
    current_epoch INTEGER NOT NULL,
    floor_zxid INTEGER NOT NULL,
    floor_chain_high INTEGER NOT NULL,
    floor_chain_low INTEGER NOT NULL,
    state_file TEXT NOT NULL,
    committed_config BLOB,
    last_seen_config BLOB,
    level INTEGER NOT NULL,
    level_zxid INTEGER NOT NULL,
    level_replaced INTEGER NOT NULL,
    amnesiac INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;
  CREATE TABLE log (zxid INTEGER PRIMARY KEY, entry BLOB NOT NULL, committed INTEGER) STRICT;
`;
/**
 * Made with the first branch: logs without one stay as earlier versions write them. Those versions
 * read a log with branches, and lose the table at the next segment.
 */
const BRANCH_TABLE = `
  CREATE TABLE IF NOT EXISTS branches (
    number INTEGER PRIMARY KEY,
    ensemble TEXT NOT NULL,
    sid INTEGER NOT NULL,
    zxid INTEGER NOT NULL,
    chain_high INTEGER NOT NULL,
    chain_low INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
`;
/** Bytes of the chain before a record in `log.entry`. */
export const CHAIN_BYTES = 8;

export function createStoreTables(database: Database): void {
  database.exec(STORE_TABLES);
}

type StoreRow = readonly [
  format: number,
  ensemble: string,
  sid: number,
  bootCount: number,
  promiseEpoch: number,
  promiseSid: number,
  promiseIncarnation: number,
  currentEpoch: number,
  floorZxid: number,
  floorChainHigh: number,
  floorChainLow: number,
  stateFile: string,
  committedConfig: Uint8Array | null,
  lastSeenConfig: Uint8Array | null,
  level: number,
  levelZxid: number,
  levelReplaced: number,
  amnesiac: number,
];

const COLUMNS =
  "format, ensemble, sid, boot_count, promise_epoch, promise_sid, promise_incarnation, current_epoch, floor_zxid, " +
  "floor_chain_high, floor_chain_low, state_file, committed_config, last_seen_config, " +
  "level, level_zxid, level_replaced, amnesiac";

/**
 * Writes everything that stands in the single row; epochs and entries are written by those who
 * change them.
 */
export function writeStoreRow(database: Database, log: DurableLog): void {
  const { identity, promise, floor } = log;
  const row: StoreRow = [
    identity.formatVersion,
    identity.ensembleId,
    identity.sid,
    identity.bootCount,
    promise.epoch,
    promise.sid,
    promise.incarnation,
    log.currentEpoch,
    floor.zxid,
    chainHigh(floor.chain),
    chainLow(floor.chain),
    log.stateFile,
    log.committedConfig ?? null,
    log.lastSeenConfig ?? null,
    log.levelRaise.level,
    log.levelRaise.zxid,
    log.levelRaise.replaced,
    log.amnesiac ? 1 : 0,
  ];
  database
    .prepare(`INSERT OR REPLACE INTO store (id, ${COLUMNS}, sum) VALUES (1, ${row.map(() => "?").join(", ")}, ?)`)
    .run(...row, sumOf(row));
}

export function writeEpochs(database: Database, epochs: readonly EpochRange[]): void {
  database.exec("DELETE FROM epochs");
  const insert = database.prepare("INSERT INTO epochs (epoch, first, last) VALUES (?, ?, ?)");
  for (const { epoch, first, last } of epochs) insert.run(epoch, first, last);
}

export function writeBranches(database: Database, branches: readonly LogBranch[]): void {
  if (branches.length === 0) return;
  database.exec(`${BRANCH_TABLE}; DELETE FROM branches`);
  const insert = database.prepare("INSERT INTO branches VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const [number, branch] of branches.entries()) {
    const row = branchRow(number, branch);
    insert.run(...row, crc32(JSON.stringify(row)));
  }
}

function branchRow(number: number, { ensembleId, sid, at }: LogBranch): readonly (number | string)[] {
  return [number, ensembleId, sid, at.zxid, chainHigh(at.chain), chainLow(at.chain)];
}

function readBranches(database: Database, file: string): readonly LogBranch[] {
  const isThere = database.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'branches'").pluck().get() === 1;
  if (!isThere) return [];
  const columns = "ensemble AS ensembleId, sid, zxid, chain_high AS high, chain_low AS low, sum";
  const rows = database.prepare(`SELECT ${columns} FROM branches ORDER BY number`).all() as readonly BranchColumns[];
  return rows.map(({ ensembleId, sid, zxid, high, low, sum }, number) => {
    const branch: LogBranch = { ensembleId, sid, at: { zxid, chain: chainFromHalves(high, low) } };
    if (sum === crc32(JSON.stringify(branchRow(number, branch)))) return branch;
    const place = `table branches, row ${number}`;
    throw new StoreError({ code: "DAMAGED", file, place, found: "its sum does not match" });
  });
}

interface BranchColumns {
  readonly ensembleId: string;
  readonly sid: number;
  readonly zxid: Zxid;
  readonly high: number;
  readonly low: number;
  readonly sum: number;
}

/** Whether a file is ours but its making never ended: nothing was ever promised on it. */
export function isUnfinished(database: Database): boolean {
  const tables = database.prepare("SELECT count(*) FROM sqlite_schema WHERE name = 'store'").pluck().get();
  return tables === 0 || database.prepare("SELECT count(*) FROM store").pluck().get() === 0;
}

/** Where the rows of a file begin: the floor, unless other files hold the entries before them. */
export interface RowsBegin {
  readonly at: LogPosition;
  /** The zxid that was known to be committed when the file began. */
  readonly commitHint: Zxid;
}

/** Reads what is durable, checking what can be checked without walking the rows. */
export function readDurableLog(database: Database, file: string, begin?: RowsBegin): DurableLog {
  const format = readFormat(database, file);
  refuseOtherFormat(database, { file, kind: "log", place: "table store, row 1", found: format });
  const [row, sum] = readStoreRow(database);
  if (sum !== sumOf(row)) {
    throw new StoreError({ code: "DAMAGED", file, place: "table store, row 1", found: "its sum does not match" });
  }
  const floor: LogPosition = { zxid: row[8] as Zxid, chain: chainFromHalves(row[9], row[10]) };
  const tail = readTail(database, file) ?? begin?.at ?? floor;
  return {
    identity: { formatVersion: format, ensembleId: row[1], sid: row[2], bootCount: row[3], diskId: "" },
    promise: { epoch: row[4], sid: row[5], incarnation: row[6] },
    currentEpoch: row[7],
    floor,
    tail,
    stateFile: row[11],
    committedConfig: row[12] ?? undefined,
    lastSeenConfig: row[13] ?? undefined,
    levelRaise: { level: row[14], zxid: row[15] as Zxid, replaced: row[16] },
    amnesiac: row[17] === 1,
    epochs: readEpochs(database, tail.zxid),
    commitHint: readCommitHint(database, begin?.commitHint ?? floor.zxid),
    branches: readBranches(database, file),
  };
}

function readFormat(database: Database, file: string): number {
  const format = database.prepare("SELECT format FROM store").pluck().get();
  if (typeof format === "number") return format;
  throw new StoreError({ code: "DAMAGED", file, place: "table store, row 1", found: `format ${String(format)}` });
}

function readStoreRow(database: Database): readonly [row: StoreRow, sum: number] {
  const values = database.prepare(`SELECT ${COLUMNS}, sum FROM store`).raw().get() as (number | string | null)[];
  const sum = values.pop();
  return [values as unknown as StoreRow, Number(sum)];
}

function sumOf(row: StoreRow): number {
  return crc32(JSON.stringify(row.map((value) => (value instanceof Uint8Array ? Array.from(value) : value))));
}

function readTail(database: Database, file: string): LogPosition | undefined {
  const row = database.prepare("SELECT zxid, entry FROM log ORDER BY zxid DESC LIMIT 1").raw().get();
  if (row === undefined) return undefined;
  const [zxid, entry] = row as [Zxid, Buffer];
  if (entry.length < CHAIN_BYTES) {
    throw new StoreError({ code: "DAMAGED", file, place: `table log, row ${zxid}`, found: `${entry.length} bytes` });
  }
  return { zxid, chain: chainOfEntry(entry) };
}

/** The chain that stands before a record. */
export function chainOfEntry(entry: Buffer): Chain {
  return entry.length < CHAIN_BYTES ? CHAIN_NONE : chainFromHalves(entry.readInt32BE(0), entry.readInt32BE(4));
}

function readEpochs(database: Database, tail: Zxid): EpochRange[] {
  const epochs = database.prepare("SELECT epoch, first, last FROM epochs ORDER BY epoch").all() as EpochRange[];
  return epochs.map(({ epoch, first, last }) => ({
    epoch,
    first,
    last: epoch === epochOf(tail) ? counterOf(tail) : last,
  }));
}

function readCommitHint(database: Database, floor: Zxid): Zxid {
  const newest = "SELECT committed FROM log WHERE committed IS NOT NULL ORDER BY zxid DESC LIMIT 1";
  const hint = database.prepare(newest).pluck().get() as Zxid | undefined;
  return hint === undefined || hint < floor ? floor : hint;
}
