import {
  assert,
  type ConnectionRef,
  formatZxid,
  HierarchicalQuorum,
  type LinkRef,
  MajorityQuorum,
  type PeerMessage,
  type QuorumVerifier,
  type ServerId,
  serverId,
  sliceOf,
  type TxnHeader,
  type WeightedVoter,
  type Zxid,
} from "@zooid/model";
import type { ReplicaEvent } from "@zooid/replica";
import { type Answer, answerSink } from "../cluster/answers.ts";
import type { DiskImage } from "../cluster/disk.ts";
import { Prng } from "../cluster/prng.ts";
import { Scheduler } from "../cluster/scheduler.ts";
import { type ServerOptions, type ServerWatcher, SimServer } from "../cluster/server.ts";
import { StateRegistry } from "../cluster/snapshot-transfer.ts";
import { digestOf } from "../cluster/state-image.ts";
import { Invariants } from "../invariants/invariants.ts";
import { describeEvent, isIllegal } from "../invariants/operator-events.ts";
import { Violation } from "../invariants/violation.ts";
import { SometimesCounts } from "../seeds/coverage.ts";
import { ScenarioClient } from "./client.ts";
import { ScenarioNetwork } from "./held-network.ts";

/** What a scenario may choose before its servers start. */
export interface WorldOptions {
  voters: number;
  observers: number;
  electionAlg: 0 | 3;
  groups: readonly WeightedVoter[] | undefined;
  /** Passed to every server as it is. */
  server: Partial<ServerOptions>;
}

interface Member {
  readonly sid: ServerId;
  readonly isObserver: boolean;
  server: SimServer | undefined;
  image: DiskImage | undefined;
  lives: number;
  isHeld: boolean;
  syncMs: number;
  /** Its disk was made to fail: that it ends is no surprise. */
  isFailing: boolean;
}

/** No chance at all: what is due at one moment happens in the order in which it came about, and nothing lost arrives. */
class Steady extends Prng {
  override next(): number {
    return 0;
  }

  override fork(name: string): Prng {
    return name === "secrets" ? super.fork(name) : this;
  }
}

const DELAY_MS = 1;
const PING_MS = 500;
/** A state that lasts so long lasts until something else happens: longer than every limit of a role. */
const QUIET_MS = 2500;
const SETTLE_MS = 20_000;
const STEP_MS = 100;

