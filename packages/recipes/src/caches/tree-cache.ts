/** A copy of a node and all below it, kept up to date: Curator's CuratorCache. What it holds is what the client's `watchTree$` has told. */
import type { Client, NodeData, TreeChange, TreeWatches } from "@zooid/client";
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
import { firstOf } from "../leases/waiting.ts";

export interface CachedNode extends NodeData {
  readonly path: string;
}

export type CacheChange =
  | { readonly kind: "created"; readonly node: CachedNode }
  | { readonly kind: "changed"; readonly node: CachedNode; readonly before: CachedNode }
  | { readonly kind: "deleted"; readonly before: CachedNode };

export interface TreeCacheOptions {
  /** How far below its path nodes are of interest: 0 is the node itself, 1 its children too. Default: all the way down. */
  readonly depthMax?: number;
  /** Whether a node is of interest, by its path. Where one is not, nothing below it is. Default: all are. */
  readonly select?: (path: string) => boolean;
  /**
   * How it learns of changes: by one recursive watch, which servers know from 3.6 on (`persistent`), by two watches for each node (`one-shot`), or
   * by the first where the server knows it, else by the second (`auto`). Default: the client's `treeWatches`.
   */
  readonly watches?: TreeWatches;
}

/** A copy of a node and all below it, or what of that is of interest, kept up to date. */
export class TreeCache implements Disposable {
  readonly path: string;
  readonly #nodes = new Map<string, CachedNode>();
  readonly #changes$ = new Subject<CacheChange>();
  readonly #isReady$ = new BehaviorSubject(false);
  readonly #closed$ = new Subject<void>();
  readonly #tree: Subscription;
  #isEnded = false;

  constructor(zk: Client, path: string, options: TreeCacheOptions = {}) {
    const { depthMax = 0 } = options;
    if (!(depthMax >= 0)) throw new RangeError(`tree cache ${path}: depthMax is a number from 0 on, found ${depthMax}`);
    this.path = path;
    this.#tree = zk.watchTree$(path, options).subscribe({
      next: (change) => this.#note(change),
      error: (error) => this.#end((subject) => subject.error(error)),
      complete: () => this.#end((subject) => subject.complete()),
    });
  }

  /** Everything that comes, changes and goes; what is there already comes first. Completes when the cache is closed. */
  get changes$(): Observable<CacheChange> {
    return defer(() => {
      const present = [...this.#nodes.values()].map((node): CacheChange => ({ kind: "created", node }));
      return concat(from(present), this.#changes$).pipe(takeUntil(this.#closed$));
    });
  }

  /** All that is known, by path: once all that was there at the beginning is here, and after each change, or several that come together. */
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

  /** Waits until all that was there at the beginning is here. */
  async ready({ signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    await firstOf(this.#isReady$.pipe(filter((isReady) => isReady)), signal);
  }

  /** What is known of a node at present; undefined where there is none. */
  get(path: string): CachedNode | undefined {
    return this.#nodes.get(path);
  }

  /** All that is known at present, by path. A copy. */
  snapshot(): ReadonlyMap<string, CachedNode> {
    return new Map(this.#nodes);
  }

  /** Takes the watch back and forgets everything. Twice is harmless. */
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
    if (change.kind === "deleted") this.#nodes.delete(change.before.path);
    else this.#nodes.set(change.node.path, change.node);
    this.#changes$.next(change);
  }

  #end(tell: (subject: Subject<CacheChange>) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // What cannot be told of at all has ended before this is set.
    this.#tree?.unsubscribe();
    tell(this.#changes$);
    this.#isReady$.complete();
    this.#closed$.next();
    this.#nodes.clear();
  }
}
