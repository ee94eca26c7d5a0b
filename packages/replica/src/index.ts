export {
  type AuthConfig,
  type AuthProvider,
  AuthSchemes,
  digestId,
  type Granted,
  type Hashes,
  type SaslExchange,
  type SaslRules,
  type SaslStep,
} from "./auth/auth-schemes.ts";
export {
  type MemberConfig,
  REPLICA_DEFAULTS,
  type ReapingConfig,
  type ReplicaConfig,
  type ReplicaLimits,
} from "./config.ts";
export {
  Connection,
  type ConnectionOrigin,
  type ConnectionPhase,
  type HeldWrite,
  type PendingSync,
  type SaslAnswer,
  type UnfinishedSetWatches,
} from "./connections/connection.ts";
export { ConnectionStats } from "./connections/connection-stats.ts";
export { NAMESPACE_CHARS_MAX, type ReplicaCounters } from "./counters.ts";
export type { DigestHistory, PastDigest } from "./delivery/digest-history.ts";
export type { FollowedTransactions } from "./delivery/followed-transactions.ts";
export { Histogram } from "./histogram.ts";
export { Membership, type MembershipSinks } from "./membership.ts";
export type { ReplicaEvent } from "./operator-events.ts";
export { Replica } from "./replica.ts";
export type { SessionEnding } from "./sessions/session-ends.ts";
export { type Session, SessionTracker } from "./sessions/session-tracker.ts";
export type { ConnectionRefusal, ReplicaSinks } from "./sinks.ts";
export type { RequestStages, SlowRequest } from "./slow-requests.ts";
export type { HistoryAccess, HistoryAsker, ReplicaTools, ShownPastChanges } from "./tools.ts";
export { type NoPeers, withNoPeers } from "./with-no-peers.ts";
export type { LevelBlocker, LevelStatus, RaiseAnswer } from "./writes/feature-level.ts";
export type { ClosingAnswer, OpeningAnswer } from "./writes/member-changes.ts";
export type { AddressWork } from "./writes/write-shares.ts";
