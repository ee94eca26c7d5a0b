import {
  type Client,
  type Codec,
  isZkError,
  type OneShotWatch,
  type Transaction,
  TransactionError,
} from "@zooid/client";
import { checkPath, joinPath } from "@zooid/model";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import type { HoldOptions, Lease } from "../leases/lease.ts";
import { keepOn, unlessAborted, writable } from "../leases/waiting.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { pause } from "../pause.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import { Claims } from "./claims.ts";
import { Deliveries, type Delivery, type Step } from "./deliveries.ts";
import { decodeItems, encodeItems } from "./queue-item.ts";
import { inQueueOrder, PLAIN_PREFIX, type QueueNames, withoutNumber } from "./queue-names.ts";

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
  /** Which delivery of the item this is, 1 for the first; undefined where deliveries are not bounded. */
  readonly delivery: number | undefined;
}

export type Work<T> = (item: T, context: ItemContext) => void | Promise<void>;

export interface ConsumeOptions {
  /** How many nodes are worked on at a time. Default 1, which keeps the order. */
  readonly concurrency?: number | undefined;
  /**
   * What becomes of an item whose work fails: it is put to the end of its like, or dropped, or moved to another queue's path, or requeued so often
   * and then dropped or moved. Default `requeue`, without end.
   */
  readonly onFailure?: "requeue" | "drop" | { readonly moveTo: string } | DeliveryBound | undefined;
  /**
   * Is told of each failure, of items that cannot be read, which stay where they are, and of those that are not delivered because they were too
   * often.
   */
  readonly onError?: ((error: unknown, path: string) => void) | undefined;
}

/**
 * Requeues an item whose work fails until it has been delivered so often. The count is kept in `<path>-deliveries`, a node for each item that needs
 * one; all who consume from the queue should bound its deliveries, since whoever does not begins the count anew.
 */
export interface DeliveryBound {
  /** How often an item is delivered at most: a whole number of at least 1. */
  readonly deliveryCountMax: number;
  /** What becomes of it when the last of these deliveries has failed: it is dropped, or moved to another queue's path. */
  readonly afterLast: "drop" | { readonly moveTo: string };
  /**
   * Which deliveries count. `failures`: those whose work has failed, which costs no write while all goes well; who dies at work, or loses the session
   * or the item, has not failed. `deliveries`: all, for they are counted before work begins, which costs a write for each; so an item that kills its
   * consumers comes to an end, but one whose consumers were only stopped or cut off may too. It needs a `lockPath`: without one an item ends
   * with its consumer anyway. Default `failures`.
   */
  readonly counted?: "failures" | "deliveries" | undefined;
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
    using deadline = new Deadline(options, `put into ${this.path}`);
    const { signal } = deadline;
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

/** An item whose work has failed, or that is not to be worked on any more. */
interface Failed {
  readonly name: string;
  readonly data: Uint8Array;
  /** Where deliveries are bounded. */
  readonly delivery: Delivery | undefined;
}

type Fate = "requeue" | "drop" | { readonly moveTo: string };

class QueueConsumer<T> implements Consumer {
  readonly #zk: Client;
  readonly #consuming: Consuming<T>;
  readonly #decode: (bytes: Uint8Array) => T;
  readonly #claiming: Claiming;
  readonly #bound: DeliveryBound | undefined;
  readonly #deliveries: Deliveries | undefined;
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
    this.#bound = checkedBound(consuming, claiming);
    this.#deliveries = this.#bound === undefined ? undefined : new Deliveries(zk, consuming.path);
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
    await this.#deliveries?.sweep(items.names, signal);
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
    const delivery = await this.#deliveries?.of(name, claimed.item.stat);
    if (this.#bound?.counted === "deliveries" && !this.#isTooMany(delivery?.number)) {
      if (!(await delivery?.begin(lease))) return;
    }
    const isDone = await this.#work(items, { path, lease, signal: lease.signal, delivery: delivery?.number });
    if (isDone) await claimed.finish(delivery?.forget);
    // Who has lost the item has no say in what becomes of it.
    else if (!lease.signal.aborted) {
      await this.#afterFailure({ name, data, delivery }, (further) => claimed.finish(further));
    }
  }

