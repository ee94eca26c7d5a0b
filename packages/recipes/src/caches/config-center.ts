import { isDeepStrictEqual } from "node:util";
import { type Client, type Codec, pause } from "@zooid/client";
import { ArgumentError, baseName, checkArgument, checkRecord, joinPath, rules, type Shape, shape } from "@zooid/model";
import { BehaviorSubject, distinctUntilChanged, filter, map, type Observable, Subject, type Subscription } from "rxjs";
import { checkArguments, signalOf } from "../arguments.ts";
import { atOnce } from "../at-once.ts";
import { checkSeen, type Versioned } from "../counters/shared-value.ts";
import { FailureReports, failStream } from "../failure-reports.ts";
import { firstOf } from "../leases/waiting.ts";
import { isSameBytes } from "../nodes/distinct.ts";
import { put } from "../nodes/named-node.ts";
import { isMade } from "../nodes/refusals.ts";
import { decodedValue, encodedValue } from "../nodes/values.ts";
import { RecipeError } from "../recipe-error.ts";
import { readCopy, writeCopy } from "./local-copy.ts";
import { type CacheChange, type CachedNode, TreeCache } from "./tree-cache.ts";

/** One codec for all keys, or one for each key: then values have the types of their keys. */
export type ConfigCodecs<T, M> =
  | { readonly codec: Codec<T>; readonly codecs?: never }
  | { readonly codec?: never; readonly codecs: { readonly [K in keyof M]: Codec<M[K]> } };

export type ConfigCenterOptions<T, M = Readonly<Record<string, T>>> = ConfigCenterPlace & ConfigCodecs<T, M>;

export interface ConfigCenterPlace {
  readonly app: string;
  /** Such as `production`. */
  readonly env: string;
  /** File that keeps the last known values, for a start while no server answers. Default: none. */
  readonly fallback?: {
    readonly file: string;
    /** Time to wait for servers before the file is read, in milliseconds. Default 2 s. */
    readonly afterMs?: number;
    /**
     * Called when the file cannot be written. Without it there are warnings (`ZOOID_FAILED`), one
     * in ten seconds at most.
     */
    readonly onError?: (error: unknown) => void;
  };
}

/** All values at one moment, by key. */
export interface ConfigSnapshot<T> {
  readonly values: ReadonlyMap<string, T>;
  /** `file`: no server has answered yet. */
  readonly source: "servers" | "file";
}

/** A value that its codec refuses; the previous one stays in force. */
export interface RejectedValue {
  readonly key: string;
  /** A DecodeError for a value of the servers; for one of the file, the codec's error. */
  readonly error: unknown;
}

const SHAPE: Shape<ConfigCenterPlace & { codec: unknown; codecs: unknown }> = shape({
  app: rules.name,
  env: rules.name,
  codec: rules.codec,
  codecs: rules.record,
  fallback: rules.record,
});

const FALLBACK: Shape<NonNullable<ConfigCenterPlace["fallback"]>> = shape<NonNullable<ConfigCenterPlace["fallback"]>>({
  file: { expected: "the path of a file", accepts: (value) => typeof value === "string" && value !== "" },
  afterMs: rules.duration,
  onError: rules.callable,
});

/**
 * The configuration of an application, kept on the servers and observed by all of its processes:
 * `<path>/<app>/<env>/<key>`. Reads use a local copy that is kept up to date.
 *
 * @typeParam T the values, where all keys have one codec
 * @typeParam M the values by key
 */
