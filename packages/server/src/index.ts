export { StoreError } from "@zooid/txn-log";
export {
  type Access,
  type AccessFault,
  accessFault,
  directoryFault,
  type ImportedSessions,
  makeDirectory,
} from "@zooid/txn-log/sqlite";
export type { AdminReport } from "./admin/client-reports.ts";
export type { Report } from "./admin/four-letter-words.ts";
export type {
  AdminConfig,
  AdminOptions,
  MetricsConfig,
  MetricsOptions,
  SnapshotCommandsConfig,
} from "./admin/http-options.ts";
export type { AdminApplication, ApplicationRequest } from "./admin/http-port.ts";
export type { BackupOptions } from "./backup/backup-options.ts";
export type { AuthFailuresOptions } from "./clients/auth-failures.ts";
export type { ClientAuth, ClientAuthOptions } from "./clients/client-auth.ts";
export type { ConnectionThrottleConfig, ConnectionThrottleOptions } from "./clients/connection-throttle.ts";
export {
  ConfigError,
  parseServerConfig,
  type ReapingOptions,
  type RetentionOptions,
  type ServerConfig,
  type ServerOptions,
} from "./config.ts";
export type { DiskOptions } from "./disk/disk-marks.ts";
export type { HistoryOptions } from "./disk/history-reports.ts";
export type { ScrubSettings } from "./disk/scrub-reports.ts";
export { FollowError } from "./following/follow-error.ts";
export type { FollowConfig, FollowOptions } from "./following/follow-options.ts";
export { type Listening, type OwnPort, ownPorts, type PortSettings } from "./listening/own-ports.ts";
export { type AnsweringMember, answeringMembers } from "./offline/answering-members.ts";
export type { ApacheDirectories, ApacheFile, ApacheFiles } from "./offline/apache/apache-files.ts";
export type { ApacheVoter } from "./offline/apache/apache-voter.ts";
export { type ApacheEnsemble, readEnsemble } from "./offline/apache/choose-voter.ts";
export {
  type Exported,
  type ExportOptions,
  type ExportSource,
  exportToApache,
} from "./offline/apache/export-apache.ts";
export { type Imported, type ImportOptions, importApache } from "./offline/apache/import-apache.ts";
export { type ImportChoice, type ImportPlan, planImport } from "./offline/apache/import-plan.ts";
export { type ApacheState, readApache } from "./offline/apache/read-apache.ts";
export { type BackupChoice, type ChoiceOptions, chooseFromBackup } from "./offline/backup/backup-choice.ts";
export { checkRoom } from "./offline/backup/free-room.ts";
export { type StageOptions, withStagedBackup } from "./offline/backup/staged-backup.ts";
export type { DataDirectories } from "./offline/data-directories.ts";
export { hasConfiguration } from "./offline/has-configuration.ts";
export { type HistoryOwner, historyOwner } from "./offline/history-owner.ts";
export { type Comparison, compareTrees, comparisonText } from "./offline/inspect/compare-trees.ts";
export { inspectFiles } from "./offline/inspect/inspect-files.ts";
export { inspectHistory } from "./offline/inspect/inspect-history.ts";
export type { InspectOptions } from "./offline/inspect/inspect-options.ts";
export { type NodeHistoryOptions, printChanges, printPastNode } from "./offline/inspect/node-history.ts";
export { readTree, type TreePlace } from "./offline/inspect/read-tree.ts";
export { checkNewDirectory } from "./offline/new-directory.ts";
export { OfflineError } from "./offline/offline-error.ts";
export {
  type SnapshotOptions,
  snapshotText,
  type WrittenSnapshot,
  writeOfflineSnapshot,
} from "./offline/offline-snapshot.ts";
export {
  EPOCHS_SKIPPED,
  firstZxidOf,
  type Recovered,
  type RecoverOptions,
  recoverMember,
  recoveryProblems,
} from "./offline/recover-member.ts";
export { type Restored, type RestoreOptions, restoreHistory } from "./offline/restore-history.ts";
export { planRestore, type RestorePlan, type RestoreTarget } from "./offline/restore-plan.ts";
export { newestFirst, positionText, readSurvivor, type Survivor } from "./offline/survivor.ts";
export type { AuditOperation, AuditRecord, OperatorAct } from "./operators/audit-trail.ts";
export { auditUsers } from "./operators/audit-users.ts";
export type { Change } from "./operators/change-stream.ts";
export { LOG_EVENTS, type LogEvent, type OperatorEvent, type ServerEvent } from "./operators/log-events.ts";
export type { LogFields } from "./operators/log-fields.ts";
export { isLogLevel, LOG_LEVELS, type LogLevel } from "./operators/log-level.ts";
export { PROTOCOL_VERSION } from "./operators/server-facts.ts";
export type {
  EnsembleOptions,
  EnsembleServerOptions,
  QuorumPeerConfig,
  UnlistedServers,
} from "./peers/ensemble-config.ts";
export type { PeerIdentity, SaidProtection } from "./peers/handshake.ts";
export type { EnsembleServer, MemberDirectory, PeerAddress } from "./peers/member-directory.ts";
export { PeerPortError } from "./peers/peer-listener.ts";
export { type PeerSecret, type PeerSecretMode, writePeerSecretFile } from "./peers/peer-secret.ts";
export type { PeerProtection, PeerSecurity, PeerSecurityOptions } from "./peers/peer-security.ts";
export type { PeerStoreOptions, PeerTlsFiles } from "./peers/peer-tls.ts";
export type { Accepting, PeerTransport } from "./peers/peer-transport.ts";
export type { UnreachablePeer } from "./peers/reachability.ts";
export type { ReloadAnswer, ReloadMode, ReloadResult } from "./reload-result.ts";
export type { SaslUsers } from "./sasl/digest-md5.ts";
export type { GssAcceptor, GssContext, GssStep } from "./sasl/gss-context.ts";
export type { Kerberos, KerberosOptions } from "./sasl/kerberos.ts";
export type { PrincipalNames, PrincipalNamesOptions } from "./sasl/principal-names.ts";
export type { PrincipalRules } from "./sasl/principal-rules.ts";
export { startServer } from "./server.ts";
export type {
  Role,
  ServerLog,
  ServerSummary,
  StartOptions,
  StorageStatus,
  ZooidServer,
} from "./server-api.ts";
export type { StandbyOptions } from "./standby/standby-options.ts";
export type { KeyStoreOptions } from "./tls/key-store.ts";
export type { ClientAuthMode, TlsConfig, TlsOptions } from "./tls/tls-config.ts";
