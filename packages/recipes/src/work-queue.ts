import { setTimeout as pause } from "node:timers/promises";
import { type Client, type Codec, isZkError, type OneShotWatch, type Transaction } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { Claims } from "./claims.ts";
import type { HoldOptions, Lease } from "./lease.ts";
import { makeNamed } from "./named-node.ts";
import { Patience, type WaitOptions } from "./patience.ts";
import { payloadBytes } from "./payload-bytes.ts";
import { decodeItems, encodeItems } from "./queue-item.ts";
import { inQueueOrder, PLAIN_PREFIX, type QueueNames, withoutNumber } from "./queue-names.ts";
import { isRecipeError, RecipeError } from "./recipe-error.ts";
import { keepOn, unlessAborted, writable } from "./waiting.ts";

export interface QueueOptions<T> extends HoldOptions {
  /** What items are in bytes. Default: bytes. */
  readonly codec?: Codec<T> | undefined;
  /**
   * Where those who work on items say so. With it an item stays in the queue until its work is done: it is done at least once. Without it an
   * item is gone before its work begins: at most once. All who use the queue must say the same.
   */
  readonly lockPath?: string | undefined;
  /** So many nodes at most: who puts more waits. Two who put at once may both find room for one. Default: no bound. */
  readonly itemCountMax?: number | undefined;
}

/** What work on an item may know of it. */
export interface ItemContext {
  /** Aborts when the item may be given to somebody else. */
  readonly signal: AbortSignal;
  /** The claim on the item, with its token and guard; undefined without `lockPath`. */
  readonly lease: Lease | undefined;
  /** Of the item's node. */
  readonly path: string;
}

export type Work<T> = (item: T, context: ItemContext) => void | Promise<void>;

export interface ConsumeOptions {
  /** How many nodes are worked on at a time. Default 1, which keeps the order. */
  readonly concurrency?: number | undefined;
  /**
   * What becomes of an item whose work fails: it is put to the end of its like, or dropped, or moved to another queue's path. Default `requeue`.
   */
  readonly onFailure?: "requeue" | "drop" | { readonly moveTo: string } | undefined;
  /** Is told of each failure, and of items that cannot be read, which stay where they are. */
  readonly onError?: ((error: unknown, path: string) => void) | undefined;
}

/** Works on items until it is closed. */
export interface Consumer extends AsyncDisposable {
  /** Takes no more items and waits for the work that goes on. Twice is harmless. @throws what no reconnect mends */
  close(): Promise<void>;
  /** Resolves when it is closed. @throws what no reconnect mends */
  finished(): Promise<void>;
}

/** What Curator's queues have in common. */
export abstract class WorkQueue<T> implements AsyncDisposable {
  readonly path: string;
  protected readonly zk: Client;
  readonly #names: QueueNames;
  readonly #options: QueueOptions<T>;
  readonly #puts = new Set<Promise<void>>();
  readonly #consumers = new Set<Consumer>();

  constructor(zk: Client, path: string, names: QueueNames, options: QueueOptions<T>) {
    this.zk = zk;
    this.path = path;
    this.#names = names;
    this.#options = options;
  }

