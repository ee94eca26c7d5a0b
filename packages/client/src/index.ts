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
export { type AdminCommandOptions, adminCommand } from "./admin-command.ts";
export type { CallOptions } from "./call.ts";
export {
  Client,
  type ClientMetrics,
  type CreateOptions,
  type DeleteOptions,
  type IdempotentOptions,
  type ObserveDataOptions,
  type ObserveOptions,
  type PutOptions,
  type ReadOptions,
  type SetOptions,
  type VersionOptions,
  type Watched,
} from "./client.ts";
export { type ClientState, isConnected, isTerminal } from "./client-state.ts";
export { type CloseOnExitOptions, closeOnExit } from "./close-on-exit.ts";
export { type Codec, gzip, json, raw, text } from "./codec.ts";
export { connect, createClient } from "./connect.ts";
export { type ConnectString, formatAddress, type HostAddress, parseConnectString } from "./connect-string.ts";
export type { CreateMode, Payload } from "./create-mode.ts";
export type { DeleteTreeOptions } from "./delete-tree.ts";
export type {
  FallbackMessage,
  RequestMessage,
  ResponseMessage,
  StallMessage,
  StateMessage,
  WatchMessage,
} from "./diagnostics.ts";
export { type DigestMd5User, digestMd5 } from "./digest-md5.ts";
export type { ConfigChange, EnsembleConfig, EnsembleServer } from "./ensemble-config.ts";
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
export { CREATOR_ALL_ACL, digest, digestId } from "./identities.ts";
export type { InterceptedCall, InterceptedStep, Interceptor } from "./interceptor.ts";
export type { EventsOptions, Resync } from "./observe-events.ts";
export type { TreeChange, TreeNode, TreeOptions } from "./observe-tree.ts";
export type { DecodeOptions, ObservedNode } from "./observed-node.ts";
export type { OneShotWatch } from "./one-shot-watch.ts";
export type { Children, Created, NodeData } from "./operation.ts";
export type { ClientOptions, Credential } from "./options.ts";
export type { ParentMode } from "./parents.ts";
export { type ProtectedName, parseProtectedName } from "./protected-name.ts";
export type { ReadBatch, ReadNode, ReadResult } from "./read-batch.ts";
export { type ExponentialOptions, type KazooOptions, type RetryAttempt, type RetryPolicy, retry } from "./retry.ts";
export type { SaslExchange, SaslMechanism } from "./sasl.ts";
export { tcpTransport } from "./tcp-transport.ts";
export { type TlsOptions, tlsTransport } from "./tls-transport.ts";
export type { Transaction } from "./transaction.ts";
export type { Transport, TransportConnection, TransportEvents } from "./transport.ts";
export type { TreeWatches } from "./tree-watches.ts";
export type { PathParameters, TypedNode, TypedNodes, UpdateOptions } from "./typed-nodes.ts";
export type { AclSource, ViewOptions } from "./view.ts";
export type { WatchEvent } from "./watch-event.ts";
