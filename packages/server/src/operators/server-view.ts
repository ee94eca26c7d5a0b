import type { BackupStatus } from "@zooid/backup";
import { type DiskRoom, formatSessionId, type SessionId, type Zxid } from "@zooid/model";
import type { ClosingAnswer, OpeningAnswer, RaiseAnswer, SessionEnding } from "@zooid/replica";
import type { ImportedSessions } from "@zooid/txn-log/sqlite";
import type { AdminView, CertificateFacts } from "../admin/admin-view.ts";
import { AnswerSlices } from "../admin/answer-slices.ts";
import { FOLLOWS } from "../admin/commands/follow.ts";
import { NO_SNAPSHOT_COMMANDS } from "../admin/http-options.ts";
import { keptFor } from "../admin/kept-reading.ts";
import type { OperatorPorts } from "../admin/operator-ports.ts";
import { SnapshotEndpoint } from "../admin/snapshot-endpoint.ts";
import type { ClientPorts } from "../clients/client-ports.ts";
import type { ServerConfig } from "../config.ts";
import type { Driver } from "../driver/driver.ts";
import type { EnsemblePeers } from "../ensemble-peers.ts";
import { followerActs } from "../following/follower-acts.ts";
import type { Following } from "../following/following.ts";
import type { RunningRestore } from "../restore/running-restore.ts";
import type { ServerLog } from "../server-api.ts";
import type { TakeOver } from "../standby/take-over.ts";
import { HistoryPurges } from "../storage/history-purges.ts";
import type { Storage } from "../storage/storage.ts";
import { type WholeStateWork, workUnderWay } from "../storage/whole-state-work.ts";
import { ApacheExports } from "./apache-exports.ts";
import type { AuditTail } from "./audit-tail.ts";
import type { AuditedClient, AuditTrail } from "./audit-trail.ts";
import { buildTime } from "./build-time.ts";
import type { Drain } from "./drain.ts";
import { LOG_LEVELS, type LogLevel } from "./log-level.ts";
import { versionText } from "./server-facts.ts";

/** Apache's initial trace mask. */
const TRACE_MASK = 306n;
/** The sizes of all files are read no more often. */
const DISK_USAGE_MS = 1000;
const IN_MEMORY = "this server keeps everything in memory: it has no snapshot to send or replace";
const NOT_ALONE =
  "this server is a member of an ensemble, whose other members would keep their state: restore into a standalone server";

/** The parts of a server that operators query; a restore replaces the driver and the storage. */
export interface ViewedServer {
  readonly config: ServerConfig;
  readonly log: ServerLog;
  /** Our own version in `srvr`. */
  readonly version: string;
  readonly ports: ClientPorts;
  clientPort(): number;
  driver(): Driver;
  storage(): Storage;
  peers(): EnsemblePeers | undefined;
  /** Undefined for a server that serves clients. */
  following(): Following | undefined;
  operators(): OperatorPorts | undefined;
  hasServed(): boolean;
  /** On the disk, for writes. */
  room(): DiskRoom;
  /** See {@link AdminView.portProblems}. */
  portProblems(): readonly string[];
  readonly drain: Drain;
  readonly audit: AuditTrail;
  readonly auditTail: AuditTail;
  readonly fourLetterWords: AdminView["fourLetterWords"];
  restore(pieces: AsyncIterable<Uint8Array>, sessions: ImportedSessions): Promise<Zxid>;
  readonly runningRestore: RunningRestore;
  readonly takeOver: TakeOver;
  /** See {@link AdminView.reload}. */
  readonly reload: AdminView["reload"];
}

function certificatesOf(
  { tls }: ServerConfig,
  ports: ClientPorts,
  peers: EnsemblePeers | undefined,
  operators: OperatorPorts | undefined,
): readonly CertificateFacts[] {
  const toPeers = peers?.certificateNotAfter;
  return [
    ...(tls === undefined
      ? []
      : [{ shownTo: "clients" as const, notAfter: ports.certificateNotAfter, reloads: ports.reloads }]),
    ...(peers === undefined || toPeers === undefined
      ? []
      : [{ shownTo: "peers" as const, notAfter: toPeers, reloads: peers.reloads }]),
    ...(operators?.hasTls === true
      ? [{ shownTo: "operators" as const, notAfter: operators.certificateNotAfter, reloads: operators.reloads }]
      : []),
  ];
}

