import { AsyncLocalStorage } from "node:async_hooks";

interface Running {
  /** The work has ended, or waits for the recipe's end itself. */
  readonly isNoHindrance: PromiseWithResolvers<void>;
}

/**
 * Work of callers that a recipe runs and waits for at its end. Work that closes its own recipe and waits
 * for that would wait for itself:
 *
 * 1. The recipe runs the work.
 * 2. The work awaits `close()`.
 * 3. `close()` returns once no other work runs: the rest of the recipe's end follows that of this work.
 */
export class OwnWork {
  readonly #storage = new AsyncLocalStorage<Running>();
  readonly #running = new Set<Running>();

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const running: Running = { isNoHindrance: Promise.withResolvers() };
    this.#running.add(running);
    try {
      return await this.#storage.run(running, work);
    } finally {
      this.#running.delete(running);
      running.isNoHindrance.resolve();
    }
  }

  /** Waits for the end of the recipe, from inside of its work for all other work. */
  async untilEnded(ended: Promise<void>): Promise<void> {
    const own = this.#storage.getStore();
    if (own === undefined || !this.#running.has(own)) return await ended;
    own.isNoHindrance.resolve();
    await Promise.all([...this.#running].map(({ isNoHindrance }) => isNoHindrance.promise));
  }
}
