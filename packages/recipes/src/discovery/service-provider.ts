import { checkArgument, checkFit, rules, type Shape, shape } from "@zooid/model";
import { atOnce } from "../at-once.ts";
import { DOWN, type DownInstancePolicy, DownInstances } from "./down-instances.ts";
import { chosenBy, type ProviderStrategy, strategies, strategyRule } from "./provider-strategy.ts";
import type { ServiceCache } from "./service-cache.ts";
import type { ServiceInstance } from "./service-instance.ts";

export interface ServiceProviderOptions<T> {
  /** The strategy. Default: round robin. */
  readonly strategy?: ProviderStrategy<T>;
  readonly down?: DownInstancePolicy;
  /** Selects usable instances. Disabled ones are always excluded. Default: all. */
  readonly filter?: (instance: ServiceInstance<T>) => boolean;
  /**
   * How long the last known instances are used without a connection, in milliseconds. Default:
   * without limit.
   */
  readonly staleMsMax?: number;
}

const SHAPE: Shape<ServiceProviderOptions<unknown>> = shape<ServiceProviderOptions<unknown>>({
  strategy: strategyRule,
  down: rules.record,
  filter: rules.callable,
  staleMsMax: rules.duration,
});

/** Chooses an instance of a service for each call: Curator's ServiceProvider. */
export class ServiceProvider<T = unknown> implements Disposable {
  readonly #cache: ServiceCache<T>;
  readonly #options: ServiceProviderOptions<T>;
  readonly #strategy: ProviderStrategy<T>;
  readonly #down: DownInstances;

  constructor(cache: ServiceCache<T>, options: ServiceProviderOptions<T> = {}) {
    checkFit("ServiceProvider", options, SHAPE);
    checkFit("ServiceProvider: down", options.down, DOWN);
    this.#cache = cache;
    this.#options = options;
    this.#strategy = options.strategy ?? strategies.roundRobin();
    this.#down = new DownInstances(options.down ?? {}, () => performance.now());
  }

  /** Waits until all initial instances are known. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#cache.ready(options);
  }

  /**
   * A usable instance; undefined if there is none.
   *
   * @param key the caller's key, for strategies that use one
   * @throws RECIPE_CLOSED; ArgumentError where the strategy gives no index of an instance
   */
  pick(key = ""): ServiceInstance<T> | undefined {
    checkArgument("ServiceProvider.pick", "the key", key, rules.text);
    const instances = this.instances();
    return chosenBy(this.#strategy, instances, key);
  }

  /** All usable instances. @throws RECIPE_CLOSED */
  instances(): readonly ServiceInstance<T>[] {
    const { filter = () => true, staleMsMax = Number.POSITIVE_INFINITY } = this.#options;
    const known = this.#cache.instances();
    if (this.#cache.staleMs > staleMsMax) return [];
    const accepts = (instance: ServiceInstance<T>): boolean =>
      atOnce("ServiceProvider", "the filter", filter(instance));
    return known.filter((instance) => instance.enabled && !this.#down.isDown(keyOf(instance)) && accepts(instance));
  }

  /**
   * Reports an error of an instance; after some of these it is avoided for a while. @throws
   * RECIPE_CLOSED
   */
  noteError(instance: ServiceInstance<T>): void {
    checkArgument("ServiceProvider.noteError", "the instance", instance, rules.record);
    this.#cache.instances();
    this.#down.note(keyOf(instance));
  }

  /** Stops observing the service. May be repeated. */
  close(): void {
    this.#cache.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

/** A new registration counts as another instance. */
function keyOf({ id, address, port, registeredAtMs }: ServiceInstance): string {
  return JSON.stringify([id, address, port, registeredAtMs]);
}
