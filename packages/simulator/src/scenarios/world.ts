import {
  assert,
  type ChangeRequest,
  type ConnectionRef,
  type DiskRoom,
  errorName,
  formatZxid,
  HierarchicalQuorum,
  MajorityQuorum,
  parseMembers,
  type ServerId,
  serverId,
  sliceOf,
  type WeightedVoter,
} from "@zooid/model";
import { answerSink } from "../cluster/answers.ts";
import { Cluster, type Member } from "../cluster/cluster.ts";
import { Scheduler } from "../cluster/scheduler.ts";
import type { SimServer } from "../cluster/server.ts";
import type { ServerOptions } from "../cluster/server-options.ts";
import { digestOf } from "../cluster/state-image.ts";
import { hearOldVotes } from "../faults/old-votes.ts";
import { Invariants } from "../invariants/invariants.ts";
import { CoverageCounts } from "../runs/coverage.ts";
import { memberLine } from "../seeds/draw-plan.ts";
import { ScenarioClient } from "./client.ts";
import { HeldNetwork } from "./held-network.ts";
import { ScenarioObservations } from "./observations.ts";
import { SteadyRandom } from "./steady-random.ts";

/** The choices of a scenario before its servers start. */
export interface WorldOptions {
  voters: number;
  observers: number;
  /** Servers that are in no configuration at first. */
  joiners: number;
  /** Whether the servers can be changed while the ensemble runs. */
  isChangeable: boolean;
  electionAlg: 0 | 3;
  groups: readonly WeightedVoter[] | undefined;
  /** Further options of every server. */
  server: Partial<ServerOptions>;
}

const DELAY_MS = 1;
const DELAYS = { delayMsMin: DELAY_MS, delayMsMax: DELAY_MS };
const PING_MS = 500;
/** Longer than every time limit of a role: a state that lasts for this time is stable. */
const QUIET_MS = 2500;
const SETTLE_MS = 20_000;
const STEP_MS = 100;

/**
 * The cluster of a scenario and its clients. Links and disks obey commands, and time passes only
 * during commands.
 */
export class ScenarioWorld {
  readonly network: HeldNetwork;
  readonly invariants: Invariants;
  readonly observations: ScenarioObservations;
  readonly #cluster: Cluster;
  readonly #clients = new Map<string, ScenarioClient>();
  #changeLines: string[] = [];
  /** The code that the last change was answered with. */
  lastChange = "";

