import { type Client, isZkError } from "@zooid/client";
import { type WaitOptions, within } from "../leases/deadline.ts";
import type { HoldOptions } from "../leases/lease.ts";
import { keepOn } from "../leases/waiting.ts";
import { ExclusiveNode, type ExclusiveNodeOptions, type TakenNode } from "../locks/exclusive-node.ts";
import type { Terms } from "./terms.ts";

export interface CandidacyEvents {
  /** Called before a term is published; if it fails, the node is released. */
  readonly elected?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** The term is over, and another may follow. */
  readonly over?: (() => void) | undefined;
  /** The candidacy is over. */
  readonly ended?: (() => void) | undefined;
}

/** Competes for an exclusive node, repeatedly, until it is closed. */
export class ExclusiveCandidacy {
  readonly #zk: Client;
  readonly #path: string;
  readonly #node: ExclusiveNode;
  readonly #terms: Terms;
  readonly #options: HoldOptions & CandidacyEvents;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  constructor(zk: Client, node: ExclusiveNodeOptions, terms: Terms, options: HoldOptions & CandidacyEvents) {
    this.#zk = zk;
    this.#path = node.path;
    this.#node = new ExclusiveNode(zk, node);
    this.#terms = terms;
    this.#options = options;
    this.#ended = this.#run();
  }

  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(this.#terms.closed());
    await within(this.#ended, options, `close the election of ${this.#path}`);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let last: TakenNode | undefined;
    try {
      await keepOn(this.#zk, signal, async () => {
        last = await this.#node.acquire(signal);
        await this.#lead(last, signal);
      });
    } catch (error) {
      if (signal.aborted || isZkError(error, "CLIENT_CLOSED")) return;
      this.#terms.fail(error);
    } finally {
      if (last !== undefined) await this.#node.release(last).catch(() => {});
      this.#terms.end();
      this.#options.ended?.();
    }
  }

  async #lead(taken: TakenNode, signal: AbortSignal): Promise<void> {
    const { elected, over, onSuspended } = this.#options;
    const term = this.#node.hold(taken, { onSuspended }).lease();
    try {
      await elected?.(AbortSignal.any([signal, term.signal]));
      await this.#terms.lead(term, signal);
    } catch (error) {
      // Lost before it was published, as with the connection: another term may follow.
      if (signal.aborted || error !== term.signal.reason) throw error;
    } finally {
      if (!signal.aborted) over?.();
      // A term that was not lost was released: it is not taken again before other candidates can
      // have seen that.
      if (term.lostReason === undefined) {
        await term.release();
        await this.#node.release(taken);
      }
    }
  }
}
