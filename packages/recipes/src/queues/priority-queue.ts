import type { Client } from "@zooid/client";
import type { WaitOptions } from "../leases/deadline.ts";
import { nameWithPriority, PRIORITY_NAMES } from "./queue-names.ts";
import { type QueueOptions, WorkQueue } from "./work-queue.ts";

/**
 * A queue ordered by priority, the lowest number first: Curator's DistributedPriorityQueue,
 * `<path>/queue-<priority><number>`. A requeued item keeps its priority; one that Curator requeues
 * has none, and comes before all priorities of at least 0.
 */
export class PriorityQueue<T = Uint8Array> extends WorkQueue<T> {
  constructor(zk: Client, path: string, options: QueueOptions<T> = {}) {
    super(zk, path, PRIORITY_NAMES, options);
  }

  /**
   * @param priority a whole number of 32 bits
   *
   * @throws LOCK_TIMEOUT or the signal's reason, where it waits for room
   */
  async put(item: T, priority: number, options: WaitOptions = {}): Promise<void> {
    await this.putNode(nameWithPriority(priority), [item], options);
  }

  /**
   * Puts several items into one node: one consumer gets them all, one after the other, and they
   * fail together.
   */
  async putAll(items: readonly T[], priority: number, options: WaitOptions = {}): Promise<void> {
    await this.putNode(nameWithPriority(priority), items, options);
  }
}
