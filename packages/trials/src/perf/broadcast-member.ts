import { RefusalLog } from "@zooid/embedded-server/internal/operators/refusal-log";
import { parseEnsemble } from "@zooid/embedded-server/internal/peers/ensemble-config";
import { QuorumLinks } from "@zooid/embedded-server/internal/peers/quorum-links";
import {
  composeZxid,
  FRAME_HEADER_BYTES,
  type FrameBatch,
  type LinkRef,
  MajorityQuorum,
  type PeerMessage,
  serverId,
  writeFrameHeader,
  type Zxid,
} from "@zooid/model";
import { peerFrameBytesMax } from "@zooid/peer-protocol";
import { openStore, type Store } from "@zooid/txn-log/sqlite";
import { saidDiskOf, type ZabLinks, ZabPeer } from "@zooid/zab";

/** The identity of a member. */
export interface MemberTask {
  readonly sid: number;
  readonly servers: number;
  readonly directory: string;
}

export interface Proposing {
  /** Entries proposed and not yet delivered. */
  readonly window: number;
  readonly payloadBytes: number;
  readonly warmupMs: number;
  readonly durationMs: number;
}

export type ToMember =
  /** Where each server listens, in the order of their ids, and the leader. */
  | { readonly kind: "join"; readonly ports: readonly number[]; readonly leader: number }
  | { readonly kind: "propose"; readonly proposing: Proposing }
  | { readonly kind: "stop" };

export type FromMember =
  | { readonly kind: "listening"; readonly port: number }
  | { readonly kind: "serving" }
  /**
   * The entries that were delivered within the time, one latency for each batch's last entry, and
   * this process's CPU meanwhile.
   */
  | {
      readonly kind: "done";
      readonly entries: number;
      readonly seconds: number;
      readonly latenciesMs: readonly number[];
      readonly cpuSeconds: number;
    }
  /** Cores that this process held since it served. */
  | { readonly kind: "used"; readonly cpuShare: number };

export type Proposed = Omit<Extract<FromMember, { kind: "done" }>, "kind">;

/** As a server has it. */
const BATCHES_IN_FLIGHT_MAX = 4;
const DELIVER_COUNT_MAX = 4096;
const TICK_MS = 2000;

/** Opens a member over a log of its own. Before it joins it must be given its links. */
export async function openMember({ sid, servers, directory }: MemberTask): Promise<BroadcastMember> {
  const store = await openStore({
    directory,
    sid,
    handler: {
      appending: () => member.appending(),
      appended: ({ generation, zxid }) => member.appended(generation, zxid),
      completed: (step) => member.input(step),
      roomChanged: (missing) => console.error(`server ${sid}: ${missing ?? "there is room again"}`),
      failed: fail,
      warned: (text) => console.error(`server ${sid}: ${text}`),
    },
  });
  const member: BroadcastMember = new BroadcastMember(sid, servers, store);
  return member;
}

function fail(error: Error): void {
  throw error;
}

/** The loop of a server, with nothing in it but the broadcast. */
export class BroadcastMember {
  readonly sid: number;
  readonly peer: ZabPeer;
  /** Resolves when its role is complete. */
  readonly serving: Promise<void>;
  readonly #serve: PromiseWithResolvers<void> = Promise.withResolvers<void>();
  readonly #store: Store;
  #links: (ZabLinks & { flush(): void; stop(): Promise<void> }) | undefined;
  #applied: Zxid = composeZxid(0, 0);
  #isTurnOpen = false;
  #batchesInFlight = 0;
  #delivered = 0;
  #proposer: Proposer | undefined;
  #isStopped = false;
  #tick: NodeJS.Timeout | undefined;

