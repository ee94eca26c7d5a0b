import type { DiskRoom, ServerId, SessionId, Zxid } from "@zooid/model";
import type { ClosingAnswer, OpeningAnswer, RaiseAnswer, SessionEnding } from "@zooid/replica";
import type { ServerBackup } from "../backup/server-backup.ts";
import type { ServerConfig } from "../config.ts";
import type { Driver } from "../driver/driver.ts";
import type { FollowStatus } from "../following/follow-status.ts";
import type { FollowRefusal, SyncAnswer } from "../following/follow-syncs.ts";
import type { FollowedSessions } from "../following/followed-sessions.ts";
import type { FollowEnd } from "../following/following.ts";
import type { ApacheExports } from "../operators/apache-exports.ts";
import type { AuditTail } from "../operators/audit-tail.ts";
import type { AuditedClient, AuditRecord } from "../operators/audit-trail.ts";
import type { Drain } from "../operators/drain.ts";
import type { LogLevel } from "../operators/log-level.ts";
import type { LinkCounts } from "../peers/link-protection.ts";
import type { Reachability } from "../peers/reachability.ts";
import type { ReloadAnswer } from "../reload-result.ts";
import type { RunningRestore } from "../restore/running-restore.ts";
import type { TakeOver } from "../standby/take-over.ts";
import type { HistoryPurges } from "../storage/history-purges.ts";
import type { AnswerSlices } from "./answer-slices.ts";
import type { Metric } from "./metric.ts";
import type { SnapshotEndpoint } from "./snapshot-endpoint.ts";

/** A certificate of this server. */
export interface CertificateFacts {
  readonly shownTo: "clients" | "peers" | "operators";
  /** In seconds since 1970; undefined where it is not known. */
  readonly notAfter: number | undefined;
  /** Times that the files were read again, and that the new ones could not be used. */
  readonly reloads: { readonly done: number; readonly failed: number };
}

/** Acts of operators on the whole state. */
export type StateAct =
  | "snapshot"
  | "restore"
  | "backup"
  | "purgeHistory"
  | "reload"
  | "takeOver"
  | "dropStandby"
  | "exportApache"
  | "followTouch"
  | "followFinish"
  | "followResume";

/** The acts of a server that follows an Apache ensemble, for the take-over of its clients. */
export interface FollowerActs {
  sessions(): Promise<FollowedSessions>;
  /** @returns the number of sessions that Apache's leader extends */
  touch(): Promise<number | FollowRefusal>;
  sync(): Promise<SyncAnswer | FollowRefusal>;
  /** Copies all that is applied to the backup's target. */
  archive(): Promise<FollowEnd | FollowRefusal>;
  /** Ends the following behind a transaction for good, and copies all to the backup's target. */
  finish(zxid: Zxid): Promise<FollowEnd | FollowRefusal>;
  /** @returns the transaction behind which the following begins again */
  resume(): Promise<Zxid | FollowRefusal>;
}

