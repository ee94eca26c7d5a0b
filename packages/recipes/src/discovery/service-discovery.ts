import type { Client, Codec, Stat } from "@zooid/client";
import {
  anyRule,
  checkArgument,
  checkRecord,
  joinPath,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
  type Zxid,
} from "@zooid/model";
import { defer, finalize, type Observable, ReplaySubject } from "rxjs";
import { checkArguments, signalOf } from "../arguments.ts";
import { Deadline, type WaitOptions, within } from "../leases/deadline.ts";
import { type Keeping, PersistentNode, type PersistentNodeState } from "../members/persistent-node.ts";
import { machineAddress } from "../nodes/default-data.ts";
import { eachOf } from "../nodes/each-of.ts";
import { namesBelow, put } from "../nodes/named-node.ts";
import { isMade } from "../nodes/refusals.ts";
import { encodedValue } from "../nodes/values.ts";
import { isRecipeError, RecipeError } from "../recipe-error.ts";
import { warn } from "../warn.ts";
import { InstanceCleanup, type InstanceCleanupOptions, type LastWrites } from "./instance-cleanup.ts";
import { jsonRule } from "./json-value.ts";
import { ServiceCache } from "./service-cache.ts";
import {
  FORMAT,
  type InstanceFormat,
  instanceCodec,
  type ServiceInstance,
  type ServiceType,
} from "./service-instance.ts";
import { ServiceProvider, type ServiceProviderOptions } from "./service-provider.ts";
import { parseUriSpec, type UriSpec, uriSpecRule } from "./uri-spec.ts";

/** The data of an instance. */
export interface ServiceDetails<T> {
  /** Default: this machine's address. */
  readonly address?: string | null;
  readonly port?: number | null;
  readonly sslPort?: number | null;
  readonly payload?: T | null;
  /** As text: `{scheme}://{address}:{port}` and the like. */
  readonly uriSpec?: UriSpec | string | null;
  /** False only where the discovery's format has `writeEnabled`. */
  readonly enabled?: boolean;
}

export interface NewService<T> extends ServiceDetails<T> {
  readonly name: string;
  /** Default: a UUID. */
  readonly id?: string;
  /** Default `dynamic`: for the session, and again in the next one. */
  readonly serviceType?: ServiceType;
}

/** An instance without a session. */
export type LastingInstance<T = unknown> = ServiceInstance<T> & { readonly serviceType: "static" | "permanent" };

const port: Rule = anyRule(wholeNumberRule(0, 65_535), nothing());
const SERVICE: Shape<NewService<unknown>> = shape<NewService<unknown>>({
  name: rules.name,
  id: rules.name,
  serviceType: wordRule("dynamic", "dynamic-sequential", "static", "permanent"),
  ...details(),
});
const INSTANCE: Shape<LastingInstance> = shape<LastingInstance>({
  ...details(),
  name: rules.name,
  id: rules.name,
  serviceType: wordRule("static", "permanent"),
  registeredAtMs: {
    ...wholeNumberRule(0, Number.MAX_SAFE_INTEGER),
    expected: "a whole number of milliseconds since 1970",
  },
});
const DETAILS: Shape<ServiceDetails<unknown>> = shape<ServiceDetails<unknown>>(details());

function details(): Shape<ServiceDetails<unknown>> {
  return {
    address: anyRule(addressRule(), nothing()),
    port,
    sslPort: port,
    payload: jsonRule,
    uriSpec: anyRule(rules.text, uriSpecRule, nothing()),
    enabled: rules.flag,
  };
}

function addressRule(): Rule {
  return { expected: "an address, not empty", accepts: (value) => typeof value === "string" && value.trim() !== "" };
}

function nothing(): Rule {
  return { expected: "null", accepts: (value) => value === null };
}

const MODES = {
  dynamic: "ephemeral",
  "dynamic-sequential": "ephemeral-sequential",
  static: "persistent",
  permanent: "persistent",
} as const;

interface RegistrationParts<T> {
  readonly node: PersistentNode;
  readonly codec: Codec<ServiceInstance<T>>;
  readonly closed: () => void;
  readonly replaced$: Observable<void>;
}