  constructor(sid: number, servers: number, store: Store) {
    this.sid = sid;
    this.#store = store;
    this.serving = this.#serve.promise;
    const links = (): ZabLinks => {
      if (this.#links === undefined) throw new Error("a member needs links before it joins");
      return this.#links;
    };
    this.peer = new ZabPeer(
      {
        sid: serverId(sid),
        verifier: new MajorityQuorum(Array.from({ length: servers }, (_, i) => serverId(i + 1))),
        tickMs: TICK_MS,
      },
      {
        log: store.log,
        links: {
          dial: (to) => links().dial(to),
          cancelDial: () => links().cancelDial?.(),
          send: (link, message) => links().send(link, message),
          refuse: (link, reason, refusal) => links().refuse?.(link, reason, refusal),
          close: (link, reason) => links().close(link, reason),
        },
        application: {
          release: (batch) => this.#proposer?.release(batch),
          applied: () => this.#applied,
        },
        roles: {
          serve: () => this.#serve.resolve(),
          left: (reason) => {
            if (!this.#isStopped) fail(new Error(`server ${sid} lost its role: ${reason.kind}`));
          },
          note: () => {},
        },
      },
    );
  }

  get durable(): Store["log"]["durable"] {
    return this.#store.log.durable;
  }

  link(links: ZabLinks & { flush(): void; stop(): Promise<void> }): void {
    this.#links = links;
  }

  join(leader: number): void {
    this.#tick = setInterval(() => this.input(() => this.peer.tick()), TICK_MS / 4);
    this.input(() => {
      if (leader === this.sid) this.peer.lead();
      else this.peer.follow(serverId(leader));
    });
  }

  input(step: () => void): void {
    this.wake();
    step();
  }

  wake(): void {
    if (this.#isTurnOpen || this.#isStopped) return;
    this.#isTurnOpen = true;
    this.peer.setTime(Math.floor(performance.now()));
    setImmediate(() => this.#endTurn());
  }

  receive(link: LinkRef, message: PeerMessage): void {
    this.input(() => this.peer.onMessage(link, message));
  }

  appending(): void {
    this.#batchesInFlight++;
  }

  appended(generation: number, zxid: Zxid): void {
    this.#batchesInFlight--;
    this.input(() => this.peer.synced(generation, zxid));
  }

  /** @returns whether more is due */
  #deliver(): boolean {
    const entries = this.peer.takeCommitted();
    let count = 0;
    while (count < DELIVER_COUNT_MAX && entries.next()) {
      count++;
      this.#applied = entries.zxid;
      this.#delivered++;
      this.#proposer?.delivered(entries.zxid);
    }
    this.peer.applied();
    return entries.hasMore;
  }

  /** Proposes as fast as the window allows, for a time. */
  async propose(proposing: Proposing): Promise<Proposed> {
    const proposer = new Proposer(this.peer.epoch, proposing);
    this.#proposer = proposer;
    this.wake();
    await new Promise((resolve) => setTimeout(resolve, proposing.warmupMs));
    const startMs = performance.now();
    const cpu = process.cpuUsage();
    const from = this.#delivered;
    proposer.measure();
    await new Promise((resolve) => setTimeout(resolve, proposing.durationMs));
    const seconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const entries = this.#delivered - from;
    proposer.stop();
    return { entries, seconds, latenciesMs: proposer.latenciesMs, cpuSeconds: (user + system) / 1e6 };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#tick);
    this.peer.stop();
    await this.#links?.stop();
    await this.#store[Symbol.asyncDispose]();
  }

  #endTurn(): void {
    this.#isTurnOpen = false;
    if (this.#isStopped) return;
    if (this.#deliver()) setImmediate(() => this.wake());
    const proposer = this.#proposer;
    if (proposer !== undefined && this.#batchesInFlight < BATCHES_IN_FLIGHT_MAX && !this.peer.isFull) {
      const batch = proposer.next(this.peer.outstandingCount);
      if (batch !== undefined) this.peer.propose(batch);
    }
    this.peer.flush();
    this.#links?.flush();
  }
}

/**
 * Makes batches that fill the window, and takes the time from each batch's proposal to the delivery
 * of its last entry.
 */
class Proposer {
  readonly latenciesMs: number[] = [];
  readonly #epoch: number;
  readonly #proposing: Proposing;
  readonly #free: Uint8Array[] = [];
  readonly #proposedMs = new Map<Zxid, number>();
  #counter = 0;
  #isMeasuring = false;
  #isStopped = false;

  constructor(epoch: number, proposing: Proposing) {
    this.#epoch = epoch;
    this.#proposing = proposing;
  }

  measure(): void {
    this.#isMeasuring = true;
  }

  stop(): void {
    this.#isStopped = true;
  }

  next(outstanding: number): FrameBatch | undefined {
    const { window, payloadBytes } = this.#proposing;
    const count = window - outstanding;
    if (count <= 0 || this.#isStopped) return undefined;
    const frameBytes = FRAME_HEADER_BYTES + payloadBytes;
    const bytes = this.#free.pop() ?? new Uint8Array(window * frameBytes);
    const first = composeZxid(this.#epoch, this.#counter + 1);
    for (let i = 0; i < count; i++) {
      writeFrameHeader(bytes, i * frameBytes, composeZxid(this.#epoch, ++this.#counter), payloadBytes);
    }
    const last = composeZxid(this.#epoch, this.#counter);
    this.#proposedMs.set(last, performance.now());
    return { first, last, count, bytes, end: count * frameBytes };
  }

  delivered(zxid: Zxid): void {
    const proposedMs = this.#proposedMs.get(zxid);
    if (proposedMs === undefined) return;
    this.#proposedMs.delete(zxid);
    if (this.#isMeasuring && !this.#isStopped) this.latenciesMs.push(performance.now() - proposedMs);
  }

  release({ bytes }: FrameBatch): void {
    this.#free.push(bytes);
  }
}

/** A member as a process of its own, controlled by its parent process. */
async function runMember(task: MemberTask): Promise<void> {
  const member = await openMember(task);
  const ports: number[] = [];
  const servers = Array.from({ length: task.servers }, (_, i) => ({
    sid: i + 1,
    host: "127.0.0.1",
    quorumPort: 0,
    electionPort: 0,
  }));
  const problems: string[] = [];
  const ensemble = parseEnsemble(
    {
      sid: task.sid,
      servers,
      addressOf: (sid) => ({ host: "127.0.0.1", quorumPort: ports[sid - 1] ?? 0, electionPort: 0 }),
    },
    (_name, value) => value,
    problems,
    [],
  );
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const links = new QuorumLinks(
    {
      ensemble,
      identity: () => ({ bootCount: member.durable.identity.bootCount, startId: "", ...saidDiskOf(member.durable) }),
      tickMs: TICK_MS,
      frameBytesMax: peerFrameBytesMax(1024 * 1024),
      refusals: new RefusalLog(console.error, () => performance.now()),
      warn: console.error,
    },
    {
      wake: () => member.wake(),
      linkOpened: (link, sid, isDialed) => member.input(() => member.peer.linkOpened(link, sid, isDialed)),
      dialFailed: (reason) => member.input(() => member.peer.dialFailed(reason)),
      received: (link, message) => member.receive(link, message),
      linkClosed: (link, reason) => member.input(() => member.peer.linkClosed(link, reason)),
    },
  );
  member.link(links);
  await links.listen();
  const tell = (message: FromMember): void => void process.send?.(message);
  let servingMs = 0;
  let cpu = process.cpuUsage();
  process.on("message", (message: ToMember) => {
    switch (message.kind) {
      case "join":
        ports.push(...message.ports);
        member.join(message.leader);
        return;
      case "propose":
        void member.propose(message.proposing).then((proposed) => tell({ kind: "done", ...proposed }));
        return;
      case "stop": {
        const { user, system } = process.cpuUsage(cpu);
        tell({ kind: "used", cpuShare: (user + system) / 1000 / (performance.now() - servingMs) });
        void member.stop().then(() => process.disconnect());
      }
    }
  });
  tell({ kind: "listening", port: links.port });
  await member.serving;
  servingMs = performance.now();
  cpu = process.cpuUsage();
  tell({ kind: "serving" });
}

if (process.send !== undefined) await runMember(JSON.parse(process.argv[2] ?? "") as MemberTask);
