import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncPath } from "../disk/sync-path.ts";
import { DataDirectories } from "./data-directories.ts";
import type { StoreDirectories } from "./inspect-directory.ts";
import { makeDirectory } from "./make-directory.ts";
import { markUnfinished, readUnfinished, UNFINISHED_FILE, unmarkUnfinished } from "./unfinished.ts";

const DIRECTORY_MODE = 0o700;
/** Written by an operator, for the server to come. */
const KEPT = "myid";

/**
 * The directories of a server that an offline command makes: marked as unfinished until `finish`.
 *
 * ```
 * marker of the state's directory ─▶ marker of the log's ─▶ data ─▶ the log's marker goes ─▶ the state's marker goes
 * ```
 *
 * Each step is durable before the next one. A directory that is not there yet is made beside its
 * path and appears with its marker. So whenever the command is killed, a start is refused, or
 * finds what was there before, or finds everything. The marker of the state's directory names that
 * of the log, so that the command, repeated, knows both as its own.
 */
export class NewDirectories {
  /** That of the state first. */
  readonly #paths: readonly string[];

  /** Directories with other files in them, which the command must not fill. */
  static inUse({ directory, logDirectory }: StoreDirectories): readonly string[] {
    const known = readUnfinished(directory)?.logDirectory;
    return pathsOf({ directory, logDirectory }).filter((path) => {
      const isOwn = readUnfinished(path) !== undefined || path === known;
      return !isOwn && existsSync(path) && readdirSync(path).length > 0;
    });
  }

  /**
   * Marks both, and empties what an earlier command left unfinished.
   *
   * @param command its line, for the error of a start
   * @throws StoreError where another process works on them; nothing is changed then
   */
  constructor(directories: StoreDirectories, command: string) {
    this.#paths = pathsOf(directories);
    const known = readUnfinished(directories.directory)?.logDirectory;
    const found = this.#paths.filter((path) => existsSync(path));
    const left = found.filter((path) => readUnfinished(path) !== undefined || path === known);
    // Another command that is running has locked them.
    if (left.length > 0) new DataDirectories(directories.directory, directories.logDirectory, "unfinished").abandon();
    // What an earlier marker of the state's directory says holds until the log's has its own.
    const order = left.includes(directories.directory) ? this.#paths.toReversed() : this.#paths;
    try {
      for (const path of order) {
        const isMade = !found.includes(path) || readUnfinished(path)?.isMade === true;
        mark(path, { command, isMade, ...(path === directories.directory ? directories : {}) });
      }
      for (const path of left) empty(path);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** All data are durable, and no store has the directories open. */
  finish(): void {
    for (const path of this.#paths.toReversed()) unmarkUnfinished(path);
  }

  /** Removes what is there, and the directories that the command made. */
  abandon(): void {
    for (const path of this.#paths.toReversed()) {
      rmSync(asideOf(path), { recursive: true, force: true });
      if (!existsSync(path)) continue;
      const isMade = readUnfinished(path)?.isMade === true;
      empty(path);
      unmarkUnfinished(path);
      if (isMade && readdirSync(path).length === 0) rmdirSync(path);
    }
  }
}

function pathsOf({ directory, logDirectory }: StoreDirectories): readonly string[] {
  return [...new Set([directory, logDirectory])];
}

/** A directory that is not there appears with its marker in it. */
function mark(path: string, unfinished: Parameters<typeof markUnfinished>[1]): void {
  if (existsSync(path)) return markUnfinished(path, unfinished);
  const [parent, aside] = [dirname(path), asideOf(path)];
  for (const made of makeDirectory(parent, DIRECTORY_MODE)) syncPath(dirname(made));
  mkdirSync(aside, { recursive: true, mode: DIRECTORY_MODE });
  markUnfinished(aside, unfinished);
  renameSync(aside, path);
  syncPath(parent);
}

function asideOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.unfinished`);
}

function empty(path: string): void {
  for (const name of readdirSync(path))
    if (name !== UNFINISHED_FILE && name !== KEPT) rmSync(join(path, name), { recursive: true, force: true });
}
