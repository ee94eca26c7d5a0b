import type { Client, Codec } from "@zooid/client";
import { filter, map, type Observable } from "rxjs";
import { put } from "../nodes/named-node.ts";

/**
 * What was last said, told to all who listen: the data of one node. Whoever listens hears the latest, not everything: what is said in quick succession, or
 * while there is no connection, may be skipped but for the last of it. Where everything counts, use a queue.
 */
export class Topic<T> {
  readonly path: string;
  readonly #zk: Client;
  readonly #codec: Codec<T>;

  constructor(zk: Client, path: string, codec: Codec<T>) {
    this.#zk = zk;
    this.path = path;
    this.#codec = codec;
  }

  /** What was said last, if anything was, and whatever is said from now on. */
  get messages$(): Observable<T> {
    return this.#zk.watchData$(this.path, { codec: this.#codec }).pipe(
      filter((node) => node.exists),
      map(({ value }) => value),
    );
  }

  /** Tells all. */
  async publish(message: T): Promise<void> {
    await put(this.#zk, this.path, this.#codec.encode(message));
  }

  /** What was said last, as the server knows it; undefined where nothing was. */
  async latest(): Promise<T | undefined> {
    const node = await this.#zk.getOrNull(this.path);
    return node === null ? undefined : this.#codec.decode(node.data);
  }
}
