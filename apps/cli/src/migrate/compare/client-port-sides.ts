/** Sides of a comparison that are read by their client ports. */
import { setTimeout as delay } from "node:timers/promises";
import { type Client, isZkError } from "@zooid/client";
import type { RequestPace } from "../request-pace.ts";
import { READ_MS, READS_IN_FLIGHT, readTree } from "../tree-reading.ts";
import { type NodeState, type Observed, readState } from "./node-state.ts";
import type { NodeVisitor, OtherReading, OtherSide, ServerSide } from "./sides.ts";

/** Time that a lagging server gets to come to a transaction. */
const REACH_MS = 10_000;
const REACH_POLL_MS = 50;
/** A node that is created again between the reads of its data and its list is read again. */
const READS_OF_ONE = 3;

export interface ClientPortOptions {
  readonly name: string;
  readonly client: Client;
  readonly pace: RequestPace;
  readonly signal: AbortSignal;
  /** Bytes of data that are kept to be shown. */
  readonly keptBytesMax: number;
}

/** A server with clients, read by one of its own. */
export class ClientPortServer implements ServerSide {
  readonly name: string;
  readonly #options: ClientPortOptions;
  #keptBytes = 0;

  constructor(options: ClientPortOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get zxid(): number {
    return this.#options.client.lastZxid;
  }

  async readAll(visitor: NodeVisitor): Promise<void> {
    const { client, pace, signal } = this.#options;
    await readTree({
      client,
      pace,
      signal,
      requestsPerRead: 2,
      read: (path) => this.#readNode(path),
      node: (path, { state }) => visitor.node(path, state),
      unread: (path) => visitor.unread(path),
    });
  }

  async readSome(paths: readonly string[]): Promise<ReadonlyMap<string, Observed>> {
    const found = new Map<string, Observed>();
    this.#keptBytes = 0;
    let next = 0;
    const lane = async (): Promise<void> => {
      for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
        await this.#options.pace.take(2, this.#options.signal);
        found.set(path, await this.#observe(path));
      }
    };
    await Promise.all(Array.from({ length: READS_IN_FLIGHT }, lane));
    return found;
  }

  async reach(zxid: number): Promise<boolean> {
    const { client, signal } = this.#options;
    const startMs = performance.now();
    for (;;) {
      await client.sync("/", { signal, timeoutMs: READ_MS });
      if (client.lastZxid >= zxid) return true;
      if (performance.now() - startMs > REACH_MS) return false;
      await delay(REACH_POLL_MS, undefined, { signal });
    }
  }

  async #observe(path: string): Promise<Observed> {
    try {
      const { state, data } = await this.#readNode(path);
      return this.#withBytes(state, data);
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return "absent";
      if (isZkError(error, "NO_AUTH")) return "unread";
      throw error;
    }
  }

  async #readNode(path: string) {
    const { client, signal } = this.#options;
    const options = { signal, timeoutMs: READ_MS };
    for (let left = READS_OF_ONE; ; left--) {
      const [node, list] = await Promise.all([client.get(path, options), client.getAcl(path, options)]);
      if (node.stat.czxid !== list.stat.czxid && left > 1) continue;
      return { stat: node.stat, data: node.data, state: readState(node, list) };
    }
  }

  #withBytes(state: NodeState, data: Uint8Array | null): NodeState {
    const bytes = data ?? undefined;
    this.#keptBytes += bytes?.length ?? 0;
    if (bytes === undefined || this.#keptBytes > this.#options.keptBytesMax) return state;
    return { ...state, data: { ...state.data, bytes } };
  }
}

/** A server of Zooid with clients, with a history of its own: the imported nodes stand still. */
export class ClientPortOther implements OtherSide {
  readonly isAtOneZxid = false;
  readonly name: string;
  readonly #server: ClientPortServer;

  constructor(options: ClientPortOptions) {
    this.name = options.name;
    this.#server = new ClientPortServer(options);
  }

  async readAll(visitor: NodeVisitor): Promise<number> {
    await this.#server.readAll(visitor);
    return this.#server.zxid;
  }

  async readSome(paths: ReadonlySet<string>): Promise<OtherReading> {
    const nodes = await this.#server.readSome([...paths]);
    return { zxid: this.#server.zxid, nodes };
  }

  reach(): Promise<void> {
    return Promise.resolve();
  }
}
