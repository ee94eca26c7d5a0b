import type { Client, Codec } from "@zooid/client";
import { rules, type Shape, shape } from "@zooid/model";
import { filter, map, type Observable } from "rxjs";
import { checkArguments } from "../arguments.ts";
import { distinctWrites } from "../nodes/distinct.ts";
import { put } from "../nodes/named-node.ts";
import { decodedValue, encodedValue } from "../nodes/values.ts";

const SHAPE: Shape<{ codec: unknown }> = shape<{ codec: unknown }>({ codec: rules.codec });

/**
 * Broadcasts the latest value to every subscriber: the data of one node. Subscribers get the latest
 * value, not every one: values published in quick succession, or while there is no connection, may
 * be skipped except for the last. Use a queue where each one counts.
 */
export class Topic<T> {
  readonly path: string;
  readonly #zk: Client;
  readonly #codec: Codec<T>;

  constructor(zk: Client, path: string, codec: Codec<T>) {
    checkArguments("Topic", zk, path, { codec }, SHAPE, ["codec"]);
    this.#zk = zk;
    this.path = path;
    this.#codec = codec;
  }

  /** The last published value, if there is one, and each later one. */
  get messages$(): Observable<T> {
    return this.#zk.watchData$(this.path, { codec: this.#codec }).pipe(
      distinctWrites(),
      filter((node) => node.exists),
      map(({ value }) => value),
    );
  }

  /**
   * Publishes a value. @throws ArgumentError for a value that the codec cannot write, or refuses to
   * read
   */
  async publish(message: T): Promise<void> {
    await put(this.#zk, this.path, encodedValue("Topic", this.path, { codec: this.#codec, value: message }));
  }

  /** The last published value, from the server; undefined if there is none. @throws DecodeError */
  async latest(): Promise<T | undefined> {
    const node = await this.#zk.getOrNull(this.path);
    return node === null ? undefined : decodedValue(this.#codec, { path: this.path, ...node });
  }
}
