/**
 * Connections closed in one turn. Closing one takes system calls and callbacks, most of them after
 * the turn, where its budget does not see them.
 */
const CLOSED_AT_A_TIME = 64;
const CLOSING_MS = 1;

interface Closable {
  /** Closes the socket behind what was written to it. */
  closeSocket(): void;
}

/**
 * Connections whose last answers are written. Thousands that end at the same moment are closed some
 * a turn, in order, so that other clients are served in between.
 */
export class ClosingQueue<T extends Closable> {
  #waiting: T[] = [];
  #next = 0;
  readonly #now: () => number;

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(connection: T): void {
    this.#waiting.push(connection);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** The end of a turn. @returns whether some are left, so that there has to be a next turn */
  closeSome(): boolean {
    const end = Math.min(this.#next + CLOSED_AT_A_TIME, this.#waiting.length);
    const endMs = this.#now() + CLOSING_MS;
    while (this.#next < end) {
      this.#waiting[this.#next++]?.closeSocket();
      if (this.#now() >= endMs) break;
    }
    if (this.#next < this.#waiting.length) return true;
    this.#waiting = [];
    this.#next = 0;
    return false;
  }

  closeAll(): void {
    while (this.closeSome());
  }
}
