export { type AuthConfig, AuthSchemes, digestId, type Hashes } from "./auth.ts";
export { type EnsembleConfig, REPLICA_DEFAULTS, type ReplicaConfig } from "./config.ts";
export { Connection, type ConnectionPhase, ConnectionStats } from "./connection.ts";
export { isInIpRange, isIpRange, javaAddress } from "./ip-address.ts";
export { Membership, type MembershipSinks } from "./membership.ts";
export { type Refusal, Replica, type ReplicaCounters, type ReplicaSinks, type ReplicaTools } from "./replica.ts";
export { type Session, SessionTable } from "./session-table.ts";
export { type NoPeers, withNoPeers } from "./with-no-peers.ts";
