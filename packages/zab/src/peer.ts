import {
  assert,
  COUNTER_HANDOVER,
  counterOf,
  type FrameBatch,
  InvariantError,
  type LinkRef,
  type PeerMessage,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import type { PeerConfig } from "./config.ts";
import { FencedLog } from "./fenced-log.ts";
import { Leader } from "./leader.ts";
import { Learner } from "./learner.ts";
import type { LearnerInfo } from "./learner-link.ts";
import type { LearnerFault, LearnerRefusal, RoleEnd } from "./operator-events.ts";
import type { PeerPhase, RoleContext } from "./role.ts";
import { type AllSinks, allSinks, sendRefusal, type ZabSinks } from "./sinks.ts";
import type { ZabDurable } from "./zab-log.ts";

/** What a peer is doing. */
export type PeerState = "looking" | "leading" | "following" | "observing";

export type PeerOptions = Pick<PeerConfig, "sid" | "verifier"> & Partial<PeerConfig>;

export const PEER_DEFAULTS: Omit<PeerConfig, "sid" | "verifier"> = {
  isObserver: false,
  tickMs: 2000,
  initLimit: 10,
  syncLimit: 5,
  outstandingCountMax: 65_536,
  outstandingBytesMax: 64_194_304,
  windowBytes: 8 * 1024 * 1024,
  runBytes: 256 * 1024,
  counterMax: COUNTER_HANDOVER,
  newEnsembleId: "zooid",
};

/** A learner that came to a server without a role, which may yet be the one that leads. */
interface EarlyLearner {
  readonly sid: ServerId;
  readonly sinceMs: number;
  info: LearnerInfo | undefined;
}

/** So long it is held; then it is told to look again. */
const EARLY_MS_MIN = 1000;

/** What operators are told of a learner. */
export interface LearnerStatus {
  readonly sid: ServerId;
  readonly phase: string;
  readonly isObserver: boolean;
  readonly sent: Zxid;
  readonly acked: Zxid;
  readonly applied: Zxid;
}

/**
 * One member of the broadcast. What it replicates is opaque to it.
 *
 * Each role that it takes has a generation; a completion that names an older one changes nothing. A new role begins only when nothing
 * of the old one is on its way to the disk: what an election is told is what the disk holds.
 */
export class ZabPeer {
  readonly #config: PeerConfig;
  readonly #sinks: AllSinks;
  readonly #log: FencedLog;
  readonly #context: RoleContext;
  #role: Leader | Learner | undefined;
  #state: PeerState = "looking";
  #nowMs = 0;
  /** Learners that came before this server knew its own role. */
  readonly #early = new Map<LinkRef, EarlyLearner>();
  #hasLostPast = false;
  #hasDiverged = false;
  #epochToExceed = 0;
  /** Whether {@link ZabElection.look} was called for the present wait. */
  #isLooking = false;
  #successor: ServerId | undefined;
  #isStopped = false;

  constructor(options: PeerOptions, zabSinks: ZabSinks) {
    const sinks = allSinks(zabSinks);
    const config = { ...PEER_DEFAULTS, ...options };
    this.#config = config;
    this.#sinks = sinks;
    this.#log = new FencedLog(sinks.log);
    const peer = this;
    this.#context = {
      config,
      sinks,
      log: this.#log,
      get isFresh() {
        return peer.isFresh;
      },
      get isAmnesiac() {
        return peer.isAmnesiac;
      },
      get hasDiverged() {
        return peer.#hasDiverged;
      },
      get epochToExceed() {
        return peer.#epochToExceed;
      },
      mustExceed: (epoch) => {
        this.#epochToExceed = Math.max(this.#epochToExceed, epoch);
      },
      nowMs: () => this.#nowMs,
      leave: (reason) => this.#leave(reason),
      leaveTo: (successor) => {
        this.#leave({ kind: "leader-handed-over" });
        this.#successor = successor;
      },
      lostThePast: () => {
        this.#hasLostPast = true;
      },
      diverged: () => {
        this.#hasLostPast = true;
        this.#hasDiverged = true;
      },
      foundThePast: () => {
        this.#hasLostPast = false;
        this.#hasDiverged = false;
      },
      fail: (reason) => {
        throw new InvariantError(reason);
      },
    };
  }

  get state(): PeerState {
    return this.#state;
  }

  get phase(): PeerPhase {
    return this.#role?.phase ?? "election";
  }

  get generation(): number {
    return this.#log.generation;
  }

  /** The epoch that this server's role is in; 0 while there is none. */
  get epoch(): number {
    return this.#role?.epoch ?? 0;
  }

  /** The leader that this server follows; itself when it leads. */
  get leader(): ServerId | undefined {
    if (this.#role instanceof Learner) return this.#role.leader;
    return this.#role instanceof Leader ? this.#config.sid : undefined;
  }

  get durable(): ZabDurable {
    return this.#log.durable;
  }

  /** Everything up to here is known to be committed: an entry's zxid, never an epoch's start. */
  get committed(): Zxid {
    return this.#role?.committed ?? this.#log.durable.commitHint;
  }

  get lastProposed(): Zxid {
    return this.#role instanceof Leader ? this.#role.lastProposed : (this.#role?.lastLogged ?? ZXID_NONE);
  }

  /** Entries proposed and not yet delivered. */
  get outstandingCount(): number {
    return this.#role?.queue.count ?? 0;
  }

  get isFull(): boolean {
    const { outstandingCountMax, outstandingBytesMax } = this.#config;
    const queue = this.#role?.queue;
    return queue !== undefined && (queue.count >= outstandingCountMax || queue.sizeBytes >= outstandingBytesMax);
  }

  /** Whether the epoch's counter nears its end, so that no more writes may be admitted before a new epoch begins. */
  get isExhausted(): boolean {
    // rule: an-epochs-counter-has-an-end
    return this.#role instanceof Leader && counterOf(this.#role.lastProposed) >= this.#config.counterMax;
  }

  /** No epoch was ever held here. Promises may have been made, in an attempt to found the ensemble. */
  get isFresh(): boolean {
    const { currentEpoch, tail } = this.#log.durable;
    return currentEpoch === 0 && tail.zxid === ZXID_NONE;
  }

  /**
   * What was promised or acked here may be forgotten: this server has no voice and is not counted. So it is with a promise behind which
   * there is neither a history nor an ensemble's id: it was made to a leader that had its quorum without this server, and the history that
   * should have come with it did not.
   */
  get isAmnesiac(): boolean {
    const { amnesiac, identity, promise } = this.#log.durable;
    const hasNotFounded = this.isFresh && promise.epoch > 0 && identity.ensembleId === "";
    // rule: no-vote-from-a-promise-alone
    return this.#hasLostPast || amnesiac || hasNotFounded;
  }

  /** The leader's learners; none elsewhere. */
  learners(): readonly LearnerStatus[] {
    if (!(this.#role instanceof Leader)) return [];
    return [...this.#role.learners()].map(({ sid, phase, isObserver, sent, acked, applied }) => ({
      sid,
      phase,
      isObserver,
      sent,
      acked,
      applied,
    }));
  }

  // Roles

  /** Leads alone an epoch that this server has promised and holds, as an ensemble of one. */
  leadAlone(epoch: number): void {
    const leader = new Leader(this.#newRole("leading"));
    this.#role = leader;
    leader.leadAlone(epoch);
  }

  /** The election is decided for this server. */
  lead(): void {
    const leader = new Leader(this.#newRole("leading"));
    this.#role = leader;
    const early = [...this.#early];
    this.#early.clear();
    leader.begin();
    for (const [link, learner] of early) {
      // A learner may have made the leader leave.
      if (this.#role !== leader || learner.info === undefined) this.#early.set(link, learner);
      else leader.informed(link, learner.sid, learner.info);
    }
  }

  /** The election is decided for another one. */
  follow(leader: ServerId): void {
    assert(leader !== this.#config.sid, "no server follows itself");
    const learner = new Learner(this.#newRole(this.#config.isObserver ? "observing" : "following"), leader);
    this.#role = learner;
    for (const [link] of this.#early) this.#refuse(link, "not-leading", { kind: "follows-another", leader });
    this.#early.clear();
    learner.begin();
  }

  /** Names a successor that is level and leaves; false when there is none yet. Nothing may be proposed any more. */
  transferLeadership(): ServerId | undefined {
    const successor = this.#role instanceof Leader ? this.#role.transferLeadership() : undefined;
    if (successor !== undefined) this.#leave({ kind: "handed-over", to: successor });
    return successor;
  }

  /** Gives the role up, whatever it is, and takes no other. */
  stop(): void {
    this.#isStopped = true;
    this.#leave({ kind: "stopped" });
    for (const link of this.#early.keys()) this.#sinks.links.close(link, { kind: "stopped" });
    this.#early.clear();
  }

  /** Gives the role up and looks again: for a leader that cannot go on in its epoch. */
  resign(reason: RoleEnd): void {
    this.#leave(reason);
  }

  // Inputs

  setTime(nowMs: number): void {
    this.#nowMs = nowMs;
  }

  tick(): void {
    this.#role?.tick();
    if (this.#role !== undefined) return;
    for (const [link, { sinceMs }] of this.#early) {
      if (this.#nowMs - sinceMs < this.#earlyMsMax) continue;
      this.#early.delete(link);
      this.#refuse(link, "not-leading", { kind: "no-leader-known" });
    }
  }

  nextDueMs(): number | undefined {
    if (this.#role !== undefined) return this.#role.nextDueMs();
    const [oldest] = this.#early.values();
    return oldest === undefined ? undefined : oldest.sinceMs + this.#earlyMsMax;
  }

  get #earlyMsMax(): number {
    return Math.max(this.#config.tickMs, EARLY_MS_MIN);
  }

  /** A link came about: dialed by this server, or by a learner. */
  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean): void {
    if (!isDialed) {
      this.#early.set(link, { sid, sinceMs: this.#nowMs, info: undefined });
      return;
    }
    if (this.#role instanceof Learner && this.#role.leader === sid && this.#role.link === undefined) {
      this.#role.linkOpened(link);
    } else this.#sinks.links.close(link, { kind: "link-not-wanted" });
  }

  /** @param detail what happened, in words */
  dialFailed(detail: string): void {
    if (this.#role instanceof Learner) this.#role.dialFailed(detail);
  }

  /** @param detail what happened, in words */
  linkClosed(link: LinkRef, detail: string): void {
    this.#early.delete(link);
    if (this.#role instanceof Learner) this.#role.linkClosed(link, detail);
    else this.#role?.linkClosed(link);
  }

  /** A learner asked what no correct one asks: its link ends, and {@link ZabRequests.learnerLost} follows. */
  dropLearner(link: LinkRef, fault: LearnerFault["fault"]): void {
    if (this.#role instanceof Leader) this.#role.dropFaulty(link, fault);
  }

  receive(link: LinkRef, message: PeerMessage): void {
    if (this.#role instanceof Learner && this.#role.link === link) {
      this.#role.receive(message);
      return;
    }
    if (this.#role instanceof Leader && this.#role.receive(link, message)) return;
    const early = this.#early.get(link);
    if (early === undefined) return;
    if (message.kind !== "learner-info" || early.info !== undefined) {
      this.#refuse(link, "unable", { kind: "not-asked-to-lead", message: message.kind });
      this.#early.delete(link);
    } else if (this.#role instanceof Leader) {
      this.#early.delete(link);
      this.#role.informed(link, early.sid, message);
    } else if (this.#role instanceof Learner) {
      this.#early.delete(link);
      this.#refuse(link, "not-leading", { kind: "follows-another", leader: this.#role.leader });
    } else {
      early.info = message;
      this.#seekFollowing();
    }
  }

  /** Whoever a quorum comes to follow may as well lead: an election is no more than a hint, and theirs is decided. */
  #seekFollowing(): void {
    if (this.#role !== undefined || !this.#isLooking) return;
    const { sid, verifier } = this.#config;
    const comers = [...this.#early.values()].filter(({ info }) => info !== undefined && !info.isObserver);
    // Whoever is a quorum by itself needs nobody to come.
    if (verifier.isQuorum([sid])) return;
    if (verifier.isQuorum([sid, ...comers.map((comer) => comer.sid)])) this.#sinks.election.wanted();
  }

  /** Everything up to a zxid, appended in a role generation, is on this server's disk. */
  synced(generation: number, zxid: Zxid): void {
    if (this.#log.appended(generation)) this.#role?.synced(zxid);
  }

  // Broadcast

  /** Proposes entries that continue the epoch. */
  propose(batch: FrameBatch): void {
    if (!(this.#role instanceof Leader)) throw new InvariantError("only a leader proposes");
    this.#role.propose(batch);
  }

  /** Asks a quorum whether this server leads; {@link ZabRequests.leadershipConfirmed} answers with this number or a higher one. */
  checkLeadership(): number {
    assert(this.#role instanceof Leader, "only a leader is confirmed");
    return this.#role.checkLeadership();
  }

  /** To the leader, from a learner. */
  sendToLeader(message: PeerMessage): void {
    assert(this.#role instanceof Learner, "a learner has a leader");
    this.#role.send(message);
  }

  /**
   * Delivers what is committed and durable here, at most `most` entries.
   *
   * @returns whether more is due
   */
  deliver(most: number): boolean {
    return this.#role?.deliver(most) ?? false;
  }

  /** The end of a turn: what can be said together is said now, and whoever lost its role looks for another. */
  flush(): void {
    if (this.#role instanceof Leader) this.#role.flush();
    this.#settle();
  }

  #newRole(state: PeerState): RoleContext {
    assert(this.#role === undefined && this.#log.isQuiet, "a role begins when the one before has ended");
    this.#state = state;
    this.#isLooking = false;
    this.#log.nextGeneration();
    return this.#context;
  }

  #leave(reason: RoleEnd): void {
    const role = this.#role;
    if (role === undefined) return;
    this.#role = undefined;
    this.#state = "looking";
    this.#successor = undefined;
    this.#log.nextGeneration();
    role.end(reason);
    this.#sinks.roles.left(reason);
  }

  /** Once the log is quiet, whoever has no role looks for one. */
  #settle(): void {
    if (this.#role !== undefined || this.#isLooking || this.#isStopped || !this.#log.isQuiet) return;
    this.#isLooking = true;
    const successor = this.#successor;
    this.#successor = undefined;
    if (successor !== undefined) {
      this.#sinks.election.successor(successor);
      return;
    }
    this.#sinks.election.look();
    this.#seekFollowing();
  }

  #refuse(link: LinkRef, reason: "not-leading" | "unable", why: LearnerRefusal): void {
    sendRefusal(this.#sinks.links, link, reason, why);
    this.#sinks.links.close(link, why);
  }
}
