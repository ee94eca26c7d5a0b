/**
 * A copy of a node and all below it, kept up to date by one recursive watch: Curator's CuratorCache. Its server must be 3.6 or newer.
 *
 * Each event of a path is followed by a read of it, and only the newest read of a path counts, so that an answer which an event has overtaken
 * on its way to us says nothing. After a reconnect everything that is known is read anew, since events of the time between are told to nobody.
 */
import { type Client, isZkError, type NodeData } from "@zooid/client";
import { joinPath, parentPath } from "@zooid/model";
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
import { firstOf } from "./waiting.ts";

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
}

/** A copy of a node and all below it, or what of that is of interest, kept up to date. */
export class TreeCache implements Disposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #nodes = new Map<string, CachedNode>();
  /** The newest read of each path that is on its way. */
  readonly #reads = new Map<string, object>();
  readonly #changes$ = new Subject<CacheChange>();
  readonly #isReady$ = new BehaviorSubject(false);
  readonly #closed$ = new Subject<void>();
  readonly #events: Subscription;
  readonly #depthMax: number;
  readonly #select: (path: string) => boolean;
  #isEnded = false;

  constructor(
    zk: Client,
    path: string,
    { depthMax = Number.POSITIVE_INFINITY, select = () => true }: TreeCacheOptions = {},
  ) {
    if (!(depthMax >= 0)) throw new RangeError(`tree cache ${path}: depthMax is a number from 0 on, found ${depthMax}`);
    this.#zk = zk;
    this.path = path;
    this.#depthMax = depthMax;
    this.#select = select;
    this.#events = zk.events$(path, { mode: "persistent-recursive" }).subscribe({
      next: (event) => {
        if (event.type === "resync") this.#readAll();
        else if (event.type === "deleted") this.#remove(event.path);
        else if (this.#isOfInterest(event.path)) this.#read(event.path, { withChildren: false });
      },
      error: (error) => this.#end((subject) => subject.error(error)),
      complete: () => this.#end((subject) => subject.complete()),
    });
    this.#read(path, { withChildren: true });
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

  #readAll(): void {
    for (const path of new Set([this.path, ...this.#nodes.keys()])) this.#read(path, { withChildren: true });
  }

  #read(path: string, { withChildren }: { readonly withChildren: boolean }): void {
    const read = {};
    this.#reads.set(path, read);
    // Asked together: nothing of the node's own comes between the two.
    const isInside = this.#depthOf(path) < this.#depthMax;
    const children = withChildren && isInside ? this.#zk.children(path) : undefined;
    const reading = Promise.all([this.#zk.getOrNull(path), children?.catch(noChildren)]);
    reading.then(
      ([node, below]) => {
        if (this.#isEnded) return;
        const isNewest = this.#reads.get(path) === read;
        if (isNewest) this.#reads.delete(path);
        if (isNewest && node === null) this.#remove(path);
        if (isNewest && node !== null) this.#put({ path, ...node });
        for (const name of below?.names ?? []) this.#discover(joinPath(path, name));
        if (this.#reads.size === 0) this.#isReady$.next(true);
      },
      (error) => {
        if (this.#reads.get(path) !== read) return;
        this.#reads.delete(path);
        // With the next connection comes a resync.
        if (isZkError(error, "CONNECTION_LOSS")) return;
        if (isZkError(error) && error.retriable) this.#read(path, { withChildren: true });
        else if (!isZkError(error, "CLIENT_CLOSED")) this.#end((subject) => subject.error(error));
      },
    );
  }

  /** A child that a list has shown, and maybe nothing else will. */
  #discover(path: string): void {
    if (!this.#nodes.has(path) && !this.#reads.has(path) && this.#isOfInterest(path))
      this.#read(path, { withChildren: true });
  }

  /** Its ancestors must be, up to the cache's own node, which always is. */
  #isOfInterest(path: string): boolean {
    if (this.#depthOf(path) > this.#depthMax) return false;
    for (let at = path; at.length > this.path.length; at = parentPath(at)) if (!this.#select(at)) return false;
    return true;
  }

  #depthOf(path: string): number {
    const below = path.slice(this.path === "/" ? 0 : this.path.length);
    return below === "/" ? 0 : below.split("/").length - 1;
  }

  #put(node: CachedNode): void {
    const before = this.#nodes.get(node.path);
    if (before?.stat.czxid === node.stat.czxid && before.stat.mzxid === node.stat.mzxid) return;
    this.#nodes.set(node.path, node);
    if (before === undefined) this.#changes$.next({ kind: "created", node });
    else this.#changes$.next({ kind: "changed", node, before });
  }

  #remove(path: string): void {
    this.#reads.delete(path);
    const before = this.#nodes.get(path);
    if (!this.#nodes.delete(path) || before === undefined) return;
    this.#changes$.next({ kind: "deleted", before });
  }

  #end(tell: (subject: Subject<CacheChange>) => void): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#events?.unsubscribe();
    this.#reads.clear();
    tell(this.#changes$);
    this.#isReady$.complete();
    this.#closed$.next();
    this.#nodes.clear();
  }
}

function noChildren(error: unknown): undefined {
  if (!isZkError(error, "NO_NODE")) throw error;
}
