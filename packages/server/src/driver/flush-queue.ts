import { BUDGETS, type ClientShare } from "@zooid/model";
import { AddressTurns } from "./address-turns.ts";
import { TurnOrder } from "./turn-order.ts";

const { answersMs: ANSWERS_MS, leftMs: LEFT_MS, eventsMs: EVENTS_MS } = BUDGETS.output;

interface Flushable extends ClientShare {
  flush(): void;
}

export interface FlushQueueOptions {
  /** A monotonic clock in milliseconds. */
  now(): number;
  /**
   * The part of the time for pending output that connections of trusted proxies have, while others
   * wait, as a fraction.
   */
  readonly proxiesShare: number;
}

/**
 * Connections with unsent output. Each takes one system call: thousands that watch one node must
 * not hold the event loop for all their events. Every turn sends answers of its own first, then
 * some of those that earlier turns left, and then some events, for which no client waits. Addresses
 * take turns with the answers that were left, and with the events. Events of one connection are
 * written before answers that show their effects, and are sent with them.
 */
export class FlushQueue<T extends Flushable> {
  readonly #now: () => number;
  /** The last reading of the clock: how far the turn is. */
  lastMs = 0;
  #answered: T[] = [];
  readonly #left: AddressTurns<T>;
  readonly #events: AddressTurns<T>;

  constructor(options: FlushQueueOptions) {
    this.#now = options.now;
    this.#left = new AddressTurns(new TurnOrder(options));
    this.#events = new AddressTurns(new TurnOrder(options));
  }

  /** A connection has an answer, or is to be closed behind its output. */
  add(connection: T): void {
    this.#answered.push(connection);
  }

  /** A connection has events and no answer. */
  addEvents(connection: T): void {
    this.#events.add(connection);
  }

  /** The end of a turn. @returns whether some are left, so that there has to be a next turn */
  flush(): boolean {
    const leftCount = this.#left.count;
    this.lastMs = this.#now();
    this.#flushAnswers();
    // Those that this turn left wait for the next one.
    if (leftCount > 0) this.#flushSome(this.#left, leftCount, LEFT_MS);
    if (this.#events.count > 0) this.#flushSome(this.#events, this.#events.count, EVENTS_MS);
    return this.#left.count + this.#events.count > 0;
  }

  #flushAnswers(): void {
    const answered = this.#answered;
    this.#answered = [];
    const endMs = this.lastMs + ANSWERS_MS;
    for (const [i, connection] of answered.entries()) {
      connection.flush();
      this.lastMs = this.#now();
      if (this.lastMs < endMs) continue;
      for (const left of answered.slice(i + 1)) this.#left.add(left);
      return;
    }
  }

  #flushSome(waiting: AddressTurns<T>, most: number, ms: number): void {
    const endMs = this.lastMs + ms;
    for (let i = 0; i < most && this.lastMs < endMs; i++) {
      waiting.take()?.flush();
      this.lastMs = this.#now();
    }
  }
}
