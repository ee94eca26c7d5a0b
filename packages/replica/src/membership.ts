import { createElection, ELECTION_DEFAULTS, type ElectionConfig, type LeaderElection } from "@zooid/election";
import {
  type ElectionMessage,
  type Members,
  membersText,
  type PeerRole,
  type ServerId,
  type Vote,
  ZXID_NONE,
} from "@zooid/model";
import { type RoleEnd, type SaidDisk, ZabPeer, type ZabSinks } from "@zooid/zab";
import type { ReplicaConfig } from "./config.ts";
import { UnreachedLeaders } from "./unreached-leaders.ts";

/** Time for which a leader that this server refused, or did not reach, is not followed again. */
const AVOIDED_TICKS = 5;

/** The sinks of membership, besides those of the broadcast itself. */
export interface MembershipSinks {
  /** To another server's election port; only the newest message counts. */
  elect(to: ServerId, message: ElectionMessage): void;
  /** The role, or what is known of it, changed. */
  roleChanged(): void;
  /** The ensemble's configuration changed, or one that may come into force became known. */
  membersChanged?(): void;
}

/**
 * This server's role in its ensemble: without a role it takes part in the election, takes the role
 * that the election decided, and looks again when the role ends. An election is a hint: the
 * broadcast checks it.
 */
export class Membership {
  readonly zab: ZabPeer;
  readonly #election: LeaderElection | undefined;
  readonly #config: ReplicaConfig;
  readonly #sinks: MembershipSinks;
  #nowMs = 0;
  /** The configurations as they were last sent. */
  readonly #sentConfigs = new WeakMap<Members, Uint8Array>();
  /** A server that is ahead of this one, as the next election begins. */
  #nominee: Vote | undefined;
  readonly #unreached: UnreachedLeaders;
  /** When this server last had a role in which it served. */
  #looksSinceMs: number | undefined;

  constructor(
    config: ReplicaConfig,
    random: () => number,
    zabSinks: Omit<ZabSinks, "election">,
    sinks: MembershipSinks,
  ) {
    this.#config = config;
    this.#sinks = sinks;
    const { sid, verifier, tickMs, ensemble } = config;
    this.#unreached = new UnreachedLeaders(AVOIDED_TICKS * tickMs);
    this.zab = new ZabPeer(
      {
        sid,
        verifier,
        tickMs,
        outstandingCountMax: config.outstandingCountMax,
        outstandingBytesMax: config.outstandingBytesMax,
        isObserver: ensemble?.isObserver ?? false,
        levels: config.levels,
        version: config.version,
        ...(ensemble === undefined
          ? {}
          : {
              initLimit: ensemble.initLimit,
              syncLimit: ensemble.syncLimit,
              newEnsembleId: ensemble.newEnsembleId,
              ...(ensemble.hasPast === undefined ? {} : { hasPast: ensemble.hasPast }),
              ...(ensemble.foundingWaitMs === undefined ? {} : { foundingWaitMs: ensemble.foundingWaitMs }),
              ...(ensemble.counterMax === undefined ? {} : { counterMax: ensemble.counterMax }),
              ...(ensemble.windowBytes === undefined ? {} : { windowBytes: ensemble.windowBytes }),
              ...(ensemble.runBytes === undefined ? {} : { runBytes: ensemble.runBytes }),
              ...(ensemble.members === undefined
                ? {}
                : { members: ensemble.members, isWish: !config.isReconfigEnabled }),
            }),
      },
      {
        ...zabSinks,
        election: {
          look: () => this.#look(),
          wanted: () => this.#wanted(),
          successor: (successor, namedBy) => this.#adopt(successor, namedBy),
        },
      },
    );
    this.#election =
      ensemble === undefined
        ? undefined
        : createElection(this.#electionConfig({ algorithm: ensemble.electionAlg, sid, random }), {
            send: (to, message) => sinks.elect(to, this.#withConfig(message)),
            decided: (role, vote) => this.#decided(role, vote),
          });
  }

  /** The role that operators see: decided by the election, even if no leader is established yet. */
  get role(): PeerRole {
    return this.zab.state;
  }

  get vote(): Vote | undefined {
    return this.#election?.vote;
  }

