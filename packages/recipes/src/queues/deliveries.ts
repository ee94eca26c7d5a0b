/**
 * How often the items of a queue were delivered: a counter beside the queue for each item that has failed, or may have, and for no other.
 *
 *     <queue>/queue-0000000007                       the item, in Curator's bytes
 *     <queue>-deliveries/delivered-queue-0000000007  "2": it was delivered twice, by this name or earlier ones
 *
 * A counter comes, moves and goes in the transaction that does so with its item. An item that is requeued gets a new number, which no other step of
 * the same transaction can know. So the number is drawn before, by a sequential ephemeral among the items that has no item's name: Curator and
 * we pass over it, and the transaction that makes the item of that number deletes it.
 *
 * Whoever does not count leaves counters behind, which the next look of one who counts deletes. The prefix tells them from what others may keep at
 * that path, which is left alone.
 */
import { type Client, type Created, isZkError, type Stat, type Transaction, TransactionError } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { deleteOwnNodeLater } from "../leases/delete-own-node.ts";
import type { Lease } from "../leases/lease.ts";
import { makeNamed, namesBelow } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";

const SUFFIX = "-deliveries";
const PREFIX = "delivered-";
const DRAWN = "number-";

/** What a transaction does besides. */
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

  /** The delivery of an item that is about to begin. */
  async of(name: string, item: Stat): Promise<Delivery> {
    const counter = await this.#zk.getOrNull(joinPath(this.#path, PREFIX + name));
    // An older one was left by another item of that name: numbers begin anew with a queue that was empty and went.
    const isOfItem = counter !== null && counter.stat.czxid >= item.czxid;
    const place = { queuePath: this.#queuePath, path: this.#path, name };
    return new Delivery(this.#zk, place, {
      number: 1 + (isOfItem ? counted(payloadBytes(counter.data)) : 0),
      hasCounter: counter !== null,
    });
  }

  /** Deletes the counters of items that are gone. @param names what a list of the queue has just shown */
  async sweep(names: readonly string[], signal: AbortSignal): Promise<void> {
    const there = new Set(names);
    for (const counter of await namesBelow(this.#zk, this.#path, signal)) {
      const name = counter.slice(PREFIX.length);
      if (!counter.startsWith(PREFIX) || there.has(name)) continue;
      // It may have come since, and its counter with it.
      if ((await this.#zk.exists(joinPath(this.#queuePath, name), { signal })) !== null) continue;
      await this.#zk.delete(joinPath(this.#path, counter), { missingOk: true, signal });
    }
  }
}

interface Place {
  readonly queuePath: string;
  /** Where its counters are. */
  readonly path: string;
  /** Of the item. */
  readonly name: string;
}

/** One delivery of an item. */
export class Delivery {
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

  /** Deletes the counter; undefined where there is none. */
  get forget(): Step | undefined {
    return this.#hasCounter ? (transaction) => void transaction.delete(this.#counterPath) : undefined;
  }

  /**
   * Counts it before its work begins.
   *
   * @returns false where the item or the claim on it is gone
   * @throws LEASE_LOST
   */
  async begin(lease: Lease): Promise<boolean> {
    const { signal } = lease;
    const data = String(this.number);
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
          // Made by this one before its answer was lost, since nobody else may.
          else if (error.code !== "NODE_EXISTS") throw error;
          this.#hasCounter = error.code === "NODE_EXISTS";
        }
        // Asked again, it waits for the next connection, and writes the same.
        else if (!isZkError(error) || !error.retriable) throw error;
      }
    }
  }

  /** Takes the item out of the queue, and its counter. @throws what `delete` does, also as the first step of a transaction */
  async take(version: number): Promise<void> {
    const path = joinPath(this.#place.queuePath, this.#place.name);
    const { forget } = this;
    if (forget === undefined) return this.#zk.delete(path, { version });
    const taking = this.#zk.transaction().delete(path, { version });
    forget(taking as unknown as Transaction<undefined[]>);
    await taking.commit();
    this.#hasCounter = false;
  }

  /** Draws the number by which the item and its count stand at the end of its like. @param prefix what stands before the number */
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

/** A name that nobody else will have; given back if it is not filled. */
export interface NextPlace extends Disposable {
  /** Makes the item there, with its count. */
  fill(transaction: Transaction<undefined[]>, data: Uint8Array): void;
}

/** What is no count, and not ours then, counts for nothing. */
function counted(data: Buffer): number {
  const count = Number(data.toString());
  return Number.isSafeInteger(count) && count > 0 ? count : 0;
}
