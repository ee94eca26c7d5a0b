import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { sqliteCode } from "../disk/database.ts";
import { StoreError } from "../store/store-error.ts";

const LOCK_FILE = "zooid.lock";
const HOLDER_FILE = "zooid.pid";

/**
 * Keeps other processes off a data directory for as long as this one lives.
 *
 * The lock is SQLite's exclusive lock on a file of its own: the system frees it when the process
 * ends in whatever way. The text file beside it only names the holder, for the message.
 */
export class DirectoryLock implements Disposable {
  readonly #directory: string;
  readonly #database: Sqlite;
  readonly #isNew: boolean;

  constructor(directory: string) {
    this.#directory = directory;
    const file = join(directory, LOCK_FILE);
    this.#isNew = !existsSync(file);
    if (this.#isNew) writeFileSync(file, "", { mode: 0o600, flag: "a" });
    try {
      this.#database = new Sqlite(file, { timeout: 0 });
    } catch (cause) {
      throw new StoreError({ code: "UNREADABLE", file, reason: String(cause) }, { cause });
    }
    try {
      this.#database.exec("BEGIN EXCLUSIVE");
    } catch (cause) {
      this.#database.close();
      if (sqliteCode(cause)?.startsWith("SQLITE_BUSY")) {
        throw new StoreError({ code: "LOCKED", directory, ...readHolder(directory) }, { cause });
      }
      throw new StoreError({ code: "UNREADABLE", file, reason: String(cause) }, { cause });
    }
    try {
      writeFileSync(join(directory, HOLDER_FILE), `${process.pid}\n${new Date().toISOString()}\n`, { mode: 0o600 });
    } catch (cause) {
      // Without this the process would find its own lock when it tries again.
      this.abandon();
      throw cause;
    }
  }

  /** Frees the directory and leaves no trace in one that never was ours. */
  abandon(): void {
    this[Symbol.dispose]();
    if (!this.#isNew) return;
    rmSync(join(this.#directory, HOLDER_FILE), { force: true });
    rmSync(join(this.#directory, LOCK_FILE), { force: true });
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

function readHolder(directory: string): { readonly pid: number | undefined; readonly since: string | undefined } {
  try {
    const [pid, since] = readFileSync(join(directory, HOLDER_FILE), "utf8").split("\n");
    return { pid: Number(pid) || undefined, since: since || undefined };
  } catch {
    // Its holder may be between taking the lock and signing it.
    return { pid: undefined, since: undefined };
  }
}
