export { AckTally } from "./broadcast.ts";
export type { PeerConfig } from "./config.ts";
export { frameEntries } from "./frame-entries.ts";
export { LocalNetwork } from "./local-network.ts";
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
export { type LearnerStatus, PEER_DEFAULTS, type PeerOptions, type PeerState, ZabPeer } from "./peer.ts";
export { ProposalQueue, type QueuedRun } from "./proposal-queue.ts";
export type { PeerPhase } from "./role.ts";
export type { ZabApplication, ZabElection, ZabLinks, ZabRequests, ZabRoles, ZabSinks } from "./sinks.ts";
export type { ReceivedSnapshot, SnapshotPort, SnapshotPosition } from "./snapshot-port.ts";
export { VolatileLog } from "./volatile-log.ts";
export type { HistoryInstall, LoggedRun, ZabDurable, ZabLog, ZabRun } from "./zab-log.ts";
