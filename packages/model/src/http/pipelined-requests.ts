/**
 * Requests that may wait on one connection behind the one that is answered. Hardly any client sends
 * a second one before it has its answer.
 */
const WAITING_MAX = 16;

interface Pipeline {
  readonly waiting: (() => void)[];
}

/**
 * Requests of HTTP connections, one of each at a time. A parser hands over all that came in one
 * piece at once, thousands of them: carried out like this, they would take one turn of the event
 * loop, and their answers would wait in memory for a client that reads none.
 */
export class PipelinedRequests<C extends object> {
  readonly #pipelines = new WeakMap<C, Pipeline>();

  /**
   * A request came.
   *
   * @param begin carries it out, at once or when those before it are answered
   * @returns false if too many wait: the connection is to be closed
   */
  add(connection: C, begin: () => void): boolean {
    const pipeline = this.#pipelines.get(connection);
    if (pipeline === undefined) {
      this.#pipelines.set(connection, { waiting: [] });
      begin();
      return true;
    }
    if (pipeline.waiting.length >= WAITING_MAX) return false;
    pipeline.waiting.push(begin);
    return true;
  }

  /** The answer to the request that was begun is over: the next one begins. */
  answered(connection: C): void {
    const next = this.#pipelines.get(connection)?.waiting.shift();
    if (next === undefined) this.#pipelines.delete(connection);
    else next();
  }

  /** The connection is closed: its waiting requests are dropped. */
  closed(connection: C): void {
    this.#pipelines.delete(connection);
  }
}
