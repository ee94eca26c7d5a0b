import { type Client, connect, isZkError } from "@zooid/client";
import { formatHosts, type Host } from "./connections/hosts.ts";

/** The nodes that a run works on: all of them below one node of its own. */
export interface BenchTree extends AsyncDisposable {
  /** The run's own node. */
  readonly path: string;
  /** Makes one node. */
  create(name: string): Promise<string>;
  /** Makes nodes `n-0000000` and on below a node. */
  fill(parent: string, options: FillOptions): Promise<void>;
  /** Removes all that was made below a node, and the node. */
  remove(path: string): Promise<void>;
}

export interface FillOptions {
  readonly from?: number;
  readonly count: number;
  readonly payloadBytes: number;
  onProgress?(done: number): void;
}

/**
 * Maximum number of nodes created in one transaction, of bytes of data in it, and of transactions
 * in flight.
 */
const BATCH_COUNT = 100;
const BATCH_BYTES = 256 * 1024;
const BATCHES_IN_FLIGHT = 16;
/** Lists of a workload's nodes may be long. */
const FRAME_BYTES_MAX = 512 * 1024 * 1024;
const START_TIMEOUT_MS = 15_000;
/** How long a server that is gone is waited for, at each step of the tidying up. */
const WAIT_MS = 5_000;

export const NODE_DIGITS = 7;

/** The path of a node whose number a template fills in. */
export function nodePath(parent: string): string {
  return `${parent}/n-${"#".repeat(NODE_DIGITS)}`;
}

export function nodeName(index: number): string {
  return `n-${String(index).padStart(NODE_DIGITS, "0")}`;
}

export interface TreeOptions {
  readonly hosts: readonly Host[];
  readonly root: string;
  readonly sessionTimeoutMs: number;
}

/**
 * Connects and makes a node for this run below the root. Disposing of it removes that node, and the
 * root when it is empty.
 */
export async function openTree({ hosts, root, sessionTimeoutMs }: TreeOptions): Promise<BenchTree> {
  const client = await connect(formatHosts(hosts), {
    sessionTimeoutMs,
    startTimeoutMs: START_TIMEOUT_MS,
    waitingTimeoutMs: WAIT_MS,
    frameBytesMax: FRAME_BYTES_MAX,
  });
  try {
    const names = root.split("/").slice(1);
    for (let i = 1; i <= names.length; i++) await createMissing(client, `/${names.slice(0, i).join("/")}`);
    const { path } = await client.create(`${root}/run-`, null, { mode: "persistent-sequential" });
    return new ServerTree(client, root, path);
  } catch (error) {
    await client.close();
    throw error;
  }
}

class ServerTree implements BenchTree {
  readonly path: string;
  readonly #client: Client;
  readonly #root: string;

  constructor(client: Client, root: string, path: string) {
    this.#client = client;
    this.#root = root;
    this.path = path;
  }

  async create(name: string): Promise<string> {
    const { path } = await this.#client.create(`${this.path}/${name}`, null);
    return path;
  }

  async fill(parent: string, { from = 0, count, payloadBytes, onProgress }: FillOptions): Promise<void> {
    const payload = new Uint8Array(payloadBytes);
    const batch = Math.max(1, Math.min(BATCH_COUNT, Math.floor(BATCH_BYTES / Math.max(1, payloadBytes))));
    let next = from;
    const end = from + count;
    let done = 0;
    await inParallel(async () => {
      while (next < end) {
        const first = next;
        next = Math.min(end, next + batch);
        const made = next - first;
        const transaction = this.#client.transaction();
        for (let i = first; i < first + made; i++) transaction.create(`${parent}/${nodeName(i)}`, payload);
        await transaction.commit();
        done += made;
        onProgress?.(done);
      }
    });
  }

  async remove(path: string): Promise<void> {
    await this.#removeChildren(path, await this.#namesBelow(path));
    await this.#client.delete(path, { missingOk: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.remove(this.path);
      await this.#client.delete(this.#root, { missingOk: true }).catch((error: unknown) => {
        // Another run is at work, or the root has other uses.
        if (!isZkError(error, "NOT_EMPTY")) throw error;
      });
    } finally {
      await this.#client.close();
    }
  }

  /**
   * None where the node is gone: an ephemeral whose session has ended since it was listed, or a
   * container.
   */
  async #namesBelow(path: string): Promise<readonly string[]> {
    try {
      return (await this.#client.children(path)).names;
    } catch (error) {
      if (isZkError(error, "NO_NODE")) return [];
      throw error;
    }
  }

  /** Leaves go in batches; a batch that holds a node with children is done one by one. */
  async #removeChildren(path: string, names: readonly string[]): Promise<void> {
    let next = 0;
    await inParallel(async () => {
      while (next < names.length) {
        const batch = names.slice(next, next + BATCH_COUNT);
        next += BATCH_COUNT;
        try {
          const transaction = this.#client.transaction();
          for (const name of batch) transaction.delete(`${path}/${name}`);
          await transaction.commit();
        } catch (error) {
          if (!isZkError(error, "NOT_EMPTY") && !isZkError(error, "NO_NODE")) throw error;
          for (const name of batch) await this.remove(`${path}/${name}`);
        }
      }
    });
  }
}

async function createMissing(client: Client, path: string): Promise<void> {
  try {
    await client.create(path, null);
  } catch (error) {
    if (!isZkError(error, "NODE_EXISTS")) throw error;
  }
}

async function inParallel(act: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, act));
}

/** For a null server, which has every node and keeps none. */
export const NULL_TREE: BenchTree = {
  path: "/zooid-bench/run-0000000000",
  create: (name) => Promise.resolve(`/zooid-bench/run-0000000000/${name}`),
  fill: () => Promise.resolve(),
  remove: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
