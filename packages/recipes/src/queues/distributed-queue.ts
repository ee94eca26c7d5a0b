import type { Client } from "@zooid/client";
import type { WaitOptions } from "../leases/deadline.ts";
import { PLAIN_NAMES, PLAIN_PREFIX } from "./queue-names.ts";
import { type QueueOptions, WorkQueue } from "./work-queue.ts";

/**
 * A FIFO queue, each item for one consumer: Curator's DistributedQueue, on the same znodes and in
 * the same bytes, `<path>/queue-<number>`.
 *
 * An item whose put was not answered (CONNECTION_LOSS with `outcome` unknown) may have been added
 * or not.
 */
export class DistributedQueue<T = Uint8Array> extends WorkQueue<T> {
  constructor(zk: Client, path: string, options: QueueOptions<T> = {}) {
    super(zk, path, PLAIN_NAMES, options);
  }

  /** Appends an item. @throws LOCK_TIMEOUT or the signal's reason, where it waits for room */
  put(item: T, options: WaitOptions = {}): Promise<void> {
    return this.putNode(PLAIN_PREFIX, [item], options);
  }

  /**
   * Puts several items into one node: one consumer gets them all, one after the other, and they
   * fail together.
   */
  putAll(items: readonly T[], options: WaitOptions = {}): Promise<void> {
    return this.putNode(PLAIN_PREFIX, items, options);
  }
}
