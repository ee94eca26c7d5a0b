/**
 * Aids for testing programs that use ZooKeeper: faults on demand, between any client and any
 * server.
 */
export { expireSession } from "./fault-injection/expire-session.ts";
export { OldServer, type OldServerOptions, type UnknownAnswer } from "./fault-injection/old-server.ts";
export { Relay, type RelayTarget } from "./fault-injection/relay.ts";
