/** Aids for testing programs that use ZooKeeper: faults on demand, between any client and any server. */
export { expireSession } from "./testing/expire-session.ts";
export { OldServer, type OldServerOptions, type UnknownAnswer } from "./testing/old-server.ts";
export { Relay, type RelayTarget } from "./testing/relay.ts";
