/**
 * Three simulated servers and our own client, in one thread and in virtual time: the client's transport is the simulation. Servers are the real
 * replica; its answers are encoded as for a socket.
 */
import { type Client, connect, type Transport, type TransportConnection, type TransportEvents } from "@zooid/client";
import { type ConnectionRef, MajorityQuorum, type ServerId, serverId } from "@zooid/model";
import { Framer, JuteWriter, ReplyEncoder, readConnectRequest } from "@zooid/wire";
import type { DiskImage } from "../../packages/simulator/src/cluster/disk.ts";
import { Network } from "../../packages/simulator/src/cluster/network.ts";
import { Prng } from "../../packages/simulator/src/cluster/prng.ts";
import { Scheduler } from "../../packages/simulator/src/cluster/scheduler.ts";
import {
  SESSION_TIMEOUT_MS,
  type ServerWatcher,
  SimServer,
  TICK_MS,
} from "../../packages/simulator/src/cluster/server.ts";
import { StateRegistry } from "../../packages/simulator/src/cluster/snapshot-transfer.ts";
import type { VirtualTime } from "./virtual-time.ts";
import type { Line, LinedClient, World } from "./world.ts";

const SIDS = [serverId(1), serverId(2), serverId(3)];
const HOSTS = SIDS.map((sid) => `127.0.0.1:${sid}`).join(",");
const DELAYS = { delayMsMin: 0.2, delayMsMax: 4 };
const DISK = { syncMsMin: 0.5, syncMsMax: 6 };

/** What a client's own clock allows for, less half a tick: so long may a server that answers clients be unheard by its leader. */
const SILENCE_MS_MAX = SESSION_TIMEOUT_MS / 5 - TICK_MS / 2;

interface Member {
  readonly sid: ServerId;
  server: SimServer | undefined;
  image: DiskImage | undefined;
  lives: number;
}

export class SimulatedWorld implements World {
  readonly sessionTimeoutMs: number = SESSION_TIMEOUT_MS;
  /** In every other round. */
  readonly keepsTime: boolean;
  readonly #time: VirtualTime;
  readonly #root: Prng;
  readonly #chance: Prng;
  readonly #scheduler: Scheduler;
  readonly #network: Network;
  readonly #registry = new StateRegistry();
  readonly #members: readonly Member[] = SIDS.map((sid) => ({ sid, server: undefined, image: undefined, lives: 0 }));
  readonly #pipes = new Map<SimServer, Map<ConnectionRef, Pipe>>();
  readonly #clients: Client[] = [];
  readonly #watcher: ServerWatcher;
  #failure: unknown;