  async #atMostOnce(path: string, name: string): Promise<void> {
    const zk = this.#zk;
    const node = await zk.getOrNull(path);
    if (node === null) return;
    const data = payloadBytes(node.data);
    const items = this.#read(data, name);
    if (items === undefined) return;
    const delivery = await this.#deliveries?.of(name, node.stat);
    const { version } = node.stat;
    try {
      await (delivery === undefined ? zk.delete(path, { version }) : delivery.take(version));
    } catch (error) {
      const isAboutItem = !(error instanceof TransactionError) || error.failedIndex === 0;
      // Somebody else has it.
      if (isAboutItem && (isZkError(error, "NO_NODE") || isZkError(error, "BAD_VERSION"))) return;
      throw error;
    }
    const { signal } = new AbortController();
    if (await this.#work(items, { path, lease: undefined, signal, delivery: delivery?.number })) return;
    for (;;) {
      try {
        return await this.#afterFailure({ name, data, delivery }, async (further) => {
          if (further === undefined) return;
          const again = zk.transaction() as unknown as Transaction<undefined[]>;
          further(again);
          await again.commit();
        });
      } catch (error) {
        // Its place, or the queue itself, went in between, with a session or for being empty. Nobody else has the item.
        if (!(error instanceof TransactionError)) throw error;
        if (error.code !== "NO_NODE" && error.code !== "NODE_EXISTS") throw error;
      }
    }
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
    const { delivery } = context;
    try {
      if (this.#isTooMany(delivery))
        throw new Error(`not delivered: deliveries so far ${delivery - 1}, at most ${this.#bound?.deliveryCountMax}`);
      for (const item of items) await this.#consuming.work(item, context);
      return true;
    } catch (error) {
      this.#consuming.onError?.(error, context.path);
      return false;
    }
  }

  /** Says what happens in the transaction that ends the failed work; undefined for nothing more. */
  async #afterFailure(
    { name, data, delivery }: Failed,
    end: (further: Step | undefined) => Promise<unknown>,
  ): Promise<void> {
    const { path } = this.#consuming;
    const fate = this.#fateOf(delivery);
    if (fate === "drop") return void (await end(delivery?.forget));
    if (fate === "requeue" && delivery !== undefined) {
      using next = await delivery.drawNext(withoutNumber(name));
      return void (await end((transaction) => next.fill(transaction, data)));
    }
    const [queue, prefix] = fate === "requeue" ? [path, withoutNumber(name)] : [fate.moveTo, PLAIN_PREFIX];
    await makeNamed(this.#zk, { path: queue, data: "", mode: "container" });
    const mode = { mode: "persistent-sequential" } as const;
    await end((transaction) => {
      delivery?.forget?.(transaction);
      transaction.create(joinPath(queue, prefix), data, mode);
    });
  }

  #isTooMany(delivery: number | undefined): delivery is number {
    return delivery !== undefined && this.#bound !== undefined && delivery > this.#bound.deliveryCountMax;
  }

  #fateOf(delivery: Delivery | undefined): Fate {
    const { onFailure = "requeue" } = this.#consuming;
    if (!isBound(onFailure)) return onFailure;
    return delivery !== undefined && delivery.number < onFailure.deliveryCountMax ? "requeue" : onFailure.afterLast;
  }

  #tell(error: unknown, name: string): void {
    if (isRecipeError(error, "LEASE_LOST") || isZkError(error, "CLIENT_CLOSED")) return;
    this.#consuming.onError?.(error, joinPath(this.#consuming.path, name));
  }
}

/** The bound, where there is one. @throws RangeError for any other `onFailure` than there are */
function checkedBound(
  { onFailure = "requeue", path }: Pick<ConsumeOptions, "onFailure"> & { readonly path: string },
  { claims }: Claiming,
): DeliveryBound | undefined {
  if (!isBound(onFailure)) {
    if (onFailure === "requeue" || isFate(onFailure)) return undefined;
    const forms = '"requeue", "drop", { moveTo } or { deliveryCountMax, afterLast }';
    throw new RangeError(`onFailure is ${forms}, found ${shown(onFailure)}`);
  }
  const { deliveryCountMax, afterLast, counted = "failures" } = onFailure;
  if (!Number.isSafeInteger(deliveryCountMax) || deliveryCountMax < 1) {
    throw new RangeError(`deliveryCountMax is a whole number of at least 1, found ${shown(deliveryCountMax)}`);
  }
  if (!isFate(afterLast)) {
    throw new RangeError(`afterLast is "drop" or { moveTo }, found ${shown(afterLast)}`);
  }
  if (afterLast !== "drop") {
    checkPath(afterLast.moveTo);
    // There it would begin anew.
    if (afterLast.moveTo === path)
      throw new RangeError(`afterLast moves to another path than the queue's, found ${path}`);
  }
  if (counted !== "failures" && counted !== "deliveries") {
    throw new RangeError(`counted is "failures" or "deliveries", found ${shown(counted)}`);
  }
  if (counted === "deliveries" && claims === undefined) {
    throw new RangeError('counted is "failures" where the queue has no lockPath, found "deliveries"');
  }
  return onFailure;
}

function isBound(onFailure: Fate | DeliveryBound): onFailure is DeliveryBound {
  return typeof onFailure === "object" && onFailure !== null && "deliveryCountMax" in onFailure;
}

function isFate(value: unknown): value is DeliveryBound["afterLast"] {
  return (
    value === "drop" ||
    (typeof value === "object" && value !== null && "moveTo" in value && typeof value.moveTo === "string")
  );
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
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
