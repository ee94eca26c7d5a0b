import { setTimeout as delay } from "node:timers/promises";
import { type Client, type CreateMode, connect, digestId, isZkError } from "@zooid/client";
import type { Random } from "@zooid/conformance/internal/random";
import type { Load } from "./load.ts";

/** The user who may read nodes with closed access lists. */
export const USER = "alice:secret";
const SESSION_MS = 40_000;
const FOLDERS = 24;
const NAMES = 160;
/** Requests that a client has in flight. */
const DEPTH = 24;
/** How long a client lasts before it closes its session, with all ephemeral nodes. */
const LIFE_STEPS_MAX = 600;
const DATA_BYTES_MAX = 1500;
const TTL_LONG_MS = 3_600_000;
const TTL_SHORT_MS = 200;

const ACLS = [
  [{ perms: 31, scheme: "world", id: "anyone" }],
  [{ perms: 31, scheme: "digest", id: digestId("alice", "secret") }],
  [
    { perms: 31, scheme: "ip", id: "127.0.0.1/8" },
    { perms: 1, scheme: "world", id: "anyone" },
  ],
] as const;

const MODES: readonly CreateMode[] = [
  { mode: "persistent" },
  { mode: "persistent-sequential" },
  { mode: "ephemeral" },
  { mode: "ephemeral-sequential" },
  { mode: "container" },
  { mode: "persistent-with-ttl", ttlMs: TTL_LONG_MS },
  { mode: "persistent-sequential-with-ttl", ttlMs: TTL_SHORT_MS },
];

/** Changes a tree in every way that a transaction of Apache's has, until it is stopped. */
export class ApacheLoad implements Load {
  /** Requests that were answered. */
  answered = 0;
  readonly #random: Random;
  readonly #port: number;
  readonly #open = new Set<Client>();
  readonly #stopping = new AbortController();

  constructor(random: Random, port: number) {
    this.#random = random;
    this.#port = port;
  }

  /** The folders and their quotas. */
  async begin(): Promise<void> {
    const zk = await this.#connect();
    for (let i = 0; i < FOLDERS; i++) await created(zk, folderOf(i));
    await created(zk, "/zookeeper/quota/f0");
    await created(zk, "/zookeeper/quota/f0/zookeeper_limits", "count=100000,bytes=-1");
    await created(zk, "/zookeeper/quota/f0/zookeeper_stats", "count=0,bytes=0");
    await this.#close(zk);
  }

  /** Clients come and go until {@link stop}; requests that fail are part of it. */
  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.#runClients()));
  }

  /** Ends all clients at once; their sessions stay open. */
  stop(): void {
    this.#stopping.abort();
    for (const zk of this.#open) zk.disconnect();
  }

  async #runClients(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#runClient();
      } catch (error) {
        // The server may be killed, and come back.
        if (!this.#stopping.signal.aborted && !isZkError(error)) throw error;
      }
    }
  }

  async #runClient(): Promise<void> {
    const zk = await this.#connect();
    let stepsLeft = this.#random.between(1, LIFE_STEPS_MAX);
    const lane = async (): Promise<void> => {
      while (!this.#stopping.signal.aborted && stepsLeft-- > 0) await this.#step(zk);
    };
    await Promise.all(Array.from({ length: DEPTH }, lane));
    if (!this.#stopping.signal.aborted) await this.#close(zk);
  }

  async #connect(): Promise<Client> {
    const zk = await connect(`127.0.0.1:${this.#port}`, {
      sessionTimeoutMs: SESSION_MS,
      signal: this.#stopping.signal,
    });
    this.#open.add(zk);
    if (this.#stopping.signal.aborted) zk.disconnect();
    await zk.addAuth("digest", USER);
    return zk;
  }

  async #close(zk: Client): Promise<void> {
    this.#open.delete(zk);
    await zk.close();
  }

  async #step(zk: Client): Promise<void> {
    try {
      await this.#request(zk);
      this.answered++;
    } catch (error) {
      if (!isZkError(error)) throw error;
      // A client that has been ended fails each request at once: the loop must not spin.
      if (this.#stopping.signal.aborted) await delay(1);
    }
  }

  async #request(zk: Client): Promise<unknown> {
    const random = this.#random;
    const path = this.#path();
    const acl = random.pick(ACLS);
    switch (random.between(0, 9)) {
      case 0:
      case 1:
      case 2:
        return await zk.create(path, this.#data(), { acl, ...random.pick(MODES) });
      case 3:
        // Below a node, which may be a container.
        return await zk.create(`${path}/child`, this.#data(), { acl });
      case 4:
        return await zk.set(path, this.#data());
      case 5:
        return await zk.setAcl(path, acl);
      case 6:
        return await zk.delete(`${path}/child`);
      case 7:
        return await zk.delete(path);
      case 8:
        return await zk
          .transaction()
          .set(folderOf(0), this.#data())
          .delete(path)
          .create(path, "again", { acl })
          .commit();
      default:
        // It fails at its second step, most of the time.
        return await zk.transaction().create(`${path}-x`, this.#data()).check(path, 1).delete(`${path}-x`).commit();
    }
  }

  #path(): string {
    const folder = folderOf(this.#random.between(0, FOLDERS - 1));
    return `${folder}/${this.#random.chance(0.05) ? "é€😀" : "n"}${this.#random.between(0, NAMES - 1)}`;
  }

  #data(): Buffer | null {
    if (this.#random.chance(0.05)) return null;
    return Buffer.alloc(this.#random.between(0, DATA_BYTES_MAX), this.#random.between(0, 255));
  }
}

function folderOf(i: number): string {
  return `/f${i}`;
}

async function created(zk: Client, path: string, data = ""): Promise<void> {
  if ((await zk.exists(path)) === null) await zk.create(path, data);
}
