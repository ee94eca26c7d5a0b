import type { Client, Codec } from "@zooid/client";
import {
  ArgumentError,
  checkArgument,
  checkFit,
  found,
  joinPath,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
} from "@zooid/model";
import { checkArguments } from "../arguments.ts";
import { atOnce } from "../at-once.ts";
import { Deadline, type WaitOptions, within } from "../leases/deadline.ts";
import { HOLD, type HoldOptions } from "../leases/lease.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { watchedChildren } from "../nodes/named-node.ts";
import { orNull } from "../nodes/refusals.ts";
import { encodedValue } from "../nodes/values.ts";
import { RecipeError } from "../recipe-error.ts";
import { useClaimPath } from "./claim-paths.ts";
import { Claims } from "./claims.ts";
import { CONSUME, type ConsumeOptions, isWithin } from "./consume-options.ts";
import { type Consumer, QueueConsumer, type Work } from "./queue-consumer.ts";
import { encodeItems } from "./queue-item.ts";
import { inQueueOrder, isItem, type QueueNames } from "./queue-names.ts";

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

const SHAPE: Shape<QueueOptions<unknown>> = shape<QueueOptions<unknown>>({
  ...HOLD,
  codec: rules.codec,
  lockPath: rules.path,
  itemCountMax: wholeNumberRule(1),
});
/** Items without a codec. */
const BYTES: Rule = { ...rules.bytes, expected: "a Uint8Array, where the queue has no codec" };
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
