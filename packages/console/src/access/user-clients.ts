import { type Client, type ClientOptions, createClient, isTerminal } from "@zooid/client";
import { BUDGETS } from "@zooid/model";
import type { User } from "./user.ts";

interface Used {
  readonly client: Client;
  /** The share of the address that it was opened for. */
  readonly share: string;
  /** Event streams and requests that use it now. */
  useCount: number;
  idleSinceMs: number;
}

export interface UserClientsOptions {
  readonly hosts: string;
  readonly client: ClientOptions;
  readonly nowMs?: () => number;
  /** Most users at a time. Default 50. */
  readonly countMax?: number;
}

/** A ZooKeeper session without any request ends after this time. */
const IDLE_MS = 60_000;
const CHECK_MS = 10_000;
const { count: COUNT_MAX, ofAddress: SHARE_MAX } = BUDGETS.consoleSessions;

/** The limit of ZooKeeper sessions is reached. */
export class TooManyUsersError extends Error {
  override readonly name = "TooManyUsersError";
}

/**
 * One ZooKeeper session for each user: the servers judge each request by the identities of the user
 * that made it. Users that come with the same credentials share one.
 */
export class UserClients implements AsyncDisposable {
  readonly #options: UserClientsOptions;
  readonly #nowMs: () => number;
  readonly #clients = new Map<string, Used>();
  readonly #timer: NodeJS.Timeout;

  constructor(options: UserClientsOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#timer = setInterval(() => this.closeIdle(), CHECK_MS).unref();
  }

  get count(): number {
    return this.#clients.size;
  }

  /**
   * Calls `work` with the user's client, which is kept open meanwhile.
   *
   * @param share of the requester's address: it has half of the places at most, and makes room for
   *   itself then
   */
  async use<T>(user: User, share: string, work: (client: Client) => Promise<T>): Promise<T> {
    const used = this.#of(user, share);
    used.useCount++;
    try {
      return await work(used.client);
    } finally {
      used.useCount--;
      used.idleSinceMs = this.#nowMs();
    }
  }

  /** Closes the clients that were not used for a minute. */
  closeIdle(): void {
    const nowMs = this.#nowMs();
    for (const [key, { client, useCount, idleSinceMs }] of this.#clients) {
      if (useCount > 0 || nowMs - idleSinceMs < IDLE_MS) continue;
      this.#clients.delete(key);
      void client.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const all = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(all.map(({ client }) => client.close()));
  }

  #of(user: User, share: string): Used {
    const { hosts, client: options, countMax = COUNT_MAX } = this.#options;
    const key = user.credential === undefined ? "" : `${user.credential.scheme} ${user.credential.auth}`;
    const known = this.#clients.get(key);
    // A client that was refused or closed is not used again.
    if (known !== undefined && !isTerminal(known.client.state)) return known;
    if (known === undefined) this.#makeRoom(share, countMax);
    const auth = user.credential === undefined ? [] : [user.credential];
    const used = { client: createClient(hosts, { ...options, auth }), share, useCount: 0, idleSinceMs: this.#nowMs() };
    this.#clients.set(key, used);
    return used;
  }

  /**
   * Servers accept any name: a client that is not in use gives way, the one that has been idle
   * longest first.
   */
  #makeRoom(share: string, countMax: number): void {
    const ofShare = [...this.#clients.values()].filter((used) => used.share === share).length;
    const isShareSpent = ofShare >= Math.ceil((countMax * SHARE_MAX) / COUNT_MAX);
    if (!isShareSpent && this.#clients.size < countMax) return;
    let oldest: readonly [string, Used] | undefined;
    for (const entry of this.#clients) {
      const [, used] = entry;
      if (used.useCount > 0 || (isShareSpent && used.share !== share)) continue;
      if (oldest === undefined || used.idleSinceMs < oldest[1].idleSinceMs) oldest = entry;
    }
    if (oldest === undefined) throw new TooManyUsersError(`more than ${countMax} users at a time`);
    this.#clients.delete(oldest[0]);
    void oldest[1].client.close();
  }
}
