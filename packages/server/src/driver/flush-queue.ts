/** How long a turn sends what it wrote, and as long again what earlier turns left. */
const FLUSH_MS = 4;

interface Flushable {
  flush(): void;
}

/**
 * Connections that something was written to. Sending takes one system call each: thousands that watch one node must not keep the event loop
 * for as long as all their events take. What a turn wrote goes before what earlier turns left, and both go on in every turn.
 */
export class FlushQueue<T extends Flushable> {
  readonly #now: () => number;
  #written: T[] = [];
  #left: T[] = [];

  /** @param now a monotonic clock in milliseconds */
  constructor(now: () => number) {
    this.#now = now;
  }

  add(connection: T): void {
    this.#written.push(connection);
  }

  /** The end of a turn. @returns whether some are left for the next one, which has to come */
  flush(): boolean {
    const written = this.#written;
    const left = this.#left;
    this.#written = [];
    this.#left = [];
    const unsent = this.#flushSome(written);
    this.#left = left.length === 0 ? unsent : [...this.#flushSome(left), ...unsent];
    return this.#left.length > 0;
  }

  /** @returns those for which there was no time */
  #flushSome(connections: T[]): T[] {
    const endMs = this.#now() + FLUSH_MS;
    for (const [i, connection] of connections.entries()) {
      connection.flush();
      if (this.#now() >= endMs) return connections.slice(i + 1);
    }
    return [];
  }
}
