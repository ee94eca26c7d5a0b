import { type Client, isZkError, pause, type Transaction, TransactionError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { FailureReports } from "../failure-reports.ts";
import { type WaitOptions, within } from "../leases/deadline.ts";
import type { Lease } from "../leases/lease.ts";
import { OwnWork } from "../leases/own-work.ts";
import { RetryPace } from "../leases/retry-pace.ts";
import { isReasonOf, isRefusedForNow, keepOn, unlessAborted, writable } from "../leases/waiting.ts";
import { makeNamed, watchedChildren } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { type CodedNode, decodedBy } from "../nodes/values.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import type { Claims } from "./claims.ts";
import { type ConsumeOptions, checkedBound, type DeliveryBound, type Fate, isBound } from "./consume-options.ts";
import { type CountedDelivery, Deliveries, type Step } from "./deliveries.ts";
import { decodeItems } from "./queue-item.ts";
import { inQueueOrder, PLAIN_PREFIX, type QueueNames, withoutNumber } from "./queue-names.ts";

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

interface Refused {
  readonly pace: RetryPace;
  readonly untilMs: number;
}

/** Works on the items of one queue. */
export class QueueConsumer<T> implements Consumer {
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
    this.#bound = checkedBound(consuming, claiming.claimsPath);
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
