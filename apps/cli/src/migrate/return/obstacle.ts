import type { ObstacleOf } from "../obstacles.ts";

/** A reason why a step of a return cannot end, or a return cannot begin. */
export type Obstacle = ObstacleOf<ObstacleCode>;

export type ObstacleCode =
  | "member-silent"
  | "member-not-serving"
  | "member-alone"
  | "members-no-leader"
  | "members-two-leaders"
  | "member-unnamed"
  | "member-unlisted"
  | "never-opened"
  | "not-closed"
  | "closed-elsewhere"
  | "clients-connected"
  | "epochs-used-up"
  | "apache-runs"
  | "apache-unknown"
  | "directory-unusable"
  | "not-confirmed"
  | "request-failed"
  | "time-over"
  | "interrupted";
