import { type Client, type Codec, isZkError, pause, type Transaction, TransactionError } from "@zooid/client";
import {
  ArgumentError,
  anyRule,
  checkArgument,
  checkFit,
  checkRecord,
  found,
  joinPath,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
} from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { atOnce } from "../at-once.ts";
import { FailureReports } from "../failure-reports.ts";
import { Deadline, type WaitOptions, within } from "../leases/deadline.ts";
import { HOLD, type HoldOptions, type Lease } from "../leases/lease.ts";
import { OwnWork } from "../leases/own-work.ts";
import { RetryPace } from "../leases/retry-pace.ts";
import { isReasonOf, isRefusedForNow, keepOn, unlessAborted, writable } from "../leases/waiting.ts";
import { makeNamed, watchedChildren } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { orNull } from "../nodes/refusals.ts";
import { type CodedNode, decodedBy, encodedValue } from "../nodes/values.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import { useClaimPath } from "./claim-paths.ts";
import { Claims } from "./claims.ts";
import { type CountedDelivery, Deliveries, type Step } from "./deliveries.ts";
import { decodeItems, encodeItems } from "./queue-item.ts";
import { inQueueOrder, isItem, PLAIN_PREFIX, type QueueNames, withoutNumber } from "./queue-names.ts";

export interface QueueOptions<T> extends HoldOptions {
  /** Codec of items. Default: bytes. */
  readonly codec?: Codec<T> | undefined;
  /**
   * Path of the claims on items. With it an item stays in the queue until its work is done: at
   * least once. Without it an item is deleted before its work begins: at most once. All clients of
   * the queue must agree, and each queue needs a path of its own, outside of its own path.
   */
  readonly lockPath?: string | undefined;
  /**
   * Maximum number of nodes: further puts wait, until the queue is closed. Two concurrent puts may
   * both find the last free place. Default: unlimited.
   */
  readonly itemCountMax?: number | undefined;
}

/** Context of the work on an item. */
export interface ItemContext {
  /** Aborts when the item may be given to another client. */
  readonly signal: AbortSignal;
  /** The claim on the item, with its token and guard; undefined without `lockPath`. */
  readonly lease: Lease | undefined;
  /** Path of the item's node. */
  readonly path: string;
  /** Number of the delivery, 1 for the first; undefined if deliveries are not bounded. */
  readonly delivery: number | undefined;
}

export type Work<T> = (item: T, context: ItemContext) => void | Promise<void>;

export interface ConsumeOptions {
  /** Number of nodes in work at a time. Default 1, which keeps the order. */
  readonly concurrency?: number | undefined;
  /**
   * What to do with an item whose work fails: requeue it, drop it, move it to another queue's path,
   * or requeue it a limited number of times and then drop or move it. Default `requeue`, without
   * limit.
   */
  readonly onFailure?: "requeue" | "drop" | { readonly moveTo: string } | DeliveryBound | undefined;
  /**
   * Called for each failure, for unreadable items, which stay in the queue, for items that are not
   * delivered because they have reached their limit, and, with the queue's path, for the permanent
   * error that ends the consumer. The reason of the work's signal is no failure. Without it there
   * are warnings (`ZOOID_FAILED`), one in ten seconds at most.
   */
  readonly onError?: ((error: unknown, path: string) => void) | undefined;
}

/**
 * Requeues an item whose work fails, up to a number of deliveries. The count is kept in
 * `<path>-deliveries`, in a node for each item that needs one; all consumers of the queue should
 * use it, since those that do not reset the count.
 */
export interface DeliveryBound {
  /** Maximum number of deliveries of an item: a whole number of at least 1. */
  readonly deliveryCountMax: number;
  /**
   * What to do with it when the last of these deliveries has failed: drop it, or move it to another
   * queue's path.
   */
  readonly afterLast: "drop" | { readonly moveTo: string };
  /**
   * The deliveries that count. `failures`: those whose work has failed, which costs no write
   * otherwise; a consumer that dies, or loses its session or the item, has not failed.
   * `deliveries`: all, since they are counted before the work begins, which costs a write for each;
   * so an item that kills its consumers reaches the limit, but so may one whose consumers were only
   * stopped or disconnected. Needs a `lockPath`: without one an item ends with its consumer anyway.
   * Default `failures`.
   */
  readonly counted?: "failures" | "deliveries" | undefined;
}