/** The ensemble of a scenario: real servers, links and disks that do what they are told, time that stands still between commands. */
export class ScenarioWorld implements ServerWatcher {
  readonly #scheduler = new Scheduler(new Steady(1));
  readonly network: ScenarioNetwork = new ScenarioNetwork(this.#scheduler, new Steady(1), {
    delayMsMin: DELAY_MS,
    delayMsMax: DELAY_MS,
  });
  readonly #registry = new StateRegistry();
  readonly #options: WorldOptions;
  readonly #verifier: QuorumVerifier;
  readonly #members: readonly Member[];
  readonly #clients = new Map<string, ScenarioClient>();
  readonly invariants: Invariants;
  /** What was sent, as the transcript says it, and to whom. */
  readonly sentLines: { readonly kind: string; readonly text: string }[] = [];
  readonly notes: { readonly sid: ServerId; readonly event: ReplicaEvent }[] = [];
  #violation: unknown;

  constructor(options: WorldOptions) {
    this.#options = options;
    const sids = Array.from({ length: options.voters }, (_, i) => serverId(i + 1));
    const { groups } = options;
    this.#verifier = groups === undefined ? new MajorityQuorum(sids) : new HierarchicalQuorum(groups);
    this.invariants = new Invariants(this.#verifier, new SometimesCounts());
    this.#members = Array.from({ length: options.voters + options.observers }, (_, i) => ({
      sid: serverId(i + 1),
      isObserver: i >= options.voters,
      server: undefined,
      image: undefined,
      lives: 0,
      isHeld: false,
      syncMs: DELAY_MS,
      isFailing: false,
    }));
    this.#pingClients();
  }

  get members(): readonly Readonly<Member>[] {
    return this.#members;
  }

  get clients(): readonly ScenarioClient[] {
    return [...this.#clients.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get nowMs(): number {
    return this.#scheduler.nowMs;
  }

  running(): readonly SimServer[] {
    return this.#members.flatMap(({ server }) => (server === undefined ? [] : [server]));
  }

  // Time

  run(ms: number): void {
    const untilMs = this.nowMs + ms;
    while (this.#violation === undefined && this.#scheduler.runNext(untilMs)) {
      // On to the next event.
    }
    if (this.#violation !== undefined) throw this.#violation;
  }

  /** Runs until nothing changes any more, or for a long time. */
  settle(): void {
    const endMs = this.nowMs + SETTLE_MS;
    let state = "";
    let sinceMs = this.nowMs;
    while (this.nowMs < endMs && this.nowMs - sinceMs < QUIET_MS) {
      this.run(STEP_MS);
      const now = this.#fingerprint();
      if (now !== state) sinceMs = this.nowMs;
      state = now;
    }
  }

  #fingerprint(): string {
    const servers = this.running().map(
      ({ replica, disk }) =>
        `${replica.isServing} ${replica.zab.state} ${replica.zab.epoch} ${disk.durable.tail.zxid} ${replica.tree.applied}`,
    );
    return [...servers, ...this.clients.map((client) => `${client.isReady} ${client.waitingCount}`)].join("\n");
  }

  // Servers

  member(sid: ServerId): Readonly<Member> {
    return this.#member(sid);
  }

  up(sid: ServerId): SimServer {
    const { server } = this.#member(sid);
    if (server === undefined) throw new Error(`s${sid} is down`);
    return server;
  }

  start(sid: ServerId): void {
    const member = this.#member(sid);
    if (member.server !== undefined) throw new Error(`s${sid} is up already`);
    const { electionAlg, server: more } = this.#options;
    const options: ServerOptions = {
      sid,
      verifier: this.#verifier,
      isObserver: member.isObserver,
      electionAlg,
      ...more,
    };
    const world = { scheduler: this.#scheduler, network: this.network, registry: this.#registry, watcher: this };
    const diskOptions = { syncMsMin: member.syncMs, syncMsMax: member.syncMs };
    member.isFailing = false;
    const server = new SimServer(options, member.image, diskOptions, world, new Steady(sid * 1000 + ++member.lives));
    if (member.isHeld) server.disk.hold();
    member.server = server;
    this.invariants.stepped(server);
  }

  /** @param keep how many of the writes that are not synced are on the disk all the same */
  crash(sid: ServerId, keep = 0): void {
    const member = this.#member(sid);
    const server = this.up(sid);
    member.image = server.crash(keep);
    member.server = undefined;
    this.invariants.crashed(sid, member.image.log.log);
    for (const client of this.#clients.values()) if (client.server === server) client.dropped();
  }

  wipe(sid: ServerId): void {
    const member = this.#member(sid);
    if (member.server !== undefined) this.crash(sid);
    member.image = undefined;
    this.invariants.wiped(sid);
  }

  holdSync(sid: ServerId, isHeld: boolean): void {
    const member = this.#member(sid);
    member.isHeld = isHeld;
    if (isHeld) member.server?.disk.hold();
    else member.server?.disk.release();
  }

  /** Its disk takes longer, from its next start on. */
  slowDisk(sid: ServerId, syncMs: number): void {
    this.#member(sid).syncMs = syncMs;
  }

  failDisk(sid: ServerId, how: "sync" | "full"): void {
    const member = this.#member(sid);
    member.isFailing = true;
    if (how === "full") this.up(sid).disk.fill();
    else this.up(sid).disk.fail();
  }

  later(run: () => void): void {
    this.#scheduler.after(0, run);
  }

  #member(sid: ServerId): Member {
    const member = this.#members.find((each) => each.sid === sid);
    if (member === undefined) throw new Error(`there is no s${sid}`);
    return member;
  }

  // Clients

  client(name: string): ScenarioClient {
    let client = this.#clients.get(name);
    if (client === undefined) {
      client = new ScenarioClient(name, (zxid) => this.invariants.isCommitted(zxid));
      this.#clients.set(name, client);
    }
    return client;
  }

  /** They go without a word. */
  forgetClients(): void {
    for (const client of this.#clients.values()) client.leave();
    this.#clients.clear();
  }

  #pingClients(): void {
    this.#scheduler.after(PING_MS, () => {
      for (const client of this.clients) client.ping();
      this.#pingClients();
    });
  }

  /** What a server's tree holds at a path; undefined where nothing is. */
  dataAt(sid: ServerId, path: string): string | undefined {
    const { tree } = this.up(sid).replica;
    const { bytes, start, end } = sliceOf(path);
    const node = tree.find(bytes, start, end);
    if (node === 0) return undefined;
    let data = "";
    const sink = answerSink((_, __, ___, answer) => {
      if (answer.kind === "data") data = answer.data ?? "";
    });
    sink.data(0 as ConnectionRef, 0, tree.applied, tree.view(node));
    return data;
  }

  /** Why not every running server serves the same; undefined when it does. */
  whyNotLevel(): string | undefined {
    const [first] = this.running();
    assert(first !== undefined, "some server runs");
    const reference = placeOf(first);
    for (const server of this.running()) {
      if (!server.isServing) return `s${server.sid} does not serve`;
      const { applied } = server.replica.tree;
      if (server.disk.durable.tail.zxid !== applied) return `s${server.sid} has applied ${formatZxid(applied)} only`;
      if (placeOf(server) !== reference)
        return `s${server.sid} is at ${placeOf(server)}, s${first.sid} at ${reference}`;
    }
    return undefined;
  }

  // What servers tell

  heard(server: SimServer, to: ConnectionRef, xid: number, zxid: number, answer: Answer): void {
    if (answer.kind === "close") this.later(() => server.disconnect(to));
    for (const client of this.#clients.values()) {
      if (!client.isAt(server, to)) continue;
      if (answer.kind === "close") client.dropped();
      else client.heard(xid, zxid, answer);
    }
  }

  applying(server: SimServer, { zxid }: Readonly<TxnHeader>): void {
    this.invariants.applying(server, zxid);
  }

  applied(server: SimServer, { zxid }: Readonly<TxnHeader>): void {
    this.invariants.applied(server, zxid);
  }

  loaded(server: SimServer): void {
    this.invariants.loaded(server);
  }

  proposed(server: SimServer, bytes: Uint8Array, start: number, end: number): void {
    this.invariants.proposed(server, bytes, start, end);
  }

  stepped(server: SimServer): void {
    this.#guard(() => this.invariants.stepped(server));
  }

  sent(server: SimServer, link: LinkRef, message: PeerMessage): void {
    const text = `s${server.sid} > s${this.network.other(link)} ${describeMessage(message)}`;
    this.sentLines.push({ kind: message.kind, text });
    this.invariants.sent(server, link, message);
  }

  note({ sid }: SimServer, event: ReplicaEvent): void {
    this.notes.push({ sid, event });
    if (isIllegal(event)) throw new Violation("I32", `server ${sid}: ${describeEvent(event)}`);
  }

  failed(server: SimServer, error: unknown): void {
    const member = this.#member(server.sid);
    if (member.isFailing && !(error instanceof Violation)) {
      this.later(() => {
        if (member.server === server) this.crash(server.sid);
      });
      return;
    }
    this.#violation ??= error;
  }

  #guard(check: () => void): void {
    try {
      check();
    } catch (error) {
      this.#violation ??= error;
    }
  }
}

function placeOf({ replica }: SimServer): string {
  const { tree } = replica;
  return `${formatZxid(tree.applied)} with ${tree.sessionCount} sessions and digest ${digestOf(tree)}`;
}

function describeMessage(message: PeerMessage): string {
  const zxid = (value: number): string => formatZxid(value as Zxid);
  switch (message.kind) {
    case "leader-info":
      return `leader-info epoch ${message.epoch}`;
    case "ack-epoch":
      return `ack-epoch of a log to ${zxid(message.logged.zxid)} in epoch ${message.currentEpoch}`;
    case "sync-begin":
      return `sync-begin ${message.mode} from ${zxid(message.from.zxid)}`;
    case "entries":
      return `entries ${zxid(message.first)} to ${zxid(message.last)}`;
    case "new-leader":
    case "ack-new-leader":
      return `${message.kind} epoch ${message.epoch} through ${zxid(message.through)}`;
    case "up-to-date":
    case "commit":
      return `${message.kind} ${zxid(message.committed)}`;
    case "ack":
      return `ack ${zxid(message.durable)}`;
    case "hand-over":
      return `hand-over to s${message.successor}`;
    case "refuse":
      return `refuse ${message.reason}`;
    default:
      return message.kind;
  }
}
