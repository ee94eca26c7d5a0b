import { assert } from "@zooid/model";
import type { AnyCall } from "./call.ts";

const SIZE_FIRST = 64;

/**
 * Sent, unanswered calls in the order in which they were sent, which is the order of the answers:
 * so a ring suffices, and the xid is only checked. The time of sending is kept for each, since the
 * session is proven alive only up to then.
 */
export class InFlight {
  #calls: (AnyCall | undefined)[] = new Array(SIZE_FIRST).fill(undefined);
  #sentAtMs = new Float64Array(SIZE_FIRST);
  /** Both only grow; their difference is the count. */
  #head = 0;
  #tail = 0;
  /** The first call that was not yet passed to the connection. */
  #unsent = 0;

  get count(): number {
    return this.#tail - this.#head;
  }

  /** Appends a call; it counts as not sent until {@link markSent}. */
  push(call: AnyCall): void {
    if (this.count === this.#calls.length) this.#grow();
    this.#calls[this.#tail & (this.#calls.length - 1)] = call;
    this.#tail++;
  }

  /** All calls so far have been passed to the connection. */
  markSent(nowMs: number): void {
    const mask = this.#calls.length - 1;
    for (; this.#unsent < this.#tail; this.#unsent++) this.#sentAtMs[this.#unsent & mask] = nowMs;
  }

  /** The send time of the oldest call. */
  get oldestSentAtMs(): number {
    return this.#sentAtMs[this.#head & (this.#calls.length - 1)] as number;
  }

  /** The call that the next answer is for; undefined when none is expected. */
  get oldest(): AnyCall | undefined {
    return this.#head < this.#unsent ? this.#calls[this.#head & (this.#calls.length - 1)] : undefined;
  }

  shift(): AnyCall {
    const at = this.#head & (this.#calls.length - 1);
    const call = this.#calls[at];
    assert(call !== undefined, "an answer is only taken while a call waits for one");
    this.#calls[at] = undefined;
    this.#head++;
    return call;
  }

  /**
   * Removes and returns all calls, oldest first, with whether they were passed to the connection.
   */
  drain(take: (call: AnyCall, wasSent: boolean) => void): void {
    const calls = this.#calls;
    const [head, tail, unsent] = [this.#head, this.#tail, this.#unsent];
    this.#calls = new Array(SIZE_FIRST).fill(undefined);
    this.#sentAtMs = new Float64Array(SIZE_FIRST);
    this.#head = 0;
    this.#tail = 0;
    this.#unsent = 0;
    for (let i = head; i < tail; i++) {
      const call = calls[i & (calls.length - 1)];
      if (call !== undefined) take(call, i < unsent);
    }
  }

  #grow(): void {
    const size = this.#calls.length;
    const calls: (AnyCall | undefined)[] = new Array(size * 2).fill(undefined);
    const sentAtMs = new Float64Array(size * 2);
    for (let i = this.#head; i < this.#tail; i++) {
      calls[i & (size * 2 - 1)] = this.#calls[i & (size - 1)];
      sentAtMs[i & (size * 2 - 1)] = this.#sentAtMs[i & (size - 1)] as number;
    }
    this.#calls = calls;
    this.#sentAtMs = sentAtMs;
  }
}