/**
 * An instance that is registered until this is closed, or another process registers the same id.
 */
export class Registration<T = unknown> implements AsyncDisposable {
  readonly #parts: RegistrationParts<T>;
  #instance: ServiceInstance<T>;

  /** @internal Use {@link ServiceDiscovery.register}. */
  constructor(instance: ServiceInstance<T>, parts: RegistrationParts<T>) {
    this.#instance = instance;
    this.#parts = parts;
  }

  /** The registered instance. */
  get instance(): ServiceInstance<T> {
    return this.#instance;
  }

  /** Its node; a sequential one has its number when it is `ready`. */
  get path(): string {
    return this.#parts.node.path;
  }

  /**
   * Its node's state, now and after each change: `replaced` is final. Fails with permanent errors.
   */
  get state$(): Observable<PersistentNodeState> {
    return this.#parts.node.state$;
  }

  /**
   * Emits once, also to later subscribers, when another process, or another discovery of this one,
   * has registered the same id: the newest registration counts, and this one no longer maintains
   * the node. Completes when it is closed.
   */
  get replaced$(): Observable<void> {
    return this.#parts.replaced$;
  }

  /**
   * Waits until other clients can see it in its current form. @throws NAME_TAKEN once it is
   * replaced
   */
  ready(options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#parts.node.ready(options);
  }