/** The data of a running server that operators query by four-letter words, HTTP and metrics. */
export interface AdminView {
  readonly driver: Driver;
  /** Makes answers that grow with the state. */
  readonly slices: AnswerSlices;
  readonly config: ServerConfig;
  readonly version: string;
  readonly startedAtMs: number;
  /** The port that is bound. */
  clientPort(): number;
  /** The bound port for TLS alone, if there is one. */
  securePort(): number | undefined;
  /** Whether the server has served clients since its start. */
  hasServed(): boolean;
  /** How a server stands that follows an Apache ensemble; undefined for one that serves clients. */
  following(): FollowStatus | undefined;
  /** Undefined for a server that serves clients. */
  follower(): FollowerActs | undefined;
  /** Milliseconds by which the clocks of other servers are ahead of this one's. */
  clockOffsets(): ReadonlyMap<ServerId, number>;
  /** The TLS certificates in use, by who sees them. */
  certificates(): readonly CertificateFacts[];
  /** TLS handshakes of clients in progress. */
  handshakeCount(): number;
  /** Connections refused because of a limit. */
  rejectedCount(): number;
  /** Bytes of state files and of the log. */
  diskUsage(): { readonly dataBytes: number; readonly logBytes: number };
  /**
   * The newest snapshot that is complete on disk, and when it was written, in seconds; undefined
   * where everything is in memory.
   */
  lastState(): { readonly zxid: number; readonly writtenAtSeconds: number } | undefined;
  /** The servers that this one is connected to; undefined for a server without an ensemble. */
  reachability(): Reachability | undefined;
  /**
   * The links to other servers, and how many of them are protected; undefined for a standalone
   * server.
   */
  linkCounts(): LinkCounts | undefined;
  /**
   * Why this learner does not reach the leader that it has found; undefined while there is no
   * reason.
   */
  dialFault(): string | undefined;
  /** Why other servers cannot connect to this one yet; undefined while there is no reason. */
  startWaitsFor(): string | undefined;
  /** Which servers are not counted for a quorum, and why; empty while clients are served. */
  quorumNote(): string;
  /** The observers that reach their leader through this server. */
  relayedObservers(): readonly ServerId[];
  /** Syncs of the log that took longer than `fsync.warningthresholdms`. */
  slowSyncCount(): number;
  /** Snapshots sent to learners that lagged too far for a diff. */
  snapshotCount(): number;
  /** Empties the server of its clients. */
  readonly drain: Drain;
  /** The newest writes of its clients, while an operator reads them. */
  readonly auditTail: AuditTail;
  /** Ends a session before its timeout; the log and the audit log have the requester. */
  endSession(id: SessionId, requester: AuditedClient): SessionEnding;
  /** Raises the feature level; the log and the audit log have the requester. */
  raiseLevel(requester: AuditedClient): RaiseAnswer;
  /** Opens the ensemble to clients; the log and the audit log have the requester. */
  openClients(requester: AuditedClient): OpeningAnswer;
  /** Closes the ensemble to clients; the log and the audit log have the requester. */
  closeClients(requester: AuditedClient): ClosingAnswer;
  /** The audit log gets an act on the whole state. */
  acted(act: StateAct, requester: AuditedClient, result: AuditRecord["result"]): void;
  /** The level of the server's log; undefined if its log has none that can be changed. */
  logLevel(): LogLevel | undefined;
  setLogLevel(level: LogLevel, requester: AuditedClient): void;
  /**
   * Reads the configuration again; the log has the requester. Undefined where the host of this
   * server has none that it could read.
   */
  readonly reload: ((isDryRun: boolean, address: string) => ReloadAnswer) | undefined;
  /** The newest lines of the log; none if its host keeps none. */
  recentLines(): readonly string[];
  /** Snapshot and restore. */
  readonly snapshots: SnapshotEndpoint;
  /** The state in Apache's form, for a return to its servers. */
  readonly apacheExports: Pick<ApacheExports, "take">;
  /** On the disk, for writes. */
  room(): DiskRoom;
  /** The damaged files, and the consequences; undefined while no damage is known. */
  damage(): string | undefined;
  /** The backup of the history; undefined where there is none. */
  readonly backup: Pick<ServerBackup, "begin" | "fault" | "status"> | undefined;
  /** Removes the history up to a transaction for good. */
  readonly purges: HistoryPurges;
  /**
   * Why no purge and no restore may begin beside the one that is under way; undefined: one may.
   */
  workUnderWay(): string | undefined;
  /** Restores of states of the past from the backup. */
  readonly runningRestore: Pick<RunningRestore, "begin" | "obstacle" | "status">;
  /** The state of a followed Apache ensemble that this member has ready. */
  readonly takeOver: Pick<
    TakeOver,
    "begin" | "drop" | "dropObstacle" | "look" | "obstacle" | "others" | "standby" | "taken"
  >;
  /** Ports that are not where the ensemble's configuration puts them, a sentence each. */
  portProblems(): readonly string[];
  /** Prefix of the admin port's commands, without a slash at the end. */
  readonly commandUrl: string;
  /** The text of the configuration file, if there was one. */
  readonly initialConfiguration: string;
  /** The four-letter words that are answered; a reload replaces them. */
  readonly fourLetterWords: { allowed: ReadonlySet<string> };
  /** Apache's trace mask; it is stored and shown, and has no other effect. */
  readonly traceMask: { value: bigint };
  /** Sizes of the log and lag of the state file. */
  storageMetrics(): Iterable<Metric>;
}

/** The answer of commands while the server has no role in which it could serve. */
export const NOT_SERVING = "This ZooKeeper instance is not currently serving requests";

/**
 * Whether there is something to answer from. A member of an ensemble without a role accepts
 * connections, and serves none of them; a server that follows an Apache ensemble shows its tree.
 */
export function isServing({ driver, following }: AdminView): boolean {
  const followed = following();
  if (followed !== undefined) return followed.hasState && followed.state !== "installing";
  return driver.isServing && (driver.replica.isServing || driver.replica.isReadOnly);
}

export type Mode = "standalone" | "leader" | "follower" | "observer" | "read-only";

/** The server's role, by the name that tools know. */
export function modeOf({ driver, config, following }: AdminView): Mode {
  if (following() !== undefined) return "observer";
  if (config.ensemble === undefined) return "standalone";
  if (driver.replica.isReadOnly) return "read-only";
  switch (driver.replica.zab.state) {
    case "leading":
      return "leader";
    case "observing":
      return "observer";
    default:
      return "follower";
  }
}

/** The zxid in the answers to reads; of a server that follows, the last one applied. */
export function shownZxid({ driver: { replica }, following }: AdminView): Zxid {
  return following() === undefined ? replica.visibleZxid : replica.tree.applied;
}

/** `following - broadcast`: the role and its phase. */
export function peerState({ driver }: AdminView): string {
  const { state, phase } = driver.replica.zab;
  return phase === "election" ? state : `${state} - ${phase}`;
}

/** Resets the counters of the server, or of its connections. */
export function resetServer({ driver }: AdminView): void {
  driver.replica.resetCounters();
  driver.traffic.reset();
  driver.roleTimes.resetCounts();
  driver.fanOut.reset();
}

export function resetConnections({ driver }: AdminView): void {
  for (const connection of driver.replica.connections()) connection.stats.reset();
}
