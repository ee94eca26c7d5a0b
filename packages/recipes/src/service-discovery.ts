import { randomUUID } from "node:crypto";
import type { Client, Codec } from "@zooid/client";
import { joinPath } from "@zooid/model";
import { defer, finalize, type Observable } from "rxjs";
import { machineAddress } from "./default-data.ts";
import { namesBelow } from "./named-node.ts";
import { PersistentNode } from "./persistent-node.ts";
import { isRecipeError, RecipeError } from "./recipe-error.ts";
import { ServiceCache } from "./service-cache.ts";
import { type InstanceFormat, instanceCodec, type ServiceInstance, type ServiceType } from "./service-instance.ts";
import { ServiceProvider, type ServiceProviderOptions } from "./service-provider.ts";
import { parseUriSpec, type UriSpec } from "./uri-spec.ts";

/** What an instance says of itself. */
export interface ServiceDetails<T> {
  /** Default: this machine's address. */
  readonly address?: string | null;
  readonly port?: number | null;
  readonly sslPort?: number | null;
  readonly payload?: T | null;
  /** As text: `{scheme}://{address}:{port}` and its like. */
  readonly uriSpec?: UriSpec | string | null;
  readonly enabled?: boolean;
}

export interface NewService<T> extends ServiceDetails<T> {
  readonly name: string;
  /** Default: a UUID. */
  readonly id?: string;
  /** Default `dynamic`: as long as the session, and again with the next. */
  readonly serviceType?: ServiceType;
}

const MODES = {
  dynamic: "ephemeral",
  "dynamic-sequential": "ephemeral-sequential",
  static: "persistent",
  permanent: "persistent",
} as const;

/** An instance that is registered until this is closed. */
export class Registration<T = unknown> implements AsyncDisposable {
  readonly #node: PersistentNode;
  readonly #codec: Codec<ServiceInstance<T>>;
  readonly #closed: () => void;
  #instance: ServiceInstance<T>;

  /** @internal {@link ServiceDiscovery.register} makes one */
  constructor(
    instance: ServiceInstance<T>,
    parts: { readonly node: PersistentNode; readonly codec: Codec<ServiceInstance<T>>; readonly closed: () => void },
  ) {
    this.#instance = instance;
    this.#node = parts.node;
    this.#codec = parts.codec;
    this.#closed = parts.closed;
  }

  /** As it is registered. */
  get instance(): ServiceInstance<T> {
    return this.#instance;
  }

  /** The node that says so; a sequential one has its number when it is `ready`. */
  get path(): string {
    return this.#node.path;
  }

