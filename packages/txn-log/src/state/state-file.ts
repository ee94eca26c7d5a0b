import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Acl, formatsAt, InvariantError, OPEN_ACL, READ_ONLY_ACL, ZXID_NONE } from "@zooid/model/storage";
import { stampedFormat, stampFormat } from "../directory/format-number.ts";
import {
  type Database,
  newFullError,
  openDatabase,
  openReader,
  readErrorOf,
  readNamed,
  type Statement,
} from "../disk/database.ts";
import { syncDirectoryOf, syncPath } from "../disk/sync-path.ts";
import { CHECKPOINTS_FULL_FILE, type TestBreak } from "../disk/test-break.ts";
import { CHAIN_NONE, chainHigh, chainLow } from "../log/chain.ts";
import type { LogPosition } from "../log/txn-log.ts";
import { StoreError } from "../store/store-error.ts";
import { isWhole, newStateNode, plainRow, RowOffset, viewNode } from "./node-row.ts";
import {
  type Counts,
  checkedSession,
  damagedState,
  readAcls,
  readMeta,
  readSessions,
  SELECT_SESSIONS,
  type SessionFields,
  type SessionRow,
  sumOfAcl,
  sumOfSession,
  writeMetaRow,
} from "./state-rows.ts";
import type { StateMeta, StateSession, StateSink } from "./state-store.ts";

/**
 * `state-<n>.db`: the tree at one zxid, written by one connection.
 *
 * It keeps a rollback journal, not a WAL: new nodes are appended, and pages beyond the file's old
 * end need no journal, so that they are written once instead of twice; and there is no WAL to copy
 * back. A reader and a checkpoint that is written wait for each other.
 */
const SCHEMA = `
  CREATE TABLE nodes (id INTEGER PRIMARY KEY, node BLOB NOT NULL) STRICT;
  CREATE TABLE acls (id INTEGER PRIMARY KEY, content TEXT NOT NULL, sum INTEGER NOT NULL) STRICT;
  CREATE TABLE sessions (
    high INTEGER NOT NULL, low INTEGER NOT NULL, timeout_ms INTEGER NOT NULL, password_hash BLOB NOT NULL,
    sum INTEGER NOT NULL, PRIMARY KEY (high, low)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    format INTEGER NOT NULL,
    ensemble TEXT NOT NULL,
    applied INTEGER NOT NULL,
    chain_high INTEGER NOT NULL,
    chain_low INTEGER NOT NULL,
    digest_high INTEGER NOT NULL,
    digest_low INTEGER NOT NULL,
    next_node INTEGER NOT NULL,
    level INTEGER NOT NULL,
    node_count INTEGER NOT NULL,
    session_count INTEGER NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
`;

/**
 * Pages of 4 KiB: a checkpoint rewrites single nodes all over the file, each with its whole page.
 */
const PAGE_BYTES = 4096;
const CACHE_KIB = 2048;
const LOAD_CACHE_KIB = 1024;
/** Rows fetched by one call; measured. */
const LOAD_ROWS = 1024;
/** New nodes in one statement; measured, more gains nothing. */
const ROWS_PER_INSERT = 16;

/**
 * Reader and writer of one state file wait for each other: a load for a checkpoint that has filled
 * its page cache, a checkpoint's end for a load. Either takes seconds when the state is large.
 */
const BUSY_TIMEOUT_MS = 60_000;
/** The pages that `state-full` leaves. */
const TEST_BREAK_PAGES = 64;

export interface StateFileOptions {
  /**
   * Makes the file: with the nodes that every tree begins with, or with nothing, in a transaction
   * that is left open.
   */
  readonly make?: "initial" | "blank";
  readonly testBreak?: TestBreak | undefined;
}

/** Makes a state file that holds what every tree begins with, durable in all its bytes. */
export function createStateFile(file: string, applied: LogPosition = EMPTY.applied): void {
  // Made beside its place and moved there when it is whole and synced: a file of that name is never
  // half of one.
  const unfinished = `${file}.new`;
  for (const rest of [unfinished, `${unfinished}-journal`]) rmSync(rest, { force: true });
  const state = new StateFile(unfinished, { make: "initial" });
  if (applied.zxid !== ZXID_NONE) {
    state.begin();
    state.commit({ ...state.meta, applied });
  }
  state.close();
  syncPath(unfinished);
  rmSync(`${unfinished}-journal`, { force: true });
  renameSync(unfinished, file);
  syncDirectoryOf(file);
}

/**
 * The damage that SQLite finds in the pages of a file: their order, their links and their free
 * list. Their content has sums of ours.
 */
