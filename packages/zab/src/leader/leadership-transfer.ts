import type { ServerId } from "@zooid/model";
import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/** Leaves the epoch to a learner that can lead at once, so that no election is needed. */
export class LeadershipTransfer {
  readonly #leader: Leader;
  #isStarted = false;

  constructor(leader: Leader) {
    this.#leader = leader;
  }

  /**
   * Names the successor to every learner; undefined while there is none, or while not all is
   * committed.
   */
  start(): ServerId | undefined {
    const { broadcast, epoch, learners } = this.#leader;
    if (this.#isStarted || this.#leader.phase !== "broadcast") return undefined;
    if (broadcast.committed < broadcast.lastLogged) return undefined;
    const successor = this.#successor();
    if (successor === undefined) return undefined;
    this.#isStarted = true;
    broadcast.flush();
    for (const learner of learners.values()) {
      learners.send(learner, { kind: "hand-over", epoch: epoch.number, successor: successor.sid });
    }
    return successor.sid;
  }

  /** A voter that may lead and has every entry on its disk: the highest id among them. */
  #successor(): LearnerHandler | undefined {
    const { broadcast, context, epoch, learners } = this.#leader;
    const { candidates } = context.config.verifier;
    const last = broadcast.lastLogged;
    let successor: LearnerHandler | undefined;
    for (const learner of learners.values()) {
      // rule: the-successor-is-level
      if (learner.phase !== "synced" || !learner.isCounted || epoch.logPosition(learner.acked) < last) continue;
      // A server without weight is elected by no vote: servers that come later would not follow it.
      // rule: the-successor-is-a-candidate
      if (!candidates.has(learner.sid)) continue;
      if (successor === undefined || learner.sid > successor.sid) successor = learner;
    }
    return successor;
  }
}
