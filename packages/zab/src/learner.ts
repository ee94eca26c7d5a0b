import {
  assert,
  type EntriesMessage,
  epochOf,
  type LinkRef,
  type LogPosition,
  type PeerMessage,
  type ServerId,
  type ZabMessage,
  ZXID_NONE,
  type Zxid,
} from "@zooid/model";
import { tailsOf } from "./common-point.ts";
import { Delivery } from "./delivery.ts";
import type { LeaderFault, LeaderRefusal, RoleEnd } from "./operator-events.ts";
import { ProposalQueue } from "./proposal-queue.ts";
import type { PeerPhase, RoleContext } from "./role.ts";
import { sendRefusal } from "./sinks.ts";

type SyncBegin = Extract<ZabMessage, { kind: "sync-begin" }>;
type NewLeader = Extract<ZabMessage, { kind: "new-leader" }>;

/**
 * How far a learner has come:
 *
 * ```
 * dialing ─▶ asking ─▶ promising ─▶ promised ─▶ staging ─▶ flipping ─▶ accepted ─▶ level
 * (no link)  (learner-  (on its way   (ack-epoch   (sync-     (new-       (acked)     (up-to-date)
 *             info)      to disk)      sent)        begin)     leader)
 * ```
 */
type LearnerStep = "dialing" | "asking" | "promising" | "promised" | "staging" | "flipping" | "accepted" | "level";

/** Signs of life in one message. */
const TOUCHES_MAX = 10_000;
/** A dial that is not answered is given up after this: whoever was elected may be gone. */
const DIAL_MS_MIN = 1000;
/** From one ack of an observer to its next, at least. */
const OBSERVER_ACK_MS = 100;
/** It acks sooner when this part of the window has come since: its leader sends no more than a window ahead of acks. */
const OBSERVER_ACK_WINDOWS = 1 / 8;

/**
 * Follows or observes a leader: promises it its epoch, takes over its history in one flip, then logs what it proposes and applies
 * what it commits.
 */
export class Learner {
  readonly leader: ServerId;
  readonly #context: RoleContext;
  #step: LearnerStep = "dialing";
  #link: LinkRef | undefined;
  #epoch = 0;
  #sync: SyncBegin | undefined;
  /** The end of what was staged, and since the flip the end of what was logged. */
  #logged: Zxid = ZXID_NONE;
  #durable: Zxid = ZXID_NONE;
  /** What the leader has said is committed; it may lie beyond what has come. */
  #announced: Zxid = ZXID_NONE;
  #round = 0;
  /** Serving begins when this is applied. */
  #serveAt: Zxid | undefined;
  #isServing = false;
  #queue = new ProposalQueue(ZXID_NONE);
  #delivery: Delivery | undefined;
  #stateFile: string | undefined;
  #heardMs: number;
  #dialDeadlineMs: number;
  #ackedMs = Number.NEGATIVE_INFINITY;
  /** What has come since then. */
  #unackedBytes = 0;
  /** When an observer says what it has put on its disk since its last ack. */
  #ackDueMs: number = Number.POSITIVE_INFINITY;

  constructor(context: RoleContext, leader: ServerId) {
    this.#context = context;
    this.leader = leader;
    this.#heardMs = context.nowMs();
    this.#dialDeadlineMs = context.nowMs() + Math.max(context.config.tickMs, DIAL_MS_MIN);
  }

  get phase(): PeerPhase {
    switch (this.#step) {
      case "dialing":
      case "asking":
      case "promising":
      case "promised":
        return "discovery";
      case "staging":
      case "flipping":
      case "accepted":
        return "synchronization";
      default:
        return this.#isServing ? "broadcast" : "synchronization";
    }
  }

  get epoch(): number {
    return this.#epoch;
  }

  get link(): LinkRef | undefined {
    return this.#link;
  }

  get queue(): ProposalQueue {
    return this.#queue;
  }

  get lastLogged(): Zxid {
    return this.#hasFlipped() ? this.#logged : this.#context.log.durable.tail.zxid;
  }

