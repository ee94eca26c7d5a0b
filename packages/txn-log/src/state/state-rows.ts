import { crc32 } from "node:zlib";
import type { Zxid } from "@zooid/model";
import { chainFromHalves } from "../chain.ts";
import type { Database } from "../database.ts";
import { refuseNewerFormat, stampFormat } from "../directory/format-number.ts";
import type { StateMeta } from "../state-store.ts";
import { StoreError } from "../store-error.ts";

/**
 * The rows of a state file that are not nodes: the meta row, access lists and sessions. Each has a sum, as each node has one of its own
 * (`node-row.ts`): SQLite has none, and hands out a page with a flipped bit as it is.
 *
 * Format 1 had no sums here. A file of that format is read as it is, and gets them when its writer opens it.
 */
export const STATE_FORMAT = 2;
const FORMAT_WITHOUT_SUMS = 1;

export interface Counts {
  nodeCount: number;
  sessionCount: number;
}

export type MetaFields = readonly [
  format: number,
  ensembleId: string,
  applied: number,
  chainHigh: number,
  chainLow: number,
  digestHigh: number,
  digestLow: number,
  nextNodeId: number,
  nodeCount: number,
  sessionCount: number,
];
export type SessionFields = readonly [high: number, low: number, timeoutMs: number, passwordHash: Uint8Array];
export type SessionRow = readonly [...SessionFields, sum: number | undefined];

const META_COLUMNS =
  "format, ensemble, applied, chain_high, chain_low, digest_high, digest_low, next_node, node_count, session_count";
const SESSION_COLUMNS = "high, low, timeout_ms, password_hash";
/** To be followed by a condition and an order. */
export const SELECT_SESSIONS: string = `SELECT ${SESSION_COLUMNS}, sum FROM sessions`;
const META_ROW = "table meta, row 1";

export function damagedState(file: string, place: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place, found });
}

export function readMeta(database: Database, file: string): [meta: StateMeta, counts: Readonly<Counts>] {
  const hasSums = hasSumsIn(database);
  const columns = hasSums ? `${META_COLUMNS}, sum` : META_COLUMNS;
  const row = database.prepare(`SELECT ${columns} FROM meta`).raw().get() as [...MetaFields, number?] | undefined;
  if (row === undefined) throw damagedState(file, META_ROW, "it is missing");
  const [format, ensembleId, applied, high, low, digestHigh, digestLow, nextNodeId, nodeCount, sessionCount] = row;
  if (typeof format === "number") {
    refuseNewerFormat(database, { file, place: META_ROW, found: format, known: STATE_FORMAT });
  }
  if (format !== (hasSums ? STATE_FORMAT : FORMAT_WITHOUT_SUMS)) {
    throw damagedState(file, META_ROW, `format ${String(format)}`);
  }
  if (hasSums && row.pop() !== sumOfMeta(row as unknown as MetaFields)) {
    throw damagedState(file, META_ROW, "its sum does not match");
  }
  const position = { zxid: applied as Zxid, chain: chainFromHalves(high, low) };
  return [
    { applied: position, digestHigh, digestLow, ensembleId, nextNodeId },
    { nodeCount, sessionCount },
  ];
}

export function writeMetaRow(database: Database, fields: MetaFields): void {
  const places = fields.map(() => "?").join(", ");
  database
    .prepare(`INSERT OR REPLACE INTO meta (id, ${META_COLUMNS}, sum) VALUES (1, ${places}, ?)`)
    .run(...fields, sumOfMeta(fields));
}

/** Sessions in the order of their ids, each checked. */
export function* readSessions(database: Database, file: string): IterableIterator<SessionFields> {
  const select = hasSumsIn(database) ? SELECT_SESSIONS : `SELECT ${SESSION_COLUMNS} FROM sessions`;
  for (const row of database.prepare(`${select} ORDER BY high, low`).raw().iterate()) {
    yield checkedSession(row as unknown as SessionRow, file);
  }
}

export function checkedSession(row: SessionRow, file: string): SessionFields {
  const [high, low, timeoutMs, passwordHash, sum] = row;
  const fields: SessionFields = [high, low, timeoutMs, passwordHash];
  if (sum === undefined || sum === sumOfSession(fields)) return fields;
  throw damagedState(file, `table sessions, row ${high}, ${low}`, "its sum does not match");
}

/** Access lists in the order of their numbers, each checked. */
export function readAcls(database: Database, file: string): readonly (readonly [id: number, content: string])[] {
  const columns = hasSumsIn(database) ? "id, content, sum" : "id, content";
  const rows = database.prepare(`SELECT ${columns} FROM acls ORDER BY id`).raw().all() as [number, string, number?][];
  return rows.map(([id, content, sum]) => {
    if (sum === undefined || sum === sumOfAcl(id, content)) return [id, content];
    throw damagedState(file, `table acls, row ${id}`, "its sum does not match");
  });
}

/** Gives a file of format 1 its sums, in one transaction. */
export function addSums(database: Database, file: string): void {
  if (hasSumsIn(database)) return;
  const [meta, { nodeCount, sessionCount }] = readMeta(database, file);
  const sessions = [...readSessions(database, file)];
  const acls = readAcls(database, file);
  database.exec("BEGIN IMMEDIATE");
  try {
    for (const table of ["meta", "sessions", "acls"]) {
      database.exec(`ALTER TABLE ${table} ADD COLUMN sum INTEGER NOT NULL DEFAULT 0`);
    }
    const setSession = database.prepare("UPDATE sessions SET sum = ? WHERE high = ? AND low = ?");
    for (const session of sessions) setSession.run(sumOfSession(session), session[0], session[1]);
    const setAcl = database.prepare("UPDATE acls SET sum = ? WHERE id = ?");
    for (const [id, content] of acls) setAcl.run(sumOfAcl(id, content), id);
    const row = database.prepare(`SELECT ${META_COLUMNS} FROM meta`).raw().get() as unknown as MetaFields;
    const [, ensembleId, applied, high, low, digestHigh, digestLow] = row;
    const position = [ensembleId, applied, high, low, digestHigh, digestLow] as const;
    writeMetaRow(database, [STATE_FORMAT, ...position, meta.nextNodeId, nodeCount, sessionCount]);
    stampFormat(database, STATE_FORMAT);
    database.exec("COMMIT");
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
  }
}

/** By the tables and not by the format, so that no flipped bit in the meta row says that there is nothing to check. */
function hasSumsIn(database: Database): boolean {
  const count = database.prepare("SELECT count(*) FROM pragma_table_info('meta') WHERE name = 'sum'").pluck().get();
  return count === 1;
}

function sumOfMeta(fields: MetaFields): number {
  return crc32(JSON.stringify(fields));
}

export function sumOfSession([high, low, timeoutMs, passwordHash]: SessionFields): number {
  return crc32(passwordHash, crc32(JSON.stringify([high, low, timeoutMs])));
}

export function sumOfAcl(id: number, content: string): number {
  return crc32(JSON.stringify([id, content]));
}