  constructor(time: VirtualTime, seed: number) {
    this.#time = time;
    this.keepsTime = seed % 2 === 0;
    this.#root = new Prng(seed);
    this.#chance = this.#root.fork("world");
    this.#scheduler = new Scheduler(this.#root.fork("ties"));
    this.#network = new Network(this.#scheduler, this.#root.fork("network"), DELAYS);
    time.begin(this.#scheduler, this.#root.fork("clients"));
    const nothing = (): void => {};
    this.#watcher = {
      heard: nothing,
      applied: nothing,
      sent: nothing,
      note: nothing,
      stepped: (server) => this.#flush(server),
      failed: (_, error) => {
        this.#failure = error;
      },
    };
    for (const member of this.#members) this.#boot(member);
  }

  get nowMs(): number {
    return this.#scheduler.nowMs;
  }

  below(bound: number): number {
    return this.#chance.below(bound);
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
    const member = this.#chance.pick(this.#members);
    const downMs = 100 + this.below(2_500);
    const forMs = this.keepsTime ? this.below(SILENCE_MS_MAX) : downMs;
    switch (this.below(3)) {
      case 0:
        if (member.server === undefined) return "";
        this.#crash(member);
        this.#scheduler.after(downMs, () => this.#boot(member));
        return `server ${member.sid} is killed and comes back in ${downMs} ms`;
      case 1:
        for (const other of SIDS) {
          if (other === member.sid) continue;
          for (const [from, to] of [
            [member.sid, other],
            [other, member.sid],
          ] as const) {
            this.#network.block(from, to);
            this.#scheduler.after(forMs, () => this.#network.unblock(from, to));
          }
        }
        return `server ${member.sid} is cut off for ${forMs} ms`;
      default: {
        const { server } = member;
        if (server === undefined || server.isPaused) return "";
        server.pause();
        this.#scheduler.after(forMs, () => {
          if (server.isUp && server.isPaused) server.resume();
        });
        return `server ${member.sid} stands still for ${forMs} ms`;
      }
    }
  }

  async heal(): Promise<void> {
    // What was begun ends by itself.
    await this.sleep(3_000);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    for (const member of this.#members) if (member.server !== undefined) this.#crash(member);
    if (this.#failure !== undefined) throw this.#failure;
  }

  #transport(line: SimulatedLine): Transport {
    return {
      resolve: async (host) => [host],
      connect: (address, events) => this.#dial(address.port, line, events),
    };
  }

  #boot(member: Member): void {
    if (member.server !== undefined) return;
    let server: SimServer | undefined;
    const pipeOf = (ref: ConnectionRef): Pipe | undefined =>
      server === undefined ? undefined : this.#pipes.get(server)?.get(ref);
    const replies = new ReplyEncoder({
      writer: (ref) => pipeOf(ref)?.writer,
      sentReadOnly: () => true,
      close: (ref) => pipeOf(ref)?.closing(),
    });
    server = new SimServer(
      {
        sid: member.sid,
        verifier: new MajorityQuorum(SIDS),
        isObserver: false,
        electionAlg: 3,
        replies,
      },
      member.image,
      DISK,
      { scheduler: this.#scheduler, network: this.#network, registry: this.#registry, watcher: this.#watcher },
      this.#root.fork(`server-${member.sid}-${++member.lives}`),
    );
    member.server = server;
    this.#pipes.set(server, new Map());
  }

  #crash(member: Member): void {
    const { server } = member;
    if (server === undefined) return;
    member.image = server.crash();
    member.server = undefined;
    const pipes = this.#pipes.get(server);
    this.#pipes.delete(server);
    for (const pipe of pipes?.values() ?? []) pipe.lost(true);
  }

  /** What a step has answered leaves together. */
  #flush(server: SimServer): void {
    for (const pipe of this.#pipes.get(server)?.values() ?? []) pipe.flush();
  }

  #dial(port: number, line: SimulatedLine, events: TransportEvents): TransportConnection {
    const pipe = new Pipe(events, line, {
      after: (delayMs, run) => this.#scheduler.after(delayMs, run),
      delayMs: () => DELAYS.delayMsMin + (this.#chance.next() / 2 ** 32) * (DELAYS.delayMsMax - DELAYS.delayMsMin),
      touch: () => this.#time.touch(),
    });
    this.#scheduler.after(1, () => {
      const server = this.#members.find(({ sid }) => sid === port)?.server;
      if (server === undefined || line.isRefusing) return pipe.lost();
      const ref = server.accept();
      const pipes = this.#pipes.get(server);
      pipes?.set(ref, pipe);
      pipe.open(server, ref, () => {
        if (pipes?.get(ref) === pipe) pipes.delete(ref);
      });
    });
    return pipe;
  }
}

interface Post {
  after(delayMs: number, run: () => void): void;
  delayMs(): number;
  /** A client is about to be told something. */
  touch(): void;
}

/** One connection of a client to a server: both directions in order, late, held back or lost. */
class Pipe implements TransportConnection {
  readonly writer = new JuteWriter();
  readonly #events: TransportEvents;
  readonly #line: SimulatedLine;
  readonly #post: Post;
  readonly #framer = new Framer(1 << 20);
  #server: SimServer | undefined;
  #ref: ConnectionRef | undefined;
  #forget: (() => void) | undefined;
  #isGreeted = false;
  /** Neither end hears anything any more: each learns of it in its own time. */
  #hasClientLeft = false;
  #hasServerLeft = false;
  #isClosing = false;
  #requestsAtMs = 0;
  #answersAtMs = 0;

  constructor(events: TransportEvents, line: SimulatedLine, post: Post) {
    this.#events = events;
    this.#line = line;
    this.#post = post;
    line.pipes.add(this);
  }

