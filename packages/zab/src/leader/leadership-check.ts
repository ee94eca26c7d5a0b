import type { ServerId } from "@zooid/model";
import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * Asks a quorum whether this server still leads, which makes a read at the leader current:
 *
 * 1. S3 leads and is cut off. S1 and S2 elect S1, which commits entry 9.
 * 2. S3 has not noticed, and a client asks it to sync.
 * 3. S3 begins check 4. S1 and S2 do not answer it, so the sync is not answered without entry 9.
 *
 * Checks are numbered. Whatever goes to a learner carries the newest number, and whatever the
 * learner answers carries the newest it has seen; an answer to a check answers all earlier ones.
 */
export class LeadershipCheck {
  readonly #leader: Leader;
  #newest = 0;
  /** Calls of one turn share a check; set by this class alone. */
  isOpen = false;
  #confirmed = 0;
  /**
   * The newest check that each voter has answered. It stays when the voter's link ends, as its ack
   * does.
   */
  readonly #answered = new Map<ServerId, number>();

  constructor(leader: Leader) {
    this.#leader = leader;
  }

  get newest(): number {
    return this.#newest;
  }

  get confirmed(): number {
    return this.#confirmed;
  }

  /** @returns the number of the check, whose answer is this number or a higher one */
  begin(): number {
    // rule: a-check-begins-behind-its-request
    if (!this.isOpen) {
      this.isOpen = true;
      this.#newest++;
    }
    return this.#newest;
  }

  /** The turn ends. @returns whether it began a check */
  close(): boolean {
    const isOpen = this.isOpen;
    this.isOpen = false;
    return isOpen;
  }

  /** A learner's message carried a number. */
  heard(learner: LearnerHandler, check: number): void {
    if (check <= learner.check) return;
    learner.check = check;
    this.answered(learner);
  }

  /** Counts the newest check that a learner has answered. */
  answered(learner: LearnerHandler): void {
    if (this.#note(learner)) this.seek();
  }

  /** Learners are counted that were not, or other quorums count. */
  recount(): void {
    for (const learner of this.#leader.learners.values()) this.#note(learner);
    this.seek();
  }

  #note({ sid, check, isCounted, hasAccepted }: LearnerHandler): boolean {
    if (!isCounted || !hasAccepted) return false;
    this.#answered.set(sid, Math.max(check, this.#answered.get(sid) ?? 0));
    return true;
  }

  seek(): void {
    const { context, learners, stream } = this.#leader;
    // While the configuration changes, a later leader needs a quorum of the present one in any
    // case. With both, a check would wait longer than a write behind it:
    // 1. A client sends a sync and a write.
    // 2. S1, S2, S3 begin to change to S4, S5, S6.
    // 3. The acks of S1 and S2 commit the write. It would be answered before the sync.
    // rule: the-present-voters-confirm-the-leader
    const { electors } = context.members;
    // An open check is not sent yet, and later requests of the turn share it. A leader that is a
    // quorum alone would confirm it at once:
    // 1. S1 reads a sync of S2, which begins check 9.
    // 2. It reads a pong of S2, counts what it answered and confirms check 9.
    // 3. It reads another sync, which shares check 9 and would wait until some later check is
    //    confirmed.
    const sent = this.isOpen ? this.#newest - 1 : this.#newest;
    for (let check = sent; check > this.#confirmed; check--) {
      const sids = context.isCounted ? [context.config.sid] : [];
      for (const [sid, answered] of this.#answered) if (answered >= check) sids.push(sid);
      // rule: a-quorum-confirms-the-leader
      if (!electors.isQuorum(sids)) continue;
      this.#confirmed = check;
      context.sinks.requests.leadershipConfirmed(check);
      for (const learner of learners.values()) if (learner.voteCheck !== undefined) stream.pump(learner);
      return;
    }
  }
}