  /** Waits until others can see it as it is. */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#node.ready(options);
  }

  /** Says something else of it, now or as soon as there is a connection, and with each session to come; `ready` tells when others can see it. */
  update(details: ServiceDetails<T>): void {
    this.#instance = { ...this.#instance, ...knownOf(details) };
    this.#node.setData(this.#codec.encode(this.#instance));
  }

  /** Takes it back. Twice is harmless. */
  async close(): Promise<void> {
    this.#closed();
    await this.#node.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Who serves what, and where: Curator's ServiceDiscovery, on the same znodes, `<path>/<name>/<id>`, and with the same JSON, so that Java finds what is
 * registered here and the other way round.
 */
export class ServiceDiscovery<T = unknown> implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #codec: Codec<ServiceInstance<T>>;
  readonly #registrations = new Map<string, Registration<T>>();
  readonly #caches = new Set<ServiceCache<T>>();

  constructor(zk: Client, path: string, format: InstanceFormat = {}) {
    this.#zk = zk;
    this.path = path;
    this.#codec = instanceCodec<T>(format);
  }

  /**
   * Registers an instance and waits until others can see it. It stays registered over lost connections and sessions, until its registration or the
   * discovery is closed. One of the same id that is there already is taken for an earlier self, and replaced.
   *
   * @throws NAME_TAKEN where this discovery has registered the id already, the signal's reason, or what no reconnect mends; nothing is registered then
   */
  async register(service: NewService<T>, options?: { readonly signal?: AbortSignal }): Promise<Registration<T>> {
    options?.signal?.throwIfAborted();
    const { name, id = randomUUID(), serviceType = "dynamic" } = service;
    const instance: ServiceInstance<T> = {
      name,
      id,
      address: machineAddress(),
      port: null,
      sslPort: null,
      payload: null,
      registeredAtMs: Date.now(),
      serviceType,
      uriSpec: null,
      enabled: true,
      ...knownOf(service),
    };
    const path = joinPath(this.#pathOf(name), id);
    if (this.#registrations.has(path)) throw new RecipeError("NAME_TAKEN", `${path} is registered here already`);
    const data = this.#codec.encode(instance);
    const registration = new Registration<T>(instance, {
      node: new PersistentNode(this.#zk, { path, data, mode: MODES[serviceType] }),
      codec: this.#codec,
      closed: () => this.#registrations.delete(path),
    });
    this.#registrations.set(path, registration);
    try {
      await registration.ready(options);
    } catch (error) {
      await registration.close();
      throw error;
    }
    return registration;
  }

  /** The names of the services, also of those that nobody serves at present. */
  names(): Promise<readonly string[]> {
    return namesBelow(this.#zk, this.path);
  }

  /** The instances of a service, as the server knows them. */
  async instances(name: string): Promise<readonly ServiceInstance<T>[]> {
    const path = this.#pathOf(name);
    const ids = await namesBelow(this.#zk, path);
    const found = await Promise.all(ids.map((id) => this.#read(joinPath(path, id))));
    return found.filter((instance) => instance !== null);
  }

  /** One of them; null where there is none of that id. */
  instance(name: string, id: string): Promise<ServiceInstance<T> | null> {
    return this.#read(joinPath(this.#pathOf(name), id));
  }

  /** The instances of a service, now and whenever one comes, changes or goes. */
  instances$(name: string): Observable<readonly ServiceInstance<T>[]> {
    return defer(() => {
      const cache = this.cache(name);
      return cache.instances$.pipe(finalize(() => cache.close()));
    });
  }

  /** A copy of a service's instances, kept up to date until it or the discovery is closed. */
  cache(name: string): ServiceCache<T> {
    const cache = new ServiceCache(this.#zk, this.#pathOf(name), this.#codec);
    this.#caches.add(cache);
    cache.instances$.subscribe({ error: () => this.#caches.delete(cache), complete: () => this.#caches.delete(cache) });
    return cache;
  }

  /** Chooses instances of a service until it or the discovery is closed. */
  provider(name: string, options?: ServiceProviderOptions<T>): ServiceProvider<T> {
    return new ServiceProvider(this.cache(name), options);
  }

  /** Takes back what was registered here, and follows no service any more. Twice is harmless. */
  async close(): Promise<void> {
    for (const cache of this.#caches) cache.close();
    await Promise.all([...this.#registrations.values()].map((registration) => registration.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #pathOf(name: string): string {
    return joinPath(this.path, name);
  }

  /** Null also where there is something else. */
  async #read(path: string): Promise<ServiceInstance<T> | null> {
    const node = await this.#zk.getOrNull(path);
    try {
      return node === null ? null : this.#codec.decode(node.data);
    } catch (error) {
      if (isRecipeError(error, "NOT_OURS")) return null;
      throw error;
    }
  }
}

/** What is said, without what is not. */
function knownOf<T>({
  address,
  port,
  sslPort,
  payload,
  uriSpec,
  enabled,
}: ServiceDetails<T>): Partial<ServiceInstance<T>> {
  return {
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
    ...(sslPort === undefined ? {} : { sslPort }),
    ...(payload === undefined ? {} : { payload }),
    ...(uriSpec === undefined ? {} : { uriSpec: typeof uriSpec === "string" ? parseUriSpec(uriSpec) : uriSpec }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}