/** Works on items until it is closed. */
export interface Consumer extends AsyncDisposable {
  /**
   * Takes no more items and waits for work in progress; from inside of the work, for all other
   * work. May be repeated. A permanent error was reported when it happened.
   */
  close(options?: WaitOptions): Promise<void>;
  /** Resolves when it is closed. @throws permanent errors */
  finished(): Promise<void>;
}

const SHAPE: Shape<QueueOptions<unknown>> = shape<QueueOptions<unknown>>({
  ...HOLD,
  codec: rules.codec,
  lockPath: rules.path,
  itemCountMax: wholeNumberRule(1),
});
/** Items without a codec. */
const BYTES: Rule = { ...rules.bytes, expected: "a Uint8Array, where the queue has no codec" };
const CONSUME: Shape<ConsumeOptions> = shape<ConsumeOptions>({
  concurrency: wholeNumberRule(1),
  onFailure: rules.anything,
  onError: rules.callable,
});
const BOUND: Shape<DeliveryBound> = shape<DeliveryBound>({
  deliveryCountMax: wholeNumberRule(1),
  afterLast: { expected: '"drop" or { moveTo }', accepts: (value) => value === "drop" || rules.record.accepts(value) },
  counted: wordRule("failures", "deliveries"),
});
const FATE: Rule = {
  ...anyRule(wordRule("requeue", "drop"), rules.record),
  expected: '"requeue", "drop", { moveTo } or { deliveryCountMax, afterLast }',
};
const MOVE: Shape<{ moveTo: string }> = shape<{ moveTo: string }>({ moveTo: rules.path });

/** The common part of Curator's queues. */
export abstract class WorkQueue<T> implements AsyncDisposable {
  readonly path: string;
  protected readonly zk: Client;
  readonly #names: QueueNames;
  readonly #options: QueueOptions<T>;
  readonly #closing = new AbortController();
  readonly #puts = new Set<Promise<void>>();
  readonly #consumers = new Set<Consumer>();
  #isClosed = false;

  constructor(zk: Client, path: string, names: QueueNames, options: QueueOptions<T>) {
    checkArguments("queue", zk, path, options, SHAPE);
    const { lockPath } = options;
    // A claim has the item's name, and would be the item, a child of the queue, or beside all else.
    if (lockPath !== undefined && (lockPath === "/" || isWithin(lockPath, path)))
      throw new ArgumentError("queue", [
        `lockPath is a path outside of the queue's, ${path}, and not the root, found ${found(lockPath)}`,
      ]);
    this.zk = zk;
    this.path = path;
    this.#names = names;
    this.#options = options;
  }

