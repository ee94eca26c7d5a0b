import { assert, type ElectionMessage, type PeerRole, type QuorumVerifier, type ServerId } from "@zooid/model";
import { ELECTION_DEFAULTS } from "../config.ts";
import { createElection } from "../create-election.ts";
import type { ElectionPosition, LeaderElection } from "../events.ts";

export interface TestNetworkOptions {
  readonly algorithm: number;
  readonly verifier: QuorumVerifier;
  readonly candidates?: ReadonlySet<ServerId>;
  readonly random: () => number;
  /** How long the next message takes. Messages of one server to another stay in order. */
  readonly delayMs: () => number;
  /**
   * How likely a message is lost without anybody noticing. Links break instead of losing, so this
   * is worse than the world.
   */
  readonly lossChance?: number;
  /** The round trip that links report when they come up. */
  readonly roundTripMs?: number;
  /**
   * How long a leader may go without a quorum that follows it, and a follower without its leader.
   */
  readonly patienceMs?: number;
  /**
   * Leaders take an epoch, and their followers' logs become theirs. Without it positions never
   * change.
   */
  readonly establishes?: boolean;
}

/** A server that is up has an election. */
export interface NetworkServer {
  readonly sid: ServerId;
  position: ElectionPosition | undefined;
  election: LeaderElection | undefined;
  decision: { readonly role: PeerRole; readonly leader: ServerId; isEstablished: boolean } | undefined;
  incarnation: number;
}

interface Event {
  readonly atMs: number;
  readonly happen: () => void;
}

/**
 * For tests: elections over a network of virtual time, all of it decided by one source of chance.
 *
 * It knows as much of what comes after an election as an election needs: a leader that no quorum
 * follows looks again, and so does a follower whose leader is gone.
 */
export class TestNetwork {
  nowMs = 0;
  messageCount = 0;
  /** Every decision ever made. */
  readonly decisions: {
    readonly atMs: number;
    readonly sid: ServerId;
    readonly role: PeerRole;
    readonly leader: ServerId;
  }[] = [];
  readonly servers: Map<ServerId, NetworkServer> = new Map();
  readonly #options: TestNetworkOptions;
  /** Soonest last. */
  readonly #events: Event[] = [];
  readonly #lastDeliveryMs = new Map<number, number>();
  #sideOf: (sid: ServerId) => number = () => 0;
  #epoch = 0;

  constructor(options: TestNetworkOptions) {
    this.#options = options;
  }

  /** @param position undefined for a server without a vote */
  add(sid: ServerId, position: ElectionPosition | undefined): void {
    this.#epoch = Math.max(this.#epoch, position?.currentEpoch ?? 0);
    this.servers.set(sid, { sid, position, election: undefined, decision: undefined, incarnation: 0 });
  }

  /** Starts a server, or starts it again, with the log it has. */
  start(sid: ServerId): void {
    const server = this.server(sid);
    if (server.election !== undefined) return;
    const incarnation = ++server.incarnation;
    const { algorithm, verifier, candidates = verifier.voters, random } = this.#options;
    server.election = createElection(
      { ...ELECTION_DEFAULTS, algorithm, sid, verifier, candidates, random },
      {
        send: (to, message) => {
          assert(to !== sid, "a server does not send to itself");
          this.#send(server, this.server(to), message);
        },
        decided: (role, { leader }) => {
          server.decision = { role, leader, isEstablished: false };
          this.decisions.push({ atMs: this.nowMs, sid, role, leader });
          this.#checkLater(server, incarnation);
        },
      },
    );
    this.#look(server);
    for (const other of this.servers.values()) this.#connect(server, other);
  }

