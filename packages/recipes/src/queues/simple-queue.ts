import { type Client, isZkError, type Payload } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { checkArguments, signalOf } from "../arguments.ts";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { contendersOf } from "../locks/sequence.ts";
import { watchedChildren } from "../nodes/named-node.ts";
import { orNull } from "../nodes/refusals.ts";
import { isRecipeError } from "../recipe-error.ts";

const PREFIX = "qn-";

/**
 * A FIFO queue, each item for one taker: Curator's SimpleDistributedQueue, on the same znodes,
 * `<path>/qn-<number>`. Other names are ignored.
 *
 * An item is deleted before its taker gets it. If the answer was lost (CONNECTION_LOSS with
 * `outcome` unknown), an offered item may exist or not, and a taken one may be lost: use a queue
 * with locks where none may be lost.
 */
export class SimpleQueue {
  readonly path: string;
  readonly #zk: Client;

  constructor(zk: Client, path: string) {
    checkArguments("SimpleQueue", zk, path);
    this.#zk = zk;
    this.path = path;
  }

  /** Appends an item. */
  async offer(data: Payload, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf(`offer to ${this.path}`, options);
    const mode = { mode: "persistent-sequential", parents: "container", signal } as const;
    await this.#zk.create(joinPath(this.path, PREFIX), data, mode);
  }

  /** The first item, which stays; null if there is none. An item without data is an empty array. */
  async peek(options: { readonly signal?: AbortSignal } = {}): Promise<Uint8Array | null> {
    const signal = signalOf(`peek at ${this.path}`, options);
    for (const path of await this.#items(signal)) {
      const node = await this.#zk.getOrNull(path, { signal });
      if (node !== null) return node.data ?? NOTHING;
    }
    return null;
  }

  /**
   * Takes the first item; null if there is none, with `timeoutMs` if none comes within that time.
   *
   * An item that is being deleted is waited for beyond the limits, as {@link take} does.
   *
   * @throws the signal's reason; then none is taken. CONNECTION_LOSS
   */
  async poll(options: WaitOptions = {}): Promise<Uint8Array | null> {
    using deadline = new Deadline(options, `poll ${this.path}`);
    const { timeoutMs = 0, signal } = options;
    if (timeoutMs === 0) return await this.#takeFirst(await this.#items(signal), signal);
    try {
      return await this.#take(deadline.signal);
    } catch (error) {
      if (isRecipeError(error, "LOCK_TIMEOUT")) return null;
      throw error;
    }
  }

  /**
   * Takes the first item, or waits for one. The delete of an item is not given up at the limits,
   * since it may take the item all the same: the call then ends with the answer, or when the
   * connection is lost.
   *
   * @throws LOCK_TIMEOUT or the signal's reason; then none is taken. CONNECTION_LOSS
   */
  async take(options: WaitOptions = {}): Promise<Uint8Array> {
    using deadline = new Deadline(options, `take from ${this.path}`);
    return await this.#take(deadline.signal);
  }

  async #take(signal: AbortSignal): Promise<Uint8Array> {
    for (;;) {
      const present = await this.#takeFirst(await this.#items(signal), signal);
      if (present !== null) return present;
      const { names, watch } = await watchedChildren(this.#zk, this.path, signal);
      using _ = watch;
      const item = await this.#takeFirst(this.#paths(names), signal);
      if (item !== null) return item;
      await unlessAborted(watch.fired, signal);
    }
  }

  async #takeFirst(paths: readonly string[], signal: AbortSignal | undefined): Promise<Uint8Array | null> {
    for (const path of paths) {
      const node = await this.#zk.getOrNull(path, { signal });
      if (node === null) continue;
      try {
        // Without the signal: a delete that was given up may still take the item.
        await this.#zk.delete(path);
        return node.data ?? NOTHING;
      } catch (error) {
        // Another client has taken it.
        if (!isZkError(error, "NO_NODE")) throw error;
      }
    }
    return null;
  }

  async #items(signal: AbortSignal | undefined): Promise<readonly string[]> {
    const listing = await orNull(this.#zk.children(this.path, { signal }), "NO_NODE");
    return this.#paths(listing?.names ?? []);
  }

  #paths(names: readonly string[]): readonly string[] {
    return contendersOf(names, "simple-item").map((name) => joinPath(this.path, name));
  }
}

const NOTHING = new Uint8Array(0);
