/** How long a turn sends its own answers, and as long again those that earlier turns left. */
const FLUSH_MS = 4;

interface Flushable {
  flush(): void;
}

/**
 * Connections with unsent answers. Each takes one system call: thousands that watch one node must
 * not hold the event loop for all their events. The answers of this turn are sent before those that
 * earlier turns left, and every turn sends some of both.
 */
export class FlushQueue<T extends Flushable> {
  readonly #now: () => number;
  /** The last reading of the clock: how far the turn is. */
  lastMs = 0;
  #written: T[] = [];
  #left: T[] = [];

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(connection: T): void {
    this.#written.push(connection);
  }

  /** The end of a turn. @returns whether some are left, so that there has to be a next turn */
  flush(): boolean {
    const written = this.#written;
    const left = this.#left;
    this.#written = [];
    this.#left = [];
    const unsent = this.#flushSome(written);
    this.#left = left.length === 0 ? unsent : [...this.#flushSome(left), ...unsent];
    return this.#left.length > 0;
  }

  /** @returns the connections for which there was no time */
  #flushSome(connections: T[]): T[] {
    this.lastMs = this.#now();
    const endMs = this.lastMs + FLUSH_MS;
    for (const [i, connection] of connections.entries()) {
      connection.flush();
      this.lastMs = this.#now();
      if (this.lastMs >= endMs) return connections.slice(i + 1);
    }
    return [];
  }
}