  /**
   * Changes its data, now or as soon as there is a connection, and in later sessions; `ready` waits
   * until other clients can see it.
   *
   * @throws NAME_TAKEN once it is replaced, RECIPE_CLOSED once it is closed, the error with which
   *   it ended
   */
  update(details: ServiceDetails<T>): void {
    checkRecord("Registration.update", details, DETAILS, []);
    const instance = { ...this.#instance, ...knownOf(details) };
    this.#parts.node.setData(
      encodedValue("Registration.update", this.path, { codec: this.#parts.codec, value: instance }),
    );
    this.#instance = instance;
  }

  /** Unregisters it. May be repeated. */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#parts.closed();
    await this.#parts.node.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Instances of services and their addresses: Curator's ServiceDiscovery, on the same znodes,
 * `<path>/<name>/<id>`, and in the same JSON, so that Java and TypeScript find each other's
 * instances. Once it is closed every call fails with RECIPE_CLOSED.
 */
export class ServiceDiscovery<T = unknown> implements AsyncDisposable {
  readonly path: string;
  readonly #zk: Client;
  readonly #codec: Codec<ServiceInstance<T>>;
  readonly #registrations = new Map<string, Registration<T>>();
  readonly #caches = new Set<ServiceCache<T>>();
  readonly #cleanups = new Set<InstanceCleanup>();
  readonly #closing = new AbortController();

  constructor(zk: Client, path: string, format: InstanceFormat = {}) {
    checkArguments("ServiceDiscovery", zk, path, format, FORMAT);
    this.#zk = zk;
    this.path = path;
    this.#codec = instanceCodec<T>(format);
  }

  /**
   * Registers an instance and waits until other clients can see it. It stays registered over lost
   * connections and sessions, until its registration or the discovery is closed. The newest
   * registration of an id counts, as in Curator: it replaces the instance of another process once,
   * and the older registration is `replaced` then. A process that is to come back registers again.
   * Where several begin at one moment, the last one that the servers see counts; the calls of the
   * others return registrations that are `replaced`.
   *
   * @throws NAME_TAKEN if this discovery has registered the id already, or the instance is to be
   *   ephemeral and its node has children; LOCK_TIMEOUT, the signal's reason, or a permanent error;
   *   then nothing is registered, or what the servers have seen of it is removed once they answer
   */
  async register(service: NewService<T>, options: WaitOptions = {}): Promise<Registration<T>> {
    using deadline = new Deadline(options, `register an instance in ${this.path}`);
    const { signal } = deadline;
    checkRecord("ServiceDiscovery.register", service, SERVICE, ["name"]);
    const { name, id = crypto.randomUUID(), serviceType = "dynamic" } = service;
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
    const path = this.#pathOfInstance(name, id);
    if (this.#registrations.has(path)) throw new RecipeError("NAME_TAKEN", `${path} is registered here already`);
    const data = this.#dataOf(path, instance);
    let isReplaced = false;
    const replaced$ = new ReplaySubject<void>(1);
    const closed = (): void => {
      if (this.#registrations.get(path) === registration) this.#registrations.delete(path);
    };
    const keeping: Keeping = {
      entered: (state) => {
        if (state !== "replaced") return;
        isReplaced = true;
        closed();
        this.#warnOfReplacement(instance);
        replaced$.next();
      },
      ended: () => {
        closed();
        replaced$.complete();
      },
    };
    const wanted = { path, data, mode: MODES[serviceType], whenTaken: "takeOver" } as const;
    const node = new PersistentNode(this.#zk, wanted, keeping);
    const parts = { node, codec: this.#codec, closed, replaced$: replaced$.asObservable() };
    const registration: Registration<T> = new Registration<T>(instance, parts);
    this.#registrations.set(path, registration);
    try {
      await registration.ready({ signal });
    } catch (error) {
      // It was registered, and `replaced$` says what became of it.
      if (isReplaced) return registration;
      // Beyond the limit it is removed in the background.
      await registration.close({ signal }).catch(() => {});
      throw error;
    }
    return registration;
  }

  /**
   * Writes an instance once, for a process without a session, and does not maintain it: it stays
   * until it is removed. An existing instance of the same id is replaced.
   */
  async put(instance: LastingInstance<T>, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf("ServiceDiscovery.put", options);
    checkRecord("ServiceDiscovery.put", instance, INSTANCE, ["name", "id", "serviceType"]);
    const path = this.#pathOfInstance(instance.name, instance.id);
    const data = this.#dataOf(path, instance);
    for (;;) {
      const { ephemeralOwner, version } = await put(this.#zk, path, data, signal);
      if (ephemeralOwner === 0n) return;
      // An ephemeral node would be removed with its session, and the instance with it.
      await this.#deleteUnchanged(path, version, signal);
    }
  }

  /**
   * Removes an instance, regardless of its owner; one that a discovery keeps registered comes back.
   * May be repeated.
   */
  async remove(name: string, id: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const signal = signalOf("ServiceDiscovery.remove", options);
    await this.#zk.delete(this.#pathOfInstance(name, id), { missingOk: true, signal });
  }

  /** The names of the services, also of those without instances. */
  async names(options: { readonly signal?: AbortSignal } = {}): Promise<readonly string[]> {
    const signal = signalOf("ServiceDiscovery.names", options);
    this.#closing.signal.throwIfAborted();
    return await namesBelow(this.#zk, this.path, signal);
  }

  /** The instances of a service, from the server. */
  async instances(
    name: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<readonly ServiceInstance<T>[]> {
    const signal = signalOf("ServiceDiscovery.instances", options);
    return (await this.#found(name, signal)).map(({ instance }) => instance);
  }

  /** One instance; null if there is none of that id. */
  async instance(
    name: string,
    id: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<ServiceInstance<T> | null> {
    const signal = signalOf("ServiceDiscovery.instance", options);
    return (await this.#read(this.#pathOfInstance(name, id), signal))?.instance ?? null;
  }

  /**
   * Removes `static` instances that were not written for a while, until it or the discovery is
   * closed: Curator's InstanceCleanup. Processes without a session renew their instances with
   * {@link put}.
   */
  cleanUp(options: InstanceCleanupOptions): InstanceCleanup {
    this.#closing.signal.throwIfAborted();
    const cleanup = new InstanceCleanup(this.#zk, (before, signal) => this.#removeStale(before, signal), {
      ...options,
      closed: () => this.#cleanups.delete(cleanup),
    });
    this.#cleanups.add(cleanup);
    return cleanup;
  }

  /** The instances of a service, now and after each change. */
  instances$(name: string): Observable<readonly ServiceInstance<T>[]> {
    return defer(() => {
      const cache = this.cache(name);
      return cache.instances$.pipe(finalize(() => cache.close()));
    });
  }

  /** A copy of a service's instances, kept up to date until it or the discovery is closed. */
  cache(name: string): ServiceCache<T> {
    const cache: ServiceCache<T> = new ServiceCache<T>(this.#zk, this.#pathOf(name), this.#codec, () =>
      this.#caches.delete(cache),
    );
    this.#caches.add(cache);
    return cache;
  }

  /** Chooses instances of a service, until it or the discovery is closed. */
  provider(name: string, options?: ServiceProviderOptions<T>): ServiceProvider<T> {
    return new ServiceProvider(this.cache(name), options);
  }

  /** Unregisters all instances, and stops observing services. May be repeated. */
  async close(options: WaitOptions = {}): Promise<void> {
    this.#closing.abort(new RecipeError("RECIPE_CLOSED", `the discovery on ${this.path} is closed`));
    for (const cache of this.#caches) cache.close();
    const kept = [...this.#cleanups, ...this.#registrations.values()];
    await within(Promise.all(kept.map((each) => each.close())), options, `close the discovery on ${this.path}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #warnOfReplacement({ name, id }: ServiceInstance<T>): void {
    const message = `${name} ${id} is registered by another process, or again by this one: this registration has ended`;
    warn(this.#zk, "ZOOID_REPLACED", message, { service: name, id });
  }

  /** @throws ArgumentError for a payload that cannot be written as JSON */
  #dataOf(path: string, value: ServiceInstance<T>): Uint8Array {
    return encodedValue("ServiceDiscovery", path, { codec: this.#codec, value });
  }

  /** @throws RECIPE_CLOSED, as every call does that needs a path */
  #pathOf(name: string): string {
    checkArgument("ServiceDiscovery", "the service's name", name, rules.name);
    this.#closing.signal.throwIfAborted();
    return joinPath(this.path, name);
  }

  #pathOfInstance(name: string, id: string): string {
    checkArgument("ServiceDiscovery", "the instance's id", id, rules.name);
    return joinPath(this.#pathOf(name), id);
  }

  /**
   * Removes the static instances that are unchanged since the last check; returns the state of the
   * others.
   */
  async #removeStale(before: LastWrites, signal: AbortSignal): Promise<LastWrites> {
    const now = new Map<string, Zxid>();
    for (const name of await this.names({ signal })) {
      const found = await this.#found(name, signal);
      const unchanged = found.filter(({ path, stat, instance }) => {
        if (instance.serviceType !== "static") return false;
        if (before.get(path) === stat.mzxid) return true;
        now.set(path, stat.mzxid);
        return false;
      });
      await eachOf(unchanged, ({ path, stat }) => this.#deleteUnchanged(path, stat.version, signal));
    }
    return now;
  }

  /** Not if it was written since: its owner is alive. */
  async #deleteUnchanged(path: string, version: number, signal: AbortSignal | undefined): Promise<void> {
    await isMade(this.#zk.delete(path, { version, missingOk: true, signal }), "BAD_VERSION");
  }

  async #found(name: string, signal: AbortSignal | undefined): Promise<readonly Found<T>[]> {
    const path = this.#pathOf(name);
    const ids = await namesBelow(this.#zk, path, signal);
    const found = await eachOf(ids, (id) => this.#read(joinPath(path, id), signal));
    return found.filter((one) => one !== null);
  }

  /** Null also for other data. */
  async #read(path: string, signal: AbortSignal | undefined): Promise<Found<T> | null> {
    const node = await this.#zk.getOrNull(path, { signal });
    try {
      return node === null ? null : { path, stat: node.stat, instance: this.#codec.decode(node.data) };
    } catch (error) {
      if (isRecipeError(error, "NOT_OURS")) return null;
      throw error;
    }
  }
}

interface Found<T> {
  readonly path: string;
  readonly stat: Stat;
  readonly instance: ServiceInstance<T>;
}

/** Without undefined fields. */
function knownOf<T>(details: ServiceDetails<T>): Partial<ServiceInstance<T>> {
  const { address, port, sslPort, payload, uriSpec: given, enabled } = details;
  const uriSpec = typeof given === "string" ? parseUriSpec(given) : given;
  const fields = Object.entries({ address, port, sslPort, payload, uriSpec, enabled });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as Partial<ServiceInstance<T>>;
}
