export type { CommittedEntries } from "./committed-entries.ts";
export { PEER_DEFAULTS, type PeerConfig, type PeerOptions } from "./config.ts";
export {
  type Founding,
  type FoundingObstacle,
  isOfAnotherEnsemble,
  type SaidDisk,
  type SaidHistory,
  saidDiskOf,
} from "./founding.ts";
export { frameEntries } from "./frame-entries.ts";
export { KnownLevel } from "./known-level.ts";
export { ANY_DISK, type DiskDoubt, decodeMembers, encodeMembers, KnownMembers, versionOf } from "./known-members.ts";
export { AckTally } from "./leader/ack-tally.ts";
export type { TransferPurpose } from "./leader/leadership-transfer.ts";
export type { LearnerPhase } from "./leader/learner-handler.ts";
export type { MemberLevels } from "./leader/levels.ts";
export type { NamedDisks } from "./leader/voter-disks.ts";
export type { WaitingWish, Wishes } from "./leader/wishes.ts";
export type { LearnerStatus } from "./learner-status.ts";
export { LocalNetwork } from "./local-network.ts";
export type {
  LeaderFault,
  LeaderRefusal,
  LearnerFault,
  LearnerRefusal,
  LinkEnd,
  PeerRefusal,
  RoleEnd,
  ZabEvent,
} from "./operator-events.ts";
export { ZabPeer } from "./peer.ts";
export { ProposalQueue, type QueuedRun } from "./proposal-queue.ts";
export type { RestoredState, RestoreEnd } from "./restored-state.ts";
export type { PeerPhase } from "./role.ts";
export type { PeerState } from "./role-cycle.ts";
export type { LoggedChanges, ZabApplication, ZabElection, ZabLinks, ZabRequests, ZabRoles, ZabSinks } from "./sinks.ts";
export type { ReceivedSnapshot, SnapshotPort, SnapshotPosition } from "./snapshot-port.ts";
export { VolatileLog } from "./volatile-log.ts";
