/** Aids for testing programs that use ZooKeeper: faults on demand, between any client and any server. */
export { expireSession } from "./testing/expire-session.ts";
export { Relay, type RelayTarget } from "./testing/relay.ts";
