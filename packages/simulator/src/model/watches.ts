import { AddWatchMode, WatchSelector } from "@zooid/model";
import { isBelow } from "./tree.ts";

/** The lists of one setWatches request. */
export interface WatchLists {
  /** The client has seen everything up to here. */
  readonly relativeZxid: number;
  readonly data: readonly string[];
  /** Watches of nodes that did not exist. */
  readonly exist: readonly string[];
  readonly child: readonly string[];
  readonly persistent: readonly string[];
  readonly recursive: readonly string[];
}

/** The kinds of watches in ZooKeeper's documentation. */
export type WatchKind = "data" | "child" | "persistent" | "recursive";

export const WATCH_KINDS: readonly WatchKind[] = ["data", "child", "persistent", "recursive"];

/** The watches of one connection: a set of kinds and paths. */
export class ModelWatches {
  readonly #watches = new Set<string>();

  add(kind: "data" | "child" | AddWatchMode, path: string): void {
    if (kind === AddWatchMode.PERSISTENT) this.#watches.add(`persistent ${path}`);
    else if (kind === AddWatchMode.PERSISTENT_RECURSIVE) this.#watches.add(`recursive ${path}`);
    else this.#watches.add(`${kind} ${path}`);
  }

  addKind(kind: WatchKind, path: string): void {
    this.#watches.add(`${kind} ${path}`);
  }

  /** The paths with a watch of a kind. */
  paths(kind: WatchKind): readonly string[] {
    const prefix = `${kind} `;
    return [...this.#watches].filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
  }

  get count(): number {
    return this.#watches.size;
  }

  contains(selector: WatchSelector, path: string): boolean {
    return kindsOf(selector).some((kind) => this.#watches.has(`${kind} ${path}`));
  }

  remove(selector: WatchSelector, path: string): void {
    for (const kind of kindsOf(selector)) this.#watches.delete(`${kind} ${path}`);
  }

  /**
   * Whether the creation, change or deletion of a node fires an event; one-shot watches are
   * consumed.
   */
  firesForNode(path: string, isDeletion: boolean): boolean {
    const onData = this.#watches.delete(`data ${path}`);
    const onChild = isDeletion && this.#watches.delete(`child ${path}`);
    return onData || onChild || this.#watches.has(`persistent ${path}`) || this.#isBelowRecursive(path);
  }

  /** Whether a change of a node's children fires an event. */
  firesForChildren(path: string): boolean {
    return this.#watches.delete(`child ${path}`) || this.#watches.has(`persistent ${path}`);
  }

  #isBelowRecursive(path: string): boolean {
    for (const watch of this.#watches) {
      if (!watch.startsWith("recursive ")) continue;
      const watched = watch.slice("recursive ".length);
      if (watched === path || isBelow(path, watched)) return true;
    }
    return false;
  }
}

function kindsOf(selector: WatchSelector): readonly WatchKind[] {
  switch (selector) {
    case WatchSelector.DATA:
      return ["data"];
    case WatchSelector.CHILDREN:
      return ["child"];
    case WatchSelector.PERSISTENT:
      return ["persistent"];
    case WatchSelector.PERSISTENT_RECURSIVE:
      return ["recursive"];
    default:
      return WATCH_KINDS;
  }
}