export class ConfigCenter<T, M extends object = Readonly<Record<string, T>>> implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: ConfigCenterOptions<T, M>;
  readonly #cache: TreeCache;
  readonly #values = new Map<string, M[keyof M]>();
  readonly #bytes = new Map<string, Uint8Array>();
  readonly #snapshot$ = new BehaviorSubject<ConfigSnapshot<M[keyof M]> | undefined>(undefined);
  readonly #rejected$ = new Subject<RejectedValue>();
  readonly #closing = new AbortController();
  readonly #subscription: Subscription;
  readonly #reports: FailureReports;
  /** Aborts when the file need not be read any more. */
  readonly #answered = new AbortController();
  readonly #fallingBack: Promise<void>;
  #isAnswered = false;
  #unsaved: ReadonlyMap<string, Uint8Array> | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(zk: Client, path: string, options: ConfigCenterOptions<T, M>) {
    checkArguments("ConfigCenter", zk, path, options, SHAPE, ["app", "env"]);
    if ((options.codec === undefined) === (options.codecs === undefined))
      throw new ArgumentError("ConfigCenter", ["the options have either codec, for all keys, or codecs, by key"]);
    for (const [key, codec] of Object.entries(options.codecs ?? {})) {
      checkArgument("ConfigCenter", "the key", key, rules.name);
      checkArgument("ConfigCenter", `the codec of ${key}`, codec, rules.codec);
    }
    if (options.fallback !== undefined) checkRecord("ConfigCenter: fallback", options.fallback, FALLBACK, ["file"]);
    const { app, env, fallback } = options;
    this.#zk = zk;
    this.path = joinPath(joinPath(path, app), env);
    this.#options = options;
    this.#reports = new FailureReports(zk, fallback?.onError);
    this.#cache = new TreeCache(zk, this.path);
    const error = (error: unknown): void => {
      failStream(zk, this.#snapshot$, `the configuration ${this.path} is followed no more`, error);
      this.#rejected$.complete();
    };
    // The copy ends with its client.
    const complete = (): void => this.#complete();
    this.#subscription = this.#cache.changes$.subscribe({ next: (change) => this.#note(change), error, complete });
    this.#cache.ready({ signal: this.#closing.signal }).then(
      () => this.#begin(),
      () => {
        // Closed, or the stream of changes reports it.
      },
    );
    this.#fallingBack = fallback === undefined ? Promise.resolve() : this.#fallBack(fallback);
  }

  /**
   * All values, now and after each change. Completes when it or the client is closed, and fails
   * with permanent errors.
   */
  get snapshot$(): Observable<ConfigSnapshot<M[keyof M]>> {
    return this.#snapshot$.pipe(filter((snapshot) => snapshot !== undefined));
  }

  /** Values that the codec refuses. */
  get rejected$(): Observable<RejectedValue> {
    return this.#rejected$.asObservable();
  }

  /**
   * Waits until there are values, from the servers or else from the file.
   *
   * @throws the signal's reason, RECIPE_CLOSED, or the permanent error that has ended it
   */
  async ready(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf("ConfigCenter.ready", options);
    if ((await firstOf(this.snapshot$, signal)) === undefined) throw this.#closed();
  }

  /** The value in the local copy. @throws RECIPE_CLOSED */
  get<K extends keyof M & string>(key: K): M[K] | undefined {
    checkArgument("ConfigCenter", "the key", key, rules.name);
    this.#closing.signal.throwIfAborted();
    // Each key's codec made its value.
    return this.#snapshot$.value?.values.get(key) as M[K] | undefined;
  }

  /**
   * A value, now and after each change; undefined while there is none. @throws RECIPE_CLOSED
   */
  watch$<K extends keyof M & string>(key: K): Observable<M[K] | undefined> {
    checkArgument("ConfigCenter", "the key", key, rules.name);
    this.#closing.signal.throwIfAborted();
    return this.snapshot$.pipe(
      map(({ values }) => values.get(key) as M[K] | undefined),
      distinctUntilChanged<M[K] | undefined>(isDeepStrictEqual),
    );
  }

  /**
   * A value from the server, with the version for a conditional change. @throws DecodeError,
   * RECIPE_CLOSED
   */
  async read<K extends keyof M & string>(key: K): Promise<Versioned<M[K]> | undefined> {
    this.#closing.signal.throwIfAborted();
    const node = await this.#zk.getOrNull(this.#pathOf(key));
    if (node === null) return undefined;
    const value = decodedValue(this.#codecOf(key), { path: this.#pathOf(key), ...node });
    return { value, version: node.stat.version };
  }

  /**
   * Sets a value; with `seen` only if it is unchanged since.
   *
   * @returns false if it has changed
   * @throws ArgumentError for a value that the key's codec refuses to read; RECIPE_CLOSED
   */
  async set<K extends keyof M & string>(key: K, value: M[K], seen?: Versioned<M[K]>): Promise<boolean> {
    const path = this.#pathOf(key);
    this.#closing.signal.throwIfAborted();
    const data = encodedValue("ConfigCenter", path, { codec: this.#codecOf(key), value });
    if (seen === undefined) {
      await put(this.#zk, path, data);
      return true;
    }
    checkSeen(`${path}`, seen);
    return await isMade(this.#zk.set(path, data, { version: seen.version }), "BAD_VERSION", "NO_NODE");
  }

  /** Deletes a value, if it exists. @throws RECIPE_CLOSED */
  async delete(key: keyof M & string): Promise<void> {
    this.#closing.signal.throwIfAborted();
    await this.#zk.delete(this.#pathOf(key), { missingOk: true });
  }

  #closed(): RecipeError {
    return new RecipeError("RECIPE_CLOSED", `the configuration ${this.path} is closed`);
  }

  #pathOf(key: string): string {
    checkArgument("ConfigCenter", "the key", key, rules.name);
    return joinPath(this.path, key);
  }

  /** Stops following the configuration. May be repeated. */
  async close(): Promise<void> {
    this.#closing.abort(this.#closed());
    this.#subscription.unsubscribe();
    this.#cache.close();
    this.#complete();
    await Promise.all([this.#fallingBack, this.#saving]);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #complete(): void {
    // No values of the servers come any more, and those of the file would come after the end.
    this.#answered.abort();
    this.#snapshot$.complete();
    this.#rejected$.complete();
  }

  /** The servers' values have arrived. */
  #begin(): void {
    this.#isAnswered = true;
    this.#answered.abort();
    this.#emit();
  }

  async #fallBack({ file, afterMs = 2_000 }: NonNullable<ConfigCenterPlace["fallback"]>): Promise<void> {
    const { signal } = this.#answered;
    await pause(afterMs, { signal }).catch(() => {});
    if (signal.aborted) return;
    const copy = await readCopy(file);
    if (copy === undefined || signal.aborted) return;
    const values = new Map<string, M[keyof M]>();
    for (const [key, data] of copy) this.#take(key, () => this.#codecFor(key).decode(data), values);
    this.#snapshot$.next({ values, source: "file" });
  }

  #note(change: CacheChange): void {
    const { path } = change;
    if (path.lastIndexOf("/") !== this.path.length) return;
    const key = baseName(path);
    const isNew = change.kind === "deleted" ? this.#forget(key) : this.#noteValue(key, change.node);
    if (isNew && this.#isAnswered) this.#emit();
  }

  /** @returns whether there was a value */
  #forget(key: string): boolean {
    this.#bytes.delete(key);
    return this.#values.delete(key);
  }

  /** @returns whether it differs from the value in force */
  #noteValue(key: string, node: CachedNode): boolean {
    const data = node.data ?? new Uint8Array(0);
    const before = this.#bytes.get(key);
    if (before !== undefined && isSameBytes(before, data)) return false;
    if (!this.#take(key, () => decodedValue(this.#codecFor(key), node), this.#values)) return false;
    this.#bytes.set(key, data);
    return true;
  }

  /** @throws for a key without a codec, which is reported like a value that its codec refuses */
  #codecOf<K extends keyof M & string>(key: K): Codec<M[K]> {
    const { codec, codecs } = this.#options;
    const found = codecs === undefined ? codec : Object.hasOwn(codecs, key) ? codecs[key] : undefined;
    if (found === undefined)
      throw new ArgumentError("ConfigCenter", [`there is no codec for the key ${JSON.stringify(key)}`]);
    // With one codec for all keys each value is a T.
    return found as unknown as Codec<M[K]>;
  }

  /** For a key that was found, which has the type of its codec. */
  #codecFor(key: string): Codec<M[keyof M & string]> {
    return this.#codecOf(key as keyof M & string);
  }

  #take(key: string, decode: () => M[keyof M], into: Map<string, M[keyof M]>): boolean {
    try {
      into.set(key, atOnce("ConfigCenter", `decode of the codec of ${key}`, decode()));
      return true;
    } catch (error) {
      this.#rejected$.next({ key, error });
      return false;
    }
  }

  #emit(): void {
    this.#snapshot$.next({ values: new Map(this.#values), source: "servers" });
    if (this.#options.fallback === undefined) return;
    this.#unsaved = new Map(this.#bytes);
    this.#saving = this.#saving.then(() => this.#save());
  }

  /** Only the newest copy is written. */
  async #save(): Promise<void> {
    const { fallback } = this.#options;
    const unsaved = this.#unsaved;
    this.#unsaved = undefined;
    if (unsaved === undefined || fallback === undefined) return;
    await writeCopy(fallback.file, unsaved).catch((error: unknown) =>
      this.#reports.report(`the copy of ${this.path} cannot be written`, error),
    );
  }
}