  constructor({ voters, observers, joiners, isChangeable, groups, electionAlg, server }: WorldOptions) {
    const sids = Array.from({ length: voters + observers + joiners }, (_, i) => serverId(i + 1));
    const voterSids = sids.slice(0, voters);
    const verifier = groups === undefined ? new MajorityQuorum(voterSids) : new HierarchicalQuorum(groups);
    const listed = sids.slice(0, voters + observers).map((sid) => memberLine(sid, sid > voters));
    const ensemble = isChangeable ? { ...server.ensemble, members: parseMembers(listed.join("\n")) } : server.ensemble;
    const scheduler = new Scheduler(new SteadyRandom(1));
    this.network = new HeldNetwork(scheduler, new SteadyRandom(1), DELAYS);
    this.invariants = new Invariants(verifier, new CoverageCounts());
    this.observations = new ScenarioObservations(this);
    this.#cluster = new Cluster({
      voters: voterSids,
      observers: sids.slice(voters),
      verifier,
      scheduler,
      network: this.network,
      disk: { syncMsMin: DELAY_MS, syncMsMax: DELAY_MS },
      randomOf: (sid, life) => new SteadyRandom(sid * 1000 + life),
      serverOptions: () => ({ electionAlg, ...server, ...(ensemble === undefined ? {} : { ensemble }) }),
      watcher: this.observations,
    });
    this.#pingClients();
  }

  get members(): readonly Member[] {
    return this.#cluster.members;
  }

  get clients(): readonly ScenarioClient[] {
    return [...this.#clients.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get nowMs(): number {
    return this.#cluster.nowMs;
  }

  running(): readonly SimServer[] {
    return this.#cluster.running();
  }

  // Time

  run(ms: number): void {
    const { observations } = this;
    const untilMs = this.nowMs + ms;
    while (observations.violation === undefined && this.#cluster.scheduler.runNext(untilMs)) {
      // On to the next event.
    }
    if (observations.violation !== undefined) throw observations.violation;
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

  later(run: () => void): void {
    this.#cluster.after(0, run);
  }

  // Servers

  member(sid: ServerId): Member {
    return this.#cluster.member(sid);
  }

  up(sid: ServerId): SimServer {
    const server = this.#cluster.server(sid);
    if (server === undefined) throw new Error(`s${sid} is down`);
    return server;
  }

  start(sid: ServerId): void {
    if (this.#cluster.server(sid) !== undefined) throw new Error(`s${sid} is up already`);
    this.#cluster.start(sid);
  }

  /** @param keep how many of the unsynced writes survive */
  crash(sid: ServerId, keep = 0): void {
    this.up(sid);
    this.#cluster.crash(sid, keep);
  }

  /** A server hears old notifications, by which a server leads. */
  hearOldVotes(sid: ServerId, leader: ServerId): void {
    hearOldVotes(this.#cluster, this.up(sid), leader);
  }

  wipe(sid: ServerId): void {
    this.#cluster.wipe(sid, 0);
  }

  /** A server loses the entries behind its newest state, and knows it at its next start. */
  damage(sid: ServerId): void {
    this.#cluster.damage(sid, 0);
  }

  slowDisk(sid: ServerId, syncMs: number): void {
    this.#cluster.setDisk(sid, { syncMsMin: syncMs, syncMsMax: syncMs });
  }

  failDisk(sid: ServerId): void {
    const { disk } = this.up(sid);
    this.observations.expectFailure(sid);
    disk.fail();
  }

  /** Sets the room on its disk from now on. */
  setRoom(sid: ServerId, room: DiskRoom): void {
    const server = this.up(sid);
    if (room === "full") server.disk.fill();
    else {
      server.disk.makeRoom();
      server.setRoom(room);
    }
  }

  // Configurations

  /** @param sid of the server that is asked; undefined: the leader */
  change(request: ChangeRequest, sid?: ServerId): void {
    const server = sid === undefined ? this.#cluster.leader : this.up(sid);
    if (server === undefined) throw new Error("no server leads");
    server.input(() => {
      this.lastChange = errorName(server.replica.reconfigure(request));
      this.#changeLines.push(`s${server.sid} answers ${this.lastChange}`);
    });
  }

  takeChangeLines(): readonly string[] {
    return this.#changeLines.splice(0);
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

  /** Every client closes its connection without closing its session. */
  forgetClients(): void {
    for (const client of this.#clients.values()) client.leave();
    this.#clients.clear();
  }

  #pingClients(): void {
    this.#cluster.after(PING_MS, () => {
      for (const client of this.clients) client.ping();
      this.#pingClients();
    });
  }

  // What a scenario expects

  /** The data that a server's tree holds at a path; undefined where there is no node. */
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

  /** Why not every running server serves the same state; undefined when it does. */
  whyNotSynced(): string | undefined {
    const [first] = this.running();
    assert(first !== undefined, "some server runs");
    const reference = placeOf(first);
    for (const server of this.running()) {
      if (!server.isServing) return `s${server.sid} does not serve`;
      const { applied } = server.replica.tree;
      if (server.disk.durable.tail.zxid !== applied) return `s${server.sid} has applied ${formatZxid(applied)} only`;
      if (placeOf(server) !== reference) {
        return `s${server.sid} is at ${placeOf(server)}, s${first.sid} at ${reference}`;
      }
    }
    return undefined;
  }
}

function placeOf({ replica }: SimServer): string {
  const { tree } = replica;
  return `${formatZxid(tree.applied)} with ${tree.sessionCount} sessions and digest ${digestOf(tree)}`;
}
