/** A reason why a step cannot end, or a take-over cannot begin. */
export interface Obstacle {
  readonly code: ObstacleCode;
  /** The server that it is about, where there is one. */
  readonly subject?: string;
  /** One sentence for operators. */
  readonly text: string;
  /** Whether it may be gone soon without an act of the operator. */
  readonly isForNow: boolean;
}

export type ObstacleCode =
  | "apache-silent"
  | "apache-stopped"
  | "apache-no-leader"
  | "apache-unnumbered"
  | "apache-unlisted"
  | "apache-unnamed"
  | "follower-state"
  | "follower-lag"
  | "digest-differs"
  | "digest-not-equal-yet"
  | "leader-changed"
  | "member-silent"
  | "members-no-leader"
  | "member-open"
  | "member-without-state"
  | "member-behind"
  | "member-differs"
  | "line-without-client-port"
  | "voters-grouped"
  | "timeout-too-short"
  | "not-confirmed"
  | "command-failed"
  | "clients-connected"
  | "clients-unknown"
  | "requests-between"
  | "sync-without-base"
  | "reconfig-not-seen"
  | "process-alive"
  | "no-quorum-verified"
  | "disks-ahead"
  | "disks-too-few"
  | "request-failed"
  | "time-over"
  | "interrupted";

export function lasting(code: ObstacleCode, text: string): Obstacle {
  return { code, text, isForNow: false };
}

export function passing(code: ObstacleCode, text: string, subject?: string): Obstacle {
  return { code, text, isForNow: true, ...(subject === undefined ? {} : { subject }) };
}
