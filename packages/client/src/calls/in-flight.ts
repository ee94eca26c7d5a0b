import { assert } from "@zooid/model";
import type { AnyCall } from "./call.ts";

const SIZE_FIRST = 64;

/**
 * Calls that were sent and not answered, in the order in which they were sent, which is the order of the answers: so a ring, and the
 * xid is only checked. When each was sent is kept beside it, since that is until when the session's life is proven.
 */
export class InFlight {
  #calls: (AnyCall | undefined)[] = new Array(SIZE_FIRST).fill(undefined);
  #sentAtMs = new Float64Array(SIZE_FIRST);
  /** Both only grow; their difference is the count. */
  #head = 0;
  #tail = 0;
  /** From here on nothing was handed to the connection yet. */
  #unsent = 0;

  get count(): number {
    return this.#tail - this.#head;
  }

  /** Puts a call behind the others; it counts as not sent until {@link markSent}. */
  push(call: AnyCall): void {
    if (this.count === this.#calls.length) this.#grow();
    this.#calls[this.#tail & (this.#calls.length - 1)] = call;
    this.#tail++;
  }

  /** Everything so far has been handed to the connection. */
  markSent(nowMs: number): void {
    const mask = this.#calls.length - 1;
    for (; this.#unsent < this.#tail; this.#unsent++) this.#sentAtMs[this.#unsent & mask] = nowMs;
  }

  /** When the oldest call was sent. */
  get oldestSentAtMs(): number {
    return this.#sentAtMs[this.#head & (this.#calls.length - 1)] as number;
  }

  /** The call that the next answer must be for; undefined when none is due. */
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

  /** Takes everything, oldest first, with whether it was handed to the connection. */
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
