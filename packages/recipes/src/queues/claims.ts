import { type Client, type Created, isZkError, type NodeData, type Transaction, TransactionError } from "@zooid/client";
import { baseName, joinPath } from "@zooid/model";
import { deleteOwnNamedNode } from "../leases/delete-own-node.ts";
import { Hold } from "../leases/hold.ts";
import type { HoldOptions, Lease } from "../leases/lease.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { pause } from "../pause.ts";

const AGAIN_MS = 100;

/** Who works on which item: an ephemeral node of the item's name, in a folder of its own. */
export class Claims {
  readonly #zk: Client;
  readonly #path: string;
  readonly #options: HoldOptions;
  /** As kazoo writes it. By this a claim is known again when the answer was lost. */
  readonly #id = Buffer.from(crypto.randomUUID().replaceAll("-", ""));
  readonly #held = new Set<string>();

  constructor(zk: Client, path: string, options: HoldOptions = {}) {
    this.#zk = zk;
    this.#path = path;
    this.#options = options;
  }

  /** Null where somebody else works on the item, or it is gone. */
  async claim(itemPath: string): Promise<ClaimedItem | null> {
    const name = baseName(itemPath);
    if (this.#held.has(name)) return null;
    this.#held.add(name);
    let claim: Created | null = null;
    let isTaken = false;
    try {
      claim = await this.#create(joinPath(this.#path, name));
      if (claim === null) return null;
      const item = await this.#zk.getOrNull(itemPath);
      // Whoever had claimed it before has done it.
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

  /** Not given up in the middle: a claim that nobody knows of would keep the item from all. */
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
        // Asked again, it waits for the next connection.
        if (!isZkError(error, "CONNECTION_LOSS") || error.outcome !== "unknown") throw error;
      }
    }
  }
}

/** An item that nobody else works on. */
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
    this.#hold = new Hold(zk, claim, { ...options, release });
    this.#lease = this.#hold.lease();
  }

  get lease(): Lease {
    return this.#lease;
  }

  /**
   * Takes the item from the queue, and its claim, in one transaction with whatever is to happen with that.
   *
   * @returns false where the claim was lost: somebody else may work on the item, or will
   */
  async finish(further: (transaction: Transaction<undefined[]>) => unknown = () => {}): Promise<boolean> {
    const { signal } = this.#hold;
    try {
      while (this.#hold.lostReason === undefined) {
        const transaction = this.#zk.transaction().delete(this.path).delete(this.#claimPath);
        further(transaction as Transaction<undefined[]>);
        try {
          // Not sent by a later session: by then the claim of that name may be somebody else's.
          await transaction.commit({ signal });
          this.#isFinished = true;
          return true;
        } catch (error) {
          if (signal.aborted) return false;
          // It was this one before its answer was lost; or an administrator.
          if (error instanceof TransactionError && error.failedIndex < 2 && error.code === "NO_NODE") return true;
          if (!isZkError(error) || !error.retriable) throw error;
        }
        await pause(AGAIN_MS, undefined, { ref: false });
      }
      return false;
    } finally {
      await this.release();
    }
  }

  /** Leaves the item to others. */
  release(): Promise<void> {
    return this.#lease.release();
  }
}
