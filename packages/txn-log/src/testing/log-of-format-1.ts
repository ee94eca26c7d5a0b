import { cpSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import type { Zxid } from "@zooid/model";
import { range, Z } from "../append-batches.ts";
import { CHAIN_NONE, type Chain, ChainCursor, chainHigh, chainLow } from "../chain.ts";
import { openDatabase } from "../database.ts";
import { WitnessFile } from "../directory/witness.ts";
import { newDurableLog } from "../log/log-boot.ts";
import { createStoreTables, writeEpochs, writeStoreRow } from "../log/schema.ts";
import { LOG_FILE } from "../segments/segment-name.ts";
import { NO_WAL } from "../segments/wal-scan.ts";
import { createStateFile } from "../state/state-file.ts";
import type { DurableLog } from "../txn-log.ts";
import { TemporaryDirectory } from "./temporary-directory.ts";

/** Tables of `log.db` that only the format before segments had. */
const STAGE_TABLES = `
  CREATE TABLE staged (zxid INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT;
  CREATE TABLE segments (last INTEGER PRIMARY KEY, bytes INTEGER NOT NULL, time_ms INTEGER NOT NULL) STRICT;
`;

/**
 * Writes a log in the format before segments. The WAL is left as a killed process leaves it.
 *
 * @param rows zxid and entry (chain and record), each a batch of its own with the log's commit hint
 */
function writeLogOfFormat1(
  directory: string,
  log: DurableLog,
  rows: Iterable<readonly [zxid: number, entry: Uint8Array]>,
): Disposable {
  const database = openDatabase(join(directory, LOG_FILE), { pageBytes: 8192, cacheKib: 256, journal: "wal" });
  database.exec("BEGIN");
  createStoreTables(database);
  database.exec(STAGE_TABLES);
  writeEpochs(database, log.epochs);
  writeStoreRow(database, { ...log, identity: { ...log.identity, formatVersion: 1 } });
  database.exec("COMMIT");
  const insert = database.prepare("INSERT INTO log (zxid, entry, committed) VALUES (?, ?, ?)");
  database.exec("BEGIN");
  for (const [zxid, entry] of rows) insert.run(zxid, entry, Math.min(zxid, log.commitHint));
  database.exec("COMMIT");
  database.exec("INSERT INTO staged VALUES (99, x'00')");
  return { [Symbol.dispose]: () => void database.close() };
}

export const chainOver = (zxids: readonly Zxid[], from: Chain): Chain[] => {
  const cursor = new ChainCursor();
  cursor.set(from);
  return zxids.map((zxid) => {
    cursor.add(zxid, recordOf(zxid).length, crc32(recordOf(zxid)));
    return cursor.value();
  });
};
export const recordOf = (zxid: Zxid): Buffer => Buffer.from(`record of ${zxid}`.repeat(20));

/** Makes a directory as the version before segments leaves it when it is killed, with entries behind a floor. */
export function writeDirectoryOfFormat1(
  directory: string,
  options: { readonly floorAt: number; readonly count: number; readonly isFolded?: boolean },
): DurableLog {
  const { floorAt, count } = options;
  const file = (name: string): string => join(directory, name);
  const floor = { zxid: floorAt === 0 ? Z(0, 0) : Z(1, floorAt), chain: floorAt === 0 ? CHAIN_NONE : (77n as Chain) };
  const zxids = range(floorAt + 1, count);
  const chains = chainOver(zxids, floor.chain);
  const log: DurableLog = {
    ...newDurableLog({ sid: 1, ensembleId: "colony" }),
    identity: { ensembleId: "colony", sid: 1, formatVersion: 1, bootCount: 6 },
    promise: { epoch: 4, sid: 2, incarnation: 3 },
    currentEpoch: 3,
    floor,
    tail: { zxid: zxids.at(-1) ?? floor.zxid, chain: chains.at(-1) ?? floor.chain },
    commitHint: Z(1, Math.max(floorAt, count - 5)),
    epochs: [{ epoch: 1, first: 1, last: count }],
    committedConfig: Uint8Array.of(1, 2),
    lastSeenConfig: Uint8Array.of(3),
  };
  const rows = zxids.map((zxid, i): [number, Buffer] => {
    const entry = Buffer.concat([Buffer.alloc(8), recordOf(zxid)]);
    entry.writeInt32BE(chainHigh(chains[i] as Chain), 0);
    entry.writeInt32BE(chainLow(chains[i] as Chain), 4);
    return [zxid, entry];
  });
  using making = new TemporaryDirectory();
  {
    using _database = writeLogOfFormat1(making.path, log, rows);
    for (const name of ["log.db", "log.db-wal"]) cpSync(join(making.path, name), file(name));
  }
  createStateFile(file("state-1.db"), options.isFolded === true ? log.tail : floor);
  const witness = new WitnessFile(file("witness"));
  witness.write({ ...log.tail, promise: 4, bootCount: 6, currentEpoch: 0, wal: NO_WAL });
  witness.close();
  return log;
}
