import { assert, type EntryRun } from "@zooid/model";
import { commonPoint, tableThrough } from "../common-point.ts";
import type { Leader } from "./leader.ts";
import type { AckEpoch, LearnerHandler } from "./learner-handler.ts";

/**
 * Phase 2, the plan for one learner: where its history parts from the leader's, and how it gets the
 * rest.
 *
 * - DIFF: its log is a prefix of this one; entries follow.
 * - TRUNC: it has entries that this leader lacks; it cuts them, then entries follow.
 * - SNAP: the common point is below this log's floor; a snapshot replaces its history, then entries
 *   follow.
 *
 * A plan is a cursor over the log and over what is proposed, and no second source of entries is
 * joined to it: nothing is missing and nothing is sent twice. {@link EntryStream} moves the cursor.
 */
export class Synchronization {
  readonly #leader: Leader;

  constructor(leader: Leader) {
    this.#leader = leader;
  }

  plan(learner: LearnerHandler): void {
    const { context, learners, acceptance } = this.#leader;
    // Learners that are not counted must not be a burden, nor end their amnesia, before a quorum
    // has formed without them.
    if (!this.#leader.isEstablished && !learner.isCounted) return;
    const { position } = learner;
    assert(position !== undefined, "a plan follows the learner's position");
    const { log } = context;
    const { durable } = log;
    const ours = tableThrough(durable.epochs, this.#leader.broadcast.lastLogged);
    const common = commonPoint(position.tails, ours);
    // What replaces everything that the learner has need not have anything in common with it.
    const isReplaced = common < position.floor && position.isFloorUncommitted === true;
    if (common < position.floor && common >= durable.floor.zxid && !isReplaced) {
      learners.refuse(learner, "diverged", { kind: "commit-unknown-here", zxid: position.floor });
      context.sinks.roles.note({ kind: "committed-history-unknown", sid: learner.sid });
      return;
    }
    if (common > durable.tail.zxid) return; // Planned when this server's own disk has what the learner has.
    learner.becomePlanning();
    if (acceptance.endsAmnesia(learner)) learner.voteCheck = this.#leader.check.begin();
    // 1. S1 begins an epoch with a restored state, and dies before a quorum has it.
    // 2. S2 and S3 continue with the history that the state would have replaced.
    // 3. S1 comes back. Its log begins with the state, and has nothing that could be cut.
    // rule: a-state-in-place-of-an-uncommitted-one
    // rule: a-state-for-those-below-the-floor
    if (isReplaced || common < durable.floor.zxid) {
      this.#sendSnapshot(learner);
      return;
    }
    log.read(common, context.config.runBytes, (result) => {
      if (!learners.isKnown(learner)) return;
      if (result === "below-floor") this.#sendSnapshot(learner);
      else if (result === "damaged") context.fail("the log is damaged where a learner needs it");
      else this.#beginDiff(learner, position, result);
    });
  }

  #beginDiff(learner: LearnerHandler, position: AckEpoch, run: EntryRun): void {
    const { learners, epoch, stream } = this.#leader;
    const from = run.after;
    if (from.zxid === position.logged.zxid && from.chain !== position.logged.chain) {
      learners.refuse(learner, "diverged", { kind: "histories-differ", at: from.zxid });
      return;
    }
    learners.send(learner, {
      kind: "sync-begin",
      epoch: epoch.number,
      mode: from.zxid < position.logged.zxid ? "trunc" : "diff",
      from,
      epochs: [],
    });
    stream.begin(learner, from.zxid);
    stream.sendRun(learner, run);
    stream.pump(learner);
  }

  #sendSnapshot(learner: LearnerHandler): void {
    const { context, epoch, learners, stream } = this.#leader;
    const { roles, snapshots } = context.sinks;
    learner.becomeSnapshot();
    snapshots.open(learner.link, (at) => {
      if (!learners.isKnown(learner)) return;
      if (at === undefined) {
        learners.refuse(learner, "unable", { kind: "no-state-to-send" });
        return;
      }
      const { position, epochs, origin } = at;
      roles.note({ kind: "whole-state-sent", sid: learner.sid, zxid: position.zxid });
      // The learner may have to give up the state again, see `isReplaced` above.
      const isUncommitted = !this.#leader.isEstablished && position.zxid > context.log.durable.commitHint;
      learners.send(learner, {
        kind: "sync-begin",
        epoch: epoch.number,
        mode: "snap",
        from: position,
        epochs,
        ...(isUncommitted ? { isUncommitted } : {}),
        ...(origin === undefined ? {} : { origin }),
      });
      snapshots.start(learner.link, () => {
        if (!learners.isKnown(learner)) return;
        stream.begin(learner, position.zxid);
        stream.pump(learner);
      });
    });
  }
}
