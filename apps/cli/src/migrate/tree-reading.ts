/**
 * Reads every node of a server once, a bounded number at a time and in a second. Names
 * wait in memory: those of the children of one node for each level, and for each read in flight.
 */
import { type Client, isZkError } from "@zooid/client";
import { joinPath, type Stat } from "@zooid/model";
import type { RequestPace } from "./request-pace.ts";

/** Nodes that are read at once. */
export const READS_IN_FLIGHT = 32;
/** A request without an answer for this long ends the reading. */
export const READ_MS = 30_000;

export interface TreeReadingOptions<N> {
  readonly client: Client;
  readonly pace: RequestPace;
  readonly signal: AbortSignal;
  /** Reads one node; one that is read with NO_NODE is gone. */
  read(path: string): Promise<N & { readonly stat: Stat }>;
  /** Requests of one {@link read}. */
  readonly requestsPerRead: number;
  node(path: string, node: N & { readonly stat: Stat }): void;
  /** A node that may not be read. The nodes below it are not visited. */
  unread(path: string): void;
}

interface Listed {
  readonly parent: string;
  readonly names: readonly string[];
  next: number;
}

/**
 * Resolves when all nodes were read. Nodes that come or go meanwhile may be among them or not.
 *
 * @throws the first error that is neither NO_NODE nor NO_AUTH, such as a lost connection
 */
export async function readTree<N>(options: TreeReadingOptions<N>): Promise<void> {
  await new TreeReading(options).run();
}

class TreeReading<N> {
  readonly #options: TreeReadingOptions<N>;
  readonly #failed = new AbortController();
  readonly #signal: AbortSignal;
  /** The last one first, so that few of them wait. */
  readonly #listed: Listed[] = [];
  #isRootTaken = false;
  #busy = 0;
  #changed = Promise.withResolvers<void>();

  constructor(options: TreeReadingOptions<N>) {
    this.#options = options;
    this.#signal = AbortSignal.any([options.signal, this.#failed.signal]);
  }

  async run(): Promise<void> {
    const lanes = Array.from({ length: READS_IN_FLIGHT }, () =>
      this.#lane().catch((error: unknown) => {
        // The first error ends the others.
        this.#failed.abort(error);
        this.#wake();
      }),
    );
    await Promise.all(lanes);
    this.#options.signal.throwIfAborted();
    this.#failed.signal.throwIfAborted();
  }

  async #lane(): Promise<void> {
    while (!this.#signal.aborted) {
      const path = this.#next();
      if (path !== undefined) {
        this.#busy++;
        try {
          await this.#visit(path);
        } finally {
          this.#busy--;
          this.#wake();
        }
      } else if (this.#busy === 0) {
        return;
      } else {
        await this.#changed.promise;
      }
    }
  }

  #next(): string | undefined {
    if (!this.#isRootTaken) {
      this.#isRootTaken = true;
      return "/";
    }
    for (let last = this.#listed.at(-1); last !== undefined; last = this.#listed.at(-1)) {
      const name = last.names[last.next++];
      if (name !== undefined) return joinPath(last.parent, name);
      this.#listed.pop();
    }
    return undefined;
  }

  async #visit(path: string): Promise<void> {
    const { client, pace, read, requestsPerRead, node, unread } = this.#options;
    try {
      await pace.take(requestsPerRead, this.#signal);
      const found = await read(path);
      node(path, found);
      if (found.stat.numChildren === 0) return;
      await pace.take(1, this.#signal);
      const { names } = await client.children(path, { signal: this.#signal, timeoutMs: READ_MS });
      this.#listed.push({ parent: path, names, next: 0 });
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return;
      if (!isZkError(error, "NO_AUTH")) throw error;
      unread(path);
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
