import {
  assert,
  EPOCH_MAX,
  epochOf,
  formatZxid,
  isSamePlace,
  type LinkRef,
  type Member,
  type Members,
  type PeerMessage,
  type QuorumVerifier,
  type ServerId,
} from "@zooid/model";
import type { LearnerFault, RoleEnd } from "../operator-events.ts";
import type { RestoredState } from "../restored-state.ts";
import type { PeerPhase, Role, RoleContext } from "../role.ts";
import { Acceptance } from "./acceptance.ts";
import { Broadcast } from "./broadcast.ts";
import { Discovery } from "./discovery.ts";
import { EnsembleRoom } from "./ensemble-room.ts";
import { EntryStream } from "./entry-stream.ts";
import { LeaderEpoch } from "./epoch.ts";
import { LeadershipCheck } from "./leadership-check.ts";
import { LeadershipTransfer, type TransferPurpose } from "./leadership-transfer.ts";
import type { LearnerInfo } from "./learner-handler.ts";
import { Learners } from "./learners.ts";
import { Levels } from "./levels.ts";
import { Liveness } from "./liveness.ts";
import { Restoration } from "./restoration.ts";
import { Synchronization } from "./synchronization.ts";
import { VoterDisks } from "./voter-disks.ts";
import { Wishes } from "./wishes.ts";

/**
 * Leads an ensemble: agrees on an epoch with a quorum, synchronizes learners, then orders what is
 * proposed.
 *
 * Safety rests on promises and on the quorum that accepted the history, never on the election.
 * Voters are counted if they have everything that they ever promised and acked.
 *
 * ```
 *  seeking an epoch ─▶ holding it ─▶ established ──────────────────▶ ended
 *  (a quorum's infos,  (a quorum's   (a quorum accepted the          (without a quorum for syncLimit
 *   then promises)      ack-epochs)   history: proposes, commits)     ticks, or another server has more)
 * ```
 *
 * Learners come and leave at any time; each of them is in one phase, see {@link LearnerHandler}.
 *
 * Its parts are the phases of the paper, each of which sees the others through this class.
 */
export class Leader implements Role {
  readonly context: RoleContext;
  readonly epoch: LeaderEpoch;
  readonly learners: Learners;
  readonly discovery: Discovery;
  readonly synchronization: Synchronization;
  readonly acceptance: Acceptance;
  readonly stream: EntryStream;
  readonly broadcast: Broadcast;
  readonly check: LeadershipCheck;
  readonly liveness: Liveness;
  readonly diskRoom: EnsembleRoom;
  readonly wishes: Wishes;
  readonly voterDisks: VoterDisks;
  readonly levels: Levels;
  /** Undefined where the epoch begins with the history that this server has. */
  readonly restoration: Restoration | undefined;
  readonly #transfer: LeadershipTransfer;
  /** Set by this class alone. */
  phase: PeerPhase = "discovery";
  /** Where other servers reached this one when it began to lead. */
  readonly #place: Member | undefined;

  /** @param restored the state that the epoch begins with, in place of this server's history */
  constructor(context: RoleContext, restored?: RestoredState) {
    this.context = context;
    this.restoration = restored && this.#restorationOf(restored);
    this.#place = placeIn(context.members.committed, context.config.sid);
    this.epoch = new LeaderEpoch(context.log.durable.tail);
    this.learners = new Learners(context, () => this.broadcast.learnersChanged());
    this.discovery = new Discovery(this);
    this.synchronization = new Synchronization(this);
    this.acceptance = new Acceptance(this);
    this.stream = new EntryStream(this);
    this.broadcast = new Broadcast(this);
    this.check = new LeadershipCheck(this);
    this.liveness = new Liveness(this);
    this.diskRoom = new EnsembleRoom(this);
    this.wishes = new Wishes(this);
    this.voterDisks = new VoterDisks(this);
    this.levels = new Levels(this);
    this.#transfer = new LeadershipTransfer(this);
  }

