import type {
  EntriesMessage,
  LinkRef,
  PeerMessage,
  RefuseReason,
  ServerId,
  Touch,
  ZabMessage,
  Zxid,
} from "@zooid/model";
import type { CommittedEntries } from "../committed-entries.ts";
import type { SaidDisk } from "../founding.ts";
import type { LeaderRefusal, RoleEnd } from "../operator-events.ts";
import type { ProposalQueue } from "../proposal-queue.ts";
import type { PeerPhase, Role, RoleContext } from "../role.ts";
import { LearnerBroadcast } from "./broadcast.ts";
import { LearnerDiscovery } from "./discovery.ts";
import { isUnbroken } from "./history-checks.ts";
import { LeaderLink } from "./leader-link.ts";
import { LearnerSynchronization } from "./synchronization.ts";

/** Sessions reported in one message. */
const TOUCHES_MAX = 10_000;
/**
 * Maximum time for applying what the leader committed before the learner changes to the successor;
 * its clients wait meanwhile.
 */
const TRANSFER_WAIT_MS = 100;
/** A dial that is not answered is given up after this: the elected server may be gone. */
const DIAL_MS_MIN = 1000;

/**
 * Follows or observes a leader, on one link that it dials:
 *
 * ```
 *                    leader                             learner
 * discovery          ◀── learner-info ───────────────── its promise, whether it lost something
 *                    ─── leader-info ─────────────────▶ the promise goes to disk
 *                    ◀── ack-epoch ──────────────────── where its history ends
 * synchronization    ─── sync-begin, entries ─────────▶ staged beside the log
 *                    ─── new-leader ──────────────────▶ history and epoch installed, one transaction
 *                    ◀── ack-new-leader ─────────────── both are on its disk
 *                    ─── up-to-date ──────────────────▶ serves, once the history is applied
 * broadcast          ─── entries, commit ─────────────▶ logged, then applied
 *                    ◀── ack ────────────────────────── what its disk holds
 * ```
 *
 * A role ends with its link. The promise and the installed history remain; staged entries are
 * dropped.
 */
export class Learner implements Role {
  readonly #context: RoleContext;
  readonly #link: LeaderLink;
  readonly #discovery: LearnerDiscovery;
  readonly #synchronization: LearnerSynchronization;
  readonly #broadcast: LearnerBroadcast;
  readonly #dialDeadlineMs: number;
  /** The leader has resigned in favour of this server. */
  #successor: { readonly sid: ServerId; readonly dueMs: number } | undefined;

