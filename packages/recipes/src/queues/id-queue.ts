import type { Client } from "@zooid/client";
import { joinPath } from "@zooid/model";
import type { WaitOptions } from "../leases/deadline.ts";
import { eachOf } from "../nodes/each-of.ts";
import { isMade } from "../nodes/refusals.ts";
import { checkId, ID_NAMES, idOf, nameWithId } from "./queue-names.ts";
import { type QueueOptions, WorkQueue } from "./work-queue.ts";

/**
 * A queue whose items can be removed by an id: Curator's DistributedIdQueue,
 * `<path>/queue-|<id>|<number>`. Ids need not be unique.
 */
export class IdQueue<T = Uint8Array> extends WorkQueue<T> {
  constructor(zk: Client, path: string, options: QueueOptions<T> = {}) {
    super(zk, path, ID_NAMES, options);
  }

  /**
   * Appends an item.
   *
   * @param id without `/` and `|`; Curator stores ids with those under `_`
   * @throws LOCK_TIMEOUT or the signal's reason, where it waits for room
   */
  async put(item: T, id: string, options: WaitOptions = {}): Promise<void> {
    await this.putNode(nameWithId(id), [item], options);
  }

  /**
   * Removes all items with an id, also those in work. @param id as it is stored @returns their
   * number. @throws RECIPE_CLOSED
   */
  async remove(id: string): Promise<number> {
    checkId(id);
    const names = (await this.items()).filter((name) => idOf(name) === id);
    const removed = await eachOf(names, (name) => isMade(this.zk.delete(joinPath(this.path, name)), "NO_NODE"));
    return removed.filter((isMine) => isMine).length;
  }
}
