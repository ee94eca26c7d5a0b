interface Readable {
  /** Reads what an earlier turn had no room for. */
  readLater(): void;
}

/**
 * Connections that wait to be read: those that came too late for a turn, and those that have had
 * their share of one. Each turn reads one of the latter first, so that they progress however many
 * others come; then the former, and then the rest.
 */
export class ReadQueue<T extends Readable> {
  #late: T[] = [];
  #served: T[] = [];

  get isEmpty(): boolean {
    return this.#late.length + this.#served.length === 0;
  }

  /**
   * Whether some came too late for an earlier turn: they go before connections that are ready now.
   */
  get hasLate(): boolean {
    return this.#late.length > 0;
  }

  add(connection: T, hasHadShare: boolean): void {
    (hasHadShare ? this.#served : this.#late).push(connection);
  }

  /** Reads one connection of each kind at least, and more as long as there is room. */
  serve(hasRoom: () => boolean): void {
    const [first, ...served] = this.#served;
    const waiting = first === undefined ? this.#late : [first, ...this.#late, ...served];
    const lateEnd = (first === undefined ? 0 : 1) + this.#late.length;
    this.#late = [];
    this.#served = [];
    let next = 0;
    for (; next < waiting.length; next++) {
      // Called for each connection, whose share begins then.
      if (!hasRoom() && next > 1) break;
      waiting[next]?.readLater();
    }
    // Connections that were queued again meanwhile stand behind those that were not read.
    this.#late = [...waiting.slice(next, lateEnd), ...this.#late];
    this.#served = [...waiting.slice(Math.max(next, lateEnd)), ...this.#served];
  }
}
