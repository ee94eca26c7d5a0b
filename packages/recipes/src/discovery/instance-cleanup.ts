import type { Client } from "@zooid/client";
import { pause } from "@zooid/client";
import type { Zxid } from "@zooid/model";
import { rules, type Shape, shape } from "@zooid/model";
import type { Subscription } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { FailureReports } from "../failure-reports.ts";

/** Options of a clean-up. */
export interface InstanceCleanupOptions {
  /**
   * Longest time without a write, in milliseconds. It is also the interval of the checks, so an
   * instance is removed after at most twice that time.
   */
  readonly staleMs: number;
  /**
   * Called when a check fails; checks continue. Without it there are warnings (`ZOOID_FAILED`), one
   * in ten seconds at most.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** By path, the zxid of an instance's last write. */
export type LastWrites = ReadonlyMap<string, Zxid>;

const SHAPE: Shape<InstanceCleanupOptions> = shape<InstanceCleanupOptions>({
  staleMs: {
    expected: "a number of milliseconds above 0",
    accepts: (value) => typeof value === "number" && value > 0,
  },
  onError: rules.callable,
});

/**
 * Removes instances that are no longer written: Curator's InstanceCleanup. {@link
 * ServiceDiscovery.cleanUp} creates one.
 *
 * An instance is removed if it was not written between two checks. So no clock of a writer or
 * server matters. Since writes are impossible while no server is available, the first check after
 * that only records the current state.
 */
export class InstanceCleanup implements AsyncDisposable {
  readonly #options: InstanceCleanupOptions;
  readonly #reports: FailureReports;
  readonly #removeStale: (before: LastWrites, signal: AbortSignal) => Promise<LastWrites>;
  readonly #closed: () => void;
  readonly #subscription: Subscription;
  /** Counts only the time with a connection. */
  #connected: AbortController | undefined;
  #ended: Promise<void> = Promise.resolve();

  /** @internal */
  constructor(
    zk: Client,
    removeStale: (before: LastWrites, signal: AbortSignal) => Promise<LastWrites>,
    { closed, ...options }: InstanceCleanupOptions & { readonly closed: () => void },
  ) {
    checkArguments("cleanUp", zk, "/", options, SHAPE, ["staleMs"]);
    this.#options = options;
    this.#reports = new FailureReports(zk, options.onError);
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

  /** Stops the checks. May be repeated. */
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
    const { staleMs } = this.#options;
    let before: LastWrites = new Map();
    while (!signal.aborted) {
      try {
        before = await this.#removeStale(before, signal);
      } catch (error) {
        if (!signal.aborted) this.#reports.report("a check for stale instances has failed", error);
      }
      await pause(staleMs, { signal }).catch(() => {});
    }
  }
}
