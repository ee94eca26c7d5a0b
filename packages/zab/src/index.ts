export { AckTally } from "./broadcast.ts";
export type { PeerConfig } from "./config.ts";
export type {
  LoggedRun,
  PeerPhase,
  PeerState,
  SnapshotPort,
  ZabDurable,
  ZabFlip,
  ZabLinks,
  ZabLog,
  ZabRun,
  ZabSinks,
} from "./events.ts";
export type {
  LeaderFault,
  LeaderRefusal,
  LearnerFault,
  LearnerRefusal,
  LinkEnd,
  Refusal,
  RoleEnd,
  ZabEvent,
} from "./operator-events.ts";
export { type LearnerStatus, PEER_DEFAULTS, type PeerOptions, ZabPeer } from "./peer.ts";
export { ProposalQueue, type QueuedRun } from "./proposal-queue.ts";
export { VolatileLog } from "./volatile-log.ts";
