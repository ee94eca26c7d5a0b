import { type DownInstancePolicy, DownInstances } from "./down-instances.ts";
import { type ProviderStrategy, strategies } from "./provider-strategy.ts";
import type { ServiceCache } from "./service-cache.ts";
import type { ServiceInstance } from "./service-instance.ts";

export interface ServiceProviderOptions<T> {
  /** How one is chosen. Default: one after the other. */
  readonly strategy?: ProviderStrategy<T>;
  readonly down?: DownInstancePolicy;
  /** Which may be chosen at all. Those that are not enabled may not. Default: all. */
  readonly filter?: (instance: ServiceInstance<T>) => boolean;
  /** How long without a server the last known instances are good enough, in milliseconds. Default: for ever. */
  readonly staleMsMax?: number;
}

/** Chooses an instance of a service for each call: Curator's ServiceProvider. */
export class ServiceProvider<T = unknown> implements Disposable {
  readonly #cache: ServiceCache<T>;
  readonly #options: ServiceProviderOptions<T>;
  readonly #strategy: ProviderStrategy<T>;
  readonly #down: DownInstances;

  constructor(cache: ServiceCache<T>, options: ServiceProviderOptions<T> = {}) {
    this.#cache = cache;
    this.#options = options;
    this.#strategy = options.strategy ?? strategies.roundRobin();
    this.#down = new DownInstances(options.down ?? {}, () => performance.now());
  }

  /** Waits until all instances that were there at the beginning are known. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#cache.ready(options);
  }

  /**
   * One that may be used now; undefined where there is none.
   *
   * @param key what it is for, where the strategy makes a difference
   */
  pick(key = ""): ServiceInstance<T> | undefined {
    const instances = this.instances();
    return instances.length === 0 ? undefined : instances[this.#strategy.choose(instances, key)];
  }

  /** All that may be used now. */
  instances(): readonly ServiceInstance<T>[] {
    const { filter = () => true, staleMsMax = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#cache.staleMs > staleMsMax) return [];
    return this.#cache
      .instances()
      .filter((instance) => instance.enabled && !this.#down.isDown(keyOf(instance)) && filter(instance));
  }

  /** An instance did not do as it should; after some of these it is left alone for a while. */
  noteError(instance: ServiceInstance<T>): void {
    this.#down.note(keyOf(instance));
  }

  /** Follows the service no more. Twice is harmless. */
  close(): void {
    this.#cache.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** One that has registered anew is another. */
function keyOf({ id, address, port, registeredAtMs }: ServiceInstance): string {
  return JSON.stringify([id, address, port, registeredAtMs]);
}
