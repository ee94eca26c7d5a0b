/**
 * Three simulated servers and our own client, in one thread and in virtual time, each round with
 * its own ensemble.
 */
import { type Client, connect } from "@zooid/client";
import { TestEnsemble } from "@zooid/testing";
import type { LinedClient, World } from "./world.ts";

const TICK_MS = 200;
const SESSION_TIMEOUT_MS = 2000;

/**
 * Maximum time for which a server that answers clients may be unheard by its leader: the time that
 * a client's own clock allows for, less half a tick.
 */
const SILENCE_MS_MAX = SESSION_TIMEOUT_MS / 5 - TICK_MS / 2;

export class SimulatedWorld implements World {
  readonly sessionTimeoutMs: number = SESSION_TIMEOUT_MS;
  /** In every other round. */
  readonly keepsTime: boolean;
  readonly ensemble: TestEnsemble;
  readonly #clients: Client[] = [];
  #names = 0;

  constructor(seed: number) {
    this.keepsTime = seed % 2 === 0;
    this.ensemble = TestEnsemble.begin({
      servers: 3,
      seed,
      tickMs: TICK_MS,
      minSessionTimeoutMs: SESSION_TIMEOUT_MS,
      maxSessionTimeoutMs: SESSION_TIMEOUT_MS,
    });
  }

  get nowMs(): number {
    return this.ensemble.nowMs;
  }

  below(bound: number): number {
    return this.ensemble.below(bound);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, ms));
  }

  async client(): Promise<LinedClient> {
    const name = `client-${++this.#names}`;
    const transport = this.ensemble.transport(name);
    const zk = await connect(this.ensemble.connectString, { transport, sessionTimeoutMs: SESSION_TIMEOUT_MS });
    this.#clients.push(zk);
    return { zk, line: this.ensemble.link(name) };
  }

  async expire({ sessionId, sessionPassword }: Client, about: (sessionId: bigint) => void): Promise<void> {
    about(sessionId);
    const session = { id: sessionId, password: sessionPassword };
    const transport = this.ensemble.transport(`expiry-${++this.#names}`);
    const { connectString } = this.ensemble;
    const thief = await connect(connectString, { transport, session, onExpiry: "close", startTimeoutMs: 20_000 });
    await thief.close();
  }

  async breakServers(): Promise<string> {
    const { ensemble } = this;
    const sid = ensemble.servers[this.below(ensemble.servers.length)] ?? 1;
    const downMs = 100 + this.below(2_500);
    const forMs = this.keepsTime ? this.below(SILENCE_MS_MAX) : downMs;
    const status = ensemble.status(sid);
    switch (this.below(3)) {
      case 0:
        if (status === "down") return "";
        ensemble.crash(sid, { forMs: downMs });
        return `server ${sid} is killed and comes back in ${downMs} ms`;
      case 1:
        ensemble.isolate(sid, { forMs });
        return `server ${sid} is cut off for ${forMs} ms`;
      default:
        if (status === "down" || status === "paused") return "";
        ensemble.pause(sid, { forMs });
        return `server ${sid} stands still for ${forMs} ms`;
    }
  }

  async heal(): Promise<void> {
    // Every fault ends automatically.
    await this.sleep(3_000);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}
