import {
  type Client,
  type Created,
  isZkError,
  type NodeData,
  pause,
  type Transaction,
  TransactionError,
} from "@zooid/client";
import { baseName, joinPath } from "@zooid/model";
import type { WaitOptions } from "../leases/deadline.ts";
import { deleteOwnNamedNode } from "../leases/delete-own-node.ts";
import { Hold } from "../leases/hold.ts";
import type { HoldOptions, Lease } from "../leases/lease.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";

const AGAIN_MS = 100;

/** Claims on items: an ephemeral node of the item's name, in a folder of its own. */
export class Claims {
  readonly #zk: Client;
  readonly #path: string;
  readonly #options: HoldOptions;
  /** In kazoo's format. By it a claim is recognized when the answer was lost. */
  readonly #id = Buffer.from(crypto.randomUUID().replaceAll("-", ""));
  readonly #held = new Set<string>();

  constructor(zk: Client, path: string, options: HoldOptions = {}) {
    this.#zk = zk;
    this.#path = path;
    this.#options = options;
  }

  /** Null if another client has claimed the item, or it is gone. */
  async claim(itemPath: string): Promise<ClaimedItem | null> {
    const name = baseName(itemPath);
    if (this.#held.has(name)) return null;
    this.#held.add(name);
    let claim: Created | null = null;
    let isTaken = false;
    try {
      claim = await this.#create(joinPath(this.#path, name));
      if (claim === null) return null;
      const item = await this.#read(itemPath);
      // A previous claimant has finished it.
      if (item === null) return null;
      isTaken = true;
      return new ClaimedItem(this.#zk, { itemPath, item, claim }, this.#options, () => this.#held.delete(name));
    } finally {
      if (!isTaken) {
        this.#held.delete(name);
        if (claim !== null) deleteOwnNamedNode(this.#zk, claim).catch(() => {});
      }
    }
  }

  /**
   * Again where the client's queue has no room: its consumer, which the claim has woken, takes it
   * each time.
   */
  async #read(path: string): Promise<NodeData | null> {
    for (;;) {
      try {
        return await this.#zk.getOrNull(path);
      } catch (error) {
        if (!isZkError(error, "QUEUE_FULL")) throw error;
      }
      await pause(AGAIN_MS, { ref: false });
    }
  }

  /** Not cancelled halfway: an unnoticed claim would block the item for all. */
  async #create(path: string): Promise<Created | null> {
    const zk = this.#zk;
    for (;;) {
      try {
        return await zk.create(path, this.#id, { mode: "ephemeral", parents: "container" });
      } catch (error) {
        if (isZkError(error, "NODE_EXISTS")) {
          const node = await zk.getOrNull(path);
          const isMine = node?.stat.ephemeralOwner === zk.sessionId && this.#id.equals(payloadBytes(node.data));
          return isMine ? { path, stat: node.stat } : null;
        }
        // The repeated request waits for the next connection.
        if (!isZkError(error, "CONNECTION_LOSS") || error.outcome !== "unknown") throw error;
      }
    }
  }
}

/** An item that is claimed exclusively. */
export class ClaimedItem {
  readonly path: string;
  readonly item: NodeData;
  readonly #zk: Client;
  readonly #claimPath: string;
  readonly #hold: Hold;
  readonly #lease: Lease;
  #isFinished = false;

  constructor(
    zk: Client,
    { itemPath, item, claim }: { readonly itemPath: string; readonly item: NodeData; readonly claim: Created },
    options: HoldOptions,
    ended: () => void,
  ) {
    this.path = itemPath;
    this.item = item;
    this.#zk = zk;
    this.#claimPath = claim.path;
    const release = async (): Promise<void> => {
      try {
        if (!this.#isFinished) await deleteOwnNamedNode(zk, claim);
      } finally {
        ended();
      }
    };
    // A later claim has the same path. So no request is sent once this one has ended.
    const guard = (): Transaction<[undefined]> =>
      zk.with({ signal: this.#hold.signal }).transaction().check(claim.path, -1);
    this.#hold = new Hold(zk, claim, { ...options, release, guard });
    this.#lease = this.#hold.lease();
  }

  get lease(): Lease {
    return this.#lease;
  }

  /**
   * Removes the item and its claim, in one transaction with further steps.
   *
   * @returns false if the claim was lost: another client may work on the item
   */
  async finish(further: (transaction: Transaction<undefined[]>) => unknown = () => {}): Promise<boolean> {
    const { signal } = this.#hold;
    try {
      while (this.#hold.lostReason === undefined) {
        const transaction = this.#zk.transaction().delete(this.path).delete(this.#claimPath);
        further(transaction as Transaction<undefined[]>);
        try {
          // Not sent by a later session: the claim of that name may be another client's by then.
          await transaction.commit({ signal });
          this.#isFinished = true;
          return true;
        } catch (error) {
          if (signal.aborted) return false;
          // An earlier attempt whose answer was lost succeeded; or an administrator deleted it.
          if (error instanceof TransactionError && error.failedIndex < 2 && error.code === "NO_NODE") return true;
          if (!isZkError(error) || !error.retriable) throw error;
        }
        await pause(AGAIN_MS, { ref: false });
      }
      return false;
    } finally {
      await this.release();
    }
  }

  /** Releases the item, beyond the limits in the background. */
  release(options?: WaitOptions): Promise<void> {
    return this.#lease.release(options);
  }
}
