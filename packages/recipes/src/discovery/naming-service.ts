import { type Client, type Codec, isZkError } from "@zooid/client";
import { checkArgument, joinPath, rules, type Shape, shape } from "@zooid/model";
import { map, type Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { distinctData } from "../nodes/distinct.ts";
import { namesBelow } from "../nodes/named-node.ts";
import { decodedValue, encodedValue } from "../nodes/values.ts";
import { RecipeError } from "../recipe-error.ts";

const SHAPE: Shape<{ codec: unknown }> = shape<{ codec: unknown }>({ codec: rules.codec });

/**
 * Unique names and their values: `<path>/<kind>/<name>`. They stay when their session ends; for
 * names that end with it use {@link ServiceDiscovery} or {@link GroupMember}.
 */
export class NamingService<T> {
  readonly path: string;
  readonly #zk: Client;
  readonly #codec: Codec<T>;

  constructor(zk: Client, path: string, codec: Codec<T>) {
    checkArguments("NamingService", zk, path, { codec }, SHAPE, ["codec"]);
    this.#zk = zk;
    this.path = path;
    this.#codec = codec;
  }

  /**
   * Registers a name.
   *
   * @throws NAME_TAKEN; CONNECTION_LOSS with `outcome` unknown, after which a lookup shows the
   *   name's current value; ArgumentError for a value that the codec refuses to read
   */
  async register(kind: string, name: string, value: T): Promise<void> {
    const path = this.#pathOf(kind, name);
    try {
      const data = encodedValue("NamingService", path, { codec: this.#codec, value });
      await this.#zk.create(path, data, { parents: "container" });
    } catch (cause) {
      if (!isZkError(cause, "NODE_EXISTS")) throw cause;
      throw new RecipeError("NAME_TAKEN", `${path} is taken`, { cause });
    }
  }

  /** The value of a name; undefined if it is free. @throws DecodeError */
  async lookup(kind: string, name: string): Promise<T | undefined> {
    const path = this.#pathOf(kind, name);
    const node = await this.#zk.getOrNull(path);
    return node === null ? undefined : decodedValue(this.#codec, { path, ...node });
  }

  /** The value of a name, now and after each change. */
  lookup$(kind: string, name: string): Observable<T | undefined> {
    const node$ = this.#zk.watchData$(this.#pathOf(kind, name), { codec: this.#codec });
    return node$.pipe(
      distinctData(),
      map((node) => (node.exists ? node.value : undefined)),
    );
  }

  /** The registered names of a kind. */
  async names(kind: string): Promise<readonly string[]> {
    checkArgument("NamingService", "the kind", kind, rules.name);
    return await namesBelow(this.#zk, joinPath(this.path, kind));
  }

  /** Releases a name, if it is registered. */
  async unregister(kind: string, name: string): Promise<void> {
    await this.#zk.delete(this.#pathOf(kind, name), { missingOk: true });
  }

  #pathOf(kind: string, name: string): string {
    checkArgument("NamingService", "the kind", kind, rules.name);
    checkArgument("NamingService", "the name", name, rules.name);
    return joinPath(joinPath(this.path, kind), name);
  }
}
