import type { Transport, TransportConnection, TransportEvents } from "@zooid/client";
import { type ConnectionRef, type ServerId, serverId } from "@zooid/model";
import {
  Cluster,
  type ClusterWatcher,
  Network,
  type Prng,
  type SimServer,
  WALL_CLOCK_START_MS,
} from "@zooid/simulator";
import { ReplyEncoder } from "@zooid/wire";
import type { ClientLink } from "./client-link.ts";
import { ClientPipe } from "./client-pipe.ts";
import type { ServerStatus } from "./events.ts";
import type { TestEnsembleConfig } from "./options.ts";
import type { VirtualTime } from "./virtual-time.ts";

const PORT = 2181;
const DIAL_MS = 1;

/** Receives what servers do. */
export interface ServersWatcher {
  changed(sid: number, status: ServerStatus): void;
  /** A server has found a defect in itself. */
  failed(error: unknown): void;
}

/** The simulated cluster, and real clients' connections to its servers. */
export class SimulatedServers implements ClusterWatcher {
  readonly cluster: Cluster;
  readonly #time: VirtualTime;
  readonly #config: TestEnsembleConfig;
  /** Decides the delays between clients and servers. */
  readonly #random: Prng;
  readonly #watcher: ServersWatcher;
  /** The connections of each running server. */
  readonly #pipes = new Map<ServerId, Map<ConnectionRef, ClientPipe>>();
  readonly #statuses = new Map<ServerId, ServerStatus>();

  constructor(parts: {
    readonly time: VirtualTime;
    readonly config: TestEnsembleConfig;
    readonly root: Prng;
    readonly random: Prng;
    readonly watcher: ServersWatcher;
  }) {
    const { time, config, root } = parts;
    const { servers, observers, tickMs, latency, diskSync } = config;
    this.#time = time;
    this.#config = config;
    this.#random = parts.random;
    this.#watcher = parts.watcher;
    const { scheduler } = time;
    const delays = { delayMsMin: latency.minMs, delayMsMax: latency.maxMs };
    this.cluster = new Cluster({
      voters: Array.from({ length: servers }, (_, i) => serverId(i + 1)),
      observers: Array.from({ length: observers }, (_, i) => serverId(servers + i + 1)),
      scheduler,
      network: new Network(scheduler, root.fork("network"), delays),
      disk: { syncMsMin: diskSync.minMs, syncMsMax: diskSync.maxMs },
      randomOf: (sid, life) => root.fork(`server-${sid}-${life}`),
      serverOptions: (sid) => ({
        replies: this.#repliesOf(sid),
        tickMs,
        sessionTimeoutMsMin: config.minSessionTimeoutMs,
        sessionTimeoutMsMax: config.maxSessionTimeoutMs,
      }),
      watcher: this,
    });
    for (const sid of this.cluster.sids) {
      this.cluster.skewWallClock(sid, config.startTimeMs - WALL_CLOCK_START_MS);
      this.cluster.start(sid);
    }
  }

  /** For clients, with every server. */
  get connectString(): string {
    return this.cluster.sids.map((sid) => `server-${sid}:${PORT}`).join(",");
  }

  /** The server that leads and serves; undefined while there is none. */
  get leader(): ServerId | undefined {
    return this.cluster.running().find(({ isLeading, isServing, isPaused }) => isLeading && isServing && !isPaused)
      ?.sid;
  }

  status(sid: ServerId): ServerStatus {
    const server = this.cluster.server(sid);
    if (server === undefined) return "down";
    if (server.isPaused) return "paused";
    return server.isServing ? server.replica.zab.state : "looking";
  }

  /** How every server is, a line each. */
  describe(): readonly string[] {
    return this.cluster.sids.map((sid) => `server ${sid}: ${this.status(sid)}`);
  }

