import { deepStrictEqual, ok } from "node:assert/strict";
import { type Client, connect } from "@zooid/client";
import { formatSessionId, type SessionId } from "@zooid/model";
import { Mutex } from "@zooid/recipes";
import type { ClientReport } from "./reporting-client.ts";

export const FOLDER = "/members";
const LOCK = "/lock";

/** Clients of ours, each with an ephemeral node, and a lock that they hold in turns. */
export class MovingClients implements AsyncDisposable {
  /** How often the lock was granted. */
  grants = 0;
  readonly #clients: readonly Client[];
  readonly #nodes: readonly string[];
  readonly #ending = new AbortController();
  readonly #lost: number[];
  #holders = 0;
  #problem: string | undefined;
  #locking: Promise<unknown> = Promise.resolve();

  static async start(hosts: string, count: number, sessionTimeoutMs: number): Promise<MovingClients> {
    const clients = await Promise.all(Array.from({ length: count }, () => connect(hosts, { sessionTimeoutMs })));
    const [first] = clients;
    ok(first !== undefined);
    await first.create(FOLDER, "");
    const nodes: string[] = [];
    for (const zk of clients) {
      const { path } = await zk.create(`${FOLDER}/n-`, "", { mode: "ephemeral-sequential" });
      nodes.push(path);
    }
    return new MovingClients(clients, nodes);
  }

  private constructor(clients: readonly Client[], nodes: readonly string[]) {
    this.#clients = clients;
    this.#nodes = nodes;
    this.#lost = clients.map(() => 0);
    clients.forEach((zk, i) => {
      zk.state$.subscribe((state) => {
        if (state.kind === "lost" && !this.#ending.signal.aborted) this.#lost[i] = (this.#lost[i] ?? 0) + 1;
      });
    });
    this.#locking = Promise.allSettled(clients.map((zk) => this.#lockAgain(zk)));
  }

  /** Takes and releases the lock until the clients stop. */
  async #lockAgain(zk: Client): Promise<void> {
    const mutex = new Mutex(zk, LOCK, { onSuspended: "keep" });
    const { signal } = this.#ending;
    while (!signal.aborted) {
      await using _lease = await mutex.acquire({ signal });
      this.#holders++;
      this.grants++;
      if (this.#holders > 1) this.#problem = `${this.#holders} clients hold the lock`;
      await zk.exists("/").catch(() => {});
      this.#holders--;
    }
  }

  async reports(): Promise<readonly ClientReport[]> {
    return await Promise.all(
      this.#clients.map(async (zk, i) => {
        const own = this.#nodes[i] ?? "";
        const stat = await zk.exists(own);
        const owner = stat === null ? null : formatSessionId(stat.ephemeralOwner as SessionId);
        return { session: formatSessionId(zk.sessionId), own, owner, lost: this.#lost[i] ?? 0 };
      }),
    );
  }

  /** Sequence numbers, the lock, watches, and the node of a client that did not come back. */
  async check(before: readonly ClientReport[], orphanPath: string): Promise<void> {
    const [watcher, writer] = [this.#clients.at(0), this.#clients.at(-1)];
    ok(watcher !== undefined && writer !== undefined);
    const { names } = await watcher.children(FOLDER);
    deepStrictEqual([...names].sort(), before.map(({ own }) => own.slice(FOLDER.length + 1)).sort());
    const { path } = await writer.create(`${FOLDER}/n-`, "", { mode: "ephemeral-sequential" });
    deepStrictEqual(path, `${FOLDER}/n-${String(before.length).padStart(10, "0")}`, "the sequence continues");
    ok((await watcher.exists(orphanPath)) !== null, "a session without its client lives its timeout");
    await this.checkLock();
  }

  /** The lock is granted as often as there are clients, and never to two of them. */
  async checkLock(): Promise<void> {
    const granted = this.grants;
    while (this.grants < granted + this.#clients.length) await this.#clients.at(-1)?.exists("/");
    deepStrictEqual(this.#problem, undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    // After a failure there may be no server left to end a session.
    for (const zk of this.#clients) zk.disconnect();
    await this.#locking;
  }
}
