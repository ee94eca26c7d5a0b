import type { WatchEntries } from "./watch-entries.ts";
import type { WatchedPaths } from "./watched-paths.ts";

/** No entry. */
const NONE = 0;
/** Indexes without an entry that one step passes at most. */
const EMPTY_MAX = 1000;

/**
 * A place in a listing of all watches, path by path or connection by connection. Between two steps
 * watches may be added and removed: each that is there all the time is met once.
 */
export class WatchCursor {
  readonly #entries: WatchEntries;
  readonly #paths: WatchedPaths;
  readonly #order: "paths" | "connections";
  /** The path, or the connection, whose entries come next; those before it are done. */
  #list: number;
  #next: number = NONE;

  constructor(entries: WatchEntries, paths: WatchedPaths, order: "paths" | "connections") {
    this.#entries = entries;
    this.#paths = paths;
    this.#order = order;
    this.#list = order === "paths" ? 1 : 0;
  }

  /** The next entry; 0 where this step has met none; undefined at the end. */
  step(): number | undefined {
    const end = this.#order === "paths" ? this.#paths.end : this.#entries.connectionEnd;
    for (let passed = 0; this.#next === NONE && passed < EMPTY_MAX; passed++) {
      if (this.#list >= end) return undefined;
      this.#next =
        this.#order === "paths" ? this.#entries.firstOfPath(this.#list) : this.#entries.firstOfConnection(this.#list);
      this.#list++;
    }
    const entry = this.#next;
    if (entry !== NONE) this.#next = this.#after(entry);
    return entry;
  }

  /** An entry is about to be removed. */
  leave(entry: number): void {
    if (this.#next === entry) this.#next = this.#after(entry);
  }

  #after(entry: number): number {
    return this.#order === "paths" ? this.#entries.nextOfPath(entry) : this.#entries.nextOfConnection(entry);
  }
}
