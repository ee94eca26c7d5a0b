import type { Client } from "@zooid/client";
import { checkArguments } from "../arguments.ts";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { defaultData } from "../nodes/default-data.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { watchedNode } from "../nodes/refusals.ts";

/** Blocks its waiters while its node exists: Curator's DistributedBarrier, on the same znode. */
export class Barrier {
  readonly path: string;
  readonly #zk: Client;

  constructor(zk: Client, path: string) {
    checkArguments("Barrier", zk, path);
    this.#zk = zk;
    this.path = path;
  }

  /** Sets the barrier, if it is not set yet. It stays when its creator's session ends. */
  async set(): Promise<void> {
    await makeNamed(this.#zk, { path: this.path, data: defaultData(this.#zk), mode: "persistent" });
  }

  /** Removes the barrier: all waiters continue. */
  async remove(): Promise<void> {
    await this.#zk.delete(this.path, { guaranteed: true, missingOk: true });
  }

  /** Waits while the barrier is set. @throws LOCK_TIMEOUT or the signal's reason */
  async wait(options: WaitOptions = {}): Promise<void> {
    using deadline = new Deadline(options, `wait at ${this.path}`);
    const { signal } = deadline;
    for (;;) {
      const node = await watchedNode(this.#zk, this.path, signal);
      if (node === null) return;
      using watch = node.watch;
      await unlessAborted(watch.fired, signal);
    }
  }
}