/** Acts on the whole state have no session. */
const NO_SESSION = 0n as SessionId;

function endSession(
  { driver, audit, log }: ViewedServer,
  session: SessionId,
  { identities, address }: AuditedClient,
): SessionEnding {
  const ending = driver().endSession(session);
  const result = ending === "ended" || ending === "ending" ? "success" : "failure";
  audit.acted("endSession", { zxid: driver().replica.visibleZxid, session, identities, address, result });
  if (result === "success")
    log.info(`session ${formatSessionId(session)} is ended by an operator at ${address}`, { event: "session-ended" });
  return ending;
}

function raiseLevel({ driver, audit, log }: ViewedServer, { identities, address }: AuditedClient): RaiseAnswer {
  const answer = driver().raiseLevel();
  const result = answer.kind === "proposed" || answer.kind === "in-force" ? "success" : "failure";
  const { visibleZxid: zxid } = driver().replica;
  audit.acted("finalizeUpgrade", { zxid, session: NO_SESSION, identities, address, result });
  if (answer.kind === "proposed") {
    log.info(`the feature level is raised from ${answer.from} to ${answer.level} by an operator at ${address}`, {
      event: "level-raised",
    });
  }
  return answer;
}

function openClients({ driver, audit, log }: ViewedServer, { identities, address }: AuditedClient): OpeningAnswer {
  const answer = driver().openClients();
  const result = answer === "proposed" || answer === "open" ? "success" : "failure";
  const { visibleZxid: zxid } = driver().replica;
  audit.acted("openClients", { zxid, session: NO_SESSION, identities, address, result });
  if (answer === "proposed")
    log.info(`the ensemble is opened to clients by an operator at ${address}`, { event: "clients-opened" });
  return answer;
}

function closeClients({ driver, audit, log }: ViewedServer, { identities, address }: AuditedClient): ClosingAnswer {
  const answer = driver().closeClients();
  const result = answer === "proposed" || answer === "closed" ? "success" : "failure";
  const { visibleZxid: zxid } = driver().replica;
  audit.acted("closeClients", { zxid, session: NO_SESSION, identities, address, result });
  if (answer === "proposed")
    log.info(`the ensemble is closed to clients by an operator at ${address}`, { event: "clients-closing" });
  return answer;
}

function setLogLevel(log: ServerLog, level: LogLevel, { address }: AuditedClient): void {
  const before = log.level;
  if (before === undefined || before === level) return;
  // The line is in the log if one of both levels has it.
  const text = `the log level is ${level}, was ${before}: an operator at ${address} has changed it`;
  const isLess = LOG_LEVELS.indexOf(level) > LOG_LEVELS.indexOf(before);
  if (isLess) log.info(text, { event: "setting" });
  log.level = level;
  if (!isLess) log.info(text, { event: "setting" });
}

/** @param otherWork the reason why nothing may be restored now, if so */
function snapshotEndpointOf(server: ViewedServer, otherWork: () => string | undefined): SnapshotEndpoint {
  const { config, log, driver, storage } = server;
  return new SnapshotEndpoint(config.admin?.snapshots ?? NO_SNAPSHOT_COMMANDS, {
    reason: config.dataDir === undefined ? IN_MEMORY : undefined,
    restoreReason: () => {
      if (config.follow !== undefined) return FOLLOWS;
      return config.ensemble === undefined ? otherWork() : NOT_ALONE;
    },
    exportSnapshot: async () => {
      const following = server.following();
      if (following === undefined) driver().checkpoint();
      else await following.settle();
      return storage().exportSnapshot();
    },
    restore: (pieces, sessions) => server.restore(pieces, sessions),
    nowMs: () => performance.now(),
    info: (text, fields) => log.info(text, fields),
    warn: (text, fields) => log.warn(text, fields),
  });
}

