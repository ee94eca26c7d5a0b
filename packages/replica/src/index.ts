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
} from "./auth.ts";
export { type EnsembleConfig, REPLICA_DEFAULTS, type ReplicaConfig } from "./config.ts";
export {
  Connection,
  type ConnectionPhase,
  ConnectionStats,
  type SaslAnswer,
  type UnfinishedSetWatches,
} from "./connection.ts";
export type { ReplicaCounters } from "./counters.ts";
export type { DigestHistory, PastDigest } from "./digest-history.ts";
export { Membership, type MembershipSinks } from "./membership.ts";
export type { ReplicaEvent } from "./operator-events.ts";
export type { PendingSync } from "./pending-syncs.ts";
export type { ReapingConfig } from "./reaper.ts";
export { Replica } from "./replica.ts";
export { type Session, SessionTable } from "./session-table.ts";
export type { Refusal, ReplicaSinks } from "./sinks.ts";
export { Tally } from "./tally.ts";
export type { ReplicaTools } from "./tools.ts";
export { type NoPeers, withNoPeers } from "./with-no-peers.ts";