  get round(): number {
    return this.#election?.round ?? 0;
  }

  /** Since when this server has had no role in which it could serve; undefined while it has one. */
  get looksSinceMs(): number | undefined {
    return this.#looksSinceMs;
  }

  setTime(nowMs: number): void {
    this.#nowMs = nowMs;
    this.zab.setTime(nowMs);
  }

  /** The role is complete. */
  established(epoch: number): void {
    this.#looksSinceMs = undefined;
    this.#unreached.clear();
    const election = this.#election;
    if (election?.vote !== undefined && this.role === "following" && election.role === "observing") {
      // It had no vote when this was decided, and has one now that it is synchronized.
      election.adopt("following", election.vote);
    }
    election?.established(epoch);
    this.#sinks.roleChanged();
  }

  /** The role has ended. On a full disk it takes a while until another one is looked for. */
  left(reason: RoleEnd): void {
    this.#looksSinceMs ??= this.#nowMs;
    const unreadable = unreadableIn(reason);
    if (unreadable !== undefined) this.#unreached.avoid(unreadable, this.#nowMs);
    const avoided = avoidedBy(reason) ?? this.#unreachedBy(reason);
    if (avoided !== undefined) this.#election?.avoid(avoided, this.#nowMs + AVOIDED_TICKS * this.#config.tickMs);
    if (reason.kind === "learner-is-ahead" && !this.zab.members.electors.voters.has(reason.sid)) {
      // 1. S5 alone changes to 2, 3, 4: S4 logs that and an entry behind it, which S5 loses in a
      //    crash.
      // 2. S5 elects itself, and needs S4, which is ahead.
      // 3. S4 has no vote to send, and would be elected by no server, however often S5 gives way.
      // rule: a-learner-ahead-is-voted-for
      this.#nominee = { leader: reason.sid, zxid: reason.zxid, peerEpoch: reason.currentEpoch };
    }
  }

  /**
   * The ensemble's configuration changed, or begins to: this server may have got a vote, or lost
   * it.
   */
  membersChanged(): void {
    this.#unreached.clear();
    const { role } = this;
    const election = this.#election;
    const isLearner = role === "following" || role === "observing";
    if (isLearner && election?.vote !== undefined && election.role !== role) election.adopt(role, election.vote);
    this.#sinks.membersChanged?.();
    this.#sinks.roleChanged();
  }

  #withConfig(message: ElectionMessage): ElectionMessage {
    const { committed, lastSeen, isChanging } = this.zab.members;
    if (message.kind === "poll" || committed === undefined || committed.version === ZXID_NONE) return message;
    const isFromFile = this.zab.members.areDisksKnown ? {} : { isFromFile: true };
    const known = { config: this.#bytesOf(committed), ...this.zab.dataOf, ...isFromFile };
    return isChanging && lastSeen !== undefined
      ? { ...message, ...known, nextConfig: this.#bytesOf(lastSeen) }
      : { ...message, ...known };
  }

  #bytesOf(members: Members): Uint8Array {
    let bytes = this.#sentConfigs.get(members);
    if (bytes === undefined) {
      bytes = new TextEncoder().encode(membersText(members));
      this.#sentConfigs.set(members, bytes);
    }
    return bytes;
  }

  tick(): void {
    this.#election?.tick(this.#nowMs);
    this.zab.tick();
  }

  nextDueMs(): number | undefined {
    const election = this.#election?.nextDueMs();
    const zab = this.zab.nextDueMs();
    if (election === undefined) return zab;
    return zab === undefined ? election : Math.min(election, zab);
  }

