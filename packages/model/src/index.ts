export { hostPort, isConnectedToItself, type SocketEnds } from "./addresses/host-port.ts";
export { type IpRange, isInIpRange, isIpRange, javaAddress, parseIpAddress } from "./addresses/ip-address.ts";
export { reachLimitMs, SILENT_ATTEMPTS_PER_DOUBLING } from "./addresses/reach-limit.ts";
export { type PlacedSocket, SocketPlaces } from "./addresses/socket-places.ts";
export { ArgumentError } from "./arguments/argument-error.ts";
export {
  checkArgument,
  checkClient,
  checkDifferent,
  checkFit,
  checkPassword,
  checkRecord,
  clientProblems,
  missingFields,
  pathProblems,
} from "./arguments/checks.ts";
export { counted } from "./arguments/counted.ts";
export { found, foundBytes, isTlsRecord } from "./arguments/found.ts";
export { nearestName } from "./arguments/nearest-name.ts";
export {
  anyRule,
  hasMethods,
  misfit,
  type Rule,
  type Rules,
  rules,
  wholeNumberRule,
  wordRule,
} from "./arguments/rules.ts";
export { fits, misfits, type Shape, shape } from "./arguments/shape.ts";
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
export { assert, assertNever, InvariantError } from "./errors/assert.ts";
export { errorCode, keepCode } from "./errors/cloned-error.ts";
export { type DataPreview, errorJson } from "./errors/error-json.ts";
export { derivedKey, type HashKey, keyedHash } from "./hashes/keyed-hash.ts";
export { mix32, unkeyedHash32 } from "./hashes/unkeyed-hash.ts";
export { type AdminFields, adminFields, fetchFault, foreignAdminAnswer } from "./http/admin-answer.ts";
export { adminUrlFault, withoutCredentials } from "./http/admin-url.ts";
export { PipelinedRequests } from "./http/pipelined-requests.ts";
export {
  askForBody,
  type BodySource,
  deferBody,
  dropBody,
  hasUnreadBody,
  type StartTimer,
} from "./http/refused-body.ts";
export {
  FEATURE_LEVELS,
  type FeatureLevel,
  type FileFormats,
  haveCommonLevel,
  type KnownLevels,
  knowsLevel,
  type LevelRange,
  levelsText,
  levelsUpTo,
  OWN_LEVELS,
  unknownLevelText,
} from "./levels/feature-level.ts";
export { formatsAt, levelOfFormat, readableFormats } from "./levels/file-formats.ts";
export { type LevelRaise, levelAt, levelInForce, levelOfHistory, NO_RAISE, raiseUpTo } from "./levels/level-raise.ts";
export {
  type ClientAccess,
  hasGroups,
  isSameList,
  isSamePlace,
  isSameVotes,
  type Member,
  type Members,
  memberLines,
  membersOf,
  membersText,
} from "./membership/members.ts";
export {
  CONFIGURATION_CHARS_MAX,
  changedMembers,
  type MembersChange,
  parseMembers,
  ServerNumberError,
} from "./membership/members-text.ts";
export {
  HierarchicalQuorum,
  jointVerifier,
  MajorityQuorum,
  type QuorumVerifier,
  type WeightedVoter,
} from "./membership/quorum.ts";
export {
  HISTORY_FEATURE,
  levelFeature,
  levelInFeatures,
  SERVER_FEATURES,
  SERVER_FEATURES_PATH,
} from "./membership/server-features.ts";
export { type ServerId, serverId } from "./membership/server-id.ts";
export { parseServerLine, type ServerLine } from "./membership/server-line.ts";
export { readServerVersion, type ServerVersion, serverVersionText } from "./membership/server-version.ts";
export type { ConnectRequest } from "./protocol/connect-request.ts";
export { derivedPassword } from "./protocol/derived-password.ts";
export { ErrorCode, type ErrorName, errorName } from "./protocol/error-code.ts";
export {
  CHAIN_NONE,
  type Chain,
  type EntryRun,
  EPOCHS_SKIPPED,
  type EpochPromise,
  type EpochRange,
  type HistoryInstall,
  isFloorUncommitted,
  isSameState,
  type LogPosition,
  type LogState,
  type NamedState,
  restoredAt,
  type StandbyReport,
} from "./protocol/history.ts";
export { LATENCY_BOUNDS_MS, LATENCY_WORDS, LatencyBuckets } from "./protocol/latency-buckets.ts";
export { isWrite, OpCode, type OpName, opName } from "./protocol/op-code.ts";
export {
  CHANGES_COUNT_MAX,
  ChangesScope,
  type HistoryAnswer,
  type HistoryQuery,
  type HistoryReach,
  MomentUnit,
  PAST_NAMES_BYTES_MAX,
  type PastChange,
  type PastChanges,
  type PastChildren,
  type PastMoment,
  type PastNode,
  PastPart,
  type PastPlace,
  type PastRefusal,
  type ZxidRange,
} from "./protocol/past.ts";
export type {
  DiskRoom,
  ElectionMessage,
  EntriesMessage,
  ForwardMessage,
  LinkRef,
  PeerMessage,
  PeerRole,
  RefuseReason,
  StateOrigin,
  Touch,
  Vote,
  ZabMessage,
} from "./protocol/peer-message.ts";
export {
  ChildDetail,
  type ChildPage,
  type ConnectAnswer,
  type ConnectionRef,
  type ReplySink,
} from "./protocol/reply.ts";
export type { ChangeRequest } from "./protocol/request.ts";
export {
  CreateMode,
  isEphemeralMode,
  isSequentialMode,
  isTtlMode,
  newRequest,
  type PartsPosition,
  type Request,
  type RequestDecoder,
} from "./protocol/request.ts";
export { type TimeFault, timeFaultText } from "./protocol/time-fault.ts";
export {
  clearTxnOp,
  newTxnHeader,
  newTxnOp,
  type TxnBatcher,
  type TxnDecoder,
  type TxnEncoder,
  type TxnHeader,
  type TxnOp,
} from "./protocol/txn.ts";
export { FRAME_HEADER_BYTES, type FrameBatch, frameLength, frameZxid, writeFrameHeader } from "./protocol/txn-frame.ts";
export type { LogConfigs, LoggedRun, ReadResult, RunMarks, TxnLog } from "./protocol/txn-log.ts";
export { WireError, type WireErrorCode } from "./protocol/wire-error.ts";
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
} from "./protocol/zxid.ts";
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
export { PRICES } from "./shares/prices.ts";
export {
  ACL_COUNT_MAX,
  aclIndexBytes,
  may,
  OPEN_ACL,
  Permission,
  prepareAcl,
  READ_ONLY_ACL,
} from "./tree/acl.ts";
export type { AccessRules, Acl, AclEntry, Identity, SchemeRule } from "./tree/acl-entry.ts";
export type { NodeView } from "./tree/node-view.ts";
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
} from "./tree/path.ts";
export {
  formatSessionId,
  PASSWORD_BYTES,
  PASSWORD_HASH_BYTES,
  SESSION_NONE,
  type SessionId,
  sessionIdFromHalves,
  sessionIdHigh,
  sessionIdLow,
} from "./tree/session.ts";
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
} from "./tree/stat.ts";
export {
  AddWatchMode,
  isAddWatchMode,
  isWatchSelector,
  WatchEventType,
  WatchMode,
  WatchSelector,
  WatchTableKind,
} from "./tree/watch.ts";