export function adminViewOf(server: ViewedServer): AdminView {
  const { config, log, ports, driver, storage } = server;
  const checkpoint = (): void => {
    const following = server.following();
    if (following === undefined) driver().checkpoint();
    else void following.settle();
  };
  const work = (): WholeStateWork => ({
    isPurging: purges.status.state === "running",
    isReceiving: snapshots.isRestoring,
    isRestoring: server.runningRestore.isUnderWay,
    isTakingOver: server.takeOver.isUnderWay,
  });
  // Of two snapshots the second one is refused as busy.
  const snapshots = snapshotEndpointOf(server, () => workUnderWay({ ...work(), isReceiving: false }));
  const purges = new HistoryPurges({
    storage,
    checkpoint,
    workUnderWay: () => workUnderWay(work()),
    info: (text, fields) => log.info(text, fields),
    warn: (text, fields) => log.warn(text, fields),
  });
  return {
    get driver(): Driver {
      return driver();
    },
    config,
    slices: new AnswerSlices({
      now: () => performance.now(),
      wake: () => driver().wake(),
      later: (callback) => driver().later(callback),
    }),
    drain: server.drain,
    auditTail: server.auditTail,
    version: versionText(server.version, buildTime()),
    startedAtMs: performance.now(),
    clientPort: () => server.clientPort(),
    diskUsage: keptFor(DISK_USAGE_MS, () => {
      const { stateBytes, logBytes } = storage().usage();
      return { dataBytes: stateBytes, logBytes };
    }),
    commandUrl: config.admin?.commandUrl ?? "",
    initialConfiguration: config.initialConfiguration,
    securePort: () => ports.securePort,
    hasServed: () => server.hasServed(),
    following: () => server.following()?.status,
    follower: () => {
      const following = server.following();
      return following === undefined ? undefined : followerActs(following, storage);
    },
    clockOffsets: () => server.peers()?.clocks.offsets ?? new Map(),
    certificates: () => certificatesOf(config, ports, server.peers(), server.operators()),
    handshakeCount: () => ports.handshakeCount,
    rejectedCount: () => ports.rejectedCount,
    reachability: () => server.peers()?.reachability,
    linkCounts: () => server.peers()?.protection.counts,
    dialFault: () => server.peers()?.links.dialFault,
    startWaitsFor: () => server.peers()?.waitsFor,
    quorumNote: () => server.peers()?.quorumNote(performance.now()) ?? "",
    relayedObservers: () => server.peers()?.links.relayedObservers() ?? [],
    slowSyncCount: () => storage().log.stats().slowSyncCount,
    snapshotCount: () => storage().snapshotCount,
    lastState: () => storage().lastState(),
    raiseLevel: (requester) => raiseLevel(server, requester),
    openClients: (requester) => openClients(server, requester),
    closeClients: (requester) => closeClients(server, requester),
    endSession: (id, requester) => endSession(server, id, requester),
    logLevel: () => log.level,
    recentLines: () => log.recent?.() ?? [],
    reload: server.reload,
    setLogLevel: (level, requester) => setLogLevel(log, level, requester),
    acted: (act, requester, result) =>
      server.audit.acted(act, {
        zxid: driver().replica.visibleZxid,
        session: NO_SESSION,
        identities: requester.identities,
        address: requester.address,
        result,
      }),
    snapshots,
    apacheExports: new ApacheExports((options) => {
      driver().checkpoint();
      return storage().exportSnapshot(options);
    }),
    purges,
    workUnderWay: () => workUnderWay(work()),
    room: () => server.room(),
    damage: () => storage().damage(),
    get backup(): AdminView["backup"] {
      const { backup } = storage();
      if (backup === undefined) return undefined;
      const begin = (): BackupStatus => {
        // The archive gets what is applied.
        checkpoint();
        return backup.begin();
      };
      return { begin, fault: () => backup.fault(), status: backup.status };
    },
    runningRestore: server.runningRestore,
    takeOver: server.takeOver,
    portProblems: () => server.portProblems(),
    fourLetterWords: server.fourLetterWords,
    traceMask: { value: TRACE_MASK },
    storageMetrics: () => storage().metrics(),
  };
}
