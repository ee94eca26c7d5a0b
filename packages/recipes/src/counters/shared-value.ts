import { type CallOptions, type Client, type Codec, isZkError, type Watched } from "@zooid/client";
import { filter, map, type Observable } from "rxjs";
import { makeNamed, put } from "../nodes/named-node.ts";
import { int32 } from "./integers.ts";

/** A value and which one in a row it was. */
export interface Versioned<T> {
  readonly value: T;
  readonly version: number;
}

export interface SharedValueOptions<T> {
  /** What the value is until somebody sets it. */
  readonly seed: T;
  readonly codec: Codec<T>;
}

/** A value that all see and each may set: Curator's SharedValue, on the same znode. Its makers make the node when it is missing. */
export class SharedValue<T> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: SharedValueOptions<T>;

  constructor(zk: Client, path: string, options: SharedValueOptions<T>) {
    this.#zk = zk;
    this.path = path;
    this.#options = options;
  }

  /** The value now and whenever it changes; not the seed, until somebody has asked for it or set it. */
  get value$(): Observable<Versioned<T>> {
    const { codec } = this.#options;
    return this.#zk.watchData$(this.path, { codec }).pipe(
      filter((node) => node.exists),
      map(({ value, stat }) => ({ value, version: stat.version })),
    );
  }

  /** The value, as the server has it; the seed is written where there is none. */
  async get(options: CallOptions = {}): Promise<Versioned<T>> {
    const { codec } = this.#options;
    for (;;) {
      const node = await this.#zk.getOrNull(this.path, options);
      if (node !== null) return { value: codec.decode(node.data), version: node.stat.version };
      await this.#seed();
    }
  }

  /** The same, and a watch that fires when it is not so any more. */
  async getAndWatch(options: CallOptions = {}): Promise<Versioned<T> & Watched> {
    const { codec } = this.#options;
    for (;;) {
      try {
        const { data, stat, watch } = await this.#zk.get(this.path, { ...options, watch: true });
        return { value: codec.decode(data), version: stat.version, watch };
      } catch (error) {
        if (!isZkError(error, "NO_NODE")) throw error;
      }
      await this.#seed();
    }
  }

  /** Sets it, whatever it is. */
  async set(value: T): Promise<Versioned<T>> {
    const { version } = await put(this.#zk, this.path, this.#options.codec.encode(value));
    return { value, version };
  }

  /** Sets it if it is still what one has seen; null where it is not. */
  async trySet(seen: Versioned<T>, value: T): Promise<Versioned<T> | null> {
    // To a server -1 is any version; no value that was seen has it.
    if (seen.version < 0) throw new RangeError(`${this.path}: version ${seen.version} was never seen`);
    try {
      const { version } = await this.#zk.set(this.path, this.#options.codec.encode(value), { version: seen.version });
      return { value, version };
    } catch (error) {
      if (isZkError(error, "BAD_VERSION") || isZkError(error, "NO_NODE")) return null;
      throw error;
    }
  }

  async #seed(): Promise<void> {
    const { codec, seed } = this.#options;
    await makeNamed(this.#zk, { path: this.path, data: codec.encode(seed), mode: "persistent" });
  }
}

/** A 32-bit number that all see and each may set: Curator's SharedCount, and kazoo's Counter with `support_curator`. */
export class SharedCount extends SharedValue<number> {
  constructor(zk: Client, path: string, seed = 0) {
    // kazoo makes the node empty, and counts from there.
    const decode = (bytes: Uint8Array | null): number => (bytes?.length ? int32.decode(bytes) : seed);
    super(zk, path, { seed, codec: { encode: int32.encode, decode } });
  }
}
