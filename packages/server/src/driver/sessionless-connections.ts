/** Connections without a session that are closed in one turn. */
const CLOSED_AT_A_TIME = 256;

interface Sessionless {
  /** By the monotonic clock, in milliseconds. */
  readonly acceptedAtMs: number;
}

/** Connections that have not sent a whole connect request yet, oldest first. */
export class SessionlessConnections<T extends Sessionless> {
  readonly #connections = new Set<T>();
  readonly #timeoutMs: number;
  readonly #close: (connection: T) => void;

  /** @param close closes a connection whose time is over */
  constructor(timeoutMs: number, close: (connection: T) => void) {
    this.#timeoutMs = timeoutMs;
    this.#close = close;
  }

  add(connection: T): void {
    this.#connections.add(connection);
  }

  delete(connection: T): void {
    this.#connections.delete(connection);
  }

  /** Closes some connections whose time is over. @returns whether there are more */
  closeSome(nowMs: number): boolean {
    let count = 0;
    for (const connection of this.#connections) {
      if (connection.acceptedAtMs > nowMs - this.#timeoutMs) return false;
      if (count++ === CLOSED_AT_A_TIME) return true;
      this.#connections.delete(connection);
      this.#close(connection);
    }
    return false;
  }
}