  receiveElection(from: ServerId, message: ElectionMessage): void {
    if (message.kind !== "poll" && message.config !== undefined) {
      // 1. S3 is down while S1, S2, S3 change to S2, S4, S5.
      // 2. S3 comes back and asks S1 and S2. Only S2 answers, and its leader, S4, is none of the
      //    servers that S3 knows: S3 would never be answered.
      // rule: a-looking-server-takes-the-newest-configuration
      if (this.zab.adoptMembers(from, message.config, message) && this.zab.isLooking) this.#look();
    }
    if (message.kind !== "poll") {
      const file = message.isFromFile === true ? message.config : undefined;
      this.#learn(() => this.zab.hearFile(from, file, message.ensembleId));
    }
    if (message.kind !== "poll" && showsData(from, message.vote)) this.#learn(() => this.zab.peerHasData(from));
    // 1. S1 and S4 have logged the change of 1, 2, 3 to 1, 2, 3, 4, and S4 is ahead.
    // 2. S1 votes for S4. S2 has to know S4 to follow it.
    if (message.kind !== "poll" && message.nextConfig !== undefined) this.zab.hearChange(message.nextConfig);
    if (!this.#namesDiverged(from, message)) this.#election?.receive(from, message, this.#nowMs);
    this.#checkSupport();
  }

  /**
   * A vote of, or for, a server whose history is not this one's: this server elects one of the
   * others. It joins that server all the same where a quorum of others has elected it.
   */
  #namesDiverged(from: ServerId, message: ElectionMessage): boolean {
    if (message.kind !== "notification" || message.role !== "looking" || !this.zab.isLooking) return false;
    return (
      this.zab.hasDivergedFrom(from) || (message.vote !== undefined && this.zab.hasDivergedFrom(message.vote.leader))
    );
  }

  /**
   * A leader that has lost its electors before they connected looks again:
   * 1. S1 wins the election by the votes of S2 and S3, and waits for them.
   * 2. S2 and S3 hear of S4, which has a newer history, and change their votes before they connect.
   * 3. If S1 went on waiting, it would do so until its timeout, without a vote for S4.
   *
   * So does one whose electors have ended:
   * 1. S2 names S1 as its successor, and stops. S3 hears of that, and looks all the same.
   * 2. If S1 counted S2, it would wait for S3 until its timeout.
   */
  #checkSupport(): void {
    const { zab } = this;
    if (this.#election === undefined || zab.state !== "leading" || zab.phase !== "discovery") return;
    const supporters = new Set(this.#election.supporters).add(this.#config.sid);
    for (const { sid } of zab.learners()) supporters.add(sid);
    // rule: a-winner-watches-its-electors
    if (!zab.members.electors.isQuorum(supporters)) {
      zab.resign({ kind: "electors-lost", learners: zab.learners().length });
    }
  }

  /**
   * A connection for elections came about.
   *
   * @param said what the server said of its disk; undefined where connections are not reported
   */
  electionLinkUp(sid: ServerId, said?: SaidDisk): void {
    if (said !== undefined) this.#learn(() => this.zab.peerHeard(sid, said));
    if (this.#unreached.forget(sid)) this.#election?.avoid(sid, this.#nowMs);
    this.#election?.linkUp(sid, this.#nowMs);
  }

  /**
   * The connection for elections has ended.
   *
   * @param isReplaced whether there is another one
   */
  electionLinkDown(sid: ServerId, isReplaced = false): void {
    this.#learn(() => {
      this.zab.peerLost(sid);
      this.zab.hearFile(sid, undefined, undefined);
    });
    if (isReplaced) return;
    // rule: an-elector-ends-with-its-connection
    this.#election?.linkDown(sid);
    this.#checkSupport();
  }

