/**
 * A copy of a node and its descendants, kept up to date by the client's `watchTree$`: Curator's
 * CuratorCache.
 */

import type { Client, NodeData, TreeChange, TreeWatches } from "@zooid/client";
import { checkArgument, rules, type Shape, shape, wordRule } from "@zooid/model";
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
import { checkArguments, signalOf } from "../arguments.ts";
import { failStream } from "../failure-reports.ts";
import { firstOf } from "../leases/waiting.ts";
import { RecipeError } from "../recipe-error.ts";

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
  readonly #zk: Client;
  readonly #nodes = new Map<string, CachedNode>();
  readonly #changes$ = new Subject<CacheChange>();
  readonly #isReady$ = new BehaviorSubject(false);
  readonly #closed$ = new Subject<void>();
  readonly #tree: Subscription;
  #isEnded = false;
  /** The permanent error that ended it. */
  #failure: { readonly error: unknown } | undefined;

  constructor(zk: Client, path: string, options: TreeCacheOptions = {}) {
    checkArguments("TreeCache", zk, path, options, SHAPE);
    this.#zk = zk;
    this.path = path;
    this.#tree = zk.watchTree$(path, options).subscribe({
      next: (change) => this.#note(change),
      error: (error) => this.#end({ error }),
      complete: () => this.#end(),
    });
  }

  /**
   * Creations, changes and deletions; existing nodes come first. Completes when the cache is
   * closed, and fails with permanent errors.
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
      map(() => new Map(this.#nodes)),
    );
  }

  /**
   * Waits until the copy is complete.
   *
   * @throws the signal's reason, RECIPE_CLOSED, or the permanent error that has ended the copy
   */
  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf("TreeCache.ready", options);
    const isReady = await firstOf(this.#isReady$.pipe(filter((isReady) => isReady)), signal);
    if (isReady === undefined) throw this.#closed();
  }

  /**
   * The current copy of a node; undefined if there is none.
   *
   * @throws RECIPE_CLOSED, or the permanent error that has ended the copy
   */
  get(path: string): CachedNode | undefined {
    checkArgument("TreeCache.get", "the path", path, rules.path);
    this.#assertOpen();
    return this.#nodes.get(path);
  }

  /**
   * The current copies of a node's children, in the order of their names; empty for an unknown
   * node. Each call looks at every cached path. @throws as {@link get}
   */
  children(path: string): readonly CachedNode[] {
    checkArgument("TreeCache.children", "the path", path, rules.path);
    this.#assertOpen();
    const prefix = path === "/" ? "/" : `${path}/`;
    const isChild = (other: string): boolean =>
      other.length > prefix.length && other.startsWith(prefix) && !other.includes("/", prefix.length);
    const found = [...this.#nodes.values()].filter((node) => isChild(node.path));
    return found.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** The current copies of all nodes, by path. A new map. @throws as {@link get} */
  snapshot(): ReadonlyMap<string, CachedNode> {
    this.#assertOpen();
    return new Map(this.#nodes);
  }

  /** Removes the watch and clears the copy. May be repeated. */
  close(): void {
    this.#end();
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

  #end(failure?: { readonly error: unknown }): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // An invalid option ends the stream before this is set.
    this.#tree?.unsubscribe();
    this.#failure = failure;
    if (failure !== undefined) this.#fail(failure.error);
    this.#changes$.complete();
    this.#isReady$.complete();
    this.#closed$.next();
    this.#nodes.clear();
  }

  #assertOpen(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#isEnded) throw this.#closed();
  }

  #closed(): RecipeError {
    return new RecipeError("RECIPE_CLOSED", `the copy of ${this.path} is closed`);
  }

  #fail(error: unknown): void {
    const ended = `the copy of ${this.path} has ended`;
    // Of these streams one is observed by those that wait for the first copy.
    if (this.#isReady$.observed) this.#changes$.error(error);
    else failStream(this.#zk, this.#changes$, ended, error);
    this.#isReady$.error(error);
  }
}
