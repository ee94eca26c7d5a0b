import { rmSync } from "node:fs";
import { type Client, connect, ZkError } from "@zooid/client";
import type { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { formatZxid, laterOf, ZXID_NONE, type Zxid } from "@zooid/model";

const SESSION_MS = 20_000;

interface Answered {
  readonly zxid: Zxid;
  readonly path: string;
  readonly value: string;
  /** Its stamp. */
  readonly timeMs: number;
}

/** A node as it is found. */
export interface FoundNode {
  readonly value: string;
  /** The transaction of its last change. */
  readonly zxid: number;
}

export async function connectTo(port: number): Promise<Client> {
  return await connect(`127.0.0.1:${port}`, { sessionTimeoutMs: SESSION_MS });
}

export interface RunningLoad {
  /** Resolves when every write has ended, and the connections are closed. */
  end(): Promise<void>;
}

/** Restores a state to the data directory of a server that does not run. */
export type RestoreMoment = (dataDir: string) => Promise<void>;

/**
 * Writes of clients that were answered, as a model of past states: a state has the value of each
 * node's last answered write up to its zxid, or of a write without an answer behind that.
 */
export class AnsweredWrites {
  readonly #random: Random;
  readonly #paths: readonly string[];
  readonly #answered: Answered[] = [];
  #number = 0;

  constructor(random: Random, paths: readonly string[]) {
    this.#random = random;
    this.#paths = paths;
  }

  get count(): number {
    return this.#answered.length;
  }

  /** The last transaction that was answered. */
  get lastZxid(): Zxid {
    return this.#answered.reduce((last, { zxid }) => laterOf(last, zxid), ZXID_NONE);
  }

  /**
   * Sets random nodes to values that never repeat.
   *
   * @param pause before each
   */
  async write(client: Client, isOver: () => boolean, pause?: () => Promise<unknown>): Promise<void> {
    while (!isOver()) {
      await pause?.();
      const path = this.#random.pick(this.#paths);
      const value = String(++this.#number);
      try {
        const { mzxid, mtimeMs } = await client.set(path, value);
        this.#answered.push({ zxid: mzxid, path, value, timeMs: mtimeMs });
      } catch (error) {
        if (!(error instanceof ZkError)) throw error;
      }
    }
  }

  /**
   * Writes over connections of their own, until the load is ended.
   *
   * @param open a connection
   * @param pause before each write
   */
  async load(count: number, open: () => Promise<Client>, pause?: () => Promise<unknown>): Promise<RunningLoad> {
    const clients = await Promise.all(Array.from({ length: count }, open));
    let isOver = false;
    const writing = Promise.all(clients.map((client) => this.write(client, () => isOver, pause)));
    return {
      async end() {
        isOver = true;
        await writing;
        await Promise.all(clients.map((client) => client.close()));
      },
    };
  }

  /** One of those that were answered. */
  pick(): Answered {
    return this.#random.pick(this.#answered);
  }

  /**
   * Restores the state at a zxid, and reads it from a server.
   *
   * @param folder of the server, which is removed where nothing is wrong
   * @returns what is wrong
   */
  async check(folder: string, zxid: Zxid, restore: RestoreMoment): Promise<readonly string[]> {
    const restored = new ServerProcess({ kind: "zooid", folder });
    rmSync(restored.dataDir, { recursive: true });
    await restore(restored.dataDir);
    await restored.start();
    const client = await connectTo(restored.port);
    const faults = await this.checkNodes(zxid, async (path) => {
      const { data, stat } = await client.get(path);
      return { value: Buffer.from(data ?? []).toString(), zxid: stat.mzxid };
    });
    await client.close();
    await restored.stop();
    if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
    return faults;
  }

  /** @returns what is wrong with the nodes at a zxid */
  async checkNodes(zxid: Zxid, read: (path: string) => Promise<FoundNode>): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const path of this.#paths) {
      const found = await read(path);
      const last = this.#lastOf(path, zxid);
      const isAnswered = found.value === (last?.value ?? "") && (last === undefined || found.zxid === last.zxid);
      if (isAnswered || this.#isUnanswered(found, last, zxid)) continue;
      faults.push(`at ${formatZxid(zxid)} ${path} is ${JSON.stringify(found)}, and was ${JSON.stringify(last)}`);
    }
    return faults;
  }

  /**
   * @param found the transactions that a time was said to mean: the last one before the first one
   *   that was stamped later, and the last one that was not stamped later
   * @returns what is wrong with that
   */
  checkTime(timeMs: number, found: { readonly first: Zxid; readonly last: Zxid }): readonly string[] {
    const { first, last } = found;
    const faults: string[] = [];
    const later = this.#answered.filter((each) => each.timeMs > timeMs && each.zxid <= first);
    if (later.length > 0) faults.push(`${formatZxid(first)} is behind ${textOf(later[0])}`);
    const earlier = this.#answered.filter((each) => each.timeMs <= timeMs && each.zxid > last);
    if (earlier.length > 0) faults.push(`${formatZxid(last)} is before ${textOf(earlier[0])}`);
    return faults;
  }

  #lastOf(path: string, zxid: Zxid): Answered | undefined {
    return this.#answered
      .filter((each) => each.path === path && each.zxid <= zxid)
      .sort((a, b) => a.zxid - b.zxid)
      .at(-1);
  }

  #isUnanswered(found: FoundNode, last: Answered | undefined, zxid: Zxid): boolean {
    const isBehind = found.zxid <= zxid && found.zxid > (last?.zxid ?? 0);
    return isBehind && !this.#answered.some(({ value }) => value === found.value);
  }
}

function textOf(written: Answered | undefined): string {
  return `the write ${JSON.stringify(written)}`;
}
