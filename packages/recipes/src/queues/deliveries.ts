/**
 * Counts deliveries of items: a counter beside the queue for each item that has failed or may have
 * failed, and for no other.
 *
 *     <queue>/queue-0000000007                       the item, in Curator's bytes
 *     <queue>-deliveries/delivered-queue-0000000007  "2": two deliveries, under this name or earlier ones
 *
 * A counter is created, renamed and deleted in one transaction with its item. A requeued item gets
 * a new number, which no other step of the same transaction can refer to. So the number is drawn
 * before, by a sequential ephemeral among the items whose name is not an item's: Curator and we
 * skip it, and the transaction that creates the item of that number deletes it.
 *
 * Consumers that do not count leave counters behind, which the next check of a counting consumer
 * deletes. The prefix distinguishes them from other nodes at that path, which are not touched.
 */
import { type Client, type Created, type Stat, type Transaction, TransactionError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import type { Lease } from "../leases/lease.ts";
import { Attempts } from "../leases/waiting.ts";
import { makeNamed, namesBelow } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { isItem } from "./queue-names.ts";

const SUFFIX = "-deliveries";
const PREFIX = "delivered-";
const DRAWN = "number-";

/** Further steps of a transaction. */
export type Step = (transaction: Transaction<undefined[]>) => void;

/** The counters of one queue. */
export class Deliveries {
  readonly #zk: Client;
  readonly #queuePath: string;
  readonly #path: string;

  constructor(zk: Client, queuePath: string) {
    this.#zk = zk;
    this.#queuePath = queuePath;
    this.#path = queuePath + SUFFIX;
  }

  /** A delivery that is about to begin. */
  async of(name: string, item: Stat): Promise<CountedDelivery> {
    const counter = await this.#zk.getOrNull(joinPath(this.#path, PREFIX + name));
    // An older counter belongs to an earlier item of that name: numbers start again after an empty
    // queue was removed.
    const isOfItem = counter !== null && counter.stat.czxid >= item.czxid;
    const place = { queuePath: this.#queuePath, path: this.#path, name };
    return new CountedDelivery(this.#zk, place, {
      number: 1 + (isOfItem ? counted(payloadBytes(counter.data)) : 0),
      hasCounter: counter !== null,
    });
  }

  /** Deletes the counters of removed items. @param names the current list of the queue */
  async sweep(names: readonly string[], signal: AbortSignal): Promise<void> {
    const there = new Set(names);
    for (const counter of await namesBelow(this.#zk, this.#path, signal)) {
      const name = counter.slice(PREFIX.length);
      if (!counter.startsWith(PREFIX) || !isItem(name) || there.has(name)) continue;
      // The item may have been created since, with its counter.
      if ((await this.#zk.exists(joinPath(this.#queuePath, name), { signal })) !== null) continue;
      await this.#zk.delete(joinPath(this.#path, counter), { missingOk: true, signal });
    }
  }
}

interface Place {
  readonly queuePath: string;
  /** Path of the counters. */
  readonly path: string;
  /** Path of the item's counter. */
  readonly name: string;
}

/** One delivery of an item. */
export class CountedDelivery {
  /** 1 for the first. */
  readonly number: number;
  readonly #zk: Client;
  readonly #place: Place;
  readonly #counterPath: string;
  #hasCounter: boolean;

  constructor(zk: Client, place: Place, found: { readonly number: number; readonly hasCounter: boolean }) {
    this.number = found.number;
    this.#zk = zk;
    this.#place = place;
    this.#counterPath = joinPath(place.path, PREFIX + place.name);
    this.#hasCounter = found.hasCounter;
  }

  /** Deletes the counter; undefined if there is none. */
  get forget(): Step | undefined {
    return this.#hasCounter ? (transaction) => void transaction.delete(this.#counterPath) : undefined;
  }

  /**
   * Counts it before its work begins.
   *
   * @returns false if the item or the claim on it is gone
   * @throws LEASE_LOST
   */
  async begin(lease: Lease): Promise<boolean> {
    const { signal } = lease;
    const data = String(this.number);
    const attempts = new Attempts(this.#zk);
    for (;;) {
      signal.throwIfAborted();
      const counting = lease.guard().check(joinPath(this.#place.queuePath, this.#place.name), -1);
      if (this.#hasCounter) counting.set(this.#counterPath, data);
      else counting.create(this.#counterPath, data);
      try {
        await counting.commit({ signal });
        this.#hasCounter = true;
        return true;
      } catch (error) {
        if (error instanceof TransactionError) {
          if (error.failedIndex < 2) return false;
          if (error.code === "NO_NODE") await this.#makeFolder();
          // An earlier attempt whose answer was lost created it; no other client may.
          else if (error.code !== "NODE_EXISTS") throw error;
          this.#hasCounter = error.code === "NODE_EXISTS";
        }
        // The repeated request writes the same.
        else await attempts.failed(error, signal);
      }
    }
  }

  /**
   * Removes the item and its counter.
   *
   * @throws as `delete` does, also as the first step of a transaction
   */
  async take(version: number): Promise<void> {
    const path = joinPath(this.#place.queuePath, this.#place.name);
    const { forget } = this;
    if (forget === undefined) return this.#zk.delete(path, { version });
    const taking = this.#zk.transaction().delete(path, { version });
    forget(taking as unknown as Transaction<undefined[]>);
    await taking.commit();
    this.#hasCounter = false;
  }

  /**
   * Draws the number for the item and its counter at the end of the queue.
   *
   * @param prefix the part before the number
   */
  async drawNext(prefix: string): Promise<NextPlace> {
    await this.#makeFolder();
    const { queuePath, path } = this.#place;
    const mode = { mode: "ephemeral-sequential", parents: "container", protect: true } as const;
    const drawn = await this.#zk.create(joinPath(queuePath, DRAWN), "", mode);
    const name = prefix + drawn.path.slice(-10);
    return {
      fill: (transaction, data) => {
        this.forget?.(transaction);
        transaction
          .delete(drawn.path)
          .create(joinPath(queuePath, name), data)
          .create(joinPath(path, PREFIX + name), String(this.number));
      },
      [Symbol.dispose]: () => deleteOwnNodeLater(this.#zk, drawn.path),
    };
  }

  #makeFolder(): Promise<Created | null> {
    return makeNamed(this.#zk, { path: this.#place.path, data: "", mode: "container" });
  }
}

/** A name that no other client gets; deleted if it is not used. */
export interface NextPlace extends Disposable {
  /** Creates the item there, with its count. */
  fill(transaction: Transaction<undefined[]>, data: Uint8Array): void;
}

/** Other data count as no deliveries. */
function counted(data: Buffer): number {
  const count = Number(data.toString());
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
