export {
  type Acl,
  type AclEntry,
  ArgumentError,
  ErrorCode,
  type ErrorName,
  errorCode,
  formatSessionId,
  formatZxid,
  OPEN_ACL,
  type PastChildren,
  type PastNode,
  Permission,
  READ_ONLY_ACL,
  type SessionId,
  type Stat,
  type Zxid,
  type ZxidRange,
} from "@zooid/model";
export type { ClientInfo, ListedChild } from "@zooid/wire";
export type { AclEntryInput, AclInput } from "./auth/acl-checks.ts";
export { type DigestMd5User, digestMd5 } from "./auth/digest-md5.ts";
export { CREATOR_ALL_ACL, digest, digestId } from "./auth/identities.ts";
export type { SaslExchange, SaslMechanism } from "./auth/sasl.ts";
export type { CallOptions } from "./calls/call.ts";
export type { InterceptedCall, InterceptedStep, Interceptor } from "./calls/interceptor.ts";
export type { Children, Created, NodeData } from "./calls/operation.ts";
export {
  type ExponentialOptions,
  type KazooOptions,
  type RetryAttempt,
  type RetryPolicy,
  retry,
} from "./calls/retry.ts";
export { limitSignal, type PauseOptions, pause, startTimer, type Timer, type TimerOptions } from "./calls/timers.ts";
export { Client } from "./client.ts";
export { type CloseOnExitOptions, closeOnExit } from "./close-on-exit.ts";
export type { CloseOptions } from "./close-options.ts";
export { connect, createClient } from "./connect.ts";
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
export type { ChildrenPage } from "./operations/child-pages.ts";
export { type Codec, gzip, json, raw, text } from "./operations/codec.ts";
export type { AclSource, CreateMode, Payload } from "./operations/create-mode.ts";
export { DecodeError } from "./operations/decode-error.ts";
export type { Decoded } from "./operations/decoded-read.ts";
export type {
  ChildPagesOptions,
  CreateOptions,
  DeleteOptions,
  DeleteTreeOptions,
  EnsureOptions,
  HistoryOptions,
  IdempotentOptions,
  ParentMode,
  PutOptions,
  ReadOptions,
  SetOptions,
  UpdateOptions,
  VersionOptions,
} from "./operations/node-options.ts";
export type { ChangeAuthor, HistoryChange, HistoryItem } from "./operations/past.ts";
export { type ProtectedName, parseProtectedName } from "./operations/protected-name.ts";
export type { ReadBatch, ReadNode, ReadResult } from "./operations/read-batch.ts";
export type { SchemaIssue, SchemaResult, StandardSchema } from "./operations/standard-schema.ts";
export type { Transaction } from "./operations/transaction.ts";
export type { PathArguments, PathParameters, TypedNode, TypedNodes } from "./operations/typed-nodes.ts";
export { carryOutUndo, planUndo, type UndoPlan, type UndoStep } from "./operations/undo.ts";
export type { Watched } from "./operations/watched-read.ts";
export type { ClientOptions, Credential } from "./options.ts";
export { type ConnectString, formatAddress, type HostAddress, parseConnectString } from "./servers/connect-string.ts";
export type { ConfigChange, EnsembleConfig, EnsembleServer } from "./servers/ensemble-config.ts";
export type { HostProvider } from "./servers/host-list.ts";
export type { AttemptError } from "./session/attempt-failures.ts";
export { type ClientState, type ConnectionAttempts, isConnected, isTerminal } from "./session/client-state.ts";
export type {
  ConnectionMessage,
  FallbackMessage,
  RequestMessage,
  ResponseMessage,
  StallMessage,
  StateMessage,
  WatchMessage,
} from "./session/diagnostics.ts";
export { type FieldsFirstLogger, type LogFields, type Logger, pinoLogger } from "./session/logger.ts";
export type { ClientMetrics } from "./shared-parts.ts";
export { type IterateOptions, iterate } from "./streams/iterate.ts";
export type { ChangesOptions, ReachedChange } from "./streams/observe-changes.ts";
export type { EventsOptions, Resync } from "./streams/observe-events.ts";
export type { ObserveDataOptions, ObserveOptions } from "./streams/observe-options.ts";
export type { TreeChange, TreeNode, TreeOptions } from "./streams/observe-tree.ts";
export type { DecodeOptions, ObservedNode } from "./streams/observed-node.ts";
export { type AdminCommandOptions, adminCommand } from "./transport/admin-command.ts";
export { pathTransport } from "./transport/path-transport.ts";
export { tcpTransport } from "./transport/tcp-transport.ts";
export { type TlsOptions, tlsTransport } from "./transport/tls-transport.ts";
export type { Transport, TransportConnection, TransportEvents } from "./transport/transport.ts";
export type { ViewOptions } from "./view.ts";
export type { OneShotWatch } from "./watches/one-shot-watch.ts";
export type { TreeWatches } from "./watches/tree-watches.ts";
export type { WatchEvent } from "./watches/watch-event.ts";
