import type { Client } from "@zooid/client";
import type { WaitOptions } from "../leases/deadline.ts";
import { DELAY_NAMES, nameWithDueMs } from "./queue-names.ts";
import { type QueueOptions, WorkQueue } from "./work-queue.ts";

/**
 * A queue whose items become available at a time, by the consumer's clock: Curator's
 * DistributedDelayQueue, `<path>/queue-|<time>|<number>`. Items of the same time come in the order
 * in which they were put. A requeued item keeps its time, which has passed; one that Curator
 * requeues has none, and is available.
 */
export class DelayQueue<T = Uint8Array> extends WorkQueue<T> {
  constructor(zk: Client, path: string, options: QueueOptions<T> = {}) {
    super(zk, path, DELAY_NAMES, options);
  }

  /**
   * @param dueMs the time from which it is available, in milliseconds since 1970
   *
   * @throws LOCK_TIMEOUT or the signal's reason, where it waits for room
   */
  async put(item: T, dueMs: number, options: WaitOptions = {}): Promise<void> {
    await this.putNode(nameWithDueMs(dueMs), [item], options);
  }

  /**
   * Puts several items into one node: one consumer gets them all, one after the other, and they
   * fail together.
   */
  async putAll(items: readonly T[], dueMs: number, options: WaitOptions = {}): Promise<void> {
    await this.putNode(nameWithDueMs(dueMs), items, options);
  }
}