  /**
   * Whether one server leads and reaches a quorum, those that it reaches serve and have applied
   * what it has, and those that it does not reach have noticed and serve no clients.
   */
  get isSettled(): boolean {
    const running = this.cluster.running();
    if (running.some(({ isPaused }) => isPaused)) return false;
    return running.some((leader) => {
      const isReached = ({ sid }: SimServer): boolean => !this.#isCut(sid, leader.sid);
      const reached = running.filter(isReached).map(({ sid }) => sid);
      if (!leader.isLeading || !this.cluster.verifier.isQuorum(new Set(reached))) return false;
      const { applied } = leader.replica.tree;
      return running.every((server) =>
        isReached(server) ? server.isServing && server.replica.tree.applied === applied : !server.isServing,
      );
    });
  }

  #isCut(a: ServerId, b: ServerId): boolean {
    const { network } = this.cluster;
    return network.isBlocked(a, b) || network.isBlocked(b, a);
  }

  /** Reports a status that is another than before. */
  look(sid: ServerId): void {
    const status = this.status(sid);
    if ((this.#statuses.get(sid) ?? "down") === status) return;
    this.#statuses.set(sid, status);
    this.#watcher.changed(sid, status);
  }

  /** Blocks both directions of every pair of servers that the rule names. */
  block(isBlocked: (a: ServerId, b: ServerId) => boolean): void {
    const { sids, network } = this.cluster;
    for (const a of sids) for (const b of sids) if (a !== b && isBlocked(a, b)) network.block(a, b);
  }

  // The cluster's events

  started({ sid }: SimServer): void {
    this.#pipes.set(sid, new Map());
  }

  crashed({ sid }: SimServer): void {
    const pipes = this.#pipes.get(sid);
    this.#pipes.delete(sid);
    for (const pipe of pipes?.values() ?? []) pipe.lost(true);
    this.look(sid);
  }

  /** The replies of a step are sent together. */
  stepped({ sid }: SimServer): void {
    for (const pipe of this.#pipes.get(sid)?.values() ?? []) pipe.flush();
    this.look(sid);
  }

  failed(_: SimServer, error: unknown): void {
    this.#watcher.failed(error);
  }

  #repliesOf(sid: ServerId): ReplyEncoder {
    return new ReplyEncoder({
      writer: (ref) => this.#pipes.get(sid)?.get(ref)?.writer,
      eventWriter: (ref) => this.#pipes.get(sid)?.get(ref)?.writer,
      sentReadOnly: () => true,
      close: (ref) => this.#pipes.get(sid)?.get(ref)?.closing(),
    });
  }

  // Clients

  /** The transport that a client takes in place of TCP. */
  transport(link: ClientLink): Transport {
    return {
      resolve: async (host) => [host],
      connect: ({ host }, events) => this.#dial(host, link, events),
    };
  }

  #dial(host: string, link: ClientLink, events: TransportEvents): TransportConnection {
    const sid = this.cluster.sids.find((each) => host === `server-${each}`);
    const { latency } = this.#config;
    const [time, random] = [this.#time, this.#random];
    const pipe = new ClientPipe(sid ?? 0, events, link, {
      get nowMs() {
        return time.nowMs;
      },
      after: (delayMs, run) => time.after(delayMs, run),
      delayMs: () => latency.minMs + (random.next() / 2 ** 32) * (latency.maxMs - latency.minMs),
      touch: () => time.touch(),
      expectRun: () => time.expectRun(),
    });
    time.expectRun();
    time.after(DIAL_MS, () => {
      if (sid === undefined) pipe.lost();
      else link.pass("opening", sid, () => this.#accept(sid, pipe, link));
    });
    return pipe;
  }

  #accept(sid: ServerId, pipe: ClientPipe, link: ClientLink): void {
    const server = this.cluster.server(sid);
    if (server === undefined || link.isRefusing) return pipe.lost();
    const ref = server.accept();
    const pipes = this.#pipes.get(sid);
    pipes?.set(ref, pipe);
    pipe.open(server, ref, () => {
      if (pipes?.get(ref) === pipe) pipes.delete(ref);
    });
  }
}
