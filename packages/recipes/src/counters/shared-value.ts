import type { CallOptions, Client, Codec, NodeData, OneShotWatch, Watched } from "@zooid/client";
import {
  ArgumentError,
  checkArgument,
  checkRecord,
  misfit,
  type Rule,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
} from "@zooid/model";
import { distinctUntilChanged, filter, map, type Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { isSameBytes } from "../nodes/distinct.ts";
import { makeNamed, put } from "../nodes/named-node.ts";
import { orNull } from "../nodes/refusals.ts";
import { decodedValue, encodedValue } from "../nodes/values.ts";
import { int32 } from "./integers.ts";

/** A value and its version. */
export interface Versioned<T> {
  readonly value: T;
  readonly version: number;
}

export interface SharedValueOptions<T> {
  /** The initial value. */
  readonly seed: T;
  readonly codec: Codec<T>;
}

const SEEN: Shape<Versioned<unknown>> = shape<Versioned<unknown>>({
  value: rules.anything,
  version: wholeNumberRule(0),
});

/**
 * Checks a version that is the condition of a change: for servers -1 means any.
 *
 * @throws ArgumentError for a version that no value had that was read
 */
export function checkSeen(path: string, seen: Versioned<unknown>): void {
  const { value, version } = Object(seen) as Partial<Versioned<unknown>>;
  checkRecord(`a change of ${path}`, rules.record.accepts(seen) ? { value, version } : seen, SEEN, ["version"]);
}

const INT32: Rule = wholeNumberRule(-(2 ** 31));
const COUNT: Shape<{ seed: number }> = shape<{ seed: number }>({ seed: rules.int });
const SHAPE: Shape<SharedValueOptions<unknown>> = shape<SharedValueOptions<unknown>>({
  seed: rules.anything,
  codec: rules.codec,
});

/**
 * A value that all clients see and may set: Curator's SharedValue, on the same znode. Clients
 * create a missing node.
 */
export class SharedValue<T> {
  readonly path: string;
  readonly #zk: Client;
  readonly #options: SharedValueOptions<T>;

  constructor(zk: Client, path: string, options: SharedValueOptions<T>) {
    checkArguments("SharedValue", zk, path, options, SHAPE, ["codec"]);
    this.#zk = zk;
    this.path = path;
    this.#options = options;
  }

  /**
   * The value now and after each change; not the initial value, until a client has read or set it.
   */
  get value$(): Observable<Versioned<T>> {
    const { codec } = this.#options;
    return this.#zk.watchData$(this.path, { codec }).pipe(
      filter((node) => node.exists),
      distinctUntilChanged((a, b) => a.stat.version === b.stat.version && isSameBytes(a.data, b.data)),
      map(({ value, stat }) => ({ value, version: stat.version })),
    );
  }

  /**
   * The value, from the server; the initial value is written if there is none. @throws DecodeError
   */
  async get(options: CallOptions = {}): Promise<Versioned<T>> {
    const { codec } = this.#options;
    for (;;) {
      const node = await this.#zk.getOrNull(this.path, options);
      if (node !== null)
        return { value: decodedValue(codec, { path: this.path, ...node }), version: node.stat.version };
      await this.#seed();
    }
  }

  /**
   * The same, with a watch that fires when it changes. @throws DecodeError; then no watch is left
   */
  async getAndWatch(options: CallOptions = {}): Promise<Versioned<T> & Watched> {
    checkArgument(`a read of ${this.path}`, "options", options, rules.record);
    for (;;) {
      const found = await orNull(this.#zk.get(this.path, { ...options, watch: true }), "NO_NODE");
      if (found !== null) {
        const { data, stat, watch } = found;
        return { value: this.#valueOf({ data, stat }, watch), version: stat.version, watch };
      }
      await this.#seed();
    }
  }

  /** Sets it unconditionally. @throws ArgumentError for a value that the codec refuses to read */
  async set(value: T): Promise<Versioned<T>> {
    const { version } = await put(this.#zk, this.path, this.#dataOf(value));
    return { value, version };
  }

  /** Sets it if it is unchanged since it was read; null if it has changed. */
  async trySet(seen: Versioned<T>, value: T): Promise<Versioned<T> | null> {
    checkSeen(`${this.path}`, seen);
    const setting = this.#zk.set(this.path, this.#dataOf(value), { version: seen.version });
    const stat = await orNull(setting, "BAD_VERSION", "NO_NODE");
    return stat === null ? null : { value, version: stat.version };
  }

  async #seed(): Promise<void> {
    await makeNamed(this.#zk, { path: this.path, data: this.#dataOf(this.#options.seed), mode: "persistent" });
  }

  #dataOf(value: T): Uint8Array {
    return encodedValue("SharedValue", this.path, { codec: this.#options.codec, value });
  }

  #valueOf(node: NodeData, watch: OneShotWatch): T {
    try {
      return decodedValue(this.#options.codec, { path: this.path, ...node });
    } catch (error) {
      watch.remove();
      throw error;
    }
  }
}

/**
 * A 32-bit number that all clients see and may set: Curator's SharedCount, and kazoo's Counter with
 * `support_curator`.
 */
export class SharedCount extends SharedValue<number> {
  constructor(zk: Client, path: string, seed = 0) {
    checkArguments("SharedCount", zk, path, { seed }, COUNT);
    // kazoo creates the node empty, and counts from there.
    const decode = (bytes: Uint8Array | null): number => (bytes?.length ? int32.decode(bytes) : seed);
    super(zk, path, { seed, codec: { encode: int32.encode, decode } });
  }

  /**
   * Sets it unconditionally. @throws ArgumentError for a value that is no whole number of 32 bits
   */
  override async set(value: number): Promise<Versioned<number>> {
    this.#check("set", value);
    return await super.set(value);
  }

  /**
   * Sets it if it is unchanged since it was read; null if it has changed. @throws as {@link set}
   */
  override async trySet(seen: Versioned<number>, value: number): Promise<Versioned<number> | null> {
    this.#check("trySet", value);
    return await super.trySet(seen, value);
  }

  /** Other numbers would be stored as another one. */
  #check(method: string, value: unknown): void {
    if (!INT32.accepts(value)) throw new ArgumentError(`${method} ${this.path}`, [misfit("value", value, INT32)]);
  }
}
