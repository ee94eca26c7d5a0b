/**
 * Three simulated servers and our own client, in one thread and in virtual time: the client's
 * transport is the simulation. Servers are the real replica; its replies are encoded as for a
 * socket.
 */
import { type Client, connect, type Transport, type TransportConnection, type TransportEvents } from "@zooid/client";
import { type ConnectionRef, type ServerId, serverId } from "@zooid/model";
import {
  Cluster,
  type ClusterWatcher,
  Network,
  Prng,
  Scheduler,
  SESSION_TIMEOUT_MS,
  type SimServer,
  TICK_MS,
} from "@zooid/simulator";
import { ReplyEncoder } from "@zooid/wire";
import { Pipe, SimulatedLine } from "./simulated-connection.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { LinedClient, World } from "./world.ts";

const SIDS = [serverId(1), serverId(2), serverId(3)];
const HOSTS = SIDS.map((sid) => `127.0.0.1:${sid}`).join(",");
const DELAYS = { delayMsMin: 0.2, delayMsMax: 4 };
const DISK = { syncMsMin: 0.5, syncMsMax: 6 };

/**
 * What a client's own clock allows for, less half a tick: so long may a server that answers clients
 * be unheard by its leader.
 */
const SILENCE_MS_MAX = SESSION_TIMEOUT_MS / 5 - TICK_MS / 2;

export class SimulatedWorld implements World, ClusterWatcher {
  readonly sessionTimeoutMs: number = SESSION_TIMEOUT_MS;
  /** In every other round. */
  readonly keepsTime: boolean;
  readonly #time: VirtualTime;
  readonly #random: Prng;
  readonly #cluster: Cluster;
  /** The connections of each running server. */
  readonly #pipes = new Map<ServerId, Map<ConnectionRef, Pipe>>();
  readonly #clients: Client[] = [];
  #failure: unknown;

  constructor(time: VirtualTime, seed: number) {
    this.#time = time;
    this.keepsTime = seed % 2 === 0;
    const root = new Prng(seed);
    this.#random = root.fork("world");
    const scheduler = new Scheduler(root.fork("ties"));
    time.begin(scheduler, root.fork("clients"));
    this.#cluster = new Cluster({
      voters: SIDS,
      scheduler,
      network: new Network(scheduler, root.fork("network"), DELAYS),
      disk: DISK,
      randomOf: (sid, life) => root.fork(`server-${sid}-${life}`),
      serverOptions: (sid) => ({ replies: this.#repliesOf(sid) }),
      watcher: this,
    });
    for (const sid of SIDS) this.#cluster.start(sid);
  }

  get nowMs(): number {
    return this.#cluster.nowMs;
  }

  below(bound: number): number {
    return this.#random.below(bound);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void setTimeout(resolve, ms));
  }

  async client(): Promise<LinedClient> {
    const line = new SimulatedLine();
    const zk = await connect(HOSTS, { transport: this.#transport(line), sessionTimeoutMs: SESSION_TIMEOUT_MS });
    this.#clients.push(zk);
    return { zk, line };
  }

  async expire({ sessionId, sessionPassword }: Client, about: (sessionId: bigint) => void): Promise<void> {
    about(sessionId);
    const session = { id: sessionId, password: sessionPassword };
    const transport = this.#transport(new SimulatedLine());
    const thief = await connect(HOSTS, { transport, session, onExpiry: "close", startTimeoutMs: 20_000 });
    await thief.close();
  }

  async breakServers(): Promise<string> {
    const cluster = this.#cluster;
    const sid = this.#random.pick(SIDS);
    const downMs = 100 + this.below(2_500);
    const forMs = this.keepsTime ? this.below(SILENCE_MS_MAX) : downMs;
    switch (this.below(3)) {
      case 0:
        if (cluster.server(sid) === undefined) return "";
        cluster.crash(sid);
        cluster.startIn(sid, downMs);
        return `server ${sid} is killed and comes back in ${downMs} ms`;
      case 1:
        cluster.isolate(sid, forMs);
        return `server ${sid} is cut off for ${forMs} ms`;
      default:
        if (cluster.server(sid)?.isPaused !== false) return "";
        cluster.pause(sid, forMs);
        return `server ${sid} stands still for ${forMs} ms`;
    }
  }

  async heal(): Promise<void> {
    // Every fault ends by itself.
    await this.sleep(3_000);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    for (const sid of SIDS) this.#cluster.crash(sid);
    if (this.#failure !== undefined) throw this.#failure;
  }

  // Servers

  started({ sid }: SimServer): void {
    this.#pipes.set(sid, new Map());
  }

  crashed({ sid }: SimServer): void {
    const pipes = this.#pipes.get(sid);
    this.#pipes.delete(sid);
    for (const pipe of pipes?.values() ?? []) pipe.lost(true);
  }

  /** The replies of a step are sent together. */
  stepped({ sid }: SimServer): void {
    for (const pipe of this.#pipes.get(sid)?.values() ?? []) pipe.flush();
  }

  failed(_: SimServer, error: unknown): void {
    this.#failure = error;
  }

  #repliesOf(sid: ServerId): ReplyEncoder {
    return new ReplyEncoder({
      writer: (ref) => this.#pipes.get(sid)?.get(ref)?.writer,
      sentReadOnly: () => true,
      close: (ref) => this.#pipes.get(sid)?.get(ref)?.closing(),
    });
  }

  // Connections

  #transport(line: SimulatedLine): Transport {
    return {
      resolve: async (host) => [host],
      connect: (address, events) => this.#dial(address.port, line, events),
    };
  }

  #dial(port: number, line: SimulatedLine, events: TransportEvents): TransportConnection {
    const pipe = new Pipe(events, line, {
      after: (delayMs, run) => this.#cluster.after(delayMs, run),
      delayMs: () => DELAYS.delayMsMin + (this.#random.next() / 2 ** 32) * (DELAYS.delayMsMax - DELAYS.delayMsMin),
      touch: () => this.#time.touch(),
    });
    this.#cluster.after(1, () => {
      const server = this.#cluster.server(serverId(port));
      if (server === undefined || line.isRefusing) return pipe.lost();
      const ref = server.accept();
      const pipes = this.#pipes.get(server.sid);
      pipes?.set(ref, pipe);
      pipe.open(server, ref, () => {
        if (pipes?.get(ref) === pipe) pipes.delete(ref);
      });
    });
    return pipe;
  }
}
