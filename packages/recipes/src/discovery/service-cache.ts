import { isDeepStrictEqual } from "node:util";
import type { Client, Codec } from "@zooid/client";
import { baseName } from "@zooid/model";
import { BehaviorSubject, filter, type Observable, type Subscription } from "rxjs";
import { type CacheChange, TreeCache } from "../caches/tree-cache.ts";
import { failStream } from "../failure-reports.ts";
import { RecipeError } from "../recipe-error.ts";
import type { ServiceInstance } from "./service-instance.ts";

/**
 * The instances of a service, kept up to date: Curator's ServiceCache. Without a connection they
 * stay as last known; `staleMs` gives the time since. So they do after an error that ends the copy,
 * as when a node may not be read any more. Nodes without a valid instance are skipped.
 */
export class ServiceCache<T = unknown> implements Disposable {
  readonly path: string;
  readonly #codec: Codec<ServiceInstance<T>>;
  readonly #cache: TreeCache;
  readonly #known = new Map<string, ServiceInstance<T>>();
  readonly #instances$ = new BehaviorSubject<readonly ServiceInstance<T>[] | undefined>(undefined);
  readonly #subscriptions: readonly Subscription[];
  readonly #ended: () => void;
  #isReady = false;
  #isClosed = false;
  #aloneSinceMs: number | undefined;
  /** Whether an error has ended the copy: no connection brings it up to date any more. */
  #hasFailed = false;

  /** @param path of the service, `<base>/<name>` */
  constructor(zk: Client, path: string, codec: Codec<ServiceInstance<T>>);
  /** @internal */
  constructor(zk: Client, path: string, codec: Codec<ServiceInstance<T>>, ended: () => void);
  constructor(zk: Client, path: string, codec: Codec<ServiceInstance<T>>, ended: () => void = () => {}) {
    this.path = path;
    this.#codec = codec;
    this.#ended = ended;
    this.#cache = new TreeCache(zk, path);
    const error = (error: unknown): void => {
      this.#hasFailed = true;
      this.#aloneSinceMs ??= performance.now();
      failStream(zk, this.#instances$, `the copy of the service ${path} has ended`, error);
      ended();
    };
    this.#subscriptions = [
      this.#cache.changes$.subscribe({
        next: (change) => this.#note(change),
        error,
        complete: () => {
          this.#instances$.complete();
          ended();
        },
      }),
      zk.state$.subscribe(({ kind }) => {
        const isFollowed = !this.#hasFailed && (kind === "connected" || kind === "read-only");
        if (isFollowed) this.#aloneSinceMs = undefined;
        else this.#aloneSinceMs ??= performance.now();
      }),
    ];
    this.#cache.ready().then(
      () => {
        this.#isReady = true;
        this.#emit();
      },
      () => {
        // The stream of changes reports it.
      },
    );
  }

  /**
   * The instances once all are known, and after each change, ordered by node name. Completes when
   * it is closed, and fails with permanent errors.
   */
  get instances$(): Observable<readonly ServiceInstance<T>[]> {
    return this.#instances$.pipe(filter((instances) => instances !== undefined));
  }

  /** The known instances. @throws RECIPE_CLOSED */
  instances(): readonly ServiceInstance<T>[] {
    if (this.#isClosed) throw new RecipeError("RECIPE_CLOSED", `the copy of the service ${this.path} is closed`);
    return this.#sorted();
  }

  #sorted(): readonly ServiceInstance<T>[] {
    return [...this.#known].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, instance]) => instance);
  }

  /**
   * Time in milliseconds since the connection was lost, or since an error ended the copy; 0 while
   * it is followed.
   */
  get staleMs(): number {
    return this.#aloneSinceMs === undefined ? 0 : performance.now() - this.#aloneSinceMs;
  }

  /** Waits until all initial instances are known. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#cache.ready(options);
  }

  /** Stops observing the service. May be repeated. */
  close(): void {
    for (const subscription of this.#subscriptions) subscription.unsubscribe();
    this.#cache.close();
    this.#instances$.complete();
    this.#isClosed = true;
    this.#known.clear();
    this.#ended();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #note(change: CacheChange): void {
    const { path } = change.kind === "deleted" ? change.before : change.node;
    if (path.lastIndexOf("/") !== this.path.length) return;
    const name = baseName(path);
    const instance = change.kind === "deleted" ? undefined : this.#read(change.node.data);
    if (isDeepStrictEqual(instance, this.#known.get(name))) return;
    if (instance === undefined) this.#known.delete(name);
    else this.#known.set(name, instance);
    this.#emit();
  }

  #read(data: Uint8Array | null): ServiceInstance<T> | undefined {
    try {
      return this.#codec.decode(data);
    } catch {
      return undefined;
    }
  }

  #emit(): void {
    if (this.#isReady) this.#instances$.next(this.#sorted());
  }
}