  /** Starts to work on items as they come. @throws RECIPE_CLOSED */
  consume(work: Work<T>, options: ConsumeOptions = {}): Consumer {
    checkArgument(`consume ${this.path}`, "the work", work, rules.callable);
    checkFit(`consume ${this.path}`, options, CONSUME);
    this.#closing.signal.throwIfAborted();
    const { codec, lockPath } = this.#options;
    const unuse = lockPath === undefined ? undefined : useClaimPath(this.zk, lockPath, this.path);
    const claims = lockPath === undefined ? undefined : new Claims(this.zk, lockPath, this.#options);
    const decode = (bytes: Uint8Array): T =>
      codec === undefined ? (bytes as T) : atOnce(`consume ${this.path}`, "decode of the codec", codec.decode(bytes));
    const consumer: QueueConsumer<T> = new QueueConsumer<T>(
      this.zk,
      { ...options, path: this.path, names: this.#names, work },
      decode,
      {
        claims,
        claimsPath: lockPath,
      },
    );
    this.#consumers.add(consumer);
    const forget = (): void => {
      this.#consumers.delete(consumer);
      unuse?.();
    };
    consumer.finished().then(forget, forget);
    return consumer;
  }

  /** Waits for all earlier puts. Their errors go to their callers. */
  async flush(): Promise<void> {
    await Promise.allSettled(this.#puts);
  }

  /** The number of nodes, including those in work. @throws RECIPE_CLOSED */
  async size(): Promise<number> {
    return (await this.items()).length;
  }

  /**
   * Closes its consumers, and waits for earlier puts. From now on a put waits for room no more: in
   * a full queue it throws RECIPE_CLOSED. When it has closed, as work in progress may put until
   * then, every call throws RECIPE_CLOSED. May be repeated.
   */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `the queue ${this.path} is closed`));
    const closed = Promise.all([...this.#consumers].map((consumer) => consumer.close()));
    const ended = closed
      .then(() => this.flush())
      .then(() => {
        this.#isClosed = true;
      });
    await within(ended, options, `close the queue ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One node with its items, which are worked on one after the other. */
  protected putNode(prefix: string, items: readonly T[], options: WaitOptions): Promise<void> {
    const putting = this.#put(prefix, items, options);
    this.#puts.add(putting);
    const forget = (): boolean => this.#puts.delete(putting);
    putting.then(forget, forget);
    return putting;
  }

  /** @throws RECIPE_CLOSED */
  protected async items(): Promise<readonly string[]> {
    this.#assertOpen();
    const listing = await orNull(this.zk.children(this.path), "NO_NODE");
    return inQueueOrder(listing?.names ?? [], this.#names);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw this.#closing.signal.reason;
  }

  async #put(prefix: string, items: readonly T[], options: WaitOptions): Promise<void> {
    using deadline = new Deadline(options, `put into ${this.path}`);
    this.#assertOpen();
    const { signal } = deadline;
    const { codec, itemCountMax } = this.#options;
    checkArgument(`put into ${this.path}`, "the items", items, rules.list);
    const data = encodeItems(
      // Holes of the array are items too, which are refused.
      Array.from(items, (value, i) => this.#encoded(value, codec, items.length === 1 ? "the item" : `items[${i}]`)),
    );
    if (itemCountMax !== undefined) await this.#room(itemCountMax, signal);
    const mode = { mode: "persistent-sequential", parents: "container", signal } as const;
    await this.zk.create(joinPath(this.path, prefix), data, mode);
  }

  /** @throws ArgumentError for an item that no consumer could read */
  #encoded(value: T, codec: Codec<T> | undefined, name: string): Uint8Array {
    if (codec !== undefined) return encodedValue(`put ${name}`, this.path, { codec, value });
    checkArgument(`put into ${this.path}`, name, value, BYTES);
    return value as Uint8Array;
  }

  async #room(itemCountMax: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { names, watch } = await watchedChildren(this.zk, this.path, signal);
      using _ = watch;
      if (names.filter(isItem).length < itemCountMax) return;
      await unlessAborted(watch.fired, AbortSignal.any([signal, this.#closing.signal]));
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

/** An item whose work has failed, or that has reached its limit. */
interface Failed {
  readonly name: string;
  readonly data: Uint8Array;
  /** If deliveries are bounded. */
  readonly delivery: CountedDelivery | undefined;
}

type Fate = "requeue" | "drop" | { readonly moveTo: string };

interface Refused {
  readonly pace: RetryPace;
  readonly untilMs: number;
}

class QueueConsumer<T> implements Consumer {
  readonly #zk: Client;
  readonly #consuming: Consuming<T>;
  readonly #decode: (bytes: Uint8Array) => T;
  readonly #claiming: Claiming;
  readonly #bound: DeliveryBound | undefined;
  readonly #deliveries: Deliveries | undefined;
  readonly #closing = new AbortController();
  readonly #own = new OwnWork();
  readonly #reports: FailureReports<[path: string]>;
  readonly #working = new Map<string, Promise<void>>();
  /** Items that are skipped. */
  readonly #unreadable = new Set<string>();
  /**
   * Items that the servers refuse, as one that may not be read: they are tried again after pauses.
   */
  readonly #refused = new Map<string, Refused>();
  readonly #ended: Promise<void>;
  /** An unchanged item. */
  #hasFailed = Promise.withResolvers<void>();

  constructor(zk: Client, consuming: Consuming<T>, decode: (bytes: Uint8Array) => T, claiming: Claiming) {
    this.#bound = checkedBound(consuming, claiming);
    this.#deliveries = this.#bound === undefined ? undefined : new Deliveries(zk, consuming.path);
    this.#zk = zk;
    this.#reports = new FailureReports(zk, consuming.onError);
    this.#consuming = consuming;
    this.#decode = decode;
    this.#claiming = claiming;
    this.#ended = this.#run();
    // It was reported, and `finished` throws it.
    this.#ended.catch(() => {});
  }

  finished(): Promise<void> {
    return this.#ended;
  }

  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `the consumer of ${this.#consuming.path} is closed`));
    await within(
      this.#own.untilEnded(this.#ended.catch(() => {})),
      options,
      `close the consumer of ${this.#consuming.path}`,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    try {
      await keepOn(this.#zk, signal, () => this.#look(signal));
    } catch (error) {
      if (signal.aborted || isZkError(error, "CLIENT_CLOSED")) return;
      const { path } = this.#consuming;
      this.#reports.reportEnd(`the consumer of ${path} has ended`, error, path);
      throw error;
    } finally {
      await Promise.all(this.#working.values());
    }
  }

  /** Lists the items once, starts work on them, and waits until there may be others. */
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
    this.#keepOnly(new Set(items.names));
    const taken = new Set(claimed?.names);
    const nowMs = Date.now();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const name of inQueueOrder(items.names, names)) {
      if (taken.has(name) || this.#working.has(name) || this.#unreadable.has(name)) continue;
      const dueMs = Math.max(names.dueMs(name) ?? nowMs, nowMs + this.#refusedMs(name));
      if (dueMs > nowMs) {
        nextMs = Math.min(nextMs, dueMs);
        continue;
      }
      while (this.#working.size >= concurrency) await unlessAborted(Promise.race(this.#working.values()), signal);
      if (isStale && names.isReordered) return;
      this.#begin(name);
    }
    using timer = new Due(nextMs - nowMs);
    // An item that another client had claimed may have been released.
    await unlessAborted(Promise.race([changed, timer.due, this.#hasFailed.promise]), signal);
  }

  #begin(name: string): void {
    const working = this.#one(joinPath(this.#consuming.path, name), name)
      .then(() => void this.#refused.delete(name))
      .catch(async (error: unknown) => {
        this.#report(error, name);
        if (!isZkError(error) || !error.retriable || isRefusedForNow(error)) this.#refuse(name);
        else await writable(this.#zk, this.#closing.signal).catch(() => {});
        this.#hasFailed.resolve();
      })
      .finally(() => this.#working.delete(name));
    this.#working.set(name, working);
  }

  #refuse(name: string): void {
    const { pace } = this.#refused.get(name) ?? { pace: new RetryPace() };
    this.#refused.set(name, { pace, untilMs: performance.now() + pace.pauseMs(performance.now()) });
  }

  /** Time until a refused item is tried again, whatever the wall clock does; 0 for others. */
  #refusedMs(name: string): number {
    return Math.max(0, (this.#refused.get(name)?.untilMs ?? 0) - performance.now());
  }

  /** Items that are gone are forgotten: another one of the name is another item. */
  #keepOnly(present: ReadonlySet<string>): void {
    for (const name of this.#unreadable) if (!present.has(name)) this.#unreadable.delete(name);
    for (const name of this.#refused.keys()) if (!present.has(name)) this.#refused.delete(name);
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
    const items = this.#read({ path, data, stat: claimed.item.stat }, name);
    if (items === undefined) return;
    const { lease } = claimed;
    const delivery = await this.#deliveries?.of(name, claimed.item.stat);
    if (this.#bound?.counted === "deliveries" && !this.#isTooMany(delivery?.number)) {
      if (!(await delivery?.begin(lease))) return;
    }
    const isDone = await this.#work(items, { path, lease, signal: lease.signal, delivery: delivery?.number });
    if (isDone) await claimed.finish(delivery?.forget);
    // A consumer that has lost the item must not decide about it.
    else if (!lease.signal.aborted) {
      await this.#afterFailure({ name, data, delivery }, (further) => claimed.finish(further));
    }
    // The item is there, and no watch reports that this consumer may claim it again.
    if (lease.lostReason !== undefined) throw lease.signal.reason;
  }

  async #atMostOnce(path: string, name: string): Promise<void> {
    const zk = this.#zk;
    const node = await zk.getOrNull(path);
    if (node === null) return;
    const data = payloadBytes(node.data);
    const items = this.#read({ path, data, stat: node.stat }, name);
    if (items === undefined) return;
    const delivery = await this.#deliveries?.of(name, node.stat);
    const { version } = node.stat;
    try {
      await (delivery === undefined ? zk.delete(path, { version }) : delivery.take(version));
    } catch (error) {
      const isAboutItem = !(error instanceof TransactionError) || error.failedIndex === 0;
      // Another client has claimed it.
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
        // Its place, or the queue itself, was removed in between, with a session or for being
        // empty. No other client has the item.
        if (!(error instanceof TransactionError)) throw error;
        if (error.code !== "NO_NODE" && error.code !== "NODE_EXISTS") throw error;
      }
    }
  }

  /** Undefined, and reported, for other data. */
  #read(node: CodedNode & { readonly data: Uint8Array }, name: string): readonly T[] | undefined {
    try {
      return decodedBy(() => decodeItems(node.data).map(this.#decode), node);
    } catch (error) {
      this.#unreadable.add(name);
      this.#report(error, name);
      return undefined;
    }
  }

  async #work(items: readonly T[], context: ItemContext): Promise<boolean> {
    const { delivery } = context;
    try {
      if (this.#isTooMany(delivery))
        throw new Error(`not delivered: deliveries so far ${delivery - 1}, at most ${this.#bound?.deliveryCountMax}`);
      await this.#own.runEach(
        items.map((item) => () => this.#consuming.work(item, context)),
        context.signal,
      );
      return true;
    } catch (error) {
      if (!isReasonOf(context.signal, error)) {
        this.#reports.report(`the work on ${context.path} has failed`, error, context.path);
      }
      return false;
    }
  }

  /** The steps that handle the failed work in its final transaction; undefined for none. */
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

  #fateOf(delivery: CountedDelivery | undefined): Fate {
    const { onFailure = "requeue" } = this.#consuming;
    if (!isBound(onFailure)) return onFailure;
    return delivery !== undefined && delivery.number < onFailure.deliveryCountMax ? "requeue" : onFailure.afterLast;
  }

  #report(error: unknown, name: string): void {
    if (isRecipeError(error, "LEASE_LOST") || isZkError(error, "CLIENT_CLOSED")) return;
    const path = joinPath(this.#consuming.path, name);
    this.#reports.report(`${path} was not worked on`, error, path);
  }
}

/** The limit, if there is one. @throws ArgumentError for an invalid `onFailure` */
function checkedBound(
  { onFailure = "requeue", path }: Pick<ConsumeOptions, "onFailure"> & { readonly path: string },
  { claims, claimsPath }: Claiming,
): DeliveryBound | undefined {
  const what = `consume ${path}`;
  if (onFailure === "requeue") return undefined;
  const own = [path, ...(claimsPath === undefined ? [] : [claimsPath])];
  if (!isBound(onFailure)) {
    checkArgument(what, "onFailure", onFailure, FATE);
    checkFate(what, onFailure, own);
    return undefined;
  }
  checkRecord(what, onFailure, BOUND, ["deliveryCountMax", "afterLast"]);
  checkFate(what, onFailure.afterLast, own);
  if (onFailure.counted === "deliveries" && claims === undefined) {
    throw new ArgumentError(what, ['counted is "failures" where the queue has no lockPath, found "deliveries"']);
  }
  return onFailure;
}

/**
 * Checks what becomes of an item. Moved into its own queue it would be tried again at once, without
 * a count.
 *
 * @param own paths that are not another queue's
 */
function checkFate(what: string, fate: Fate, own: readonly string[]): void {
  if (typeof fate === "string") return;
  checkRecord(what, fate, MOVE, ["moveTo"]);
  const { moveTo } = fate;
  // Every path is below a queue at the root.
  if (own.some((path) => moveTo === path || (path !== "/" && isWithin(moveTo, path)))) {
    throw new ArgumentError(what, [
      `moveTo is a path outside of those of the queue and its claims, found ${found(moveTo)}`,
    ]);
  }
}

function isBound(onFailure: Fate | DeliveryBound): onFailure is DeliveryBound {
  return typeof onFailure === "object" && onFailure !== null && "deliveryCountMax" in onFailure;
}

function isWithin(path: string, ancestor: string): boolean {
  return path === ancestor || path.startsWith(ancestor === "/" ? "/" : `${ancestor}/`);
}

/** A pause without traces. */
class Due implements Disposable {
  readonly due: Promise<void>;
  readonly #over = new AbortController();

  constructor(inMs: number) {
    this.due = pause(Math.max(0, inMs), { signal: this.#over.signal }).catch(() => {});
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}