export function findPageDamage(file: string): string | undefined {
  const database = openReader(file, LOAD_CACHE_KIB, BUSY_TIMEOUT_MS);
  try {
    const found = database.prepare("PRAGMA quick_check(1)").pluck().get();
    return found === "ok" ? undefined : String(found);
  } catch (cause) {
    const error = readErrorOf(cause, file);
    if (!(error instanceof StoreError) || error.detail.code !== "DAMAGED") throw error;
    return error.detail.found;
  } finally {
    database.close();
  }
}

/** Removes a file and what lies beside it. A connection that has it open still reads it. */
export function removeStateFile(file: string): void {
  for (const each of [`${file}-journal`, file]) rmSync(each, { force: true });
}

export class StateFile {
  readonly #file: string;
  readonly #testBreak: TestBreak | undefined;
  readonly #database: Database;
  readonly #select: Statement;
  readonly #update: Statement;
  readonly #insert: Statement;
  readonly #insertRows: Statement;
  readonly #delete: Statement;
  readonly #openSession: Statement;
  readonly #session: Statement;
  readonly #closeSession: Statement;
  readonly #aclIds = new Map<string, number>();
  #meta: StateMeta;
  readonly #counts: Counts;
  readonly #inserts: (number | Buffer)[] = new Array(2 * ROWS_PER_INSERT).fill(0);
  #insertCount = 0;

