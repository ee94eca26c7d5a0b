import {
  assert,
  composeZxid,
  EPOCH_MAX,
  type EpochPromise,
  epochOf,
  type FrameBatch,
  formatZxid,
  InvariantError,
  type LinkRef,
  type LogPosition,
  type PeerMessage,
  type ServerId,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { AckTally } from "./broadcast.ts";
import { commonPoint, tableThrough } from "./common-point.ts";
import { Delivery } from "./delivery.ts";
import { type AckEpoch, type LearnerInfo, LearnerLink } from "./learner-link.ts";
import type { LearnerFault, LearnerRefusal, LinkEnd, RoleEnd } from "./operator-events.ts";
import { cutRun, ProposalQueue } from "./proposal-queue.ts";
import type { PeerPhase, RoleContext } from "./role.ts";
import { sendRefusal } from "./sinks.ts";
import type { ZabRun } from "./zab-log.ts";

/** How long a leader that nobody follows waits for an epoch's quorum: whoever elected it may have changed its mind. */
const EPOCH_QUORUM_MS_MIN = 1000;
/** From one message of entries to an observer to the next, at least. */
const OBSERVER_PACE_MS = 5;
/** For so long after an observer's client has asked for something, that observer is not kept waiting. */
const OBSERVER_ASKS_MS = 100;

/**
 * Leads an ensemble: agrees on an epoch with a quorum, brings learners level, then orders what is proposed.
 *
 * Safety rests on promises and on the quorum that accepted the history, never on the election that brought it here. What it counts
 * are voters that have everything they ever promised and acked.
 */
export class Leader {
  readonly #context: RoleContext;
  readonly #learners = new Map<LinkRef, LearnerLink>();
  /** The log's end when this role began: the history that the epoch begins with, H0. */
  readonly #history: LogPosition;
  /** No epoch was ever held here: this server may found the ensemble, and only with others like it. */
  readonly #isFresh: boolean;
  #phase: PeerPhase = "discovery";
  /** 0 until a quorum has told its promises. */
  #epoch = 0;
  #start: Zxid = ZXID_NONE;
  #hasPromised = false;
  #holdsEpoch = false;
  #isEstablished = false;
  #queue: ProposalQueue;
  #tally: AckTally | undefined;
  #delivery: Delivery;
  #durable: Zxid;
  #round = 0;
  #isRoundOpen = false;
  #confirmedRound = 0;
  /** The last round of confirmation that each voter has answered. */
  readonly #answered = new Map<ServerId, number>();
  /** When the present step before the broadcast is given up. */
  #deadlineMs: number;
  #pingDueMs: number;
  #checkDueMs: number;
  /** When an observer gets what was held back. */
  #feedDueMs: number = Number.POSITIVE_INFINITY;
  #isHandingOver = false;

  constructor(context: RoleContext) {
    this.#context = context;
    const { durable } = context.log;
    this.#history = durable.tail;
    this.#durable = durable.tail.zxid;
    this.#isFresh = context.isFresh;
    this.#queue = new ProposalQueue(ZXID_NONE);
    this.#delivery = this.#newDelivery();
    const { tickMs } = context.config;
    this.#deadlineMs = context.nowMs() + Math.max(tickMs, EPOCH_QUORUM_MS_MIN);
    this.#pingDueMs = context.nowMs() + tickMs / 2;
    this.#checkDueMs = context.nowMs() + tickMs;
  }

  get phase(): PeerPhase {
    return this.#phase;
  }

  get epoch(): number {
    return this.#epoch;
  }

  /** Everything up to here is committed; a position of the log. */
  get committed(): Zxid {
    if (!this.#isEstablished || this.#tally === undefined) return this.#context.log.durable.commitHint;
    return this.#logPosition(this.#tally.committed);
  }

  /** The last entry logged or proposed. */
  get lastLogged(): Zxid {
    return this.#logPosition(this.#queue.last);
  }

  get lastProposed(): Zxid {
    return this.#queue.last;
  }

  get queue(): ProposalQueue {
    return this.#queue;
  }

  get isEstablished(): boolean {
    return this.#isEstablished;
  }

  learners(): IterableIterator<LearnerLink> {
    return this.#learners.values();
  }

  /** An ensemble of one, whose epoch is promised, held and durable already: it serves at once. */
  leadAlone(epoch: number): void {
    assert(this.#isQuorum([this.#context.config.sid]), "a server leads alone only where it is a quorum by itself");
    const history = this.#history.zxid;
    assert(epoch > epochOf(history), `epoch ${epoch} follows the history's last zxid ${formatZxid(history)}`);
    assert(epoch < EPOCH_MAX, `epoch ${epoch} is below ${EPOCH_MAX}, where zxids would no longer be exact`);
    this.#begin(epoch);
    this.#hasPromised = true;
    this.#holdsEpoch = true;
    this.#establish();
  }

  // Discovery

  /** Whoever is a quorum by itself need not wait for anybody. */
  begin(): void {
    this.#seekEpoch();
  }

  informed(link: LinkRef, sid: ServerId, info: LearnerInfo): void {
    const { config, log, sinks } = this.#context;
    const { ensembleId } = log.durable.identity;
    if (info.ensembleId !== "" && ensembleId !== "" && info.ensembleId !== ensembleId) {
      const theirs = info.ensembleId;
      this.#refuse(link, "unable", { kind: "learner-of-another-ensemble", sid, ours: ensembleId, theirs });
      return;
    }
    const isVoter = config.verifier.voters.has(sid) && !info.isObserver;
    const { promise } = info;
    if (isVoter && this.#isFresh && !this.#hasPromised && !info.isFresh && !info.isAmnesiac) {
      // There is a past that this server does not know of. With nothing at all on its disk, it may have forgotten its part in it.
      if (log.durable.promise.epoch === 0) this.#context.lostThePast();
      this.#context.leave({ kind: "history-missing-here", sid });
      return;
    }
    // rule: an-epoch-above-every-promise
    if (isVoter && !info.isAmnesiac && this.#epoch !== 0 && this.#isElsewhere(promise)) {
      // It can never follow this leader, in this epoch. One epoch above its promise, everybody can.
      this.#context.mustExceed(promise.epoch);
      this.#context.leave({ kind: "epoch-promised-elsewhere", sid, epoch: promise.epoch, to: promise.sid });
      return;
    }
    const learner = new LearnerLink({
      link,
      sid,
      info,
      // With nothing at all on its disk it may have forgotten what it promised and acked: unless there is nothing to forget.
      // rule: wiped-servers-are-not-counted
      isCounted: isVoter && !info.isAmnesiac && (promise.epoch > 0 || !info.isFresh || this.#isFounding),
      isObserver: !isVoter,
      nothing: ZXID_NONE,
      nowMs: this.#context.nowMs(),
    });
    for (const other of this.#learners.values()) {
      if (other.sid === sid) this.#drop(other, { kind: "superseded" });
    }
    this.#learners.set(link, learner);
    this.#learnersChanged();
    if (this.#hasPromised) this.#invite(learner);
    else this.#seekEpoch();
    sinks.roles.note({ kind: "learner-follows", sid });
  }

  /** No epoch was ever held here, and none has its quorum yet. */
  get #isFounding(): boolean {
    return this.#isFresh && !this.#isEstablished;
  }

  /** Whether a promise keeps its giver from following this leader in this epoch. */
  #isElsewhere({ epoch, sid, incarnation }: EpochPromise): boolean {
    if (epoch !== this.#epoch) return epoch > this.#epoch;
    const { config, log } = this.#context;
    return sid !== config.sid || incarnation !== log.durable.identity.bootCount;
  }

  /** Fixes the epoch once a quorum has told what it has promised. */
  #seekEpoch(): void {
    if (this.#epoch !== 0 || !this.#isQuorum(this.#counted(() => true))) return;
    const { config, log } = this.#context;
    const { durable } = log;
    let best = Math.max(durable.promise.epoch, durable.currentEpoch, this.#context.epochToExceed);
    for (const { isCounted, info } of this.#learners.values()) {
      // rule: voters-alone-fix-the-epoch
      if (isCounted) best = Math.max(best, info.promise.epoch);
    }
    const epoch = best + 1;
    if (epoch >= EPOCH_MAX) {
      this.#context.leave({ kind: "epochs-used-up", epoch });
      return;
    }
    this.#begin(epoch);
    this.#deadlineMs = this.#context.nowMs() + config.initLimit * config.tickMs;
    if (durable.identity.ensembleId === "")
      log.setEnsembleId(this.#ensembleIdOfOthers() ?? config.newEnsembleId, () => {});
    const incarnation = durable.identity.bootCount;
    // rule: promise-before-leader-info
    log.setPromise({ epoch, sid: config.sid, incarnation }, () => {
      this.#hasPromised = true;
      for (const learner of this.#learners.values()) this.#invite(learner);
      this.#seekHolders();
    });
  }

  /** A server that lost its disk has the history again, and was not told whose. */
  #ensembleIdOfOthers(): string | undefined {
    for (const { info, isCounted } of this.#learners.values())
      if (isCounted && info.ensembleId !== "") return info.ensembleId;
    return undefined;
  }

  #begin(epoch: number): void {
    this.#epoch = epoch;
    this.#start = composeZxid(epoch, 0);
    this.#queue = new ProposalQueue(this.#start);
    this.#learnersChanged();
    this.#delivery = this.#newDelivery();
  }

  /**
   * Names the epoch to a learner, which promises it. A voter that is not counted, because it may have forgotten what it promised and
   * acked, must not get a promise to show before a quorum has formed without it: it would look as if it had a past. Nor is it told
   * the ensemble's id before it has the history: whoever has made a promise without one founded nothing, see {@link ZabPeer.isAmnesiac}.
   */
  #invite(learner: LearnerLink): void {
    if (learner.phase !== "informed") return;
    const hasVoice = learner.isCounted || learner.isObserver;
    // rule: wiped-servers-make-no-promise
    if (!hasVoice && !this.#isEstablished) return;
    learner.phase = "invited";
    const { bootCount, ensembleId } = this.#context.log.durable.identity;
    this.#send(learner, {
      ...{ kind: "leader-info", epoch: this.#epoch, incarnation: bootCount },
      // rule: wiped-servers-hear-no-ensemble-id
      ensembleId: hasVoice ? ensembleId : "",
    });
  }

  #ackedEpoch(learner: LearnerLink, message: AckEpoch): void {
    if (learner.phase !== "invited") {
      this.#illegal(learner, { kind: "epoch-acked-twice" });
      return;
    }
    learner.phase = "waiting";
    learner.position = message;
    const { currentEpoch, tail } = this.#context.log.durable;
    if (!this.#holdsEpoch && learner.isCounted) {
      const isAhead =
        message.currentEpoch > currentEpoch ||
        (message.currentEpoch === currentEpoch && message.logged.zxid > tail.zxid);
      // rule: no-leader-over-a-newer-history
      if (isAhead) {
        this.#context.leave({ kind: "learner-is-ahead", sid: learner.sid });
        return;
      }
    }
    if (this.#holdsEpoch) this.#plan(learner);
    else this.#seekHolders();
  }

  /** Holds the epoch once a quorum has promised it to this server and none of them knows more. */
  #seekHolders(): void {
    if (!this.#hasPromised || this.#phase !== "discovery") return;
    if (!this.#isQuorum(this.#counted(({ phase }) => phase === "waiting"))) return;
    this.#phase = "synchronization";
    const { config, log } = this.#context;
    this.#deadlineMs = this.#context.nowMs() + config.initLimit * config.tickMs;
    log.setCurrentEpoch(this.#epoch, () => {
      this.#holdsEpoch = true;
      for (const learner of this.#learners.values()) if (learner.phase === "waiting") this.#plan(learner);
      this.#seekAcceptance();
    });
  }

  // Synchronization

  /** Finds where a learner's history parts from this one and how to bring it level. */
  #plan(learner: LearnerLink): void {
    // Those that are not counted must not be a burden, nor end their amnesia, before a quorum has formed without them.
    if (!this.#isEstablished && !learner.isCounted) return;
    const position = learner.position;
    assert(position !== undefined && learner.phase === "waiting", "a plan follows the learner's position");
    const { log } = this.#context;
    const { durable } = log;
    const ours = tableThrough(durable.epochs, this.lastLogged);
    const common = commonPoint(position.tails, ours);
    if (common < position.floor && common >= durable.floor.zxid) {
      this.#refuse(learner.link, "diverged", { kind: "commit-unknown-here", zxid: position.floor });
      this.#forget(learner);
      this.#context.sinks.roles.note({ kind: "committed-history-unknown", sid: learner.sid });
      return;
    }
    if (common > durable.tail.zxid) return; // Planned when this server's own disk has caught up with the learner's.
    learner.phase = "planning";
    if (this.#endsAmnesia(learner)) learner.voiceRound = this.checkLeadership();
    // rule: a-state-for-those-below-the-floor
    if (common < durable.floor.zxid) {
      this.#sendSnapshot(learner);
      return;
    }
    log.read(common, this.#context.config.runBytes, (result) => {
      if (!this.#isKnown(learner)) return;
      if (result === "below-floor") this.#sendSnapshot(learner);
      else if (result === "damaged") this.#context.fail("the log is damaged where a learner needs it");
      else this.#beginDiff(learner, position, result);
    });
  }

  #beginDiff(learner: LearnerLink, position: AckEpoch, run: ZabRun): void {
    const from = run.after;
    if (from.zxid === position.logged.zxid && from.chain !== position.logged.chain) {
      this.#refuse(learner.link, "diverged", { kind: "histories-differ", at: from.zxid });
      this.#forget(learner);
      return;
    }
    this.#send(learner, {
      kind: "sync-begin",
      epoch: this.#epoch,
      mode: from.zxid < position.logged.zxid ? "trunc" : "diff",
      from,
      epochs: [],
    });
    this.#stream(learner, from.zxid);
    this.#sendRun(learner, run);
    this.#pump(learner);
  }

  #sendSnapshot(learner: LearnerLink): void {
    const { sinks } = this.#context;
    learner.phase = "snapshot";
    sinks.snapshots.open(learner.link, (at) => {
      if (!this.#isKnown(learner)) return;
      if (at === undefined) {
        this.#refuse(learner.link, "unable", { kind: "no-state-to-send" });
        this.#forget(learner);
        return;
      }
      const { position, epochs } = at;
      sinks.roles.note({ kind: "whole-state-sent", sid: learner.sid, zxid: position.zxid });
      this.#send(learner, { kind: "sync-begin", epoch: this.#epoch, mode: "snap", from: position, epochs });
      sinks.snapshots.start(learner.link, () => {
        if (!this.#isKnown(learner)) return;
        this.#stream(learner, position.zxid);
        this.#pump(learner);
      });
    });
  }

  /** From here on entries flow, up to where the history ends now, then new-leader, then whatever is proposed. */
  #stream(learner: LearnerLink, from: Zxid): void {
    learner.phase = "syncing";
    learner.sent = this.#startPosition(from);
    learner.through = this.#limitOf(learner);
  }

  /** Sends what a learner lacks, as far as its window allows. */
  #pump(learner: LearnerLink): void {
    if (!learner.isStreaming || this.#isHeldBack(learner)) return;
    const { config } = this.#context;
    for (;;) {
      if (learner.phase === "syncing" && this.#isThrough(learner) && this.#mayOffer(learner)) this.#offer(learner);
      const limit = this.#sendLimit(learner);
      if (this.#logPosition(learner.sent) >= limit) return;
      if (learner.inFlightBytes >= config.windowBytes) return;
      if (!this.#queue.holdsAfter(learner.sent)) {
        this.#readFor(learner);
        return;
      }
      const run = this.#queue.runAfter(learner.sent, limit, config.runBytes);
      this.#entries(learner, run);
    }
  }

  /**
   * Whether an observer gets what there is a little later, together with what comes until then: writes do not wait for observers, so those
   * must not cost what voters do. One whose own clients wait for writes is served at once, and so is one that has fallen behind.
   */
  #isHeldBack(learner: LearnerLink): boolean {
    if (!learner.isObserver || learner.phase !== "level") return false;
    if (this.#logPosition(learner.sent) >= this.committed || !this.#queue.holdsAfter(learner.sent)) return false;
    const nowMs = this.#context.nowMs();
    const dueMs = learner.sentMs + OBSERVER_PACE_MS;
    if (nowMs >= dueMs || nowMs - learner.askedMs < OBSERVER_ASKS_MS) return false;
    if (dueMs < this.#feedDueMs) this.#feedDueMs = dueMs;
    return true;
  }

  /** Observers are fed a little after what they are fed was delivered. */
  #learnersChanged(): void {
    this.#queue.keepDelivered([...this.#learners.values()].some(({ isObserver }) => isObserver));
  }

  /** Gives observers what was held back, when it is time. */
  #feedIfDue(): void {
    if (this.#context.nowMs() < this.#feedDueMs) return;
    this.#feedDueMs = Number.POSITIVE_INFINITY;
    this.#feedObservers();
  }

  #isThrough(learner: LearnerLink): boolean {
    // rule: new-leader-behind-all-entries
    return learner.through !== undefined && this.#logPosition(learner.sent) >= learner.through;
  }

  /**
   * A voter that may have forgotten what it acked gets its voice back with the offer. What it acked in a later epoch is not in this
   * one, so a quorum must have said, since it came with its memory lost, that there is no such epoch.
   */
  #mayOffer(learner: LearnerLink): boolean {
    if (!this.#endsAmnesia(learner)) return true;
    return learner.voiceRound !== undefined && learner.voiceRound <= this.#confirmedRound;
  }

  #endsAmnesia({ isCounted, isObserver }: LearnerLink): boolean {
    return this.#isEstablished && !isCounted && !isObserver;
  }

  /** Where the learner's present stretch ends. */
  #sendLimit(learner: LearnerLink): Zxid {
    if (learner.phase === "syncing" && learner.through !== undefined) return learner.through;
    return this.#limitOf(learner);
  }

  /** The last entry that a learner may have now. */
  #limitOf(learner: LearnerLink): Zxid {
    return learner.isObserver ? this.committed : this.lastLogged;
  }

  #readFor(learner: LearnerLink): void {
    if (learner.isReading) return;
    learner.isReading = true;
    const { log, config } = this.#context;
    log.read(this.#logPosition(learner.sent), config.runBytes, (result) => {
      if (!this.#isKnown(learner)) return;
      learner.isReading = false;
      // rule: a-transfer-starts-anew-behind-a-purge
      if (result === "below-floor") this.#drop(learner, { kind: "fell-behind-the-log" });
      else if (result === "damaged") this.#context.fail("the log is damaged where a learner needs it");
      else {
        this.#sendRun(learner, result);
        // Nothing new on disk: it goes on with the next completion.
        if (result.count > 0) this.#pump(learner);
      }
    });
  }

  #sendRun(learner: LearnerLink, { bytes, after, count }: ZabRun): void {
    if (count === 0 || after.zxid !== this.#logPosition(learner.sent)) return;
    const limit = this.#sendLimit(learner);
    if (after.zxid >= limit) return;
    this.#entries(learner, cutRun(bytes, 0, bytes.length, limit, bytes.length));
  }

  #entries(
    learner: LearnerLink,
    run: {
      readonly bytes: Uint8Array;
      readonly start: number;
      readonly end: number;
      readonly first: Zxid;
      readonly last: Zxid;
      readonly count: number;
    },
  ): void {
    const committed = earlierOf(this.committed, run.last);
    this.#send(learner, {
      kind: "entries",
      epoch: this.#epoch,
      previous: this.#logPosition(learner.sent),
      first: run.first,
      last: run.last,
      count: run.count,
      bytes: run.bytes,
      start: run.start,
      end: run.end,
      committed,
      round: this.#round,
    });
    learner.sending(this.#startPosition(run.last), run.end - run.start, this.#context.nowMs());
    if (committed > learner.announced) learner.announced = committed;
  }

  #offer(learner: LearnerLink): void {
    const { through } = learner;
    assert(through !== undefined, "a learner is offered the epoch with its history's end");
    learner.phase = "accepting";
    learner.offeredRound = this.#round;
    this.#send(learner, {
      kind: "new-leader",
      epoch: this.#epoch,
      through,
      endsAmnesia: this.#endsAmnesia(learner),
      // Whoever had no voice was not told it before: it gets it with the history, in one step.
      ensembleId: this.#endsAmnesia(learner) ? this.#context.log.durable.identity.ensembleId : "",
      config: undefined,
    });
    learner.voiceRound = undefined;
  }

  #accepted(learner: LearnerLink, epoch: number, through: Zxid): void {
    if (learner.phase !== "accepting" || epoch !== this.#epoch || through !== learner.through) {
      this.#illegal(learner, { kind: "acceptance-not-offered", epoch, through });
      return;
    }
    learner.phase = "accepted";
    learner.acked = through;
    learner.arrived(this.#startPosition(through), this.#context.nowMs());
    if (!learner.isObserver) learner.isCounted = true;
    this.#context.sinks.snapshots.end(learner.link);
    if (this.#isEstablished) {
      // What it accepted may be committed by that: a reader that came before goes first, as with every ack. Nor did what it answered
      // before count until now.
      // rule: accepting-answers-the-round
      learner.round = Math.max(learner.round, learner.offeredRound);
      this.#answeredRound(learner);
      this.#count(learner, through);
      if (this.#phase === "broadcast") this.#welcome(learner);
    } else {
      this.#seekAcceptance();
    }
    this.#pump(learner);
  }

  /** Serves once a quorum has the epoch's history on its disks. */
  #seekAcceptance(): void {
    if (!this.#holdsEpoch || this.#isEstablished) return;
    // rule: a-quorum-accepts-the-history
    if (this.#isQuorum(this.#counted(({ hasAccepted }) => hasAccepted))) this.#establish();
  }

  #establish(): void {
    this.#tally = new AckTally(this.#context.config.verifier, this.#start);
    this.#isEstablished = true;
    for (const learner of this.#learners.values()) {
      if (learner.phase === "accepted") {
        // rule: serve-before-learners-do
        this.#count(learner, learner.acked);
      } else if (learner.phase === "waiting") {
        this.#plan(learner);
      } else {
        this.#invite(learner);
      }
    }
    this.#serveWhenApplied();
  }

  /**
   * The history is committed; serving begins when it is applied. Learners are told no earlier: what their clients ask is judged here,
   * by a tree that has all of it.
   */
  #serveWhenApplied(): void {
    if (this.#phase === "broadcast" || !this.#isEstablished) return;
    if (this.#context.sinks.application.applied() < this.#history.zxid) return;
    this.#phase = "broadcast";
    const nowMs = this.#context.nowMs();
    for (const learner of this.#learners.values()) learner.heardMs = Math.max(learner.heardMs, nowMs);
    this.#context.sinks.roles.serve(this.#epoch);
    for (const learner of this.#learners.values()) if (learner.phase === "accepted") this.#welcome(learner);
  }

  #welcome(learner: LearnerLink): void {
    learner.phase = "level";
    const committed = earlierOf(this.committed, this.#logPosition(learner.sent));
    learner.announced = committed;
    // rule: up-to-date-once
    this.#send(learner, { kind: "up-to-date", epoch: this.#epoch, committed });
  }

  // Broadcast

  propose(batch: FrameBatch): void {
    if (this.#phase !== "broadcast") throw new InvariantError("only an established leader proposes");
    if (epochOf(batch.first) !== this.#epoch) {
      throw new InvariantError(`a leader of epoch ${this.#epoch} proposes in it, not ${formatZxid(batch.first)}`);
    }
    if (batch.first !== this.#queue.last + 1) {
      throw new InvariantError(`${formatZxid(batch.first)} leaves a gap behind ${formatZxid(this.#queue.last)}`);
    }
    this.#queue.push(batch);
    for (const learner of this.#learners.values()) if (!learner.isObserver) this.#pump(learner);
    this.#context.log.append({ bytes: batch.bytes, start: 0, end: batch.end }, this.committed);
  }

  /** This server's own disk has everything up to here. */
  synced(zxid: Zxid): void {
    this.#durable = zxid;
    if (this.#tally?.ack(this.#context.config.sid, zxid) === true) this.#feedObservers();
    for (const learner of this.#learners.values()) {
      if (learner.phase === "waiting" && this.#holdsEpoch) this.#plan(learner);
      else if (learner.isStreaming && !learner.isReading) this.#pump(learner);
    }
  }

  #acked(learner: LearnerLink, epoch: number, durable: Zxid, round: number): void {
    if (!learner.hasAccepted || epoch !== this.#epoch || durable < learner.acked || durable > learner.sent) {
      this.#illegal(learner, { kind: "ack-out-of-turn", durable });
      return;
    }
    learner.acked = durable;
    learner.arrived(durable, this.#context.nowMs());
    // A reader that was promised the state of this moment goes before what was proposed behind it.
    this.#heardRound(learner, round);
    this.#count(learner, durable);
    this.#pump(learner);
  }

  #count(learner: LearnerLink, durable: Zxid): void {
    if (this.#tally === undefined || learner.isObserver || !learner.isCounted) return;
    if (epochOf(durable) !== this.#epoch) return;
    if (this.#tally.ack(learner.sid, durable)) this.#feedObservers();
  }

  #feedObservers(): void {
    // rule: observers-get-what-is-committed
    for (const learner of this.#learners.values()) if (learner.isObserver) this.#pump(learner);
  }

  /** A new round of asking a quorum whether this server still leads; it begins with the next messages. */
  checkLeadership(): number {
    if (!this.#isRoundOpen) {
      this.#isRoundOpen = true;
      this.#round++;
    }
    return this.#round;
  }

  #heardRound(learner: LearnerLink, round: number): void {
    if (round <= learner.round) return;
    learner.round = round;
    this.#answeredRound(learner);
  }

  /** What a learner has answered stays true when it is gone, as what it has acked does: the two must not overtake each other. */
  #answeredRound({ sid, round, isCounted, isObserver, hasAccepted }: LearnerLink): void {
    if (!isCounted || isObserver || !hasAccepted) return;
    this.#answered.set(sid, Math.max(round, this.#answered.get(sid) ?? 0));
    this.#seekConfirmation();
  }

  #seekConfirmation(): void {
    for (let round = this.#round; round > this.#confirmedRound; round--) {
      const sids = this.#context.isAmnesiac ? [] : [this.#context.config.sid];
      for (const [sid, answered] of this.#answered) if (answered >= round) sids.push(sid);
      // rule: a-quorum-confirms-the-leader
      if (!this.#isQuorum(sids)) continue;
      this.#confirmedRound = round;
      this.#context.sinks.requests.leadershipConfirmed(round);
      for (const learner of this.#learners.values()) if (learner.voiceRound !== undefined) this.#pump(learner);
      return;
    }
  }

  /** The end of a turn: says what has not been said along with entries. */
  flush(): void {
    if (this.#phase !== "broadcast") return;
    const { committed } = this;
    const isAsking = this.#isRoundOpen;
    this.#isRoundOpen = false;
    for (const learner of this.#learners.values()) {
      if (learner.phase !== "level") continue;
      if (isAsking) this.#ping(learner);
      const due = earlierOf(committed, this.#logPosition(learner.sent));
      if (due <= learner.announced) continue;
      learner.announced = due;
      this.#send(learner, { kind: "commit", epoch: this.#epoch, committed: due });
    }
    if (isAsking) this.#seekConfirmation();
  }

  /** @returns whether more can be delivered now */
  deliver(most: number): boolean {
    if (!this.#isEstablished) return false;
    // rule: leader-applies-what-is-committed-and-synced
    const more = this.#delivery.deliver(earlierOf(this.committed, this.#durable), most);
    if (this.#phase !== "broadcast") this.#serveWhenApplied();
    return more;
  }

  // Leaving

  /** Whether a learner that is level could lead at once, and what it would have to be told first. */
  transferLeadership(): ServerId | undefined {
    if (this.#isHandingOver || this.#phase !== "broadcast") return undefined;
    const last = this.lastLogged;
    if (this.committed < last) return undefined;
    const { candidates } = this.#context.config.verifier;
    let successor: LearnerLink | undefined;
    for (const learner of this.#learners.values()) {
      // rule: the-successor-is-level
      if (learner.phase !== "level" || !learner.isCounted || this.#logPosition(learner.acked) < last) continue;
      // Whoever comes later would not follow it: elections know of no such leader.
      // rule: the-successor-is-a-candidate
      if (!candidates.has(learner.sid)) continue;
      if (successor === undefined || learner.sid > successor.sid) successor = learner;
    }
    if (successor === undefined) return undefined;
    this.#isHandingOver = true;
    this.flush();
    for (const learner of this.#learners.values()) {
      this.#send(learner, { kind: "hand-over", epoch: this.#epoch, successor: successor.sid });
    }
    return successor.sid;
  }

  /** Every link is closed and nothing is kept. */
  end(reason: RoleEnd): void {
    const { sinks } = this.#context;
    for (const learner of this.#learners.values()) {
      sinks.snapshots.end(learner.link);
      sinks.links.close(learner.link, reason);
    }
    this.#learners.clear();
    this.#queue.releaseAll(sinks.application);
  }

  // Links and time

  receive(link: LinkRef, message: PeerMessage): boolean {
    const learner = this.#learners.get(link);
    if (learner === undefined) return false;
    learner.heardMs = this.#context.nowMs();
    switch (message.kind) {
      case "ack-epoch":
        this.#ackedEpoch(learner, message);
        break;
      case "staged":
        learner.arrived(this.#startPosition(message.through), learner.heardMs);
        this.#progress();
        this.#pump(learner);
        break;
      case "snapshot-credit":
        this.#progress();
        this.#context.sinks.snapshots.credit(link, message.next);
        break;
      case "ack-new-leader":
        this.#accepted(learner, message.epoch, message.through);
        break;
      case "ack":
        this.#acked(learner, message.epoch, message.durable, message.round);
        break;
      case "pong":
        if (message.epoch !== this.#epoch) {
          this.#illegal(learner, { kind: "pong-of-another-epoch", epoch: message.epoch });
          break;
        }
        learner.applied = message.applied;
        this.#heardRound(learner, message.round);
        this.#context.sinks.requests.touched(message.touches);
        break;
      case "refuse":
        this.#refused(learner, message);
        break;
      case "forward":
      case "identities":
      case "open-session":
      case "revalidate":
      case "sync":
        learner.askedMs = learner.heardMs;
        if (learner.phase !== "level") this.#illegal(learner, { kind: "request-before-level" });
        else this.#context.sinks.requests.message(link, learner.sid, message);
        if (learner.isObserver) this.#pump(learner);
        break;
      default:
        this.#illegal(learner, { kind: "not-for-a-leader", message: message.kind });
    }
    return true;
  }

  dropFaulty(link: LinkRef, fault: LearnerFault["fault"]): void {
    const learner = this.#learners.get(link);
    if (learner !== undefined) this.#illegal(learner, fault);
  }

  linkClosed(link: LinkRef): void {
    const learner = this.#learners.get(link);
    if (learner !== undefined) this.#forget(learner);
  }

  tick(): void {
    this.#feedIfDue();
    const nowMs = this.#context.nowMs();
    const { config } = this.#context;
    if (this.#learners.size === 0 && this.#isQuorum([config.sid])) return;
    if (nowMs >= this.#pingDueMs) {
      this.#pingDueMs = nowMs + config.tickMs / 2;
      for (const learner of this.#learners.values()) if (learner.phase !== "informed") this.#ping(learner);
    }
    if (this.#phase !== "broadcast") {
      if (nowMs >= this.#deadlineMs && !this.#isEstablished) {
        const epoch = this.#epoch;
        this.#context.leave(epoch === 0 ? { kind: "no-quorum-follows" } : { kind: "epoch-not-accepted", epoch });
        return;
      }
    }
    if (nowMs < this.#checkDueMs) return;
    this.#checkDueMs = nowMs + config.tickMs;
    this.#dropSilent(nowMs);
    // rule: no-leader-without-a-quorum
    if (this.#isEstablished && !this.#isQuorum(this.#counted(({ hasAccepted }) => hasAccepted))) {
      this.#context.leave({ kind: "quorum-lost" });
    }
  }

  nextDueMs(): number {
    const next = Math.min(this.#pingDueMs, this.#checkDueMs, this.#feedDueMs);
    return this.#isEstablished ? next : Math.min(next, this.#deadlineMs);
  }

  #dropSilent(nowMs: number): void {
    const { tickMs, syncLimit, initLimit } = this.#context.config;
    for (const learner of this.#learners.values()) {
      const limitMs = (learner.phase === "level" ? syncLimit : initLimit) * tickMs;
      if (nowMs - learner.heardMs > limitMs) this.#drop(learner, { kind: "learner-silent", limitMs });
      else if (learner.phase === "level" && learner.isWaiting && nowMs - learner.waitingSinceMs > limitMs) {
        this.#drop(learner, { kind: "learner-acks-nothing", limitMs });
      }
    }
  }

  /** While a transfer goes on, the step that waits for it is not given up. */
  #progress(): void {
    if (this.#isEstablished) return;
    const { config } = this.#context;
    // rule: progress-extends-the-deadline
    this.#deadlineMs = Math.max(this.#deadlineMs, this.#context.nowMs() + config.initLimit * config.tickMs);
  }

  #ping(learner: LearnerLink): void {
    this.#send(learner, {
      kind: "ping",
      epoch: this.#epoch,
      round: this.#round,
      committed: learner.announced,
    });
  }

  #newDelivery(): Delivery {
    const { log, sinks } = this.#context;
    return new Delivery({
      log,
      application: sinks.application,
      queue: this.#queue,
      historyEnd: this.#history.zxid,
      damaged: (reason) => this.#context.fail(reason),
    });
  }

  /** Zxids that name an entry: the epoch's start marker stands for the end of the history before it. */
  #logPosition(zxid: Zxid): Zxid {
    return zxid === this.#start || zxid < this.#start ? earlierOf(zxid, this.#history.zxid) : zxid;
  }

  /** The end of the history is where the epoch starts. */
  #startPosition(zxid: Zxid): Zxid {
    return zxid === this.#history.zxid ? this.#start : zxid;
  }

  #isKnown(learner: LearnerLink): boolean {
    return this.#learners.get(learner.link) === learner;
  }

  /** Those that may be counted and satisfy a condition, this server among them if it may be counted. */
  #counted(condition: (learner: LearnerLink) => boolean): ServerId[] {
    const { config, isAmnesiac } = this.#context;
    const counted: ServerId[] = isAmnesiac ? [] : [config.sid];
    for (const learner of this.#learners.values()) {
      if (learner.isCounted && !learner.isObserver && condition(learner)) counted.push(learner.sid);
    }
    return counted;
  }

  #isQuorum(sids: readonly ServerId[]): boolean {
    return this.#context.config.verifier.isQuorum(sids);
  }

  #send(learner: LearnerLink, message: PeerMessage): void {
    this.#context.sinks.links.send(learner.link, message);
  }

  #refuse(link: LinkRef, reason: "unable" | "diverged", why: LearnerRefusal): void {
    const { links } = this.#context.sinks;
    sendRefusal(links, link, reason, why);
    links.close(link, why);
  }

  #refused(learner: LearnerLink, { reason, text }: Extract<PeerMessage, { kind: "refuse" }>): void {
    this.#context.sinks.roles.note({ kind: "refused-by-learner", sid: learner.sid, reason, text });
    this.#drop(learner, { kind: "leader-refused" });
  }

  #illegal(learner: LearnerLink, fault: LearnerFault["fault"]): void {
    const event: LearnerFault = { kind: "illegal-message", sid: learner.sid, fault };
    this.#context.sinks.roles.note(event);
    this.#drop(learner, event);
  }

  #drop(learner: LearnerLink, reason: LinkEnd): void {
    this.#context.sinks.links.close(learner.link, reason);
    this.#forget(learner);
  }

  #forget(learner: LearnerLink): void {
    const { sinks } = this.#context;
    sinks.snapshots.end(learner.link);
    this.#learners.delete(learner.link);
    this.#learnersChanged();
    if (learner.phase === "level") sinks.requests.learnerLost(learner.link, learner.sid);
  }
}

function earlierOf(a: Zxid, b: Zxid): Zxid {
  return a < b ? a : b;
}