  #restorationOf(state: RestoredState): Restoration {
    const leader = this;
    const { context } = this;
    return new Restoration(
      {
        context,
        get epoch() {
          return leader.epoch;
        },
        beginStep: () => this.liveness.beginStep(),
        historyReplaced: () => this.broadcast.historyReplaced(),
      },
      state,
    );
  }

  /** Whether enough servers of a configuration are synchronized to commit in it now. */
  isQuorumSynced(verifier: QuorumVerifier): boolean {
    const synced: ServerId[] = this.context.isCounted ? [this.context.config.sid] : [];
    // An old disk is synchronized before it counts.
    for (const { sid, phase, isWhole } of this.learners.values()) if (phase === "synced" && isWhole) synced.push(sid);
    return verifier.isQuorum(synced);
  }

  /**
   * Whether the configuration in force gives the leadership to others: this server is not in it, or
   * has moved.
   */
  get mustTransfer(): boolean {
    const { config, members } = this.context;
    const { committed } = members;
    if (this.phase !== "broadcast" || committed === undefined || members.isChanging) return false;
    if (!committed.verifier.candidates.has(config.sid)) return true;
    // Its own file says where it is.
    if (config.isWish) return false;
    return this.#place !== undefined && !isSamePlace(this.#place, placeIn(committed, config.sid));
  }

  /** The configuration changed, or begins to: learners get votes, and lose them. */
  membersChanged(): void {
    const { members } = this.context;
    for (const learner of this.learners.values()) {
      learner.setVote(members.isVoter(learner.sid));
      if (learner.isOldDisk && learner.hasAccepted && this.voterDisks.isNamed(learner)) learner.becomeNamed();
    }
    // Before entries that were proposed behind a check are committed by other quorums than it
    // waited for. Answers that a learner gave before it was counted count now, as its acks do.
    // rule: checks-are-counted-anew-with-a-change
    this.check.recount();
    this.broadcast.membersChanged();
    for (const learner of this.learners.values()) {
      // Unlisted servers wait for the first list.
      if (this.isEstablished) this.discovery.invite(learner);
      if (learner.hasAccepted) this.broadcast.count(learner, learner.acked);
      this.stream.pump(learner);
    }
  }

  /** Whether the epoch's history is committed. */
  get isEstablished(): boolean {
    return this.acceptance.isEstablished;
  }

  get epochNumber(): number {
    return this.epoch.number;
  }

  /** A server that is a quorum alone waits for no learner. */
  begin(): void {
    this.discovery.seekEpoch();
  }

  /** An ensemble of one, whose epoch is promised, held and durable already: it serves at once. */
  leadAlone(epoch: number): void {
    const { config } = this.context;
    // rule: a-leader-without-discovery-is-alone
    assert(this.learners.isQuorum([config.sid]), "a server leads alone only where it alone is a quorum");
    const history = this.epoch.history.zxid;
    assert(epoch > epochOf(history), `epoch ${epoch} follows the history's last zxid ${formatZxid(history)}`);
    assert(epoch < EPOCH_MAX, `epoch ${epoch} is below ${EPOCH_MAX}, where zxids would no longer be exact`);
    this.beginEpoch(epoch);
    this.discovery.skip();
    this.acceptance.establish();
  }

  beginEpoch(epoch: number): void {
    this.epoch.begin(epoch);
    this.broadcast.beginEpoch();
  }

  /** A quorum has promised the epoch. */
  becomeSynchronizing(): void {
    assert(this.phase === "discovery", "synchronization follows discovery");
    this.phase = "synchronization";
    this.liveness.beginStep();
  }

  /** The history is committed and applied here. An ensemble of one skips synchronization. */
  becomeBroadcasting(): void {
    assert(this.isEstablished, "the broadcast follows the acceptance of the history");
    this.phase = "broadcast";
  }

  /** @returns false for a message of a link that is no learner's */
  onMessage(link: LinkRef, message: PeerMessage): boolean {
    const learner = this.learners.get(link);
    if (learner === undefined) return false;
    learner.heardMs = this.context.nowMs();
    switch (message.kind) {
      case "ack-epoch":
        this.discovery.ackedEpoch(learner, message);
        break;
      case "staged":
        learner.arrived(this.epoch.streamPosition(message.through), learner.heardMs);
        this.liveness.progress();
        this.stream.pump(learner);
        break;
      case "snapshot-credit":
        this.liveness.progress();
        this.context.sinks.snapshots.credit(link, message.next, message.isWhole);
        break;
      case "ack-new-leader":
        this.acceptance.accepted(learner, message.epoch, message.through);
        break;
      case "ack":
        this.broadcast.acked(learner, message.epoch, message.durable, message.check);
        break;
      case "pong":
        if (message.epoch !== this.epoch.number) {
          this.learners.illegal(learner, { kind: "pong-of-another-epoch", epoch: message.epoch });
          break;
        }
        learner.applied = message.applied;
        learner.room = message.room;
        learner.standby = message.standby;
        this.diskRoom.changed();
        this.check.heard(learner, message.check);
        this.context.sinks.requests.touched(message.touches);
        break;
      case "refuse":
        this.context.sinks.roles.note({
          kind: "refused-by-learner",
          sid: learner.sid,
          reason: message.reason,
          text: message.text,
        });
        this.learners.drop(learner, { kind: "leader-refused" });
        break;
      case "forward":
      case "identities":
      case "open-session":
      case "revalidate":
      case "sync":
        learner.askedMs = learner.heardMs;
        if (learner.phase !== "synced") this.learners.illegal(learner, { kind: "request-before-synced" });
        else this.context.sinks.requests.message(link, learner.sid, message);
        if (learner.isObserver) this.stream.pump(learner);
        break;
      default:
        this.learners.illegal(learner, { kind: "not-for-a-leader", message: message.kind });
    }
    return true;
  }

  informed(link: LinkRef, sid: ServerId, info: LearnerInfo): void {
    this.discovery.informed(link, sid, info);
  }

  linkClosed(link: LinkRef): void {
    const learner = this.learners.get(link);
    if (learner !== undefined) this.learners.forget(learner);
  }

  dropFaulty(link: LinkRef, fault: LearnerFault["fault"]): void {
    const learner = this.learners.get(link);
    if (learner !== undefined) this.learners.illegal(learner, fault);
  }

  /**
   * Whether this server has all that it proposed on its disk and in its tree, and all of it is
   * committed.
   *
   * 1. S3 names itself as its successor. S1 and S2 have its entry 7 on their disks, and adopt S3
   *    with the ends of their logs.
   * 2. S3 dies before it has entry 7 on its own.
   * 3. S1 and S2 would elect S3 again and again, by votes that say that it has entry 7.
   */
  get isLevel(): boolean {
    const { broadcast, context } = this;
    const { lastLogged } = broadcast;
    const applied = context.sinks.application.applied();
    return Math.min(broadcast.committed, context.log.durable.tail.zxid, applied) >= lastLogged;
  }

  /** This server leads the next epoch, too: learners follow it again, without an election. */
  succeedItself(): void {
    const { config } = this.context;
    for (const learner of this.learners.values()) {
      if (learner.phase !== "synced") continue;
      this.learners.send(learner, {
        kind: "leadership-transfer",
        epoch: this.epoch.number,
        successor: config.sid,
      });
    }
  }

  transferLeadership(purpose: TransferPurpose, to?: ServerId): ServerId | undefined {
    return this.#transfer.start(purpose, to);
  }

  tick(): void {
    this.diskRoom.changed();
    this.stream.tick();
    this.liveness.tick();
  }

  nextDueMs(): number {
    return Math.min(this.liveness.nextDueMs(), this.stream.dueMs);
  }

  foundingChanged(): void {
    this.discovery.foundingChanged();
  }

  /** Every link is closed and nothing is kept. */
  end(reason: RoleEnd): void {
    this.learners.closeAll(reason);
    this.broadcast.end();
    this.restoration?.end(reason.kind);
  }
}

function placeIn(members: Members | undefined, sid: ServerId): Member | undefined {
  return members?.servers.find((server) => server.sid === sid);
}
