export type { Acl, AclEntry, Zxid } from "@zooid/model";
export type { ApacheChange, ApacheTransaction } from "@zooid/wire/apache";
export type { QuorumAddress } from "./core/leader-search.ts";
export {
  ApacheObserver,
  type Epochs,
  type ObserverMemory,
  type ObserverOptions,
  type ObserverSinks,
} from "./core/observer.ts";
export { ApachePeerError, type ApachePeerErrorCode, type ApachePeerErrorDetail } from "./core/peer-error.ts";
export { PendingTouches } from "./core/pending-touches.ts";
export type { QuorumUser } from "./core/quorum-login.ts";
export { encodePacket, type OutgoingPacket, type SessionTouch } from "./core/quorum-packet.ts";
export type { PeerTls } from "./edge/leader-connection.ts";
export type { LinkStatus } from "./edge/link.ts";
export { ApacheFollower, follow } from "./follow/apache-follower.ts";
export type { FailedAttempt, FollowEvent } from "./follow/follow-event.ts";
export { follow$ } from "./follow/follow-observable.ts";
export { type CheckedFollow, checkFollow, type FollowOptions } from "./follow/follow-options.ts";
export { type StoredStat, storedStat } from "./follow/stored-stat.ts";