  constructor(file: string, { make, testBreak }: StateFileOptions = {}) {
    this.#file = file;
    this.#testBreak = testBreak;
    if (make === undefined && !existsSync(file)) throw damagedState(file, "the file", "it is missing");
    const busyTimeoutMs = BUSY_TIMEOUT_MS;
    this.#database = openDatabase(file, {
      pageBytes: PAGE_BYTES,
      cacheKib: CACHE_KIB,
      journal: "truncate",
      busyTimeoutMs,
    });
    const database = this.#database;
    if (testBreak === "state-full") {
      const pages = database.pragma("page_count", { simple: true });
      database.pragma(`max_page_count = ${Number(pages) + TEST_BREAK_PAGES}`);
    }
    if (make !== undefined) {
      database.exec(`BEGIN IMMEDIATE; ${SCHEMA}`);
      this.#writeMeta(EMPTY, { nodeCount: 0, sessionCount: 0 });
    }
    this.#select = database.prepare("SELECT node FROM nodes WHERE id = ?").pluck();
    this.#update = database.prepare("UPDATE nodes SET node = ? WHERE id = ?");
    this.#insert = database.prepare("INSERT INTO nodes (id, node) VALUES (?, ?)");
    const rows = new Array(ROWS_PER_INSERT).fill("(?, ?)").join(", ");
    this.#insertRows = database.prepare(`INSERT INTO nodes (id, node) VALUES ${rows}`);
    this.#delete = database.prepare("DELETE FROM nodes WHERE id = ?");
    this.#openSession = database.prepare(
      "INSERT OR REPLACE INTO sessions (high, low, timeout_ms, password_hash, sum) VALUES (?, ?, ?, ?, ?)",
    );
    this.#session = database.prepare(`${SELECT_SESSIONS} WHERE high = ? AND low = ?`).raw();
    this.#closeSession = database.prepare("DELETE FROM sessions WHERE high = ? AND low = ?");
    const [meta, counts] = readMeta(database, file);
    this.#meta = meta;
    this.#counts = { ...counts };
    for (const [id, content] of readAcls(database, file)) this.#aclIds.set(content, id);
    if (make === "initial") {
      for (const [id, row] of initialRows((acl) => this.aclId(acl))) this.insertNode(id, row);
      this.endInserts();
      this.commit({ ...EMPTY, nextNodeId: FIRST_FREE_ID });
    }
  }

  get meta(): StateMeta {
    return this.#meta;
  }

  /** Nodes and sessions, those of an open transaction among them. */
  get counts(): { readonly nodeCount: number; readonly sessionCount: number } {
    return { ...this.#counts };
  }

  begin(): void {
    this.#database.exec("BEGIN IMMEDIATE");
  }

  /** Ends the transaction, synced. */
  commit(meta: StateMeta): void {
    this.#writeMeta(meta, this.#counts);
    const mayBeFull = this.#testBreak === "full-by-files";
    if (mayBeFull && existsSync(join(dirname(this.#file), CHECKPOINTS_FULL_FILE))) throw newFullError();
    this.#database.exec("COMMIT");
    this.#meta = meta;
  }

  /** A node's row, checked; the bytes are the caller's. */
  node(id: number): Buffer | undefined {
    const row = this.#select.get(id) as Buffer | undefined;
    if (row !== undefined && !isWhole(row))
      throw damagedState(this.#file, `table nodes, row ${id}`, "its sum does not match");
    return row;
  }

  updateNode(id: number, row: Buffer): void {
    if (this.#update.run(row, id).changes !== 1) throw new InvariantError(`node ${id} is changed and does not exist`);
  }

  deleteNode(id: number): void {
    if (this.#delete.run(id).changes !== 1) throw new InvariantError(`node ${id} is deleted and does not exist`);
    this.#counts.nodeCount--;
  }

  /**
   * Adds a node with an id above all others. It is written, from the caller's bytes, by
   * {@link endInserts} at the latest.
   */
  insertNode(id: number, row: Buffer): void {
    const inserts = this.#inserts;
    inserts[this.#insertCount++] = id;
    inserts[this.#insertCount++] = row;
    this.#counts.nodeCount++;
    if (this.#insertCount < inserts.length) return;
    this.#insertRows.run(inserts);
    this.#insertCount = 0;
  }

  /** Adds a node with any id that no other one has. */
  addNode(row: Buffer): void {
    this.#insert.run(row.readDoubleBE(RowOffset.id), row);
    this.#counts.nodeCount++;
  }

  endInserts(): void {
    for (let i = 0; i < this.#insertCount; i += 2) this.#insert.run(this.#inserts[i] ?? 0, this.#inserts[i + 1] ?? 0);
    this.#insertCount = 0;
    this.#inserts.fill(0);
  }

  /** The number of an access list in this file, given out when it is new. */
  aclId(acl: Acl): number {
    const content = contentOfAcl(acl);
    const known = this.#aclIds.get(content);
    if (known !== undefined) return known;
    const id = this.#aclIds.size + 1;
    this.addAcl(id, content);
    return id;
  }

  /**
   * Adds an access list under a number that the rows already have; for a file that is made from
   * another.
   */
  addAcl(id: number, content: string): void {
    this.#database.prepare("INSERT INTO acls VALUES (?, ?, ?)").run(id, content, sumOfAcl(id, content));
    this.#aclIds.set(content, id);
  }

  openSession(session: Readonly<StateSession>): void {
    const { idHigh, idLow } = session;
    this.closeSession(idHigh, idLow);
    this.#putSession([idHigh, idLow, session.timeoutMs, session.passwordHash]);
    this.#counts.sessionCount++;
  }

  /** A part of the session's end is applied: it is kept with the timeout 0. */
  beginCloseSession(idHigh: number, idLow: number): void {
    const row = this.#session.get(idHigh, idLow) as SessionRow | undefined;
    if (row !== undefined) this.#putSession([idHigh, idLow, 0, checkedSession(row, this.#file)[3]]);
  }

  /** The same for every session. @returns whether there is one */
  beginCloseSessions(): boolean {
    const rows = this.#database.prepare(SELECT_SESSIONS).raw().all() as SessionRow[];
    for (const row of rows) {
      const [high, low, , passwordHash] = checkedSession(row, this.#file);
      this.#putSession([high, low, 0, passwordHash]);
    }
    return rows.length > 0;
  }

  closeSession(idHigh: number, idLow: number): void {
    const { changes } = this.#closeSession.run(idHigh, idLow);
    this.#counts.sessionCount -= changes;
  }

  /** Gives back what the page cache holds. */
  shrink(): void {
    this.#database.pragma("shrink_memory");
  }

  close(): void {
    this.#database.close();
  }

  #putSession(row: SessionFields): void {
    this.#openSession.run(...row, sumOfSession(row));
  }

  /** The file has the format of the level in force, from the commit with the raise on. */
  #writeMeta(meta: StateMeta, counts: Counts): void {
    const { applied } = meta;
    const format = formatsAt(meta.level).state;
    if (stampedFormat(this.#database) !== format) stampFormat(this.#database, format);
    writeMetaRow(this.#database, [
      format,
      meta.ensembleId,
      applied.zxid,
      chainHigh(applied.chain),
      chainLow(applied.chain),
      meta.digestHigh,
      meta.digestLow,
      meta.nextNodeId,
      meta.level,
      counts.nodeCount,
      counts.sessionCount,
    ]);
  }
}

/** Reads a whole state in ascending id, each row checked. */
export function loadStateFile(file: string, sink: StateSink): StateMeta {
  const database = openReader(file, LOAD_CACHE_KIB, BUSY_TIMEOUT_MS);
  try {
    database.exec("BEGIN");
    const [meta, counts] = readMeta(database, file);
    const sessionCount = loadSessions(database, file, sink);
    const nodeCount = loadNodes(database, file, sink);
    if (nodeCount !== counts.nodeCount) {
      throw damagedState(file, "table nodes", `${nodeCount} rows where there were ${counts.nodeCount}`);
    }
    if (sessionCount !== counts.sessionCount) {
      throw damagedState(file, "table sessions", `${sessionCount} rows where there were ${counts.sessionCount}`);
    }
    return meta;
  } catch (cause) {
    throw readErrorOf(cause, file);
  } finally {
    database.close();
  }
}

function loadSessions(database: Database, file: string, sink: StateSink): number {
  const session: StateSession = { idHigh: 0, idLow: 0, timeoutMs: 0, passwordHash: new Uint8Array(0) };
  let count = 0;
  for (const row of readSessions(database, file)) {
    [session.idHigh, session.idLow, session.timeoutMs, session.passwordHash] = row;
    sink.session(session);
    count++;
  }
  return count;
}

function loadNodes(database: Database, file: string, sink: StateSink): number {
  const acls = new Map([...readAcls(database, file)].map(([id, content]) => [id, parseAcl(content)]));
  const rows = database.prepare(`SELECT node FROM nodes WHERE id > ? ORDER BY id LIMIT ${LOAD_ROWS}`).pluck();
  const node = newStateNode();
  let count = 0;
  for (;;) {
    const chunk = rows.all(node.id) as Buffer[];
    for (const bytes of chunk) {
      if (!isWhole(bytes)) throw damagedState(file, `table nodes, the row after ${node.id}`, "its sum does not match");
      const acl = acls.get(viewNode(bytes, node));
      if (acl === undefined) throw damagedState(file, `table nodes, row ${node.id}`, "its access list is missing");
      node.acl = acl;
      sink.node(node);
    }
    count += chunk.length;
    if (chunk.length < LOAD_ROWS) return count;
  }
}

/**
 * The meta row of a state file, or undefined when there is no such file. Rolls back the unfinished
 * work of a crash.
 */
export function inspectStateFile(file: string): StateMeta | undefined {
  if (!existsSync(file)) return undefined;
  return readNamed(file, () => {
    const database = openDatabase(file, { pageBytes: PAGE_BYTES, cacheKib: LOAD_CACHE_KIB, journal: "truncate" });
    try {
      return readMeta(database, file)[0];
    } finally {
      database.close();
    }
  });
}

/**
 * Writes another ensemble's id into a state file that no thread has open. Durable when it returns.
 */
export function stampEnsemble(file: string, ensembleId: string): void {
  const state = new StateFile(file);
  try {
    state.begin();
    state.commit({ ...state.meta, ensembleId });
  } finally {
    state.close();
  }
}

/** Where a whole state file stands, without waking its thread. */
export function readStateMeta(file: string): StateMeta {
  const database = openReader(file, LOAD_CACHE_KIB, BUSY_TIMEOUT_MS);
  try {
    return readMeta(database, file)[0];
  } catch (cause) {
    throw readErrorOf(cause, file);
  } finally {
    database.close();
  }
}

/** An access list as a row of the file has it. */
export function contentOfAcl(acl: Acl): string {
  return JSON.stringify(acl.map(({ perms, scheme, id }) => [perms, scheme, id]));
}

function parseAcl(content: string): Acl {
  const entries = JSON.parse(content) as [number, string, string][];
  const acl: Acl = entries.map(([perms, scheme, id]) => ({ perms, scheme, id }));
  return [OPEN_ACL, READ_ONLY_ACL].find((known) => JSON.stringify(known) === JSON.stringify(acl)) ?? acl;
}

/** Whether an access list can be read back. */
export function isAcl(content: string): boolean {
  try {
    const entries: unknown = JSON.parse(content);
    return Array.isArray(entries) && entries.every((entry) => Array.isArray(entry) && entry.length === 3);
  } catch {
    return false;
  }
}

const FIRST_FREE_ID = 5;
const EMPTY: StateMeta = {
  applied: { zxid: ZXID_NONE, chain: CHAIN_NONE },
  digestHigh: 0,
  digestLow: 0,
  ensembleId: "",
  nextNodeId: FIRST_FREE_ID,
  level: 1,
};

/**
 * The four nodes that every tree is made with: like the tree's own, so that loading them over those
 * changes nothing.
 */
function initialRows(aclId: (acl: Acl) => number): (readonly [id: number, row: Buffer])[] {
  const row = (id: number, parentId: number, name: string, acl: Acl, aversion = 0) =>
    [id, plainRow({ id, parentId, name, aclId: aclId(acl), aversion })] as const;
  return [
    row(1, 0, "", OPEN_ACL),
    row(2, 1, "zookeeper", OPEN_ACL),
    row(3, 2, "quota", OPEN_ACL),
    row(4, 2, "config", READ_ONLY_ACL, -1),
  ];
}