  /**
   * News of another server may take this server's vote, or restore it: the election learns it at
   * once.
   */
  #learn(of: () => void): void {
    const couldVote = this.zab.mayVote;
    of();
    // 1. S1 and S2 have lost their disks, and vote for S2.
    // 2. The link to S3 comes up, which has the data and has lost a part of it: it has no vote.
    // 3. Without this, S2 would be elected again and again.
    if (this.zab.mayVote !== couldVote && this.zab.isLooking) this.#look();
  }

  measured(sid: ServerId, roundTripMs: number): void {
    this.#election?.measured(sid, roundTripMs);
  }

  #look(): void {
    const { durable, mayVote } = this.zab;
    this.#looksSinceMs ??= this.#nowMs;
    const hasVote = mayVote && !this.zab.members.isObserver;
    // rule: vote-with-the-end-of-the-log
    const position = { zxid: durable.tail.zxid, currentEpoch: durable.currentEpoch };
    const nominee = this.#nominee;
    this.#nominee = undefined;
    this.#sinks.roleChanged();
    this.#election?.look(hasVote ? position : undefined, this.#nowMs, nominee);
  }

  /** Other servers have elected this one while it still looked, or after it had given up. */
  #wanted(): void {
    const { sid, ensemble } = this.#config;
    const { members } = this.zab;
    if (!this.zab.mayVote || ensemble === undefined || !members.mayLead(sid)) return;
    const { durable } = this.zab;
    this.#election?.adopt("leading", { leader: sid, zxid: durable.tail.zxid, peerEpoch: durable.currentEpoch });
    this.#decided("leading", { leader: sid, zxid: durable.tail.zxid, peerEpoch: durable.currentEpoch });
  }

  #decided(role: Exclude<PeerRole, "looking">, vote: Vote, namedBy?: ServerId): void {
    if (role === "leading") this.zab.lead();
    else this.zab.follow(vote.leader, namedBy);
    this.#sinks.roleChanged();
  }

  /** A leader that was elected again and again, and that this server did not reach. */
  #unreachedBy(reason: RoleEnd): ServerId | undefined {
    const leader = unreachedIn(reason, this.#config.sid);
    return leader !== undefined && this.#unreached.failed(leader, this.#nowMs) ? leader : undefined;
  }

  /** The election's settings. The ensemble's configuration decides which servers vote. */
  #electionConfig(fixed: Pick<ElectionConfig, "algorithm" | "sid" | "random">): ElectionConfig {
    const { members } = this.zab;
    const isCandidate = (sid: ServerId): boolean =>
      members.mayLead(sid) && !this.#unreached.isAvoided(sid, this.#nowMs);
    return Object.defineProperties({ ...ELECTION_DEFAULTS, ...fixed } as ElectionConfig, {
      // rule: the-present-voters-elect
      verifier: { get: () => members.electors },
      candidates: { value: { has: isCandidate } },
      acquaintances: { get: () => members.acquaintances },
    });
  }

  /**
   * The leader transfers its leadership to a server. If that fails, there is an election.
   *
   * @param namedBy that leader, where this server followed it
   */
  #adopt(successor: ServerId, namedBy: ServerId | undefined): void {
    const { sid } = this.#config;
    const { durable } = this.zab;
    const vote: Vote = { leader: successor, zxid: durable.tail.zxid, peerEpoch: durable.currentEpoch };
    const role = successor === sid ? "leading" : this.zab.members.isObserver ? "observing" : "following";
    this.#looksSinceMs ??= this.#nowMs;
    this.#election?.adopt(role, vote);
    // rule: a-successor-begins-with-discovery
    this.#decided(role, vote, namedBy);
  }
}

/** A leader that this server cannot follow until an operator acts. */
function avoidedBy(reason: RoleEnd): ServerId | undefined {
  switch (reason.kind) {
    case "refused-by-leader":
      return reason.reason === "diverged" || reason.reason === "level" ? reason.sid : undefined;
    case "applied-beyond":
    case "histories-differ":
    case "history-of-one-server":
    case "leaders-level":
    case "leader-of-another-ensemble":
    case "beside-another-ensemble":
      return reason.leader;
    default:
      return undefined;
  }
}

/** A leader with a history of a feature level that this server does not know. */
function unreadableIn(reason: RoleEnd): ServerId | undefined {
  if (reason.kind === "refused-by-leader") return reason.reason === "level" ? reason.sid : undefined;
  return reason.kind === "leaders-level" ? reason.leader : undefined;
}

/** The leader whose role, or whose learner's role, ended before the two were connected. */
function unreachedIn(reason: RoleEnd, own: ServerId): ServerId | undefined {
  switch (reason.kind) {
    case "leader-unreachable":
      return reason.sid;
    case "electors-lost":
    case "no-quorum-follows":
      return reason.learners === 0 ? own : undefined;
    default:
      return undefined;
  }
}

/** Whether a server's vote for itself says that it has data: an epoch, or an entry. */
function showsData(from: ServerId, vote: Vote | undefined): boolean {
  return vote?.leader === from && (vote.peerEpoch > 0 || vote.zxid !== ZXID_NONE);
}
