import type { ServerId } from "@zooid/model";
import type { Leader } from "./leader.ts";
import type { LearnerHandler } from "./learner-handler.ts";

/**
 * Why a leader leaves: it is being stopped, its disk has no room, or the configuration gives the
 * leadership to others.
 */
export type TransferPurpose = "stop" | "room" | "members";

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
   *
   * @param to the only server that may succeed
   */
  start(purpose: TransferPurpose, to?: ServerId): ServerId | undefined {
    const { broadcast, context, epoch, learners } = this.#leader;
    if (this.#isStarted || this.#leader.phase !== "broadcast") return undefined;
    if (broadcast.committed < broadcast.lastLogged) return undefined;
    // Clients that wait here get their answers first. A full disk holds back what others have
    // committed: the leader would wait for room, and it is for want of room that it leaves.
    const deliverable = Math.min(broadcast.committed, context.log.durable.tail.zxid);
    if (context.sinks.application.applied() < deliverable) return undefined;
    const successor = this.#successor(purpose, to);
    if (successor === undefined) return undefined;
    this.#isStarted = true;
    broadcast.flush();
    // An observer may be reached by a voter, which leaves at once.
    const observersFirst = [...learners.values()].sort((a, b) => Number(b.isObserver) - Number(a.isObserver));
    for (const learner of observersFirst) {
      learners.send(learner, { kind: "leadership-transfer", epoch: epoch.number, successor: successor.sid });
    }
    return successor.sid;
  }

  /**
   * A voter that may lead and has every entry on its disk: the highest id among those with enough
   * room, or of all if none has. If one is named, that one or none.
   */
  #successor(purpose: TransferPurpose, to: ServerId | undefined): LearnerHandler | undefined {
    const { broadcast, diskRoom, epoch, learners } = this.#leader;
    const last = broadcast.lastLogged;
    let successor: LearnerHandler | undefined;
    for (const learner of learners.values()) {
      // rule: the-successor-is-level
      if (!diskRoom.mayLead(learner) || epoch.logPosition(learner.acked) < last) continue;
      if (purpose === "room" && learner.room !== "enough") continue;
      if (to !== undefined && learner.sid !== to) continue;
      if (successor === undefined || isBetter(learner, successor)) successor = learner;
    }
    return successor;
  }
}

function isBetter(one: LearnerHandler, other: LearnerHandler): boolean {
  if (one.room !== other.room) return one.room === "enough";
  return one.sid > other.sid;
}