  /** Kills a server. Those that follow it see their links end. */
  crash(sid: ServerId, noticed: "noticed" | "unnoticed" = "noticed"): void {
    const server = this.server(sid);
    server.election = undefined;
    server.decision = undefined;
    server.incarnation++;
    if (noticed === "unnoticed") return;
    for (const other of this.up()) {
      this.at(this.nowMs + this.#options.delayMs(), () => {
        if (other.decision?.leader === sid && this.server(sid).election === undefined) this.#look(other);
      });
    }
  }

  /** Servers hear only those of their own side. */
  cut(sideOf: (sid: ServerId) => number): void {
    this.#sideOf = sideOf;
  }

  heal(): void {
    this.#sideOf = () => 0;
    const up = this.up();
    for (const server of up) for (const other of up) if (server.sid < other.sid) this.#connect(server, other);
  }

  at(atMs: number, happen: () => void): void {
    let place = this.#events.length;
    for (
      let event = this.#events[place - 1];
      event !== undefined && event.atMs <= atMs;
      event = this.#events[place - 1]
    ) {
      place--;
    }
    this.#events.splice(place, 0, { atMs, happen });
  }

  /** Runs until a claim holds, or a time has come. @returns whether it holds */
  runUntil(holds: () => boolean, limitMs: number): boolean {
    while (!holds()) {
      const nextMs = Math.min(this.#events.at(-1)?.atMs ?? Number.POSITIVE_INFINITY, this.#nextTickMs());
      if (nextMs > limitMs) {
        this.nowMs = Math.max(this.nowMs, limitMs);
        return false;
      }
      this.nowMs = Math.max(this.nowMs, nextMs);
      // What has arrived goes before what is due.
      if ((this.#events.at(-1)?.atMs ?? Number.POSITIVE_INFINITY) <= this.nowMs) this.#events.pop()?.happen();
      else for (const { election } of this.up()) election.tick(this.nowMs);
    }
    return true;
  }

  run(untilMs: number): void {
    this.runUntil(() => false, untilMs);
  }

  /** The leader of every server that is up, when they all have the same and it leads. */
  leader(): ServerId | undefined {
    const up = this.up();
    const sid = up[0]?.decision?.leader;
    if (sid === undefined || this.server(sid).decision?.role !== "leading") return undefined;
    return up.every(({ decision }) => decision?.leader === sid) ? sid : undefined;
  }

  server(sid: ServerId): NetworkServer {
    const server = this.servers.get(sid);
    assert(server !== undefined, `there is no server ${sid}`);
    return server;
  }

  up(): (NetworkServer & { readonly election: LeaderElection })[] {
    return [...this.servers.values()].filter((server) => server.election !== undefined) as (NetworkServer & {
      readonly election: LeaderElection;
    })[];
  }

  #nextTickMs(): number {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const { election } of this.servers.values()) nextMs = Math.min(nextMs, election?.nextDueMs() ?? nextMs);
    return nextMs;
  }

  #look(server: NetworkServer): void {
    server.decision = undefined;
    server.election?.look(server.position, this.nowMs);
  }

  #send(from: NetworkServer, to: NetworkServer, message: ElectionMessage): void {
    this.messageCount++;
    const { random, lossChance = 0, delayMs } = this.#options;
    const { incarnation } = to;
    if (to.election === undefined || !this.#reaches(from, to) || (lossChance > 0 && random() < lossChance)) return;
    const pair = from.sid * 1000 + to.sid;
    const atMs = Math.max(this.nowMs + delayMs(), this.#lastDeliveryMs.get(pair) ?? 0);
    this.#lastDeliveryMs.set(pair, atMs);
    this.at(atMs, () => {
      if (to.incarnation !== incarnation || !this.#reaches(from, to)) return;
      to.election?.receive(from.sid, message, this.nowMs);
      this.#leaveIfDeserted(to);
    });
  }

  #connect(server: NetworkServer, other: NetworkServer): void {
    if (server === other || server.election === undefined || other.election === undefined) return;
    const incarnations = server.incarnation + other.incarnation;
    this.at(this.nowMs + this.#options.delayMs(), () => {
      if (server.incarnation + other.incarnation !== incarnations || !this.#reaches(server, other)) return;
      const { roundTripMs } = this.#options;
      for (const [one, two] of [
        [server, other],
        [other, server],
      ] as const) {
        if (roundTripMs !== undefined) one.election?.measured(two.sid, roundTripMs);
        one.election?.linkUp(two.sid, this.nowMs);
      }
    });
  }

  #reaches(from: NetworkServer, to: NetworkServer): boolean {
    return this.#sideOf(from.sid) === this.#sideOf(to.sid);
  }

  #checkLater(server: NetworkServer, incarnation: number): void {
    const { decision } = server;
    this.at(this.nowMs + (this.#options.patienceMs ?? 1000), () => {
      if (server.incarnation !== incarnation || server.decision !== decision || decision === undefined) return;
      if (decision.role === "leading" ? this.#mayLead(server) : this.#mayFollow(server, decision.leader)) {
        this.#checkLater(server, incarnation);
      } else this.#look(server);
    });
  }

  #mayLead(leader: NetworkServer): boolean {
    const followers = this.#followersOf(leader);
    if (!this.#options.verifier.isQuorum([leader, ...followers].map(({ sid }) => sid))) return false;
    if (this.#options.establishes !== true || leader.position === undefined) return true;
    if (leader.decision?.isEstablished === false) {
      leader.decision.isEstablished = true;
      leader.position = { ...leader.position, currentEpoch: ++this.#epoch };
      leader.election?.established(this.#epoch);
    }
    for (const follower of followers) this.#mayFollow(follower, leader.sid);
    return true;
  }

  #mayFollow(server: NetworkServer, sid: ServerId): boolean {
    const leader = this.server(sid);
    if (leader.decision?.role !== "leading" || !this.#reaches(server, leader)) return false;
    if (leader.decision.isEstablished && server.decision?.isEstablished === false && leader.position !== undefined) {
      server.decision.isEstablished = true;
      if (server.position !== undefined) server.position = leader.position;
      server.election?.established(leader.position.currentEpoch);
    }
    return true;
  }

  #followersOf(leader: NetworkServer): readonly NetworkServer[] {
    return this.up().filter(
      (server) =>
        server.decision?.role === "following" && server.decision.leader === leader.sid && this.#reaches(server, leader),
    );
  }

  /**
   * Those whose support made it win have changed their mind: no need to wait until patience ends.
   */
  #leaveIfDeserted(server: NetworkServer): void {
    if (server.decision?.role !== "leading" || server.decision.isEstablished) return;
    const behind = new Set(server.election?.supporters);
    for (const follower of this.#followersOf(server)) behind.add(follower.sid);
    if (!this.#options.verifier.isQuorum(behind)) this.#look(server);
  }
}
