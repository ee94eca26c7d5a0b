import { assert, earlierOf, raiseUpTo, ZXID_NONE, type Zxid } from "@zooid/model";
import { encodeMembers } from "../known-members.ts";
import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * Phase 2, its end: NEWLEADER to a learner that has been sent the history, its ACK once the history
 * is installed on its disk, UPTODATE once the leader serves. With the ACKs of a quorum the leader
 * is established: the history is committed as a whole, never by counting acks of its entries.
 */
export class Acceptance {
  readonly #leader: Leader;
  #isEstablished = false;

  constructor(leader: Leader) {
    this.#leader = leader;
  }

  /** Whether a quorum has the epoch's history on its disks. */
  get isEstablished(): boolean {
    return this.#isEstablished;
  }

  /**
   * Whether a learner may have forgotten what it promised or acked, and is whole again with the
   * history. An observer, too, since a change may make it a voter:
   *
   * 1. S3 has lost its log, and observes S1, the ensemble.
   * 2. S1 changes to S3 alone, which is synchronized.
   * 3. S1 restarts. It needs S3, which would neither vote nor be counted: there is no leader any
   *    more.
   */
  endsAmnesia(learner: LearnerHandler): boolean {
    // rule: amnesia-ends-with-the-history
    return this.#isEstablished && !learner.isWhole && !learner.isOldDisk;
  }

  /**
   * A server that may have forgotten what it acked votes again when it installs the history, so the
   * epoch must be the newest:
   *
   * 1. S3 leads epoch 4 and is cut off; S1 and S2 commit an entry in epoch 5.
   * 2. S2 loses its disk and finds S3.
   * 3. If S3 made it a voter of epoch 4, S2 and S3 could elect a leader without S1, and the entry
   *    would be lost.
   *
   * So a quorum must have confirmed, since S2 came, that it knows no later epoch.
   *
   * A server that is an observer here may be a voter elsewhere:
   *
   * 1. S3 leads epoch 4 and is cut off; S1 and S2 elect S2.
   * 2. In epoch 5 a change makes S4 and S5 voters; S2, S4 and S5 commit an entry.
   * 3. S4 loses its disk and finds S3, which does not know the change.
   * 4. If the history of S3 ended its amnesia, S1, S3 and S4 could elect a leader, and the entry
   *    would be lost.
   */
  mayOffer(learner: LearnerHandler): boolean {
    if (!this.endsAmnesia(learner)) return true;
    // rule: a-new-disk-is-named-before-it-counts
    if (!this.#leader.voterDisks.isNamed(learner)) return false;
    // rule: a-vote-again-after-a-confirmed-check
    return learner.voteCheck !== undefined && learner.voteCheck <= this.#leader.check.confirmed;
  }

  offer(learner: LearnerHandler): void {
    const { context, epoch, learners } = this.#leader;
    const { through } = learner;
    assert(through !== undefined, "a learner is offered the epoch with its history's end");
    const endsAmnesia = this.endsAmnesia(learner);
    learner.becomeAccepting(this.#leader.check.newest);
    // The history's end stands for what the epoch begins with, its configuration among it.
    const { committed } = context.members;
    const members = context.members.at(epoch.streamPosition(through));
    learners.send(learner, {
      kind: "new-leader",
      epoch: epoch.number,
      through,
      endsAmnesia,
      // Such a learner did not get it before: it gets it with the history, in one transaction, also
      // where a change of the configuration has made it an observer since.
      // rule: the-ensemble-id-comes-with-the-history
      ensembleId: endsAmnesia ? context.log.durable.identity.ensembleId : "",
      // A list of this server's files that was not agreed on is no other server's concern.
      config: members === undefined || members.version === ZXID_NONE ? undefined : encodeMembers(members),
      // rule: a-history-with-the-configuration-that-is-replaced
      committedConfig: committed === undefined || committed === members ? undefined : encodeMembers(committed),
      // rule: a-history-with-its-level
      levelRaise: raiseUpTo(context.level.raise, epoch.streamPosition(through)),
    });
    learner.voteCheck = undefined;
  }

  /** A learner has installed the history on its disk. */
  accepted(learner: LearnerHandler, epoch: number, through: Zxid): void {
    const { broadcast, check, context, learners, stream } = this.#leader;
    if (learner.phase !== "accepting" || epoch !== this.#leader.epoch.number || through !== learner.through) {
      learners.illegal(learner, { kind: "acceptance-not-offered", epoch, through });
      return;
    }
    learner.becomeAccepted();
    // It has the configuration now, whatever it thought to be when it came.
    if (context.members.isAgreed) learner.setVote(context.members.isVoter(learner.sid));
    learner.arrived(this.#leader.epoch.streamPosition(through), context.nowMs());
    context.sinks.snapshots.end(learner.link);
    if (this.#isEstablished) {
      // Its acceptance may commit entries, and readers that asked before those go first, as with
      // every ack:
      // 1. A sync at S1 begins check 9.
      // 2. Entry 20 is proposed.
      // 3. S4 accepts through entry 20.
      // Check 9 is answered before entry 20 is counted. What S4 answered before it accepted did not
      // count until now.
      // rule: accepting-answers-the-check
      learner.answerOfferedCheck();
      check.answered(learner);
      broadcast.count(learner, through);
      if (this.#leader.phase === "broadcast") this.#welcome(learner);
    } else {
      this.seek();
    }
    stream.pump(learner);
  }

  /**
   * The leader is established once a quorum, this server included, has the epoch's history on its
   * disks.
   */
  seek(): void {
    const { discovery, learners } = this.#leader;
    if (!discovery.holdsEpoch || this.#isEstablished) return;
    // rule: a-quorum-accepts-the-history
    if (learners.isQuorum(learners.counted(({ hasAccepted }) => hasAccepted))) this.establish();
  }

  establish(): void {
    const { broadcast, context, discovery, epoch, learners, synchronization } = this.#leader;
    // The history is committed, and a change of the configuration with it.
    context.commitMembers(epoch.start);
    broadcast.begin();
    this.#isEstablished = true;
    this.#leader.restoration?.established();
    for (const learner of learners.values()) {
      if (learner.phase === "accepted") {
        // rule: serve-before-learners-do
        broadcast.count(learner, learner.acked);
      } else if (learner.phase === "waiting") {
        synchronization.plan(learner);
      } else {
        discovery.invite(learner);
      }
    }
    this.serveWhenApplied();
  }

  /**
   * The history is committed; serving begins when it is applied here, and learners serve no
   * earlier:
   *
   * 1. S3 has the history on its disk and half of it in its tree.
   * 2. S1 serves and forwards a client's write.
   * 3. S3 would check that write against half a tree.
   */
  serveWhenApplied(): void {
    const { context, epoch, learners } = this.#leader;
    if (this.#leader.phase === "broadcast" || !this.#isEstablished) return;
    if (context.sinks.application.applied() < epoch.history.zxid) return;
    this.#leader.becomeBroadcasting();
    const nowMs = context.nowMs();
    for (const learner of learners.values()) learner.heardMs = Math.max(learner.heardMs, nowMs);
    context.sinks.roles.serve(epoch.number);
    for (const learner of learners.values()) if (learner.phase === "accepted") this.#welcome(learner);
  }

  #welcome(learner: LearnerHandler): void {
    const { epoch, learners } = this.#leader;
    const committed = earlierOf(this.#leader.broadcast.committed, epoch.logPosition(learner.sent));
    learner.becomeSynced(committed);
    // rule: up-to-date-once
    learners.send(learner, { kind: "up-to-date", epoch: epoch.number, committed });
  }
}
