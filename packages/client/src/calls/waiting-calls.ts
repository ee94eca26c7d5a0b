import type { AnyCall } from "./call.ts";

/**
 * A FIFO queue of calls that wait for a connection or for room among those in flight; bounded in
 * number and bytes.
 */
export class WaitingCalls {
  readonly countMax: number;
  readonly bytesMax: number;
  /** From `#head` on. A removed call stays in place, unmarked, until its turn comes. */
  #calls: (AnyCall | undefined)[] = [];
  #head = 0;
  #count = 0;
  #bytes = 0;

  constructor({ countMax, bytesMax }: { readonly countMax: number; readonly bytesMax: number }) {
    this.countMax = countMax;
    this.bytesMax = bytesMax;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False when there is no room. */
  push(call: AnyCall): boolean {
    const isFull = this.#count >= this.countMax || this.#bytes + bytesOf(call) > this.bytesMax;
    if (isFull && !call.isOwn) return false;
    this.#compact();
    this.#calls.push(call);
    this.#enter(call);
    return true;
  }

  /** Puts calls back before all others, in their order, regardless of the bounds. */
  unshift(calls: readonly AnyCall[]): void {
    if (calls.length === 0) return;
    this.#calls = [...calls, ...this];
    this.#head = 0;
    for (const call of calls) this.#enter(call);
  }

  shift(): AnyCall | undefined {
    while (this.#head < this.#calls.length) {
      const call = this.#calls[this.#head];
      this.#calls[this.#head++] = undefined;
      if (call === undefined || !call.isWaiting) continue;
      this.#leave(call);
      return call;
    }
    this.#calls.length = 0;
    this.#head = 0;
    return undefined;
  }

  /** Removes a cancelled call, if it is here. */
  remove(call: AnyCall): void {
    if (call.isWaiting) this.#leave(call);
  }

  drain(): readonly AnyCall[] {
    const calls = [...this];
    for (const call of calls) this.#leave(call);
    this.#calls = [];
    this.#head = 0;
    return calls;
  }

  *[Symbol.iterator](): Generator<AnyCall> {
    for (let i = this.#head; i < this.#calls.length; i++) {
      const call = this.#calls[i];
      if (call?.isWaiting) yield call;
    }
  }

  #enter(call: AnyCall): void {
    call.isWaiting = true;
    this.#count++;
    this.#bytes += bytesOf(call);
  }

  #leave(call: AnyCall): void {
    call.isWaiting = false;
    this.#count--;
    this.#bytes -= bytesOf(call);
  }

  /** Drops entries of removed calls, once they are the majority. */
  #compact(): void {
    if (this.#calls.length < 64 || this.#count * 2 > this.#calls.length) return;
    this.#calls = [...this];
    this.#head = 0;
  }
}

/** Approximate size of the header and lengths of a request. */
const REQUEST_BYTES = 64;

/** Approximate size of a call: its path, and its data if any. */
function bytesOf({ path, body }: AnyCall): number {
  const data = typeof body === "object" && body !== null && "data" in body ? body.data : undefined;
  return REQUEST_BYTES + path.length + (data instanceof Uint8Array ? data.length : 0);
}
