/**
 * A name that one has at a time and for which nobody stands in line: an ephemeral node, and beside it a persistent one whose version goes up
 * whenever the name is taken or given back. Both are written together, so the version tells each time it was had from every other, as a name of
 * its own would: with it a holder gives back what is its own and nothing else, and guards what it writes.
 */

import { type Client, type Created, isZkError, type Transaction, type Zxid } from "@zooid/client";
import { Hold, type HoldEvents } from "../leases/hold.ts";
import type { HoldOptions } from "../leases/lease.ts";
import { LossAlarm, unlessAborted, writable } from "../leases/waiting.ts";
import { makeNamed } from "../nodes/named-node.ts";
import { payloadBytes } from "../nodes/payload-bytes.ts";
import { pause } from "../pause.ts";
import { changed, isOfLiveSession } from "./lock-queue.ts";

export interface ExclusiveNodeOptions {
  readonly path: string;
  /** The node whose version goes up. */
  readonly countPath: string;
  /** What the holder says of itself. Nobody else says the same in the same session: by this it is known again when an answer is lost. */
  readonly data: Buffer;
}

const AGAIN_MS = 100;

/** That it was had, and the version that says which time that was. */
export interface TakenNode {
  readonly created: Created;
  readonly count: number;
}

export class ExclusiveNode {
  readonly #zk: Client;
  readonly #options: ExclusiveNodeOptions;
  /** The node by which it has the name, or lost it without giving it back: then it may be had again by the same. */
  #had: Zxid | undefined;

  constructor(zk: Client, options: ExclusiveNodeOptions) {
    this.#zk = zk;
    this.#options = options;
  }

  /** Waits until the name is free and this one is the quickest. @throws the signal's reason; it is not had then, or given back */
  async acquire(signal: AbortSignal, beforeTrying?: () => Promise<void>): Promise<TakenNode> {
    for (;;) {
      const taken = await this.tryAcquire(signal);
      if (taken !== null) return taken;
      await changed(this.#zk, this.#options.path, signal);
      await beforeTrying?.();
    }
  }

  /** Takes it if nobody has it. */
  async tryAcquire(signal: AbortSignal): Promise<TakenNode | null> {
    const taking = this.#takeForSure(signal);
    try {
      return await unlessAborted(taking, signal);
    } catch (error) {
      // What was asked may yet come true.
      taking.then(
        (taken) => taken !== null && this.#releaseLater(taken),
        () => {},
      );
      throw error;
    }
  }

  hold({ created, count }: TakenNode, options: HoldOptions & HoldEvents = {}): Hold {
    return new Hold(this.#zk, created, {
      ...options,
      release: () => this.release({ created, count }),
      guard: () => this.#guard(count),
    });
  }

  /** Gives it back if it is had still, and leaves alone who has it by now. Resolves when that is done, or when the session may be over. */
  async release({ created, count }: TakenNode): Promise<void> {
    if (this.#had === created.stat.czxid) this.#had = undefined;
    using loss = new LossAlarm(this.#zk);
    await Promise.race([this.#release(count), loss.rung]);
  }

  #releaseLater(taken: TakenNode): void {
    this.release(taken).catch(() => {});
  }

  /** Also on a session to come: what an earlier one has left there is as much its own, as long as the count says so. */
  async #release(count: number): Promise<void> {
    const { path, countPath } = this.#options;
    for (;;) {
      try {
        await this.#zk.transaction().set(countPath, "", { version: count }).delete(path).commit();
        return;
      } catch (error) {
        if (isZkError(error, "BAD_VERSION") || isZkError(error, "NO_NODE") || isZkError(error, "CLIENT_CLOSED")) return;
        if (!isZkError(error) || !error.retriable) throw error;
      }
      await pause(AGAIN_MS, undefined, { ref: false });
    }
  }

  #guard(count: number): Transaction<[undefined]> {
    return this.#zk.transaction().check(this.#options.countPath, count);
  }

  /** What it has taken when the connection was lost for good is given back. */
  async #takeForSure(signal: AbortSignal): Promise<TakenNode | null> {
    const zk = this.#zk;
    for (;;) {
      const taken = await this.#take();
      if (taken === null || isOfLiveSession(zk, taken.created)) return taken;
      // Had by a connection that has ended since: looked at again on the next.
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
          // Asked again on the next connection: if it happened, the name is taken, by this one.
          isInDoubt = true;
        } else {
          if (isInDoubt) this.#sweep();
          throw error;
        }
      }
    }
  }

  /** The name as this one has it: by this session, not by one that is about to end. */
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

  /** Whether it was had could not be found out: done as soon as it can be. */
  #sweep(): void {
    const sweep = async (): Promise<void> => {
      const never = new AbortController().signal;
      for (;;) {
        await writable(this.#zk, never);
        try {
          const taken = await this.#mine(true);
          if (taken !== null) await this.#release(taken.count);
          return;
        } catch (error) {
          if (!isZkError(error) || !error.retriable) throw error;
        }
        await pause(AGAIN_MS, undefined, { ref: false });
      }
    };
    // Nobody is left to be told.
    sweep().catch(() => {});
  }
}
