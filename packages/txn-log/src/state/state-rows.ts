import { crc32 } from "node:zlib";
import type { Zxid } from "@zooid/model";
import { refuseOtherFormat } from "../directory/format-number.ts";
import type { Database } from "../disk/database.ts";
import { chainFromHalves } from "../log/chain.ts";
import { StoreError } from "../store/store-error.ts";
import type { StateMeta } from "./state-store.ts";

/**
 * The rows of a state file that are not nodes: the meta row, access lists and sessions. Each has a
 * sum, as each node has one of its own (`node-row.ts`): SQLite has none, and returns a page with a
 * flipped bit without an error.
 */
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
  level: number,
  nodeCount: number,
  sessionCount: number,
];
export type SessionFields = readonly [high: number, low: number, timeoutMs: number, passwordHash: Uint8Array];
export type SessionRow = readonly [...SessionFields, sum: number];

const META_COLUMNS =
  "format, ensemble, applied, chain_high, chain_low, digest_high, digest_low, next_node, level, node_count, session_count";
const SESSION_COLUMNS = "high, low, timeout_ms, password_hash";
/** To be followed by a condition and an order. */
export const SELECT_SESSIONS: string = `SELECT ${SESSION_COLUMNS}, sum FROM sessions`;
const META_ROW = "table meta, row 1";

export function damagedState(file: string, place: string, found: string): StoreError {
  return new StoreError({ code: "DAMAGED", file, place, found });
}

export function readMeta(database: Database, file: string): [meta: StateMeta, counts: Readonly<Counts>] {
  const row = database.prepare(`SELECT ${META_COLUMNS}, sum FROM meta`).raw().get() as
    | [...MetaFields, number]
    | undefined;
  if (row === undefined) throw damagedState(file, META_ROW, "it is missing");
  const [format, ensembleId, applied, high, low, digestHigh, digestLow, nextNodeId, level, nodeCount, sessionCount] =
    row;
  if (typeof format !== "number") throw damagedState(file, META_ROW, `format ${String(format)}`);
  refuseOtherFormat(database, { file, kind: "state", place: META_ROW, found: format });
  if (row.pop() !== sumOfMeta(row as unknown as MetaFields)) {
    throw damagedState(file, META_ROW, "its sum does not match");
  }
  const position = { zxid: applied as Zxid, chain: chainFromHalves(high, low) };
  return [
    { applied: position, digestHigh, digestLow, ensembleId, nextNodeId, level },
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
  for (const row of database.prepare(`${SELECT_SESSIONS} ORDER BY high, low`).raw().iterate()) {
    yield checkedSession(row as unknown as SessionRow, file);
  }
}

export function checkedSession(row: SessionRow, file: string): SessionFields {
  const [high, low, timeoutMs, passwordHash, sum] = row;
  const fields: SessionFields = [high, low, timeoutMs, passwordHash];
  if (sum === sumOfSession(fields)) return fields;
  throw damagedState(file, `table sessions, row ${high}, ${low}`, "its sum does not match");
}

/** Access lists in the order of their numbers, each checked. */
export function readAcls(database: Database, file: string): readonly (readonly [id: number, content: string])[] {
  const select = "SELECT id, content, sum FROM acls ORDER BY id";
  const rows = database.prepare(select).raw().all() as [number, string, number][];
  return rows.map(([id, content, sum]) => {
    if (sum === sumOfAcl(id, content)) return [id, content];
    throw damagedState(file, `table acls, row ${id}`, "its sum does not match");
  });
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
