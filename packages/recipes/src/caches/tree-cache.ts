/**
 * A copy of a node and its descendants, kept up to date by the client's `watchTree$`: Curator's
 * CuratorCache.
 */

import type { Client, NodeData, TreeChange, TreeWatches } from "@zooid/client";
import { rules, type Shape, shape, wordRule } from "@zooid/model";
import {
  asapScheduler,
  auditTime,
  BehaviorSubject,
  concat,
  defer,
  filter,
  from,
  map,
  type Observable,
  of,
  Subject,
  type Subscription,
  switchMap,
  take,
  takeUntil,
} from "rxjs";
import { checkArgument, checkArguments, pathRule, signalOf } from "../arguments.ts";
import { firstOf } from "../leases/waiting.ts";

export interface CachedNode extends NodeData {
  readonly path: string;
}

/** A change of the copy, with the node's path. */
export type CacheChange = { readonly path: string } & (
  | { readonly kind: "created"; readonly node: CachedNode }
  | { readonly kind: "changed"; readonly node: CachedNode; readonly before: CachedNode }
  | { readonly kind: "deleted"; readonly before: CachedNode }
);

export interface TreeCacheOptions {
  /**
   * The largest depth of cached nodes: 0 is the node itself, 1 includes its children. Default:
   * unlimited.
   */
  readonly depthMax?: number;
  /**
   * Whether to cache a node, by its path. Where it returns false, the descendants are not cached
   * either. Default: all.
   */
  readonly select?: (path: string) => boolean;
  /**
   * How to learn of changes: by one recursive watch, which servers support from 3.6 on
   * (`persistent`), by two watches for each node (`one-shot`), or by the first where the server
   * supports it, else by the second (`auto`). Default: the client's `treeWatches`.
   */
  readonly watches?: TreeWatches;
}

const SHAPE: Shape<TreeCacheOptions> = shape<TreeCacheOptions>({
  depthMax: { expected: "a number from 0 on", accepts: (value) => typeof value === "number" && value >= 0 },
  select: rules.callable,
  watches: wordRule("auto", "persistent", "one-shot"),
});

/** A copy of a node and its descendants, or of a selection of them, kept up to date. */
export class TreeCache implements Disposable {
  readonly path: string;
  readonly #nodes = new Map<string, CachedNode>();
  readonly #changes$ = new Subject<CacheChange>();
  readonly #isReady$ = new BehaviorSubject(false);
  readonly #closed$ = new Subject<void>();
  readonly #tree: Subscription;
  #isEnded = false;

  constructor(zk: Client, path: string, options: TreeCacheOptions = {}) {
    checkArguments("TreeCache", zk, path, options, SHAPE);
    this.path = path;
    this.#tree = zk.watchTree$(path, options).subscribe({
      next: (change) => this.#note(change),
      error: (error) => this.#end((subject) => subject.error(error)),
      complete: () => this.#end((subject) => subject.complete()),
    });
  }

  /**
   * Creations, changes and deletions; existing nodes come first. Completes when the cache is
   * closed.
   */
  get changes$(): Observable<CacheChange> {
    return defer(() => {
      const present = [...this.#nodes.values()].map(
        (node): CacheChange => ({ kind: "created", path: node.path, node }),
      );
      return concat(from(present), this.#changes$).pipe(takeUntil(this.#closed$));
    });
  }

  /**
   * The whole copy, by path: once it is complete, and after each change, or several that come
   * together.
   */
  get snapshot$(): Observable<ReadonlyMap<string, CachedNode>> {
    const ready$ = this.#isReady$.pipe(
      filter((isReady) => isReady),
      take(1),
    );
    const later$ = this.#changes$.pipe(auditTime(0, asapScheduler));
    return ready$.pipe(
      switchMap(() => concat(of(undefined), later$)),
      takeUntil(this.#closed$),
      map(() => this.snapshot()),
    );
  }

  /** Waits until the copy is complete. */
  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf("TreeCache.ready", options);
    await firstOf(this.#isReady$.pipe(filter((isReady) => isReady)), signal);
  }

  /** The current copy of a node; undefined if there is none. */
  get(path: string): CachedNode | undefined {
    checkArgument("TreeCache.get", "the path", path, pathRule);
    return this.#nodes.get(path);
  }

  /**
   * The current copies of a node's children, in the order of their names; empty for an unknown
   * node. Each call looks at every cached path.
   */
  children(path: string): readonly CachedNode[] {
    checkArgument("TreeCache.children", "the path", path, pathRule);
    const prefix = path === "/" ? "/" : `${path}/`;
    const isChild = (other: string): boolean =>
      other.length > prefix.length && other.startsWith(prefix) && !other.includes("/", prefix.length);
    const found = [...this.#nodes.values()].filter((node) => isChild(node.path));
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The current copies of all nodes, by path. A new map. */
  snapshot(): ReadonlyMap<string, CachedNode> {
    return new Map(this.#nodes);
  }

  /** Removes the watch and clears the copy. May be repeated. */
  close(): void {
    this.#end((subject) => subject.complete());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #note(change: TreeChange): void {
    if (change.kind === "ready") {
      this.#isReady$.next(true);
      return;
    }
    const { path } = change.kind === "deleted" ? change.before : change.node;
    if (change.kind === "deleted") this.#nodes.delete(path);
    else this.#nodes.set(path, change.node);
    this.#changes$.next({ ...change, path });
  }

  #end(report: (subject: Subject<CacheChange>) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // An invalid option ends the stream before this is set.
    this.#tree?.unsubscribe();
    report(this.#changes$);
    this.#isReady$.complete();
    this.#closed$.next();
    this.#nodes.clear();
  }
}
