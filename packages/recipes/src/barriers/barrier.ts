import { type Client, isZkError } from "@zooid/client";
import { Deadline, type WaitOptions } from "../leases/deadline.ts";
import { unlessAborted } from "../leases/waiting.ts";
import { defaultData } from "../nodes/default-data.ts";
import { makeNamed } from "../nodes/named-node.ts";

/** Stands while its node does, and lets nobody pass: Curator's DistributedBarrier, on the same znode. */
export class Barrier {
  readonly path: string;
  readonly #zk: Client;

  constructor(zk: Client, path: string) {
    this.#zk = zk;
    this.path = path;
  }

  /** Puts it up, if it does not stand yet. It stays when its maker goes. */
  async set(): Promise<void> {
    await makeNamed(this.#zk, { path: this.path, data: defaultData(this.#zk), mode: "persistent" });
  }

  /** Lets everybody pass. */
  async remove(): Promise<void> {
    await this.#zk.delete(this.path, { guaranteed: true, missingOk: true });
  }

  /** Waits until it does not stand. @throws LOCK_TIMEOUT or the signal's reason */
  async wait(options: WaitOptions = {}): Promise<void> {
    using deadline = new Deadline(options, `wait at ${this.path}`);
    const { signal } = deadline;
    for (;;) {
      try {
        const { watch } = await this.#zk.get(this.path, { watch: true, signal });
        using _ = watch;
        await unlessAborted(watch.fired, signal);
      } catch (error) {
        if (isZkError(error, "NO_NODE")) return;
        throw error;
      }
    }
  }
}
