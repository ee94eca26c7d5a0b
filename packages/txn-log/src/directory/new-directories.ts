import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncPath } from "../sync-path.ts";
import { DataDirectories } from "./data-directories.ts";
import type { Places } from "./inspect-directory.ts";
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
 * place and appears with its marker. So whenever the command is killed, a start is refused, or
 * finds what was there before, or finds everything. The marker of the state's directory names that
 * of the log, so that the command, repeated, knows both as its own.
 */
export class NewDirectories {
  /** That of the state first. */
  readonly #places: readonly string[];

  /** Directories with other files in them, which the command must not fill. */
  static inUse({ directory, logDirectory }: Places): readonly string[] {
    const known = readUnfinished(directory)?.logDirectory;
    return placesIn({ directory, logDirectory }).filter((place) => {
      const isOwn = readUnfinished(place) !== undefined || place === known;
      return !isOwn && existsSync(place) && readdirSync(place).length > 0;
    });
  }

  /**
   * Marks both, and empties what an earlier command left unfinished.
   *
   * @param command its line, for the error of a start
   * @throws StoreError where another process works on them; nothing is changed then
   */
  constructor(places: Places, command: string) {
    this.#places = placesIn(places);
    const known = readUnfinished(places.directory)?.logDirectory;
    const found = this.#places.filter((place) => existsSync(place));
    const left = found.filter((place) => readUnfinished(place) !== undefined || place === known);
    // Another command that is running has locked them.
    if (left.length > 0) new DataDirectories(places.directory, places.logDirectory, "unfinished").abandon();
    // What an earlier marker of the state's directory says holds until the log's has its own.
    const order = left.includes(places.directory) ? this.#places.toReversed() : this.#places;
    try {
      for (const place of order) {
        const isMade = !found.includes(place) || readUnfinished(place)?.isMade === true;
        mark(place, { command, isMade, ...(place === places.directory ? places : {}) });
      }
      for (const place of left) empty(place);
    } catch (error) {
      this.abandon();
      throw error;
    }
  }

  /** All data are durable, and no store has the directories open. */
  finish(): void {
    for (const place of this.#places.toReversed()) unmarkUnfinished(place);
  }

  /** Removes what is there, and the directories that the command made. */
  abandon(): void {
    for (const place of this.#places.toReversed()) {
      rmSync(asideOf(place), { recursive: true, force: true });
      if (!existsSync(place)) continue;
      const isMade = readUnfinished(place)?.isMade === true;
      empty(place);
      unmarkUnfinished(place);
      if (isMade && readdirSync(place).length === 0) rmdirSync(place);
    }
  }
}

function placesIn({ directory, logDirectory }: Places): readonly string[] {
  return [...new Set([directory, logDirectory])];
}

/** A directory that is not there appears with its marker in it. */
function mark(place: string, unfinished: Parameters<typeof markUnfinished>[1]): void {
  if (existsSync(place)) return markUnfinished(place, unfinished);
  const [parent, aside] = [dirname(place), asideOf(place)];
  for (const made of makeDirectory(parent, DIRECTORY_MODE)) syncPath(dirname(made));
  mkdirSync(aside, { recursive: true, mode: DIRECTORY_MODE });
  markUnfinished(aside, unfinished);
  renameSync(aside, place);
  syncPath(parent);
}

function asideOf(place: string): string {
  return join(dirname(place), `.${basename(place)}.unfinished`);
}

function empty(place: string): void {
  for (const name of readdirSync(place))
    if (name !== UNFINISHED_FILE && name !== KEPT) rmSync(join(place, name), { recursive: true, force: true });
}