  /** Begins to work on items, as they come. */
  consume(work: Work<T>, options: ConsumeOptions = {}): Consumer {
    const { codec, lockPath } = this.#options;
    const claims = lockPath === undefined ? undefined : new Claims(this.zk, lockPath, this.#options);
    const decode = (bytes: Uint8Array): T => (codec === undefined ? (bytes as T) : codec.decode(bytes));
    const consumer = new QueueConsumer<T>(this.zk, { ...options, path: this.path, names: this.#names, work }, decode, {
      claims,
      claimsPath: lockPath,
    });
    this.#consumers.add(consumer);
    const forget = (): boolean => this.#consumers.delete(consumer);
    consumer.finished().then(forget, forget);
    return consumer;
  }

  /** Waits for what has been put so far. What failed was told to whoever put it. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#puts);
  }

  /** How many nodes there are, those that are worked on included. */
  async size(): Promise<number> {
    return (await this.items()).length;
  }

  /** Closes its consumers, and waits for what was put. */
  async close(): Promise<void> {
    await Promise.all([...this.#consumers].map((consumer) => consumer.close()));
    await this.flush();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One node with some items, which are worked on one after the other. */
  protected putNode(prefix: string, items: readonly T[], options: WaitOptions): Promise<void> {
    const putting = this.#put(prefix, items, options);
    this.#puts.add(putting);
    const forget = (): boolean => this.#puts.delete(putting);
    putting.then(forget, forget);
    return putting;
  }

  protected async items(): Promise<readonly string[]> {
    try {
      return inQueueOrder((await this.zk.children(this.path)).names, this.#names);
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return [];
      throw error;
    }
  }

  async #put(prefix: string, items: readonly T[], options: WaitOptions): Promise<void> {
    using patience = new Patience(options, `put into ${this.path}`);
    const { signal } = patience;
    const { codec, itemCountMax } = this.#options;
    const data = encodeItems(items.map((item) => (codec === undefined ? (item as Uint8Array) : codec.encode(item))));
    if (itemCountMax !== undefined) await this.#room(itemCountMax, signal);
    const mode = { mode: "persistent-sequential", parents: "container", signal } as const;
    await this.zk.create(joinPath(this.path, prefix), data, mode);
  }

  async #room(itemCountMax: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { names, watch } = await watchedChildren(this.zk, this.path, signal);
      using _ = watch;
      if (names.length < itemCountMax) return;
      await unlessAborted(watch.fired, signal);
    }
  }
}

interface Consuming<T> extends ConsumeOptions {
  readonly path: string;
  readonly names: QueueNames;
  readonly work: Work<T>;
}

interface Claiming {
  readonly claims: Claims | undefined;
  readonly claimsPath: string | undefined;
}

class QueueConsumer<T> implements Consumer {
  readonly #zk: Client;
  readonly #consuming: Consuming<T>;
  readonly #decode: (bytes: Uint8Array) => T;
  readonly #claiming: Claiming;
  readonly #closing = new AbortController();
  readonly #working = new Map<string, Promise<void>>();
  /** Not looked at again. */
  readonly #unreadable = new Set<string>();
  readonly #ended: Promise<void>;
  /** An item is still there though nothing has changed. */
  #hasFailed = Promise.withResolvers<void>();

  constructor(zk: Client, consuming: Consuming<T>, decode: (bytes: Uint8Array) => T, claiming: Claiming) {
    const { concurrency = 1 } = consuming;
    if (!Number.isInteger(concurrency) || concurrency < 1) {
      throw new RangeError(`concurrency is a whole number of at least 1, found ${concurrency}`);
    }
    this.#zk = zk;
    this.#consuming = consuming;
    this.#decode = decode;
    this.#claiming = claiming;
    this.#ended = this.#run();
    // `close` and `finished` tell.
    this.#ended.catch(() => {});
  }

  finished(): Promise<void> {
    return this.#ended;
  }

  async close(): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `the consumer of ${this.#consuming.path} is closed`));
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await keepOn(this.#zk, signal, () => this.#look(signal));
    } catch (error) {
      if (!signal.aborted && !isZkError(error, "CLIENT_CLOSED")) throw error;
    } finally {
      await Promise.all(this.#working.values());
    }
  }