  /** What is known to be committed and is here. */
  get committed(): Zxid {
    const hint = this.#context.log.durable.commitHint;
    return this.#hasFlipped() ? laterOf(hint, earlierOf(this.#announced, this.#logged)) : hint;
  }

  begin(): void {
    this.#context.sinks.links.dial(this.leader);
  }

  linkOpened(link: LinkRef): void {
    assert(this.#step === "dialing", "a learner dials its leader once");
    this.#link = link;
    this.#step = "asking";
    this.#heardMs = this.#context.nowMs();
    const { log, config, isFresh, isAmnesiac } = this.#context;
    const { promise, identity } = log.durable;
    this.#send({
      kind: "learner-info",
      isObserver: config.isObserver,
      promise,
      isFresh,
      isAmnesiac,
      ensembleId: this.#hasHistory() ? identity.ensembleId : "",
    });
  }

  receive(message: PeerMessage): void {
    this.#heardMs = this.#context.nowMs();
    switch (message.kind) {
      case "leader-info":
        this.#toldEpoch(message.epoch, message.incarnation, message.ensembleId);
        break;
      case "sync-begin":
        this.#syncBegins(message);
        break;
      case "snapshot-chunk":
        if (this.#step !== "staging" || this.#sync?.mode !== "snap") this.#illegal(message);
        else {
          const { index, isLast, bytes, start, end } = message;
          this.#context.sinks.snapshots.chunk(index, isLast, bytes, start, end);
        }
        break;
      case "entries":
        this.#entries(message);
        break;
      case "new-leader":
        this.#newLeader(message);
        break;
      case "up-to-date":
        this.#upToDate(message.epoch, message.committed);
        break;
      case "commit":
        this.#commit(message.epoch, message.committed);
        break;
      case "ping":
        this.#ping(message.epoch, message.round, message.committed);
        break;
      case "hand-over":
        this.#context.sinks.roles.note({ kind: "successor-named", sid: message.successor });
        this.#handedOver(message.successor);
        break;
      case "refuse":
        this.#refused(message);
        break;
      case "revalidated":
      case "sync-reply":
        if (this.#step === "level" && this.#link !== undefined) {
          this.#context.sinks.requests.message(this.#link, this.leader, message);
        } else this.#illegal(message);
        break;
      default:
        this.#illegal(message);
    }
  }

  // Discovery

  #toldEpoch(epoch: number, incarnation: number, ensembleId: string): void {
    if (this.#step !== "asking") {
      this.#fault({ kind: "epoch-named-twice" });
      return;
    }
    const { log, config } = this.#context;
    const { promise, identity, currentEpoch } = log.durable;
    // Without a history an id is only that of an attempt to found the ensemble, which another one may have come before.
    const own = this.#hasHistory() ? identity.ensembleId : "";
    if (own !== "" && ensembleId !== "" && own !== ensembleId) {
      this.#refuse("unable", { kind: "leader-of-another-ensemble", ours: own, theirs: ensembleId });
      return;
    }
    const isRepeated = epoch === promise.epoch && promise.sid === this.leader && promise.incarnation === incarnation;
    if (config.isObserver) {
      // Nobody counts its promises: one that came to nothing must not keep it from the leader that there is.
      if (epoch < currentEpoch) {
        this.#refuse("epoch-low", { kind: "epoch-below-held", offered: epoch, held: currentEpoch });
        return;
      }
    } else if (epoch < promise.epoch || (epoch === promise.epoch && !isRepeated)) {
      const { epoch: promised, sid: to } = promise;
      this.#refuse("epoch-low", { kind: "epoch-promised", offered: epoch, promised, to });
      return;
    }
    this.#epoch = epoch;
    this.#step = "promising";
    // Where none is told before the history, that of an attempt goes too: it would be taken for the history's.
    if (own === "" && identity.ensembleId !== ensembleId) log.setEnsembleId(ensembleId, () => {});
    // rule: promise-before-ack-epoch
    if (isRepeated || epoch <= promise.epoch) this.#ackEpoch(isRepeated);
    else log.setPromise({ epoch, sid: this.leader, incarnation }, () => this.#ackEpoch(false));
  }

  #ackEpoch(isRepeated: boolean): void {
    const { durable } = this.#context.log;
    const { hasDiverged } = this.#context;
    this.#step = "promised";
    this.#send({
      kind: "ack-epoch",
      isRepeated,
      currentEpoch: durable.currentEpoch,
      // rule: the-position-is-the-end-of-the-log
      logged: durable.tail,
      // A history that has split off is of no use as a beginning: all is asked for.
      floor: hasDiverged ? ZXID_NONE : durable.floor.zxid,
      tails: hasDiverged ? [] : tailsOf(durable.epochs, durable.floor.zxid),
    });
  }

  // Synchronization

  #syncBegins(sync: SyncBegin): void {
    if (this.#step !== "promised" || sync.epoch !== this.#epoch) {
      this.#illegal(sync);
      return;
    }
    const { log, sinks } = this.#context;
    const { durable } = log;
    this.#sync = sync;
    this.#step = "staging";
    this.#logged = sync.from.zxid;
    if (sync.mode === "snap") {
      // rule: a-new-stage-for-each-state
      log.beginStage(sync.from);
      assert(this.#link !== undefined, "a state is received on a link");
      sinks.snapshots.receive(this.#link, sync.from, (result) => {
        if (this.#sync !== sync || this.#step !== "staging") return;
        if ("failed" in result) this.#context.leave({ kind: "state-not-received", detail: result.failed });
        else this.#stateFile = result.stateFile;
      });
      return;
    }
    if (sync.from.zxid < durable.floor.zxid || sync.from.zxid < sinks.application.applied()) {
      this.#refuse("diverged", { kind: "applied-beyond", applied: sinks.application.applied(), from: sync.from.zxid });
      return;
    }
    if (sync.from.zxid === durable.tail.zxid) this.#compareHistory(sync.from, durable.tail.chain);
    else log.chainAt(sync.from.zxid, (chain) => this.#compareHistory(sync.from, chain));
    // rule: cut-what-the-leader-lacks
    if (this.#step === "staging") log.beginStage(sync.from);
  }

  #compareHistory(from: LogPosition, chain: unknown): void {
    if (chain === from.chain) return;
    this.#refuse("diverged", { kind: "histories-differ", at: from.zxid });
  }

  #entries(message: EntriesMessage): void {
    if (message.epoch !== this.#epoch || message.previous !== this.#logged) {
      this.#illegal(message);
      return;
    }
    const { log } = this.#context;
    this.#noteCommitted(message.committed);
    this.#round = Math.max(this.#round, message.round);
    if (this.#step === "staging") {
      this.#logged = message.last;
      const { last } = message;
      log.stage(message, () => this.#send({ kind: "staged", epoch: this.#epoch, through: last }));
      return;
    }
    // rule: entries-from-the-flip-on
    if (!this.#hasFlipped() || epochOf(message.first) !== this.#epoch) {
      this.#illegal(message);
      return;
    }
    this.#logged = message.last;
    const { bytes, start, end } = message;
    this.#unackedBytes += end - start;
    // The queue is a view of what came: no copy, and nothing is decoded before it is committed.
    const run = bytes.subarray(start, end);
    this.#queue.push({
      first: message.first,
      last: message.last,
      count: message.count,
      bytes: run,
      end: run.length,
    });
    // rule: ack-behind-sync
    log.append({ bytes: run, start: 0, end: run.length }, this.committed);
  }

  #newLeader(message: NewLeader): void {
    if (this.#step !== "staging" || message.epoch !== this.#epoch || message.through !== this.#logged) {
      this.#illegal(message);
      return;
    }
    const { log } = this.#context;
    const sync = this.#sync;
    assert(sync !== undefined, "a flip follows a plan");
    if (sync.mode === "snap" && this.#stateFile === undefined) {
      // The last credit, which the leader waited for, says that the state is whole.
      this.#illegal(message);
      return;
    }
    this.#step = "flipping";
    this.#queue = new ProposalQueue(this.#logged);
    const through = this.#logged;
    const isSnapshot = this.#stateFile !== undefined;
    // rule: one-flip
    log.installHistory(
      {
        epoch: this.#epoch,
        tail: through,
        committed: laterOf(sync.mode === "snap" ? sync.from.zxid : ZXID_NONE, earlierOf(this.#announced, through)),
        endsAmnesia: message.endsAmnesia,
        // rule: history-with-its-ensemble
        ...(message.ensembleId === "" ? {} : { ensembleId: message.ensembleId }),
        ...(this.#stateFile === undefined ? {} : { snapshot: { stateFile: this.#stateFile, epochs: sync.epochs } }),
      },
      () => {
        if (isSnapshot) this.#context.sinks.application.install?.();
        // Also if the leader has gone meanwhile: what is on the disk now is the voice.
        if (message.endsAmnesia) this.#context.foundThePast();
      },
      // rule: accept-behind-sync
      () => this.#flipped(through),
    );
  }

  #flipped(through: Zxid): void {
    const { log } = this.#context;
    const { application } = this.#context.sinks;
    this.#step = "accepted";
    this.#durable = through;
    this.#delivery = new Delivery({
      log,
      // Entries lie in the link's own memory: nothing is released.
      application: {
        deliver: (zxid, bytes, start, end) => application.deliver(zxid, bytes, start, end),
        applied: () => application.applied(),
      },
      queue: this.#queue,
      historyEnd: through,
      damaged: (reason) => this.#context.fail(reason),
    });
    // rule: accept-before-acks
    this.#send({ kind: "ack-new-leader", epoch: this.#epoch, through });
  }

  #upToDate(epoch: number, committed: Zxid): void {
    if (this.#step !== "accepted" || epoch !== this.#epoch || committed > this.#logged) {
      this.#fault({ kind: "level-out-of-turn" });
      return;
    }
    this.#step = "level";
    this.#noteCommitted(committed);
    this.#serveAt = committed;
  }

  // Broadcast

  #commit(epoch: number, committed: Zxid): void {
    if (this.#step !== "level" || epoch !== this.#epoch || committed > this.#logged) {
      this.#fault({ kind: "commit-of-what-is-missing", committed });
      return;
    }
    this.#noteCommitted(committed);
  }

  #ping(epoch: number, round: number, committed: Zxid): void {
    if (epoch !== this.#epoch) {
      this.#fault({ kind: "ping-of-another-epoch", epoch });
      return;
    }
    this.#noteCommitted(committed);
    this.#round = Math.max(this.#round, round);
    const { sinks } = this.#context;
    const touches = this.#isServing ? sinks.requests.touches() : [];
    let sent = 0;
    do {
      const some = touches.slice(sent, sent + TOUCHES_MAX);
      sent += TOUCHES_MAX;
      this.#send({ kind: "pong", epoch, round: this.#round, applied: sinks.application.applied(), touches: some });
    } while (sent < touches.length);
  }

  #noteCommitted(committed: Zxid): void {
    if (committed > this.#announced) this.#announced = committed;
  }

  /** Everything up to here, appended in this role, is durable. */
  synced(zxid: Zxid): void {
    this.#durable = zxid;
    const nowMs = this.#context.nowMs();
    // Nothing waits for what observers have: one ack for many spares the leader from hearing each.
    const dueMs = this.#ackedMs + OBSERVER_ACK_MS;
    const { isObserver, windowBytes } = this.#context.config;
    const mayWait = isObserver && this.#step === "level" && this.#unackedBytes < windowBytes * OBSERVER_ACK_WINDOWS;
    if (mayWait && nowMs < dueMs) this.#ackDueMs = dueMs;
    else this.#ack(nowMs);
  }

  #ack(nowMs: number): void {
    this.#ackedMs = nowMs;
    this.#unackedBytes = 0;
    this.#ackDueMs = Number.POSITIVE_INFINITY;
    // rule: ack-what-is-synced
    this.#send({ kind: "ack", epoch: this.#epoch, durable: this.#durable, round: this.#round });
  }

  /** @returns whether more can be delivered now */
  deliver(most: number): boolean {
    if (this.#delivery === undefined || this.#step !== "level") return false;
    // rule: learner-applies-what-is-committed-and-synced
    const more = this.#delivery.deliver(earlierOf(this.committed, this.#durable), most);
    // rule: serve-what-the-epoch-began-with
    if (!this.#isServing && this.#serveAt !== undefined && this.#context.sinks.application.applied() >= this.#serveAt) {
      this.#isServing = true;
      this.#context.sinks.roles.serve(this.#epoch);
    }
    return more;
  }

  // Leaving, links and time

  send(message: PeerMessage): void {
    this.#send(message);
  }

  end(reason: RoleEnd): void {
    const { links, snapshots } = this.#context.sinks;
    if (this.#step === "dialing") links.cancelDial?.();
    if (this.#link !== undefined) links.close(this.#link, reason);
    if (this.#step === "staging") {
      if (this.#sync?.mode === "snap") snapshots.abandon();
      // rule: a-broken-stage-is-dropped
      this.#context.log.dropStage();
    }
    this.#queue.releaseAll({});
  }

  dialFailed(detail: string): void {
    if (this.#step === "dialing") this.#context.leave({ kind: "leader-unreachable", sid: this.leader, detail });
  }

  linkClosed(link: LinkRef, detail: string): void {
    if (link !== this.#link) return;
    this.#link = undefined;
    this.#context.leave({ kind: "leader-link-lost", detail });
  }

  tick(): void {
    const nowMs = this.#context.nowMs();
    if (nowMs >= this.#ackDueMs) this.#ack(nowMs);
    if (nowMs < this.#deadlineMs()) return;
    if (this.#step === "dialing") this.#context.leave({ kind: "leader-unreachable", sid: this.leader });
    else this.#context.leave({ kind: "leader-silent", silentMs: nowMs - this.#heardMs });
  }

  nextDueMs(): number {
    return Math.min(this.#deadlineMs(), this.#ackDueMs);
  }

  /** When the leader is given up. */
  #deadlineMs(): number {
    const { tickMs, initLimit, syncLimit } = this.#context.config;
    if (this.#step === "dialing") return this.#dialDeadlineMs;
    // rule: a-silent-leader-is-given-up
    return this.#heardMs + (this.#step === "level" ? syncLimit : initLimit) * tickMs;
  }

  #handedOver(successor: ServerId): void {
    this.#context.leaveTo(successor);
  }

  #refused({ reason, text }: Extract<ZabMessage, { kind: "refuse" }>): void {
    if (reason === "diverged") {
      this.#context.sinks.roles.note({ kind: "history-not-the-leaders", text });
      this.#context.diverged();
    }
    this.#context.leave({ kind: "refused-by-leader", sid: this.leader, reason, text });
  }

  #refuse(reason: "unable" | "diverged" | "epoch-low", why: LeaderRefusal): void {
    if (this.#link !== undefined) sendRefusal(this.#context.sinks.links, this.#link, reason, why);
    if (reason === "diverged") this.#context.diverged();
    this.#context.leave(why);
  }

  #illegal(message: PeerMessage): void {
    this.#fault({ kind: "out-of-turn", message: message.kind, step: this.#step });
  }

  #fault(fault: LeaderFault["fault"]): void {
    this.#context.leave({ kind: "illegal-message", sid: this.leader, fault });
  }

  #hasHistory(): boolean {
    return this.#context.log.durable.tail.zxid !== ZXID_NONE;
  }

  #hasFlipped(): boolean {
    return this.#step === "flipping" || this.#step === "accepted" || this.#step === "level";
  }

  #send(message: PeerMessage): void {
    if (this.#link !== undefined) this.#context.sinks.links.send(this.#link, message);
  }
}

function earlierOf(a: Zxid, b: Zxid): Zxid {
  return a < b ? a : b;
}

function laterOf(a: Zxid, b: Zxid): Zxid {
  return a > b ? a : b;
}
