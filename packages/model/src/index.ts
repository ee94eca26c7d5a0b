export {
  ACL_COUNT_MAX,
  aclIndexBytes,
  may,
  OPEN_ACL,
  Permission,
  prepareAcl,
  READ_ONLY_ACL,
} from "./acl.ts";
export type { AccessRules, Acl, AclEntry, Identity, SchemeRule } from "./acl-entry.ts";
export { assert, assertNever, InvariantError } from "./assert.ts";
export { Backoff, type BackoffOptions } from "./backoff.ts";
export {
  type ByteSlice,
  copyBytes,
  copyRange,
  copySlice,
  emptySlice,
  setSlice,
  sliceBeginsWith,
  sliceEquals,
  sliceOf,
  sliceText,
} from "./byte-slice.ts";
export { errorCode, keepCode } from "./cloned-error.ts";
export type { ConnectRequest } from "./connect-request.ts";
export { counted } from "./counted.ts";
export { ErrorCode, type ErrorName, errorName } from "./error-code.ts";
export { type DataPreview, errorJson } from "./error-json.ts";
export {
  CHAIN_NONE,
  type Chain,
  type EntryRun,
  type EpochPromise,
  type EpochRange,
  type HistoryInstall,
  type LogPosition,
  type LogState,
} from "./history.ts";
export { hostPort, isConnectedToItself, type SocketEnds } from "./host-port.ts";
export { PipelinedRequests } from "./http/pipelined-requests.ts";
export {
  askForBody,
  type BodySource,
  deferBody,
  dropBody,
  hasUnreadBody,
  type StartTimer,
} from "./http/refused-body.ts";
export { type IpRange, isInIpRange, isIpRange, javaAddress, parseIpAddress } from "./ip-address.ts";
export { derivedKey, type HashKey, keyedHash } from "./keyed-hash.ts";
export { LATENCY_BOUNDS_MS, LATENCY_WORDS, LatencyBuckets } from "./latency-buckets.ts";
export {
  hasGroups,
  isSameList,
  isSamePlace,
  isSameVotes,
  type Member,
  type Members,
  memberLines,
  membersOf,
  membersText,
} from "./members.ts";
export {
  CONFIGURATION_CHARS_MAX,
  changedMembers,
  type MembersChange,
  parseMembers,
  ServerNumberError,
} from "./members-text.ts";
export type { NodeView } from "./node-view.ts";
export { isWrite, OpCode, type OpName, opName } from "./op-code.ts";
export {
  baseName,
  checkPath,
  isValidPath,
  joinPath,
  lastSlash,
  type PathFault,
  parentPath,
  pathFault,
  sequenceSuffix,
} from "./path.ts";
export type {
  DiskRoom,
  ElectionMessage,
  EntriesMessage,
  ForwardMessage,
  LinkRef,
  PeerMessage,
  PeerRole,
  RefuseReason,
  Touch,
  Vote,
  ZabMessage,
} from "./peer-message.ts";
export { PRICES } from "./prices.ts";
export {
  HierarchicalQuorum,
  jointVerifier,
  MajorityQuorum,
  type QuorumVerifier,
  type WeightedVoter,
} from "./quorum.ts";
export { ChildDetail, type ChildPage, type ConnectAnswer, type ConnectionRef, type ReplySink } from "./reply.ts";
export type { ChangeRequest } from "./request.ts";
export {
  CreateMode,
  isEphemeralMode,
  isSequentialMode,
  isTtlMode,
  newRequest,
  type PartsPlace,
  type Request,
  type RequestDecoder,
} from "./request.ts";
export { SERVER_FEATURES, SERVER_FEATURES_PATH } from "./server-features.ts";
export { type ServerId, serverId } from "./server-id.ts";
export { parseServerLine, type ServerLine } from "./server-line.ts";
export { readServerVersion, type ServerVersion, serverVersionText } from "./server-version.ts";
export {
  formatSessionId,
  PASSWORD_BYTES,
  PASSWORD_HASH_BYTES,
  SESSION_NONE,
  type SessionId,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
} from "./session.ts";
export {
  ArgumentError,
  anyRule,
  fits,
  found,
  misfit,
  misfits,
  nearestName,
  type Rule,
  type Rules,
  rules,
  type Shape,
  shape,
  wholeNumberRule,
  wordRule,
} from "./shape.ts";
export { addressShare } from "./shares/address-share.ts";
export { BUDGETS } from "./shares/budgets.ts";
export {
  type ClientShare,
  ClientShares,
  NO_PROXIES,
  parseProxyRange,
  type TrustedProxies,
} from "./shares/client-shares.ts";
export { ConnectionPlaces, type ConnectionPlacesOptions } from "./shares/connection-places.ts";
export { type PlacedSocket, SocketPlaces } from "./socket-places.ts";
export {
  CONTAINER_OWNER_HIGH,
  CONTAINER_OWNER_LOW,
  type NodeKind,
  nodeKind,
  STAT_BYTES,
  type Stat,
  StatOffset,
  TTL_MS_MAX,
  TTL_OWNER_TAG,
  ttlMsOf,
} from "./stat.ts";
export {
  clearTxnOp,
  newTxnHeader,
  newTxnOp,
  type TxnBatcher,
  type TxnDecoder,
  type TxnEncoder,
  type TxnHeader,
  type TxnOp,
} from "./txn.ts";
export { FRAME_HEADER_BYTES, type FrameBatch, frameLength, frameZxid, writeFrameHeader } from "./txn-frame.ts";
export type { LogConfigs, LoggedRun, ReadResult, TxnLog } from "./txn-log.ts";
export { mix32, unkeyedHash32 } from "./unkeyed-hash.ts";
export {
  AddWatchMode,
  isAddWatchMode,
  isWatchSelector,
  WatchEventType,
  WatchMode,
  WatchSelector,
  WatchTableKind,
} from "./watch.ts";
export { WireError, type WireErrorCode } from "./wire-error.ts";
export {
  COUNTER_TRANSFER,
  composeZxid,
  counterOf,
  EPOCH_ALARM,
  EPOCH_MAX,
  earlierOf,
  epochOf,
  formatZxid,
  laterOf,
  mayFollow,
  nextZxid,
  parseZxid,
  ZXID_NONE,
  type Zxid,
  zxidFromHalves,
  zxidHigh,
  zxidLow,
} from "./zxid.ts";
