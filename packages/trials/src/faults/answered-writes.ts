import { rmSync } from "node:fs";
import { type Client, connect, ZkError } from "@zooid/client";
import type { Random } from "@zooid/conformance/internal/random";
import { ServerProcess } from "@zooid/conformance/internal/servers/endpoint";
import { formatZxid, type Zxid } from "@zooid/model";

const SESSION_MS = 20_000;

interface Answered {
  readonly zxid: Zxid;
  readonly path: string;
  readonly value: string;
}

export async function connectTo(port: number): Promise<Client> {
  return await connect(`127.0.0.1:${port}`, { sessionTimeoutMs: SESSION_MS });
}

/** Restores the state at a zxid to the data directory of a server that does not run. */
export type RestoreMoment = (zxid: Zxid, dataDir: string) => Promise<void>;

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

  /** Sets random nodes to values that never repeat. */
  async write(client: Client, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const path = this.#random.pick(this.#paths);
      const value = String(++this.#number);
      try {
        const { mzxid } = await client.set(path, value);
        this.#answered.push({ zxid: Number(mzxid) as Zxid, path, value });
      } catch (error) {
        if (!(error instanceof ZkError)) throw error;
      }
    }
  }

  /**
   * Restores the state at an answered write, and reads it from a server.
   *
   * @param folder of the server, which is removed where nothing is wrong
   * @returns what is wrong
   */
  async check(folder: string, restore: RestoreMoment): Promise<readonly string[]> {
    const { zxid } = this.#random.pick(this.#answered);
    const restored = new ServerProcess({ kind: "zooid", folder });
    rmSync(restored.dataDir, { recursive: true });
    await restore(zxid, restored.dataDir);
    await restored.start();
    const client = await connectTo(restored.port);
    const faults: string[] = [];
    for (const path of this.#paths) {
      const { data, stat } = await client.get(path);
      const found = { value: Buffer.from(data ?? []).toString(), zxid: Number(stat.mzxid) };
      const last = this.#lastOf(path, zxid);
      const isAnswered = found.value === (last?.value ?? "") && (last === undefined || found.zxid === last.zxid);
      if (isAnswered || this.#isUnanswered(found, last, zxid)) continue;
      faults.push(`at ${formatZxid(zxid)} ${path} is ${JSON.stringify(found)}, and was ${JSON.stringify(last)}`);
    }
    await client.close();
    await restored.stop();
    if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
    return faults;
  }

  #lastOf(path: string, zxid: Zxid): Answered | undefined {
    return this.#answered
      .filter((each) => each.path === path && each.zxid <= zxid)
      .sort((a, b) => a.zxid - b.zxid)
      .at(-1);
  }

  #isUnanswered(
    found: { readonly value: string; readonly zxid: number },
    last: Answered | undefined,
    zxid: Zxid,
  ): boolean {
    const isBehind = found.zxid <= zxid && found.zxid > (last?.zxid ?? 0);
    return isBehind && !this.#answered.some(({ value }) => value === found.value);
  }
}
