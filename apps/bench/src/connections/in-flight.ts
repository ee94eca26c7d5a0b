const FIRST_CAPACITY = 64;

/**
 * The time and the kind of each unanswered request of one connection. Answers come in the order of
 * requests, so a ring suffices: no map, and no allocation for a request once the ring has grown to
 * the load.
 */
export class InFlight {
  #times: Float64Array = new Float64Array(FIRST_CAPACITY);
  #kinds: Uint8Array = new Uint8Array(FIRST_CAPACITY);
  #mask: number = FIRST_CAPACITY - 1;
  #head = 0;
  #count = 0;

  get count(): number {
    return this.#count;
  }

  push(timeMs: number, kind: number): void {
    if (this.#count > this.#mask) this.#grow();
    const at = (this.#head + this.#count) & this.#mask;
    this.#times[at] = timeMs;
    this.#kinds[at] = kind;
    this.#count++;
  }

  /** The time at which the oldest was sent, or was due. */
  get oldestTime(): number {
    return this.#times[this.#head] as number;
  }

  get oldestKind(): number {
    return this.#kinds[this.#head] as number;
  }

  /** Removes the oldest, which was answered. */
  shift(): void {
    this.#head = (this.#head + 1) & this.#mask;
    this.#count--;
  }

  /** Sets the actual send time of the newest ones. */
  stampNewest(count: number, timeMs: number): void {
    for (let i = this.#count - count; i < this.#count; i++) this.#times[(this.#head + i) & this.#mask] = timeMs;
  }

  #grow(): void {
    const capacity = (this.#mask + 1) * 2;
    const times = new Float64Array(capacity);
    const kinds = new Uint8Array(capacity);
    for (let i = 0; i < this.#count; i++) {
      const at = (this.#head + i) & this.#mask;
      times[i] = this.#times[at] as number;
      kinds[i] = this.#kinds[at] as number;
    }
    this.#times = times;
    this.#kinds = kinds;
    this.#mask = capacity - 1;
    this.#head = 0;
  }
}