  /** @param namedBy the leader that this server followed, and that named this one as successor */
  constructor(context: RoleContext, leader: ServerId, namedBy?: ServerId) {
    this.#context = context;
    this.#link = new LeaderLink(context, leader);
    this.#discovery = new LearnerDiscovery(context, this.#link, namedBy);
    this.#broadcast = new LearnerBroadcast(context, this.#link);
    this.#synchronization = new LearnerSynchronization(context, this.#link, this.#broadcast, (message) =>
      this.#take(message),
    );
    this.#dialDeadlineMs = context.nowMs() + Math.max(context.config.tickMs, DIAL_MS_MIN);
  }

  get leader(): ServerId {
    return this.#link.leader;
  }

  /** The server that the leader named as its successor; this role is about to end. */
  get successor(): ServerId | undefined {
    return this.#successor?.sid;
  }

  get phase(): PeerPhase {
    switch (this.#link.step) {
      case "dialing":
      case "asking":
      case "promising":
      case "promised":
        return "discovery";
      case "staging":
      case "installing":
      case "accepted":
        return "synchronization";
      default:
        return this.#broadcast.isServing ? "broadcast" : "synchronization";
    }
  }

  get epochNumber(): number {
    return this.#link.epoch;
  }

  get link(): LinkRef | undefined {
    return this.#link.link;
  }

  get queue(): ProposalQueue {
    return this.#broadcast.queue;
  }

  /** Whether writes that add data are to be refused, as far as the leader has reported. */
  get lacksRoom(): boolean {
    return this.#link.lacksRoom;
  }

  get lastLogged(): Zxid {
    return this.#link.hasInstalled ? this.#link.logged : this.#context.log.durable.tail.zxid;
  }

  get committed(): Zxid {
    return this.#broadcast.committed;
  }

  begin(): void {
    this.#context.sinks.links.dial(this.leader);
  }

  /** @param said what the leader says of its disk on this link */
  linkOpened(link: LinkRef, said: SaidDisk | undefined): void {
    this.#link.becomeAsking(link);
    this.#discovery.begin(said);
  }

  onMessage(message: PeerMessage): void {
    const link = this.#link;
    link.heardMs = this.#context.nowMs();
    if (!this.#synchronization.holdsBack(message)) this.#take(message);
  }

  #take(message: PeerMessage): void {
    const link = this.#link;
    switch (message.kind) {
      case "leader-info":
        this.#discovery.leaderInfo(message.epoch, message.incarnation, message.ensembleId);
        break;
      case "sync-begin":
        this.#synchronization.begin(message);
        break;
      case "snapshot-chunk":
        this.#synchronization.snapshotChunk(message);
        break;
      case "entries":
        this.#entries(message);
        break;
      case "new-leader":
        this.#synchronization.newLeader(message);
        break;
      case "up-to-date":
        this.#broadcast.upToDate(message.epoch, message.committed);
        break;
      case "commit":
        this.#broadcast.commit(message.epoch, message.committed);
        break;
      case "ping":
        link.lacksRoom = message.lacksRoom;
        this.#ping(message.epoch, message.check, message.committed);
        break;
      case "leadership-transfer":
        if (link.epoch !== 0 && message.epoch !== link.epoch) {
          link.illegal(message);
          break;
        }
        this.#context.sinks.roles.note({ kind: "successor-named", sid: message.successor });
        this.#successor = { sid: message.successor, dueMs: link.heardMs + TRANSFER_WAIT_MS };
        this.#leaveWhenApplied();
        break;
      case "refuse":
        this.#refused(message);
        break;
      case "revalidated":
      case "sync-reply":
        if (link.step === "synced" && link.link !== undefined) {
          this.#context.sinks.requests.message(link.link, this.leader, message);
        } else link.illegal(message);
        break;
      default:
        link.illegal(message);
    }
  }

  #entries(message: EntriesMessage): void {
    const link = this.#link;
    if (message.epoch !== link.epoch || message.previous !== link.logged) {
      link.illegal(message);
      return;
    }
    const { application } = this.#context.sinks;
    if (!isUnbroken(message) || application.isReadable?.(message) === false) {
      link.fault({ kind: "history-broken", after: message.previous });
      return;
    }
    link.noteCommitted(message.committed);
    link.noteCheck(message.check);
    if (link.step === "staging") this.#synchronization.stage(message);
    else this.#broadcast.entries(message);
  }

  #ping(epoch: number, check: number, committed: Zxid): void {
    const link = this.#link;
    if (epoch !== link.epoch) {
      link.fault({ kind: "ping-of-another-epoch", epoch });
      return;
    }
    link.noteCommitted(committed);
    link.noteCheck(check);
    const touches = this.#broadcast.isServing ? this.#context.sinks.requests.touches() : [];
    let sent = 0;
    do {
      this.#pong(touches.slice(sent, sent + TOUCHES_MAX));
      sent += TOUCHES_MAX;
    } while (sent < touches.length);
  }

  #pong(touches: readonly Touch[]): void {
    const { application } = this.#context.sinks;
    const { epoch, check } = this.#link;
    const room = this.#context.room();
    const standby = this.#context.standby();
    this.#link.send({
      kind: "pong",
      epoch,
      check,
      applied: application.applied(),
      touches,
      room,
      ...(standby === undefined ? {} : { standby }),
    });
  }

  /**
   * The room on this server's disk, or the state that it has ready, has changed: its leader learns
   * it at once.
   */
  factsChanged(): void {
    if (this.#link.step === "synced") this.#pong([]);
  }

  #refused({ reason, text }: Extract<ZabMessage, { kind: "refuse" }>): void {
    if (reason === "diverged") {
      this.#context.sinks.roles.note({ kind: "history-not-the-leaders", sid: this.leader, text });
      this.#context.lostHistory.diverged(this.leader);
    }
    this.#context.leave(this.#anotherEnsemble(reason) ?? { kind: "refused-by-leader", sid: this.leader, reason, text });
  }

  /** The leader refuses all servers of other ensembles than its own. */
  #anotherEnsemble(reason: RefuseReason): LeaderRefusal | undefined {
    const { founding, log, lostHistory } = this.#context;
    const ours = lostHistory.isBlank ? "" : log.durable.identity.ensembleId;
    const theirs = founding.ensembleIdOf(this.leader);
    if (reason !== "unable" || ours === "" || theirs === "" || ours === theirs) return undefined;
    return { kind: "leader-of-another-ensemble", leader: this.leader, ours, theirs };
  }

  send(message: PeerMessage): void {
    this.#link.send(message);
  }

  synced(zxid: Zxid): void {
    this.#broadcast.synced(zxid);
  }

  takeCommitted(): CommittedEntries {
    return this.#broadcast.takeCommitted();
  }

  applied(): void {
    this.#broadcast.applied();
    this.#leaveWhenApplied();
  }

  /**
   * With a successor named: leaves once what is committed is applied, so that clients get their
   * answers.
   */
  #leaveWhenApplied(): void {
    const { application } = this.#context.sinks;
    if (this.#successor === undefined) return;
    const isLate = this.#context.nowMs() >= this.#successor.dueMs;
    if (isLate || application.applied() >= this.committed) this.#context.leaveTo(this.#successor.sid);
  }

  dialFailed(detail: string): void {
    if (this.#link.step !== "dialing") return;
    this.#context.leave({ kind: "leader-unreachable", sid: this.leader, detail });
  }

  linkClosed(link: LinkRef, detail: string): void {
    if (this.#link.closed(link) && this.#successor === undefined) {
      this.#context.leave({ kind: "leader-link-lost", detail });
    }
  }

  tick(): void {
    const nowMs = this.#context.nowMs();
    this.#broadcast.tick();
    if (this.#successor !== undefined) return this.#leaveWhenApplied();
    if (nowMs < this.#deadlineMs()) return;
    if (this.#link.step === "dialing") this.#context.leave({ kind: "leader-unreachable", sid: this.leader });
    else this.#context.leave({ kind: "leader-silent", silentMs: nowMs - this.#link.heardMs });
  }

  foundingChanged(): void {
    this.#discovery.foundingChanged();
  }

  nextDueMs(): number {
    return Math.min(this.#successor?.dueMs ?? this.#deadlineMs(), this.#broadcast.dueMs);
  }

  /** When the leader is given up. */
  #deadlineMs(): number {
    const { tickMs, initLimit, syncLimit } = this.#context.config;
    if (this.#link.step === "dialing") return this.#dialDeadlineMs;
    // rule: a-silent-leader-is-given-up
    return this.#link.heardMs + (this.#link.step === "synced" ? syncLimit : initLimit) * tickMs;
  }

  end(reason: RoleEnd): void {
    const { links } = this.#context.sinks;
    if (this.#link.step === "dialing") links.cancelDial?.();
    if (this.#link.link !== undefined) links.close(this.#link.link, reason);
    this.#synchronization.end();
    this.#broadcast.end();
  }
}
