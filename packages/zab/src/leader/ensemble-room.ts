import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * The room on the disks of an ensemble, as its leader knows it. Entries need room on the leader's
 * disk and on those of a quorum: without it, writes that add data are refused here and, once they
 * know of it, at the learners.
 */
export class EnsembleRoom {
  readonly #leader: Leader;
  #isLacking: boolean;

  constructor(leader: Leader) {
    this.#leader = leader;
    this.#isLacking = leader.context.room() !== "enough";
  }

  /** Whether writes that add data are to be refused. */
  get isLacking(): boolean {
    return this.#isLacking;
  }

  /** Whether this server has too little room, and a learner that may lead has enough. */
  get hasRoomierSuccessor(): boolean {
    const { context, learners } = this.#leader;
    if (context.room() === "enough") return false;
    for (const learner of learners.values()) if (learner.room === "enough" && this.mayLead(learner)) return true;
    return false;
  }

  /**
   * Whether a learner may take the leadership over. One that cannot write could not begin an epoch.
   */
  mayLead(learner: LearnerHandler): boolean {
    const { candidates } = this.#leader.context.members.verifier;
    // A server without weight is elected by no vote: servers that come later would not follow it.
    // rule: the-successor-is-a-candidate
    return learner.phase === "synced" && learner.isCounted && learner.room !== "full" && candidates.has(learner.sid);
  }

  /** A disk has more or less room than before, or learners came or went. */
  changed(): void {
    const isLacking = this.#isRoomMissing();
    if (isLacking === this.#isLacking) return;
    this.#isLacking = isLacking;
    const { learners, liveness } = this.#leader;
    for (const learner of learners.values()) if (learner.phase !== "informed") liveness.ping(learner);
  }

  #isRoomMissing(): boolean {
    const { context, isEstablished, learners } = this.#leader;
    if (context.room() !== "enough") return true;
    // Without any quorum it is not room that is missing: the leader leaves soon.
    if (!isEstablished || !learners.isQuorum(learners.counted(() => true))) return false;
    return !learners.isQuorum(learners.counted(({ room }) => room === "enough"));
  }
}
