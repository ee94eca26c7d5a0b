import {
  assert,
  counterOf,
  type DiskRoom,
  type FrameBatch,
  InvariantError,
  type LevelRaise,
  type LinkRef,
  type LogState,
  type PeerMessage,
  type QuorumVerifier,
  type ServerId,
  type StandbyReport,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { type CommittedEntries, NO_ENTRIES } from "./committed-entries.ts";
import { PEER_DEFAULTS, type PeerConfig, type PeerOptions } from "./config.ts";
import { EarlyLearners } from "./early-learners.ts";
import { FencedLog } from "./fenced-log.ts";
import { Founding, type SaidDisk } from "./founding.ts";
import { KnownLevel } from "./known-level.ts";
import { type DiskDoubt, decodeMembers, KnownMembers } from "./known-members.ts";
import { Leader } from "./leader/leader.ts";
import type { TransferPurpose } from "./leader/leadership-transfer.ts";
import type { LearnerInfo } from "./leader/learner-handler.ts";
import type { MemberLevels } from "./leader/levels.ts";
import type { NamedDisks } from "./leader/voter-disks.ts";
import type { Wishes } from "./leader/wishes.ts";
import { Learner } from "./learner/learner.ts";
import { type LearnerStatus, statusOf } from "./learner-status.ts";
import { LostHistory } from "./lost-history.ts";
import type { LearnerFault, RoleEnd } from "./operator-events.ts";
import type { ProposalQueue } from "./proposal-queue.ts";
import type { RestoredState } from "./restored-state.ts";
import type { PeerPhase, RoleContext } from "./role.ts";
import { type PeerState, RoleCycle } from "./role-cycle.ts";
import { type AllSinks, allSinks, type ZabSinks } from "./sinks.ts";

/** One member of the broadcast: passes each input to the role in force. */
export class ZabPeer {
  readonly #config: PeerConfig;
  readonly #sinks: AllSinks;
  readonly #log: FencedLog;
  readonly #lostHistory: LostHistory;
  readonly #members: KnownMembers;
  readonly #level: KnownLevel;
  readonly #founding: Founding;
  readonly #early: EarlyLearners;
  readonly #cycle: RoleCycle;
  readonly #context: RoleContext;
  #nowMs = 0;
  #hasTime = false;
  #room: DiskRoom = "enough";
  #standby: StandbyReport | undefined;
  #epochToExceed = 0;
  /** The next role begins its epoch with it, if it leads. */
  #restored: RestoredState | undefined;

  constructor(options: PeerOptions, sinks: ZabSinks) {
    this.#config = { ...PEER_DEFAULTS, ...options };
    this.#sinks = allSinks(sinks);
    this.#log = new FencedLog(sinks.log);
    this.#lostHistory = new LostHistory(this.#log);
    this.#members = new KnownMembers(this.#config, sinks.log.durable, () => this.#membersChanged());
    this.#level = new KnownLevel(this.#config.levels, sinks.log.durable);
    this.#founding = new Founding({
      config: this.#config,
      members: this.#members,
      lostHistory: this.#lostHistory,
      log: this.#log,
      nowMs: () => this.#nowMs,
    });
    this.#early = new EarlyLearners(this.#config, sinks.links);
    this.#cycle = new RoleCycle(this.#log, this.#members, this.#sinks);
    this.#context = this.#newContext();
  }

  #newContext(): RoleContext {
    const peer = this;
    return {
      config: this.#config,
      members: this.#members,
      level: this.#level,
      sinks: this.#sinks,
      log: this.#log,
      lostHistory: this.#lostHistory,
      founding: this.#founding,
      get isCounted() {
        return !peer.#isForgetful;
      },
      get epochToExceed() {
        return peer.#epochToExceed;
      },
      mustExceed: (epoch) => {
        this.#epochToExceed = Math.max(this.#epochToExceed, epoch);
      },
      commitMembers: (through) => this.#members.commit(through, (committed) => this.#writeCommitted(committed)),
      changeFollows: () => this.#members.changeFollows((committed) => this.#writeCommitted(committed)),
      nowMs: () => this.#nowMs,
      room: () => this.#room,
      standby: () => this.#standby,
      leave: (reason) => this.#cycle.leave(reason),
      leaveTo: (successor) => this.#cycle.leaveTo(successor),
      fail: (reason) => {
        throw new InvariantError(reason);
      },
    };
  }

  #writeCommitted(committed: Uint8Array): void {
    this.#log.setConfigs({ committed }, () => {});
  }

  get state(): PeerState {
    return this.#cycle.state;
  }

  /** Whether an election was asked for, and has not decided yet. */
  get isLooking(): boolean {
    return this.#cycle.isLooking;
  }

  get phase(): PeerPhase {
    return this.#cycle.role?.phase ?? "election";
  }

  get generation(): number {
    return this.#log.generation;
  }

  /** The epoch that this server's role is in; 0 while there is none. */
  get epoch(): number {
    return this.#cycle.role?.epochNumber ?? 0;
  }

  /** The leader that this server follows; itself when it leads. */
  get leader(): ServerId | undefined {
    const { leading, following } = this.#cycle;
    return leading === undefined ? following?.leader : this.#config.sid;
  }

  get durable(): LogState {
    return this.#log.durable;
  }

  /** Everything up to here is known to be committed: an entry's zxid, never an epoch's start. */
  get committed(): Zxid {
    const { leading, following } = this.#cycle;
    return leading?.broadcast.committed ?? following?.committed ?? this.#log.durable.commitHint;
  }

  get lastProposed(): Zxid {
    const { leading, following } = this.#cycle;
    return leading?.broadcast.queue.last ?? following?.lastLogged ?? ZXID_NONE;
  }

  /** The room on this server's disk. */
  get room(): DiskRoom {
    return this.#room;
  }

  /**
   * Whether writes that add data are to be refused: the leader, or a quorum, has no room for them.
   */
  get lacksRoom(): boolean {
    const { leading, following } = this.#cycle;
    return leading?.diskRoom.isLacking ?? following?.lacksRoom ?? false;
  }

  /** Whether this server leads without enough room, and another one that may lead has enough. */
  get hasRoomierSuccessor(): boolean {
    return this.#cycle.leading?.diskRoom.hasRoomierSuccessor ?? false;
  }

  /** Entries proposed and not yet delivered. */
  get outstandingCount(): number {
    return this.#queue?.count ?? 0;
  }

  get #queue(): ProposalQueue | undefined {
    const { leading, following } = this.#cycle;
    return leading?.broadcast.queue ?? following?.queue;
  }

  get isFull(): boolean {
    const { outstandingCountMax, outstandingBytesMax } = this.#config;
    const queue = this.#queue;
    return queue !== undefined && (queue.count >= outstandingCountMax || queue.sizeBytes >= outstandingBytesMax);
  }

  /** Whether the epoch's counter nears its end: no write is admitted before a new epoch. */
  get isExhausted(): boolean {
    // rule: an-epochs-counter-has-an-end
    const { leading } = this.#cycle;
    return leading !== undefined && counterOf(leading.broadcast.queue.last) >= this.#config.counterMax;
  }

  /** Promises or acks may be forgotten here: this server does not vote and is not counted. */
  get isAmnesiac(): boolean {
    return this.#lostHistory.isAmnesiac;
  }

  /** Something is lost here, or may be missing on this disk. */
  get #isForgetful(): boolean {
    return this.isAmnesiac || this.diskDoubt !== undefined;
  }

  /**
   * Why the ensemble may not count this server by the disk that it has: it counts another one, or
   * the names of disks are not known here, see `KnownMembers.areDisksKnown`.
   */
  get diskDoubt(): DiskDoubt | undefined {
    if (!this.#members.areDisksKnown && !this.#lostHistory.isBlank) return "newer-file";
    const { diskId } = this.#log.durable.identity;
    return this.#members.hasDisk(this.#config.sid, diskId === "" ? undefined : diskId) ? undefined : "old-disk";
  }

  /**
   * Whether this server votes, if it is a voter: it has forgotten nothing, and would replace no
   * ensemble's data.
   */
  get mayVote(): boolean {
    if (this.#lostHistory.isFresh && this.#members.isLearned) return false;
    // rule: no-vote-beside-an-ensemble
    return !this.#isForgetful && !this.#founding.hasMetData;
  }

  /** Whether this server must not help to elect another one: their histories differ. */
  hasDivergedFrom(sid: ServerId): boolean {
    return this.#lostHistory.hasDivergedFrom(sid);
  }

  /** Whether this server may found an ensemble, and what keeps it from that. */
  get founding(): Pick<Founding, "isFounder" | "obstacles"> {
    return this.#founding;
  }

  /** The ensemble that this server has data of; nothing while it has none. */
  get dataOf(): { readonly ensembleId?: string } {
    const { ensembleId } = this.#log.durable.identity;
    return this.#lostHistory.isBlank || ensembleId === "" ? {} : { ensembleId };
  }

  /** The feature level in force, as far as this server knows. It never falls. */
  get level(): number {
    return this.#level.inForce(this.committed);
  }

  /** The last raise of the feature level that this server has logged, committed or not. */
  get levelRaise(): LevelRaise {
    return this.#level.raise;
  }

  /**
   * At the leader: one of the next batches raises the feature level. Until the level is in force
   * nothing is proposed that needs it.
   */
  expectRaise(isExpected: boolean): void {
    this.#level.isExpected = isExpected;
  }

  /** At the leader: a raise of the level is prepared, or logged and not committed yet. */
  get isRaisingLevel(): boolean {
    return this.#level.isExpected || this.levelRaise.level > this.level;
  }

  /** At the leader: the members, and the feature levels that they know. Undefined elsewhere. */
  memberLevels(): readonly MemberLevels[] | undefined {
    return this.#cycle.leading?.levels.members;
  }

  /**
   * At the leader of an ensemble in which nothing was written yet: the level that it is founded at.
   * Undefined elsewhere.
   */
  get foundingLevel(): number | undefined {
    return this.#cycle.leading?.levels.founding;
  }

  /** The configurations of the ensemble. */
  get members(): KnownMembers {
    return this.#members;
  }

  /**
   * Another server, in an election, knows this configuration to be committed. It is not written: it
   * is a hint where to find the leader, which sends it with the history. @returns whether it is
   * news
   */
  adoptMembers(
    from: ServerId,
    config: Uint8Array,
    {
      ensembleId,
      isFromFile = false,
    }: { readonly ensembleId?: string | undefined; readonly isFromFile?: boolean | undefined } = {},
  ): boolean {
    const isLate = this.phase !== "election" && this.phase !== "discovery";
    if (isLate || !this.#members.isChangeable) return false;
    // A server with a history would count by a list whose disks it does not know, and may have that
    // from a single file.
    if (isFromFile && !this.#lostHistory.isBlank) return false;
    if (!this.#founding.mayKnowMembers(from, ensembleId)) return false;
    const members = decodeMembers(config);
    if (members === undefined || !this.#members.isNews(members.version, !isFromFile)) return false;
    // 1. S1 is an ensemble of one and changes it to S2. It commits that, S2 learns it, and S1
    //    restarts before its disk knows.
    // 2. S1 elects itself, and waits for S2 to follow, which leads.
    const learned = { kind: "configuration-learned", version: members.version } as const;
    if (this.#cycle.role === undefined) this.#sinks.roles.note(learned);
    else this.#cycle.leave(learned);
    const isFromHistory = this.#founding.saysOfHistory(from, members);
    const isNews = this.#members.adopt(members, { isFromHistory, hasDisks: !isFromFile });
    if (this.diskDoubt === "old-disk") this.#sinks.roles.note({ kind: "old-disk" });
    return isNews;
  }

  /**
   * Another server, in an election, has this configuration from its files, and a history of this
   * ensemble; undefined where it has no such configuration.
   */
  hearFile(from: ServerId, config: Uint8Array | undefined, ensembleId: string | undefined): void {
    const isOfThisEnsemble = ensembleId !== undefined && ensembleId === this.dataOf.ensembleId;
    const members = config === undefined || !isOfThisEnsemble ? undefined : decodeMembers(config);
    this.#members.hearFile(from, members);
  }

  /** Another server, in an election, has logged this change of the configuration. */
  hearChange(config: Uint8Array): void {
    const change = this.phase === "election" ? decodeMembers(config) : undefined;
    if (change !== undefined) this.#members.hear(change);
  }

  /**
   * Whether enough servers of a configuration are synchronized to commit in it now. Only at the
   * leader.
   */
  isQuorumSynced(verifier: QuorumVerifier): boolean {
    return this.#cycle.leading?.isQuorumSynced(verifier) ?? false;
  }

  /**
   * At the leader: the lists of servers in the files of the ensemble's servers. Undefined
   * elsewhere.
   */
  get wishes(): Pick<Wishes, "due" | "waiting" | "hasQuorumIn"> | undefined {
    return this.#cycle.leading?.wishes;
  }

  /** At the leader: the disks by which voters are counted. Undefined elsewhere. */
  get voterDisks(): NamedDisks | undefined {
    return this.#cycle.leading?.voterDisks;
  }

  /** Whether this server leads and the configuration in force gives the leadership to others. */
  get mustTransfer(): boolean {
    return this.#cycle.leading?.mustTransfer ?? false;
  }

  #membersChanged(): void {
    this.#cycle.leading?.membersChanged();
    this.#sinks.roles.membersChanged?.();
  }

  /** The leader's learners; none elsewhere. */
  learners(): readonly LearnerStatus[] {
    const { leading } = this.#cycle;
    if (leading === undefined) return [];
    return Array.from(leading.learners.values(), (learner) => statusOf(learner, leading.diskRoom.mayLead(learner)));
  }

  // Roles

  /** Leads alone an epoch that this server has promised and holds, as an ensemble of one. */
  leadAlone(epoch: number): void {
    const leader = new Leader(this.#context);
    this.#cycle.lead(leader);
    leader.leadAlone(epoch);
  }

  /** The election is decided for this server. */
  lead(): void {
    const restored = this.#restored;
    this.#restored = undefined;
    const leader = new Leader(this.#context, restored);
    this.#cycle.lead(leader);
    const early = this.#early.removeAll();
    leader.begin();
    for (const learner of early) {
      // A learner may have made the leader leave.
      if (this.#cycle.role !== leader || learner.info === undefined) this.#early.add(learner);
      else leader.informed(learner.link, learner.sid, learner.info);
    }
  }

  /**
   * The election is decided for another one.
   *
   * @param namedBy the leader that named it as its successor, and that this server followed
   */
  follow(leader: ServerId, namedBy?: ServerId): void {
    assert(leader !== this.#config.sid, "no server follows itself");
    this.#dropRestore({ kind: "leader-handed-over" });
    const learner = new Learner(this.#context, leader, namedBy);
    this.#cycle.follow(learner);
    for (const { link } of this.#early.removeAll()) {
      this.#early.refuse(link, "not-leading", { kind: "follows-another", leader });
    }
    learner.begin();
  }

  /**
   * Names a successor that has every entry, and leaves; undefined while there is none. Nothing may
   * be proposed any more.
   *
   * @param purpose `room`: only a server with more room on its disk may succeed
   * @param to the only server that may succeed
   */
  transferLeadership(purpose: TransferPurpose = "stop", to?: ServerId): ServerId | undefined {
    const successor = this.#cycle.leading?.transferLeadership(purpose, to);
    if (successor !== undefined) this.#cycle.leave({ kind: "handed-over", to: successor });
    return successor;
  }

  /**
   * Leaves the epoch and leads the next one, which begins with a restored state and not with this
   * server's history. What was written since is discarded once a quorum has the state, and no
   * server serves in between. Everything that was proposed must be committed and applied here:
   * nothing may be proposed until then. See docs/decisions/0029.
   *
   * @returns whether it begins; then `ended` of the state is called
   */
  restore(state: RestoredState): boolean {
    // The configuration in force stays, and it would not be known which one that is.
    if (this.#members.isChanging || !this.succeedItself({ kind: "restore-begins" })) return false;
    this.#restored = state;
    return true;
  }

  /**
   * Leaves the epoch and leads the next one with the same history. Everything that was proposed
   * must be committed and applied here: nothing may be proposed until then.
   *
   * @returns whether it leaves
   */
  succeedItself(reason: RoleEnd): boolean {
    const { leading } = this.#cycle;
    if (leading?.phase !== "broadcast" || this.#members.isObserver || !leading.isLevel) return false;
    leading.succeedItself();
    this.#cycle.leaveTo(this.#config.sid, reason);
    return true;
  }

  #dropRestore({ kind }: RoleEnd): void {
    const restored = this.#restored;
    this.#restored = undefined;
    restored?.ended({ kind: "given-up", detail: kind });
  }

  /** Gives the role up, whatever it is, and takes no other. */
  stop(): void {
    this.#dropRestore({ kind: "stopped" });
    this.#cycle.stop();
    this.#early.closeAll();
  }

  /** Gives the role up and looks again: for a leader that cannot continue in its epoch. */
  resign(reason: RoleEnd): void {
    this.#cycle.leave(reason);
  }

  // Inputs

  setTime(nowMs: number): void {
    this.#nowMs = nowMs;
    if (this.#hasTime) return;
    this.#hasTime = true;
    this.#founding.begin();
  }

  /** A connection to another server came about, and the server said this of its disk. */
  peerHeard(sid: ServerId, said: SaidDisk): void {
    const isNews = this.#founding.heard(sid, said);
    if (isNews && this.#founding.isFounder) this.#sinks.roles.note({ kind: "founding-forbidden", sid });
    this.#cycle.role?.foundingChanged();
  }

  /** Another server accepts a connection of this one, and has not said anything. */
  peerAnswers(sid: ServerId): void {
    this.#founding.answers(sid);
  }

  /** A connection to another server has ended, whether or not it said anything on it. */
  peerLost(sid: ServerId): void {
    this.#founding.lost(sid);
    this.#lostHistory.lost(sid);
  }

  /** An attempt to connect to another server ended without a connection after `tookMs`. */
  peerUnanswered(sid: ServerId, tookMs: number): void {
    this.#founding.unanswered(sid, tookMs);
    this.#cycle.role?.foundingChanged();
  }

  /** Another server has shown in an election that it has data. */
  peerHasData(sid: ServerId): void {
    this.#founding.hasData(sid);
    this.#cycle.role?.foundingChanged();
  }

  /** The room on this server's disk has changed. */
  setRoom(room: DiskRoom): void {
    this.#room = room;
    const { leading, following } = this.#cycle;
    if (leading !== undefined) leading.diskRoom.changed();
    else following?.factsChanged();
  }

  /** The state of another ensemble that this server has ready, or has taken over, has changed. */
  setStandby(standby: StandbyReport | undefined): void {
    this.#standby = standby;
    this.#cycle.following?.factsChanged();
  }

  get standby(): StandbyReport | undefined {
    return this.#standby;
  }

  tick(): void {
    this.#cycle.role?.tick();
    if (this.#cycle.leading === undefined) this.#early.tick(this.#nowMs, this.#cycle.following?.leader);
  }

  nextDueMs(): number | undefined {
    const { leading, following } = this.#cycle;
    if (leading !== undefined) return leading.nextDueMs();
    const earlyMs = this.#early.nextDueMs();
    return following === undefined ? earlyMs : Math.min(following.nextDueMs(), earlyMs ?? Number.POSITIVE_INFINITY);
  }

  /** A link was opened: dialed by this server, or by a learner. */
  linkOpened(link: LinkRef, sid: ServerId, isDialed: boolean, said?: SaidDisk): void {
    if (!isDialed) {
      this.#early.add({ link, sid, sinceMs: this.#nowMs, info: undefined });
      return;
    }
    const { following } = this.#cycle;
    if (following?.leader === sid && following.link === undefined) following.linkOpened(link, said);
    else this.#sinks.links.close(link, { kind: "link-not-wanted" });
  }

  // `detail` is what happened, in words.

  dialFailed(detail: string): void {
    this.#cycle.following?.dialFailed(detail);
  }

  linkClosed(link: LinkRef, detail: string): void {
    this.#early.remove(link);
    this.#cycle.role?.linkClosed(link, detail);
  }

  /**
   * A learner sent a request that no correct one sends: its link ends, and {@link
   * ZabRequests.learnerLost} follows.
   */
  dropLearner(link: LinkRef, fault: LearnerFault["fault"]): void {
    this.#cycle.leading?.dropFaulty(link, fault);
  }

  onMessage(link: LinkRef, message: PeerMessage): void {
    const { leading, following } = this.#cycle;
    if (following?.link === link) {
      following.onMessage(message);
      return;
    }
    if (leading?.onMessage(link, message) === true) return;
    const early = this.#early.informed(link, message);
    if (early === undefined) return;
    if (leading !== undefined) {
      this.#early.remove(link);
      leading.informed(link, early.sid, early.info);
    } else if (following === undefined) this.#seekFollowing();
    else if (!this.#isSuccessorFor(early.info, following)) {
      this.#early.remove(link);
      this.#early.refuse(link, "not-leading", { kind: "follows-another", leader: following.leader });
    }
  }

  /**
   * Whether the learner comes since this server's leader named it as successor. This server learns
   * that later than others do, or still applies what is committed. If it refused them:
   * 1. S3 leads, names S2, and stops. S1 hears that before S2 does, and comes to S2, which refuses.
   * 2. S1 looks. S2 hears of its leadership, and waits for S1.
   * 3. S1 hears of no quorum that follows S2, and waits for its vote until S2 gives up.
   */
  #isSuccessorFor({ namedBy }: LearnerInfo, following: Learner): boolean {
    // rule: a-successor-keeps-early-learners
    return namedBy === following.leader || following.successor === this.#config.sid;
  }

  /**
   * A server that a quorum waits to follow may lead: the election is a hint only, and theirs is
   * decided. A server that is a quorum alone needs no follower.
   */
  #seekFollowing(): void {
    if (!this.#cycle.isLooking) return;
    const { sid } = this.#config;
    if (this.#members.verifier.isQuorum([sid])) return;
    if (this.#lostHistory.isFresh && this.#founding.dataHolder !== undefined) return;
    if (this.#members.isElectedBy(this.#early.voters())) this.#sinks.election.wanted();
  }

  /** Everything up to a zxid, appended in a role generation, is on this server's disk. */
  synced(generation: number, zxid: Zxid): void {
    if (!this.#log.appended(generation)) return;
    const { leading, following } = this.#cycle;
    if (leading !== undefined) leading.broadcast.synced(zxid);
    else following?.synced(zxid);
  }

  // Broadcast

  /** Proposes entries that continue the epoch. */
  propose(batch: FrameBatch): void {
    const { leading } = this.#cycle;
    if (leading === undefined) throw new InvariantError("only a leader proposes");
    leading.broadcast.propose(batch);
  }

  /**
   * Asks a quorum whether this server leads; {@link ZabRequests.leadershipConfirmed} answers with
   * this number or a higher one.
   */
  checkLeadership(): number {
    const { leading } = this.#cycle;
    assert(leading !== undefined, "only a leader is confirmed");
    return leading.check.begin();
  }

  /** To the leader, from a learner. */
  sendToLeader(message: PeerMessage): void {
    const { following } = this.#cycle;
    assert(following !== undefined, "a learner has a leader");
    following.send(message);
  }

  /**
   * Takes entries that are committed and durable here, for the driver to apply in order, as many as
   * it likes. {@link applied} always follows, before any other input. An entry stays outstanding,
   * and its batch unreleased, until the next one is shown or `applied` is called.
   */
  takeCommitted(): CommittedEntries {
    const { leading, following } = this.#cycle;
    return leading?.broadcast.takeCommitted() ?? following?.takeCommitted() ?? NO_ENTRIES;
  }

  /**
   * The entries that {@link takeCommitted} showed are applied. A role may begin to serve here, or
   * end.
   */
  applied(): void {
    const { leading, following } = this.#cycle;
    if (leading !== undefined) leading.broadcast.applied();
    else following?.applied();
  }

  /**
   * The end of a turn: sends the messages that waited for it; a peer without a role looks for one.
   */
  flush(): void {
    this.#cycle.leading?.broadcast.flush();
    if (this.#cycle.settle()) this.#seekFollowing();
  }
}
