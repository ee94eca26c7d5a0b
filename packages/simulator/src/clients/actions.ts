import { HeldWrites } from "../invariants/held-writes.ts";
import { checkUnanswered } from "../invariants/unanswered-reads.ts";
import type { Run } from "../runs/run.ts";
import type { SimClient } from "./sim-client.ts";
import type { Tenant } from "./tenant.ts";

/** A client that waits longer for an answer drops its connection. */
const ANSWER_LIMIT_MS = 1300;
const PING_AFTER_MS = 500;
const IN_FLIGHT_MAX = 6;
const PING = { kind: "read", read: { kind: "ping" } } as const;

/**
 * Decides what clients do, each at its own pace: connect, request, ping, drop the connection, sleep
 * until the session may expire. At the end of a run each client makes a last few requests.
 */
export class ClientActions {
  readonly #run: Run;
  /** From now on clients make their last requests only. */
  isClosing = false;
  /**
   * If set, each client makes this number of writes, one after the other, and does nothing else.
   */
  writeCount: number | undefined;
  readonly #heldWrites: HeldWrites;

  constructor(run: Run) {
    this.#run = run;
    this.#heldWrites = new HeldWrites(run.plan.limits);
  }

  start(): void {
    for (const client of this.#run.clients) this.#act(client);
  }

  #act(client: SimClient): void {
    const { plan, connections, nowMs } = this.#run;
    this.#run.after(1 + (client.random.next() / 2 ** 32) * 2 * plan.thinkMs, () => this.#act(client));
    if (nowMs < client.sleepsUntilMs && !this.isClosing) return;
    const { connection } = client;
    if (connection === undefined) {
      if (nowMs >= client.errandUntilMs) connections.connect(client);
      return;
    }
    this.#heldWrites.check(client, nowMs);
    const waitsSinceMs = connection.isReady ? client.inFlight[0]?.atMs : connection.openedMs;
    if (waitsSinceMs !== undefined && nowMs - waitsSinceMs > ANSWER_LIMIT_MS) {
      const isEnding = this.#run.sessionChecks.isEnding(client.session);
      checkUnanswered(client, nowMs, isEnding);
      connections.drop(client, "gives up waiting");
      return;
    }
    if (!connection.isReady) return;
    if (this.isClosing) this.#finish(client);
    else if (nowMs < client.errandUntilMs) this.#ping(client);
    else if (this.writeCount !== undefined) this.#writeNext(client, this.writeCount);
    else this.#actAtRandom(client);
  }

  #actAtRandom(client: SimClient): void {
    const { connections } = this.#run;
    const { connection } = client;
    if (this.#isImpatient(client)) return;
    const dice = client.random.below(1000);
    if (dice < 15) connections.drop(client, "drops its connection");
    else if (dice < 20) this.#sleep(client);
    else if (dice < 27) connections.send(client, { kind: "write", request: { kind: "close" } });
    else if (client.tenant !== undefined) this.#attack(client, client.tenant);
    else if (client.inFlight.length < IN_FLIGHT_MAX) {
      for (let i = 1 + client.random.below(3); i > 0; i--) {
        if (client.connection === connection) connections.send(client, client.workload.next());
      }
    }
    this.#ping(client);
  }

  /**
   * Requests something, and may connect to another server before the answer. @returns whether it
   * did
   */
  #isImpatient(client: SimClient): boolean {
    const { isRestless, isContended } = this.#run.plan.manners;
    if (client.tenant !== undefined || !(isRestless || isContended)) return false;
    const { connections } = this.#run;
    const dice = client.random.below(1000);
    if (dice < (isContended ? 30 : 15)) connections.send(client, { kind: "write", request: { kind: "close" } });
    else if (isRestless && dice < 120) connections.send(client, client.workload.next());
    else return false;
    if (!isRestless || client.connection === undefined || client.random.chance(0.3)) return true;
    connections.dropBehindRequests(client, "does not wait for the answer");
    connections.connect(client);
    return true;
  }

  #attack(client: SimClient, tenant: Tenant): void {
    if (client.inFlight.length > 0 || client.random.chance(0.6)) return;
    const { connection } = client;
    for (const request of tenant.next()) {
      if (client.connection === connection) this.#run.connections.send(client, request);
    }
  }

  #ping(client: SimClient): void {
    if (this.#run.nowMs - client.sentMs > PING_AFTER_MS) this.#run.connections.send(client, PING);
  }

  /** Sleeps long enough, now and then, for its session to expire. */
  #sleep(client: SimClient): void {
    client.sleepsUntilMs = this.#run.nowMs + 500 + client.random.below(5000);
    this.#run.trace.say(client.name, `sleeps until ${Math.round(client.sleepsUntilMs)}`);
    if (client.random.chance(0.5)) this.#run.connections.drop(client, "drops its connection");
  }

  /** The last requests, once everything before them is answered. */
  #finish(client: SimClient): void {
    const { connections } = this.#run;
    if (client.isDone) {
      this.#ping(client);
      return;
    }
    if (client.inFlight.length > 0) return;
    const last = client.lastFinish;
    if (last !== undefined && last === client.xid) {
      client.isDone = true;
      return;
    }
    if (client.tenant === undefined) {
      const write = { kind: "set", path: "/", data: client.name, version: -1 } as const;
      connections.send(client, { kind: "write", request: { kind: "one", write } });
    }
    connections.send(client, { kind: "read", read: { kind: "sync", path: "/" } });
    connections.send(client, { kind: "read", read: { kind: "data", path: "/", watch: false } });
    client.lastFinish = client.xid;
  }

  #writeNext(client: SimClient, count: number): void {
    if (client.inFlight.length > 0) return;
    if (client.xid >= count) {
      client.isDone = true;
      return;
    }
    const path = `/w${client.xid}`;
    const write = { kind: "create", path, data: client.name, ephemeral: false, sequential: false } as const;
    this.#run.connections.send(client, { kind: "write", request: { kind: "one", write } });
  }
}
