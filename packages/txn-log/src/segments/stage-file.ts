import { closeSync, openSync, rmSync } from "node:fs";
import type { Zxid } from "@zooid/model";
import Sqlite from "better-sqlite3";
import type { Database, Statement } from "../disk/database.ts";

const PAGE_BYTES = 8192;
const CACHE_KIB = 1024;
const FILE_MODE = 0o600;

/**
 * Staged entries, in a file of their own that is never synced: a restart forgets them. The file is
 * made at the first entry and removed with the last.
 */
export class StageFile {
  readonly #file: string;
  #database: Database | undefined;
  #insert: Statement | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Adds entries (chain and record) in one transaction. */
  add(rows: Iterable<readonly [zxid: Zxid, entry: Uint8Array]>): void {
    const database = this.#opened();
    database.exec("BEGIN");
    try {
      for (const [zxid, entry] of rows) this.#insert?.run(zxid, entry);
      database.exec("COMMIT");
    } finally {
      if (database.inTransaction) database.exec("ROLLBACK");
    }
  }

  *rows(): IterableIterator<readonly [zxid: Zxid, entry: Buffer]> {
    if (this.#database === undefined) return;
    const all = this.#database.prepare("SELECT zxid, entry FROM staged ORDER BY zxid").raw();
    for (const row of all.iterate()) yield row as [Zxid, Buffer];
  }

  /** Forgets everything. */
  drop(): void {
    if (this.#database === undefined) return;
    this.close();
    removeStage(this.#file);
  }

  close(): void {
    this.#database?.close();
    this.#database = undefined;
  }

  #opened(): Database {
    if (this.#database !== undefined) return this.#database;
    removeStage(this.#file);
    closeSync(openSync(this.#file, "wx", FILE_MODE));
    const database = new Sqlite(this.#file);
    database.pragma(`page_size = ${PAGE_BYTES}`);
    database.pragma("journal_mode = MEMORY");
    database.pragma("synchronous = OFF");
    database.pragma("locking_mode = EXCLUSIVE");
    database.pragma(`cache_size = -${CACHE_KIB}`);
    database.exec("CREATE TABLE staged (zxid INTEGER PRIMARY KEY, entry BLOB NOT NULL) STRICT");
    this.#insert = database.prepare("INSERT INTO staged (zxid, entry) VALUES (?, ?)");
    this.#database = database;
    return database;
  }
}

function removeStage(file: string): void {
  for (const suffix of ["", "-journal"]) rmSync(file + suffix, { force: true });
}