  open(server: SimServer, ref: ConnectionRef, forget: () => void): void {
    if (this.#hasClientLeft) return forget();
    this.#server = server;
    this.#ref = ref;
    this.#forget = forget;
    this.#post.touch();
    this.#events.opened();
  }

  write(bytes: Buffer, written: () => void): boolean {
    const copy = Buffer.from(bytes);
    this.#post.after(0, () => {
      this.#post.touch();
      written();
    });
    this.#deliver("requests", () => this.#arrive(copy));
    return true;
  }

  /** The client has left. */
  destroy(): void {
    if (!this.#hasClientLeft) this.#end();
  }

  /** The server has said its last word. */
  closing(): void {
    this.#isClosing = true;
  }

  flush(): void {
    if (this.writer.end > 0) {
      const chunk = Buffer.from(this.writer.bytes.subarray(0, this.writer.end));
      this.writer.clear();
      this.#deliver("answers", () => this.#events.data(chunk));
    }
    if (this.#isClosing) {
      this.#isClosing = false;
      this.#deliver("answers", () => this.lost());
    }
  }

  /** The connection is broken, and both ends hear of it. */
  lost(hasServerLeft = false): void {
    if (hasServerLeft) this.#hasServerLeft = true;
    if (this.#hasClientLeft) return;
    this.#end();
    this.#post.touch();
    this.#events.closed(undefined);
  }

  #end(): void {
    this.#hasClientLeft = true;
    this.#line.pipes.delete(this);
    const [server, ref, forget] = [this.#server, this.#ref, this.#forget];
    if (server === undefined || ref === undefined) return;
    // Some of what was on its way still arrives.
    this.#post.after(5 * this.#post.delayMs(), () => {
      if (this.#hasServerLeft) return;
      this.#hasServerLeft = true;
      forget?.();
      server.disconnect(ref);
    });
  }

  /** In order, behind what is on its way already; what is held back waits for the line. */
  #deliver(direction: "requests" | "answers", arrive: () => void): void {
    const run = (): void => {
      this.#line.pass(direction, () => {
        if (direction === "requests" ? this.#hasServerLeft : this.#hasClientLeft) return;
        this.#post.touch();
        arrive();
      });
    };
    // Equal delays keep their order no more than others do: each comes a little behind the one before.
    const delayMs = this.#post.delayMs();
    const last = direction === "requests" ? this.#requestsAtMs : this.#answersAtMs;
    const atMs = Math.max(last + 0.001, performance.now() + delayMs);
    if (direction === "requests") this.#requestsAtMs = atMs;
    else this.#answersAtMs = atMs;
    this.#post.after(atMs - performance.now(), run);
  }

  #arrive(bytes: Buffer): void {
    const [server, ref] = [this.#server, this.#ref];
    if (server === undefined || ref === undefined) return;
    this.#framer.push(bytes, (chunk, start, end) => {
      const frame = chunk.slice(start, end);
      if (this.#isGreeted) server.receive(ref, frame);
      else server.connect(ref, readConnectRequest(frame, 0, frame.length));
      this.#isGreeted = true;
      return true;
    });
  }
}

class SimulatedLine implements Line {
  readonly pipes = new Set<Pipe>();
  isRefusing = false;
  #frozen = { requests: false, answers: false };
  readonly #held: { readonly direction: "requests" | "answers"; readonly arrive: () => void }[] = [];

  cut(): void {
    for (const pipe of [...this.pipes]) pipe.lost();
  }

  refuse(): void {
    this.isRefusing = true;
  }

  accept(): void {
    this.isRefusing = false;
  }

  freeze(direction: "requests" | "answers" | "both"): void {
    if (direction !== "answers") this.#frozen.requests = true;
    if (direction !== "requests") this.#frozen.answers = true;
  }

  thaw(): void {
    this.#frozen = { requests: false, answers: false };
    for (const { arrive } of this.#held.splice(0)) arrive();
  }

  pass(direction: "requests" | "answers", arrive: () => void): void {
    if (this.#frozen[direction]) this.#held.push({ direction, arrive });
    else arrive();
  }
}
