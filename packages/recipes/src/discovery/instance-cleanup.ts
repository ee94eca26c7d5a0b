import type { Client } from "@zooid/client";
import type { Zxid } from "@zooid/model";
import type { Subscription } from "rxjs";
import { pause } from "../pause.ts";
import { reportError } from "../report-error.ts";

/** Which instances are removed, and who hears of it when that fails. */
export interface InstanceCleanupOptions {
  /** For how many milliseconds an instance may go unwritten. Looked at as often, so that it goes after at most twice as long. */
  readonly staleMs: number;
  /** Hears what a look failed with; the next one comes all the same. Default: nobody does. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** By path, the transaction that wrote an instance last. */
export type LastWrites = ReadonlyMap<string, Zxid>;

const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Looks for instances that nobody writes any more: Curator's InstanceCleanup. {@link ServiceDiscovery.cleanUp} makes one.
 *
 * One goes that has not been written between two looks. So nobody's clock counts, neither its writer's nor a server's; and as nobody can write while
 * no server is there, the first look after that only sees what there is.
 */
export class InstanceCleanup implements AsyncDisposable {
  readonly #options: InstanceCleanupOptions;
  readonly #removeStale: (before: LastWrites, signal: AbortSignal) => Promise<LastWrites>;
  readonly #closed: () => void;
  readonly #subscription: Subscription;
  /** Of the time for which there is a server. */
  #connected: AbortController | undefined;
  #ended: Promise<void> = Promise.resolve();

  /** @internal */
  constructor(
    zk: Client,
    removeStale: (before: LastWrites, signal: AbortSignal) => Promise<LastWrites>,
    { closed, ...options }: InstanceCleanupOptions & { readonly closed: () => void },
  ) {
    const { staleMs } = options;
    if (!(staleMs > 0 && staleMs <= TIMER_MS_MAX))
      throw new RangeError(`staleMs: more than 0 and at most ${TIMER_MS_MAX} was expected, found ${staleMs}`);
    this.#options = options;
    this.#removeStale = removeStale;
    this.#closed = closed;
    this.#subscription = zk.state$.subscribe(({ kind }) => {
      this.#connected?.abort();
      this.#connected = undefined;
      if (kind !== "connected") return;
      const connected = new AbortController();
      this.#connected = connected;
      this.#ended = this.#ended.then(() => this.#run(connected.signal));
    });
  }

  /** Looks no more. Twice is harmless. */
  async close(): Promise<void> {
    this.#subscription.unsubscribe();
    this.#connected?.abort();
    this.#closed();
    await this.#ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { staleMs, onError } = this.#options;
    let before: LastWrites = new Map();
    while (!signal.aborted) {
      try {
        before = await this.#removeStale(before, signal);
      } catch (error) {
        if (!signal.aborted) reportError(onError, error);
      }
      await pause(staleMs, undefined, { signal }).catch(() => {});
    }
  }
}