  /** Lists the items once, begins to work on them, and waits until there may be others. */
  async #look(signal: AbortSignal): Promise<void> {
    const { path, names, concurrency = 1 } = this.#consuming;
    const { claimsPath } = this.#claiming;
    this.#hasFailed = Promise.withResolvers();
    const claimed = claimsPath === undefined ? undefined : await watchedChildren(this.#zk, claimsPath, signal);
    using _claimed = claimed?.watch;
    const items = await watchedChildren(this.#zk, path, signal);
    using _items = items.watch;
    const changed = Promise.race(
      claimed === undefined ? [items.watch.fired] : [items.watch.fired, claimed.watch.fired],
    );
    let isStale = false;
    changed.then(
      () => {
        isStale = true;
      },
      () => {},
    );
    const taken = new Set(claimed?.names);
    const nowMs = Date.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const name of inQueueOrder(items.names, names)) {
      if (taken.has(name) || this.#working.has(name) || this.#unreadable.has(name)) continue;
      const dueMs = names.dueMs(name) ?? nowMs;
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      while (this.#working.size >= concurrency) await unlessAborted(Promise.race(this.#working.values()), signal);
      if (isStale && names.isReordered) return;
      this.#begin(name);
    }
    using timer = new Due(nextMs - nowMs);
    // An item that somebody else had taken may have come back.
    await unlessAborted(Promise.race([changed, timer.due, this.#hasFailed.promise]), signal);
  }

  #begin(name: string): void {
    const working = this.#one(joinPath(this.#consuming.path, name), name)
      .catch(async (error: unknown) => {
        this.#tell(error, name);
        if (isZkError(error) && error.retriable) await writable(this.#zk, this.#closing.signal).catch(() => {});
        this.#hasFailed.resolve();
      })
      .finally(() => this.#working.delete(name));
    this.#working.set(name, working);
  }

  #one(path: string, name: string): Promise<void> {
    const { claims } = this.#claiming;
    return claims === undefined ? this.#atMostOnce(path, name) : this.#atLeastOnce(claims, path, name);
  }

  async #atLeastOnce(claims: Claims, path: string, name: string): Promise<void> {
    const claimed = await claims.claim(path);
    if (claimed === null) return;
    await using _ = { [Symbol.asyncDispose]: () => claimed.release() };
    const data = payloadBytes(claimed.item.data);
    const items = this.#read(data, name);
    if (items === undefined) return;
    const { lease } = claimed;
    const isDone = await this.#work(items, { path, lease, signal: lease.signal });
    await claimed.finish(isDone ? undefined : await this.#afterFailure(name, data));
  }

  async #atMostOnce(path: string, name: string): Promise<void> {
    const zk = this.#zk;
    const node = await zk.getOrNull(path);
    if (node === null) return;
    const data = payloadBytes(node.data);
    const items = this.#read(data, name);
    if (items === undefined) return;
    try {
      await zk.delete(path, { version: node.stat.version });
    } catch (error) {
      // Somebody else has it.
      if (isZkError(error, "NO_NODE") || isZkError(error, "BAD_VERSION")) return;
      throw error;
    }
    if (await this.#work(items, { path, lease: undefined, signal: new AbortController().signal })) return;
    const again = zk.transaction() as unknown as Transaction<undefined[]>;
    const further = await this.#afterFailure(name, data);
    if (further === undefined) return;
    further(again);
    await again.commit();
  }

  /** Undefined, and told, where the node holds something else. */
  #read(data: Uint8Array, name: string): readonly T[] | undefined {
    try {
      return decodeItems(data).map(this.#decode);
    } catch (error) {
      this.#unreadable.add(name);
      this.#tell(error, name);
      return undefined;
    }
  }

  async #work(items: readonly T[], context: ItemContext): Promise<boolean> {
    try {
      for (const item of items) await this.#consuming.work(item, context);
      return true;
    } catch (error) {
      this.#consuming.onError?.(error, context.path);
      return false;
    }
  }

  /** What happens in the transaction that ends the failed work. */
  async #afterFailure(
    name: string,
    data: Uint8Array,
  ): Promise<((transaction: Transaction<undefined[]>) => void) | undefined> {
    const { onFailure = "requeue", path } = this.#consuming;
    if (onFailure === "drop") return undefined;
    const [queue, prefix] = onFailure === "requeue" ? [path, withoutNumber(name)] : [onFailure.moveTo, PLAIN_PREFIX];
    await makeNamed(this.#zk, { path: queue, data: "", mode: "container" });
    const mode = { mode: "persistent-sequential" } as const;
    return (transaction) => void transaction.create(joinPath(queue, prefix), data, mode);
  }

  #tell(error: unknown, name: string): void {
    if (isRecipeError(error, "LEASE_LOST") || isZkError(error, "CLIENT_CLOSED")) return;
    this.#consuming.onError?.(error, joinPath(this.#consuming.path, name));
  }
}

/** With a watch on what comes and goes. The parent goes when it has been empty for a while, and is made again. */
export async function watchedChildren(
  zk: Client,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly names: readonly string[]; readonly watch: OneShotWatch }> {
  for (;;) {
    try {
      return await zk.children(path, { watch: true, signal });
    } catch (error) {
      if (!isZkError(error, "NO_NODE")) throw error;
    }
    await makeNamed(zk, { path, data: "", mode: "container", signal });
  }
}

const TIMER_MS_MAX = 2 ** 31 - 1;

/** Time that passes; nothing is left of it. */
class Due implements Disposable {
  readonly due: Promise<void>;
  readonly #over = new AbortController();

  constructor(inMs: number) {
    this.due =
      inMs === Number.POSITIVE_INFINITY
        ? new Promise(() => {})
        : pause(Math.min(TIMER_MS_MAX, Math.max(0, inMs)), undefined, { signal: this.#over.signal }).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}
