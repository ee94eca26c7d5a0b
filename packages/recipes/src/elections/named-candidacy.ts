import { type Client, isZkError } from "@zooid/client";
import type { HoldOptions } from "../leases/lease.ts";
import { keepOn } from "../leases/waiting.ts";
import { NamedSeat, type NamedSeatOptions, type Seated } from "../locks/named-seat.ts";
import type { Terms } from "./terms.ts";

export interface CandidacyEvents {
  /** Before anybody is told of a term; where it fails, the name is given back. */
  readonly elected?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** The term is over, and there may be another. */
  readonly over?: (() => void) | undefined;
}

/** Tries for a name that one has at a time, again and again, until it is closed. */
export class NamedCandidacy {
  readonly #zk: Client;
  readonly #seat: NamedSeat;
  readonly #terms: Terms;
  readonly #options: HoldOptions & CandidacyEvents;
  readonly #closing = new AbortController();
  readonly #ended: Promise<void>;

  constructor(zk: Client, seat: NamedSeatOptions, terms: Terms, options: HoldOptions & CandidacyEvents) {
    this.#zk = zk;
    this.#seat = new NamedSeat(zk, seat);
    this.#terms = terms;
    this.#options = options;
    this.#ended = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort(this.#terms.closed());
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let last: Seated | undefined;
    try {
      await keepOn(this.#zk, signal, async () => {
        last = await this.#seat.acquire(signal);
        await this.#lead(last, signal);
      });
    } catch (error) {
      if (signal.aborted || isZkError(error, "CLIENT_CLOSED")) return;
      this.#terms.fail(error);
    } finally {
      if (last !== undefined) await this.#seat.giveBack(last).catch(() => {});
      this.#terms.end();
    }
  }

  async #lead(seated: Seated, signal: AbortSignal): Promise<void> {
    const { elected, over, onSuspended } = this.#options;
    const term = this.#seat.hold(seated, { onSuspended }).lease();
    try {
      await elected?.(AbortSignal.any([signal, term.signal]));
      await this.#terms.lead(term, signal);
    } finally {
      if (!signal.aborted) over?.();
      // One that was not lost was released: it is not taken again before the others can have heard of it.
      if (term.lostReason === undefined) {
        await term.release();
        await this.#seat.giveBack(seated);
      }
    }
  }
}
