import type { ServerId, StandbyReport, Zxid } from "@zooid/model";
import type { LearnerHandler, LearnerPhase } from "./leader/learner-handler.ts";

/** A learner, as its leader reports it to operators. */
export interface LearnerStatus {
  readonly sid: ServerId;
  readonly phase: LearnerPhase;
  readonly isObserver: boolean;
  /**
   * Whether it can take the leadership over: a synchronized voter that counts, with weight and room
   * on its disk.
   */
  readonly mayLead: boolean;
  readonly sent: Zxid;
  readonly acked: Zxid;
  readonly applied: Zxid;
  /** The state of another ensemble that it has ready, or has taken over. */
  readonly standby: StandbyReport | undefined;
}

export function statusOf(
  { sid, phase, isObserver, sent, acked, applied, standby }: LearnerHandler,
  mayLead: boolean,
): LearnerStatus {
  return { sid, phase, isObserver, mayLead, sent, acked, applied, standby };
}
