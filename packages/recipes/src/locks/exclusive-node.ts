/**
 * An exclusive name without a queue: an ephemeral node, and a persistent node whose version grows
 * whenever the name is taken or released. Both are written in one transaction, so the version
 * identifies each grant, as a unique name would: with it a holder releases only its own grant, and
 * guards its writes.
 */

import { type Client, type Created, isZkError, type Transaction, type Zxid } from "@zooid/client";
import { Hold, type HoldEvents } from "../leases/hold.ts";
import type { HoldOptions } from "../leases/lease.ts";
import { LossAlarm, unlessAborted, writable } from "../leases/waiting.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { isMade, untilAnswered } from "../nodes/refusals.ts";
import { changed, isOfLiveSession } from "./lock-queue.ts";

export interface ExclusiveNodeOptions {
  readonly path: string;
  /** The node whose version grows. */
  readonly countPath: string;
  /**
   * The holder's data, unique within the session: by these its node is recognized when an answer
   * was lost.
   */
  readonly data: Buffer;
}

/** A taken node, and the version that identifies the grant. */
export interface TakenNode {
  readonly created: Created;
  readonly count: number;
}

export class ExclusiveNode {
  readonly #zk: Client;
  readonly #options: ExclusiveNodeOptions;
  /**
   * The czxid of its last node, also of one that was lost without a release: such a node may be
   * taken over again.
   */
  #had: Zxid | undefined;

  constructor(zk: Client, options: ExclusiveNodeOptions) {
    this.#zk = zk;
    this.#options = options;
  }

  /**
   * Waits until the name is free and this client is the fastest.
   *
   * @throws the signal's reason; then the name is not taken, or released again
   */
  async acquire(signal: AbortSignal, beforeTrying?: () => Promise<void>): Promise<TakenNode> {
    for (;;) {
      const taken = await this.tryAcquire(signal);
      if (taken !== null) return taken;
      await changed(this.#zk, this.#options.path, signal);
      await beforeTrying?.();
    }
  }

  /** Takes it if it is free. */
  async tryAcquire(signal: AbortSignal): Promise<TakenNode | null> {
    const taking = this.#takeForSure(signal);
    try {
      return await unlessAborted(taking, signal);
    } catch (error) {
      // The pending request may still succeed.
      taking.then(
        (taken) => taken !== null && this.#releaseLater(taken),
        () => {},
      );
      throw error;
    }
  }

  hold(taken: TakenNode, options: HoldOptions & HoldEvents = {}): Hold {
    const hold: Hold = new Hold(this.#zk, taken.created, {
      ...options,
      // While it is held no other program can have made the node.
      release: () =>
        hold.lostReason === undefined ? this.#forget(taken, () => this.#release(taken)) : this.release(taken),
      guard: () => this.#guard(taken.count),
    });
    return hold;
  }

  /**
   * Releases the grant if it is still held, and never another client's, nor a node that another
   * program has made without the count. Resolves when that is done, or when the session may be
   * over.
   */
  async release(taken: TakenNode): Promise<void> {
    await this.#forget(taken, () => this.#releaseIfSame(taken));
  }

  async #forget({ created }: TakenNode, release: () => Promise<void>): Promise<void> {
    if (this.#had === created.stat.czxid) this.#had = undefined;
    using loss = new LossAlarm(this.#zk);
    await Promise.race([release(), loss.rung]);
  }

  async #releaseIfSame(taken: TakenNode): Promise<void> {
    const releasing = untilAnswered(async () => {
      const stat = await this.#zk.exists(this.#options.path);
      if (stat?.czxid === taken.created.stat.czxid) await this.#release(taken);
    });
    await isMade(releasing, "CLIENT_CLOSED");
  }

  #releaseLater(taken: TakenNode): void {
    this.release(taken).catch(() => {});
  }

  /**
   * Works in a later session too: the node of an earlier one belongs to this grant as long as the
   * version matches.
   */
  async #release({ count }: TakenNode): Promise<void> {
    const { path, countPath } = this.#options;
    const releasing = untilAnswered(() =>
      this.#zk.transaction().set(countPath, "", { version: count }).delete(path).commit(),
    );
    await isMade(releasing, "BAD_VERSION", "NO_NODE", "CLIENT_CLOSED");
  }

  #guard(count: number): Transaction<[undefined]> {
    return this.#zk.transaction().check(this.#options.countPath, count);
  }

  /** A node that was taken after the caller gave up is released. */
  async #takeForSure(signal: AbortSignal): Promise<TakenNode | null> {
    const zk = this.#zk;
    for (;;) {
      const taken = await this.#take();
      if (taken === null || isOfLiveSession(zk, taken.created)) return taken;
      // Taken on a connection that has ended since: checked again on the next one.
      try {
        await writable(zk, signal);
      } catch (error) {
        this.#releaseLater(taken);
        throw error;
      }
      const again = await this.#mine(false);
      if (again !== null) return again;
    }
  }

  async #take(): Promise<TakenNode | null> {
    const zk = this.#zk;
    const { path, countPath, data } = this.#options;
    let isInDoubt = false;
    for (;;) {
      try {
        const taking = zk.transaction().set(countPath, "").create(path, data, { mode: "ephemeral" });
        const [counted, created] = await taking.commit();
        this.#had = created.stat.czxid;
        return { created, count: counted.version };
      } catch (error) {
        if (isZkError(error, "NODE_EXISTS")) return await this.#mine(isInDoubt);
        if (isZkError(error, "NO_NODE")) {
          await makeNamed(zk, { path: countPath, data: "", mode: "persistent" });
        } else if (isZkError(error, "CONNECTION_LOSS") && error.outcome === "unknown") {
          // Repeated on the next connection: if the first attempt succeeded, the name is taken by
          // this client.
          isInDoubt = true;
        } else {
          if (isInDoubt) this.#sweep();
          throw error;
        }
      }
    }
  }

  /** The node if it is this client's: of its current session, not of one that is about to end. */
  async #mine(isInDoubt: boolean): Promise<TakenNode | null> {
    const zk = this.#zk;
    const { path, countPath, data } = this.#options;
    const node = await zk.getOrNull(path);
    if (node === null || node.stat.ephemeralOwner !== zk.sessionId || !data.equals(payloadBytes(node.data)))
      return null;
    if (!isInDoubt && node.stat.czxid !== this.#had) return null;
    const counted = await zk.exists(countPath);
    this.#had = node.stat.czxid;
    return counted === null ? null : { created: { path, stat: node.stat }, count: counted.version };
  }

  /** The outcome is unknown: checked as soon as possible. */
  #sweep(): void {
    const never = new AbortController().signal;
    const sweeping = untilAnswered(async () => {
      await writable(this.#zk, never);
      const taken = await this.#mine(true);
      if (taken !== null) await this.#release(taken);
    });
    // There is no caller to report to.
    sweeping.catch(() => {});
  }
}
