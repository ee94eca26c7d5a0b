/**
 * The watchers of this process, by path and by the kind of request that armed the watch. The server
 * only knows that the connection watches a path; this table gives the watchers of an event, the
 * watches to arm again on the next connection, and tells when a watch is no longer needed.
 */
import type { WatchedPaths } from "@zooid/wire";
import type { ZkError } from "../errors.ts";
import type { WatchEvent } from "./watch-event.ts";

/**
 * The kind of request that armed a watch. `data` and `exists` share one table at the server; a
 * watch by `exists` on a node that exists is a `data` watch.
 */
export type WatchKind = "data" | "exists" | "children" | "persistent" | "recursive";

/** The names that removeWatches uses for the server's tables and modes. */
export const WatchType = { CHILDREN: 1, DATA: 2, PERSISTENT: 4, RECURSIVE: 5 } as const;
export type WatchType = (typeof WatchType)[keyof typeof WatchType];

export interface Watcher {
  /**
   * Whether the watch is armed again after a lost connection; otherwise the watcher is dropped
   * then.
   */
  readonly rearms: boolean;
  /**
   * Called once for a one-shot watch, which is then removed from the table; path as at the server.
   */
  fire(event: WatchEvent): void;
  /** No event follows. */
  end(error: ZkError): void;
}

export class WatchRegistry {
  readonly #byKind: Readonly<Record<WatchKind, Map<string, Set<Watcher>>>> = {
    data: new Map(),
    exists: new Map(),
    children: new Map(),
    persistent: new Map(),
    recursive: new Map(),
  };
  /** Reads in flight that will arm the server's watch, by type and path. */
  readonly #arming = new Map<WatchType, Map<string, number>>();

  /** Number of watchers. */
  get size(): number {
    let size = 0;
    for (const table of Object.values(this.#byKind)) for (const watchers of table.values()) size += watchers.size;
    return size;
  }

  add(kind: WatchKind, path: string, watcher: Watcher): void {
    const table = this.#byKind[kind];
    const watchers = table.get(path);
    if (watchers === undefined) table.set(path, new Set([watcher]));
    else watchers.add(watcher);
  }

  /** @returns whether it was there */
  remove(kind: WatchKind, path: string, watcher: Watcher): boolean {
    const table = this.#byKind[kind];
    const watchers = table.get(path);
    if (watchers === undefined || !watchers.delete(watcher)) return false;
    if (watchers.size === 0) table.delete(path);
    return true;
  }

  /** A request that arms a watch was sent; `settleArming` is called when it is answered. */
  beginArming(type: WatchType, path: string): void {
    const counts = this.#arming.get(type) ?? new Map<string, number>();
    this.#arming.set(type, counts);
    counts.set(path, (counts.get(path) ?? 0) + 1);
  }

  settleArming(type: WatchType, path: string): void {
    const counts = this.#arming.get(type);
    const count = counts?.get(path) ?? 0;
    if (count > 1) counts?.set(path, count - 1);
    else counts?.delete(path);
  }

  /** Whether a watcher needs the server's watch, or soon will. */
  isWanted(type: WatchType, path: string): boolean {
    return kindsOf(type).some((kind) => this.#byKind[kind].has(path)) || (this.#arming.get(type)?.has(path) ?? false);
  }

  fire(event: WatchEvent): void {
    const { path } = event;
    const { data, exists, children, persistent } = this.#byKind;
    const woken = new Set<Watcher>();
    if (event.type !== "children-changed") {
      take(data, path, woken);
      take(exists, path, woken);
      this.#collectRecursive(path, woken);
    }
    if (event.type === "children-changed" || event.type === "deleted") take(children, path, woken);
    for (const watcher of persistent.get(path) ?? []) woken.add(watcher);
    for (const watcher of woken) watcher.fire(event);
  }

  /** Drops watchers that arm their watches themselves: the connection is lost. */
  severed(): void {
    this.#arming.clear();
    for (const table of Object.values(this.#byKind)) {
      for (const [path, watchers] of table) {
        for (const watcher of watchers) if (!watcher.rearms) watchers.delete(watcher);
        if (watchers.size === 0) table.delete(path);
      }
    }
  }

  /** The watches to arm on a new connection, in batches of limited size. */
  *batches(bytesMax: number): Generator<WatchedPaths> {
    let batch = newBatch();
    let bytes = 0;
    for (const kind of KINDS) {
      for (const path of this.#byKind[kind].keys()) {
        const pathBytes = 4 + Buffer.byteLength(path);
        if (bytes > 0 && bytes + pathBytes > bytesMax) {
          yield batch;
          batch = newBatch();
          bytes = 0;
        }
        batch[kind].push(path);
        bytes += pathBytes;
      }
    }
    if (bytes > 0) yield batch;
  }

  end(error: ZkError): void {
    endAll(Object.values(this.#byKind), error);
  }

  /** Ends the watchers of persistent and recursive watches. */
  endPersistent(error: ZkError): void {
    const { persistent, recursive } = this.#byKind;
    endAll([persistent, recursive], error);
  }

  #collectRecursive(path: string, woken: Set<Watcher>): void {
    const { recursive } = this.#byKind;
    if (recursive.size === 0) return;
    for (let end = path.length; ; end = path.lastIndexOf("/", end - 1)) {
      const ancestor = end <= 0 ? "/" : path.slice(0, end);
      for (const watcher of recursive.get(ancestor) ?? []) woken.add(watcher);
      if (ancestor === "/") return;
    }
  }
}

function endAll(tables: readonly Map<string, Set<Watcher>>[], error: ZkError): void {
  const all = new Set(tables.flatMap((table) => [...table.values()].flatMap((watchers) => [...watchers])));
  for (const table of tables) table.clear();
  for (const watcher of all) watcher.end(error);
}

const TYPE_BY_KIND: Readonly<Record<WatchKind, WatchType>> = {
  data: WatchType.DATA,
  exists: WatchType.DATA,
  children: WatchType.CHILDREN,
  persistent: WatchType.PERSISTENT,
  recursive: WatchType.RECURSIVE,
};
const KINDS = Object.keys(TYPE_BY_KIND) as readonly WatchKind[];

export function watchTypeOf(kind: WatchKind): WatchType {
  return TYPE_BY_KIND[kind];
}

function kindsOf(type: WatchType): readonly WatchKind[] {
  return KINDS.filter((kind) => watchTypeOf(kind) === type);
}

function newBatch(): Record<WatchKind, string[]> {
  return { data: [], exists: [], children: [], persistent: [], recursive: [] };
}

function take(table: Map<string, Set<Watcher>>, path: string, into: Set<Watcher>): void {
  const watchers = table.get(path);
  if (watchers === undefined) return;
  table.delete(path);
  for (const watcher of watchers) into.add(watcher);
}
