export {
  type Acl,
  type AclEntry,
  ErrorCode,
  type ErrorName,
  formatSessionId,
  formatZxid,
  OPEN_ACL,
  Permission,
  READ_ONLY_ACL,
  type SessionId,
  type Stat,
  type Zxid,
} from "@zooid/model";
export type { ClientInfo } from "@zooid/wire";
export type { CallOptions } from "./call.ts";
export {
  Client,
  type CreateOptions,
  type ObserveDataOptions,
  type ObserveOptions,
  type ReadOptions,
  type VersionOptions,
  type Watched,
} from "./client.ts";
export { type ClientState, isConnected, isTerminal } from "./client-state.ts";
export { type Codec, json, text } from "./codec.ts";
export { connect, createClient } from "./connect.ts";
export { type ConnectString, formatAddress, type HostAddress, parseConnectString } from "./connect-string.ts";
export type { CreateMode, Payload } from "./create-mode.ts";
export {
  type FailedOp,
  isZkError,
  type LocalErrorName,
  type Outcome,
  TransactionError,
  ZkConnectionError,
  ZkError,
  type ZkErrorCode,
  type ZkErrorDetail,
  ZkNodeError,
  ZkPermissionError,
  ZkRequestError,
  ZkServerError,
  ZkSessionError,
} from "./errors.ts";
export type { HostProvider } from "./host-list.ts";
export type { EventsOptions, Resync } from "./observe-events.ts";
export type { DecodeOptions, ObservedNode } from "./observed-node.ts";
export type { OneShotWatch } from "./one-shot-watch.ts";
export type { Children, Created, NodeData } from "./operation.ts";
export type { ClientOptions, Credential } from "./options.ts";
export { type ExponentialOptions, type RetryAttempt, type RetryPolicy, retry } from "./retry.ts";
export { tcpTransport } from "./tcp-transport.ts";
export type { Transaction } from "./transaction.ts";
export type { Transport, TransportConnection, TransportEvents } from "./transport.ts";
export type { WatchEvent } from "./watch-event.ts";
