import { setTimeout as delay } from "node:timers/promises";
import { counterOf, epochOf, formatZxid, hostPort, type SessionId, sessionIdFromHalves } from "@zooid/model";
import type { Replica } from "@zooid/replica";
import type { LearnerStatus } from "@zooid/zab";
import { isLogLevel, LOG_LEVELS } from "../operators/log-level.ts";
import { type PurgeOutline, PurgeRefusal } from "../storage/history-purges.ts";
import {
  type AdminView,
  isServing,
  modeOf,
  NOT_SERVING,
  resetConnections,
  resetServer,
  type StateAct,
} from "./admin-view.ts";
import { denial, requesterIdentities } from "./authorise.ts";
import { backupFields, beginBackup } from "./backup-commands.ts";
import { auditTail, BadParameter, sessionClients } from "./client-reports.ts";
import { type ConnectionFacts, connectionFacts, type SessionFacts } from "./connection-facts.ts";
import { environment, systemProperties } from "./environment.ts";
import { grouped } from "./grouped.ts";
import type { HttpRequest, HttpStream } from "./http-port.ts";
import { type Json, JsonFields, JsonItems, JsonText, javaJsonPieces } from "./java-json.ts";
import { javaDecimal } from "./java-text.ts";
import { facts, monitorValues } from "./monitor.ts";
import { digestHistory } from "./past-digests.ts";
import { outlineFields, purgeFields, purgeRequestOf } from "./purge-commands.ts";
import { redacted } from "./redacted.ts";
import { momentOf, restoreFields } from "./restore-commands.ts";
import { expiryBuckets, owners } from "./session-dump.ts";
import { SnapshotRefusal } from "./snapshot-endpoint.ts";
import { dataWatches, type ListedWatch } from "./watch-listing.ts";

/** A request to an admin command. */
export interface CommandRequest extends Omit<HttpRequest, "path"> {
  readonly name: string;
}

export interface CommandAnswer {
  readonly status: number;
  readonly body: Json | HttpStream;
  readonly headers?: Readonly<Record<string, string>>;
  /** The HTTP method of the command. */
  readonly allow?: string;
}

interface Command {
  /** The first is the primary name, the others are aliases. */
  readonly names: readonly string[];
  /** Absent: GET. */
  readonly method?: "POST";
  /** Whether the command answers while the server has no role. */
  readonly isAlways?: true;
  readonly needsAuth?: true;
  /** Apache has no such command. */
  readonly isOwn?: true;
  run(view: AdminView, request: CommandRequest): Outcome | Promise<Outcome>;
}

type Outcome = Fields | JsonFields | Failure | Snapshot;
type Fields = { readonly [key: string]: Json };

/** The error of a command. */
class Failure {
  readonly error: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(error: string, status = 200, headers: Readonly<Record<string, string>> = {}) {
    this.error = error;
    this.status = status;
    this.headers = headers;
  }
}

function refused({ error, status, retryAfterMs }: SnapshotRefusal): Failure {
  const headers = retryAfterMs === undefined ? {} : { "retry-after": `${Math.ceil(retryAfterMs / 1000)}` };
  return new Failure(error, status, headers);
}

/** A snapshot, to be sent or only announced by its headers. */
class Snapshot {
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined: it is not sent. */
  readonly stream: HttpStream | undefined;

  constructor(headers: Readonly<Record<string, string>>, stream: HttpStream | undefined) {
    this.headers = headers;
    this.stream = stream;
  }
}

/** Watches listed in one answer; an answer with more says that it was cut. */
const WATCHES_MAX = 100_000;
/** Our digest of a tree is not computed as Apache's are, whose versions are small numbers. */
const DIGEST_VERSION = 100;
const LONG = /^[+-]?\d{1,19}$/;

const COMMANDS: readonly Command[] = [
  { names: ["audit_tail"], isOwn: true, needsAuth: true, run: (view, { query }) => checked(auditTail(view, query)) },
  { names: ["backup_now"], isOwn: true, method: "POST", needsAuth: true, run: backupNow },
  { names: ["backup_status"], isOwn: true, isAlways: true, needsAuth: true, run: backupStatus },
  { names: ["configuration", "conf", "config"], run: configuration },
  { names: ["connection_stat_reset", "crst"], run: (view) => after(() => resetConnections(view)) },
  { names: ["connections", "cons"], run: (view) => connections(view, fullConnection) },
  { names: ["dirs"], run: directories },
  { names: ["drain"], isOwn: true, method: "POST", needsAuth: true, run: drain },
  { names: ["drain_status"], isOwn: true, isAlways: true, run: (view) => drainStatus(view) },
  { names: ["dump"], run: dump },
  { names: ["end_session"], isOwn: true, method: "POST", needsAuth: true, run: endSession },
  { names: ["environment", "env", "envi"], isAlways: true, run: (view) => Object.fromEntries(environment(view)) },
  { names: ["get_trace_mask", "gtmk"], isAlways: true, run: ({ traceMask }) => ({ tracemask: traceMask.value }) },
  { names: ["hash"], run: hash },
  {
    names: ["initial_configuration", "icfg"],
    run: ({ initialConfiguration }) => ({ initial_configuration: redacted(initialConfiguration) }),
  },
  { names: ["is_read_only", "isro"], run: ({ driver }) => ({ read_only: driver.replica.isReadOnly }) },
  { names: ["last_snapshot", "lsnp"], run: lastSnapshot },
  { names: ["leader", "lead"], run: leader },
  { names: ["log_level"], isOwn: true, isAlways: true, run: logLevel },
  {
    names: ["log_tail"],
    isOwn: true,
    isAlways: true,
    needsAuth: true,
    run: (view) => ({ lines: new JsonItems(view.recentLines()) }),
  },
  { names: ["monitor", "mntr"], isAlways: true, run: monitor },
  { names: ["observer_connection_stat_reset", "orst"], run: () => ({}) },
  { names: ["observers", "obsr"], run: observers },
  { names: ["purge_history"], isOwn: true, method: "POST", needsAuth: true, run: purgeHistory },
  {
    names: ["purge_status"],
    isOwn: true,
    isAlways: true,
    needsAuth: true,
    run: ({ purges }) => purgeFields(purges.status),
  },
  { names: ["restore", "rest"], method: "POST", needsAuth: true, run: restore },
  { names: ["restore_state"], isOwn: true, method: "POST", needsAuth: true, run: restoreState },
  {
    names: ["restore_state_status"],
    isOwn: true,
    isAlways: true,
    needsAuth: true,
    run: ({ runningRestore }) => restoreFields(runningRestore.status),
  },
  { names: ["ruok"], run: () => ({}) },
  { names: ["server_stats", "srvr"], run: serverStats },
  { names: ["session_clients"], isOwn: true, needsAuth: true, run: sessionClients },
  { names: ["set_log_level"], isOwn: true, method: "POST", needsAuth: true, isAlways: true, run: setLogLevel },
  { names: ["set_trace_mask", "stmk"], isAlways: true, run: setTraceMask },
  { names: ["snapshot", "snap"], needsAuth: true, run: snapshot },
  { names: ["stat_reset", "srst"], run: (view) => after(() => resetServer(view)) },
  { names: ["stats", "stat"], run: (view) => ({ ...serverStats(view), ...connections(view, briefConnection) }) },
  { names: ["system_properties", "sysp"], isAlways: true, run: (view) => systemProperties(view) },
  { names: ["transfer_leadership"], isOwn: true, method: "POST", needsAuth: true, run: transferLeadership },
  { names: ["undrain"], isOwn: true, method: "POST", needsAuth: true, isAlways: true, run: undrain },
  { names: ["voting_view"], run: votingView },
  { names: ["watch_summary", "wchs"], run: watchSummary },
  { names: ["watches", "wchc"], run: watches },
  { names: ["watches_by_path", "wchp"], run: watchesByPath },
  { names: ["zabstate"], isAlways: true, run: zabState },
];

const BY_NAME: ReadonlyMap<string, Command> = new Map(
  COMMANDS.flatMap((command) => command.names.map((name) => [name, command] as const)),
);

/** Apache's commands by their primary name, in its order. */
export const COMMAND_NAMES: readonly string[] = COMMANDS.filter(({ isOwn }) => isOwn !== true).map(
  ({ names }) => names[0] ?? "",
);

/** Every name that a request may have, aliases too. */
export const ALL_COMMAND_NAMES: readonly string[] = [...BY_NAME.keys()];

/** Runs a command. Errors are answers too, mostly with status 200: scripts read their text. */
export async function runCommand(view: AdminView, request: CommandRequest): Promise<CommandAnswer> {
  const { name } = request;
  const command = BY_NAME.get(name);
  const asked = { view, address: request.address };
  if (command === undefined) return answer(name, new Failure(`Unknown command: ${name}`), asked);
  const primary = command.names[0] ?? name;
  const method = command.method ?? "GET";
  if (command.isAlways !== true && !isServing(view)) {
    return answer(name, command.isOwn === true ? notYet(NOT_SERVING) : new Failure(NOT_SERVING), asked);
  }
  if (method !== request.method) {
    return { ...answer(primary, new Failure(`${primary} requires ${method}`, 405), asked), allow: method };
  }
  const denied = command.needsAuth === true ? denial(view, request) : undefined;
  if (denied !== undefined) {
    // Passwords could be guessed here as well as at the client port.
    const delayMs = request.authorization === undefined ? 0 : view.driver.failureDelayMs(request.address);
    if (delayMs > 0) await delay(delayMs, undefined, { ref: false });
    return answer(name, new Failure(denied.error, denied.status), asked);
  }
  return answer(primary, await command.run(view, request), asked);
}

/** Commands whose answers grow with the state: they are made in slices. */
const GROWING: ReadonlySet<string> = new Set([
  "audit_tail",
  "connections",
  "dump",
  "session_clients",
  "stats",
  "watches",
  "watches_by_path",
]);

function answer(
  command: string,
  found: Outcome,
  { view, address }: { readonly view: AdminView; readonly address: string },
): CommandAnswer {
  if (found instanceof Snapshot) {
    const { headers, stream } = found;
    return { status: 200, headers, body: stream ?? { command, error: null } };
  }
  if (found instanceof Failure) {
    const { status, error, headers } = found;
    return { status, headers, body: { command, error } };
  }
  const body = new JsonFields(fieldsOf(found, command));
  return { status: 200, body: GROWING.has(command) ? view.slices.answer(address, javaJsonPieces(body)) : body };
}

function* fieldsOf(
  found: Fields | JsonFields,
  command: string,
): Generator<readonly [string, Json] | undefined, void, undefined> {
  yield* found instanceof JsonFields ? found.fields : Object.entries(found);
  yield ["command", command];
  yield ["error", null];
}

function checked(found: JsonFields | BadParameter): JsonFields | Failure {
  return found instanceof BadParameter ? new Failure(found.error, 400) : found;
}

/** The answer of a command that only acts: it has no fields. */
function after(act: () => void): Fields {
  act();
  return {};
}

function configuration({ config, clientPort }: AdminView): Fields {
  return {
    client_port: clientPort(),
    data_dir: config.dataDir ?? "",
    data_log_dir: config.logDir ?? "",
    tick_time: config.tickMs,
    max_client_cnxns: config.connectionsPerAddressMax,
    min_session_timeout: config.sessionTimeoutMsMin,
    max_session_timeout: config.sessionTimeoutMsMax,
    server_id: config.ensemble?.sid ?? 0,
    client_port_listen_backlog: config.listenBacklog ?? -1,
  };
}

function connections(view: AdminView, shown: (facts: ConnectionFacts) => Fields): Fields {
  const ofKind = (isSecure: boolean): JsonItems => new JsonItems(connectionsOf(view, isSecure, shown));
  return { connections: ofKind(false), secure_connections: ofKind(true) };
}

function* connectionsOf(
  view: AdminView,
  isSecure: boolean,
  shown: (facts: ConnectionFacts) => Fields,
): Generator<Json | undefined, void, undefined> {
  for (const facts of connectionFacts(view)) yield facts.isSecure === isSecure ? shown(facts) : undefined;
}

function briefConnection({ host, interestOps, queued, received, sent }: ConnectionFacts): Fields {
  return {
    remote_socket_address: host,
    interest_ops: interestOps,
    outstanding_requests: queued,
    packets_received: received,
    packets_sent: sent,
  };
}

function fullConnection(facts: ConnectionFacts): Fields {
  const brief = briefConnection(facts);
  return facts.session === undefined ? brief : { ...brief, ...sessionFields(facts.session, facts.establishedMs) };
}

function sessionFields(session: SessionFacts, establishedMs: number): Fields {
  return {
    session_id: session.id,
    last_operation: session.lastOperation,
    established: establishedMs,
    session_timeout: session.timeoutMs,
    last_cxid: session.lastXid,
    last_zxid: session.lastZxid,
    last_response_time: session.lastResponseMs,
    last_latency: session.lastLatencyMs,
    min_latency: session.latencyMsMin,
    avg_latency: session.latencyMsAverage,
    max_latency: session.latencyMsMax,
  };
}

function directories(view: AdminView): Fields {
  const { dataBytes, logBytes } = view.diskUsage();
  return { datadir_size: dataBytes, logdir_size: logBytes };
}

function dump({ driver }: AdminView): Fields {
  const { replica } = driver;
  return {
    expiry_time_to_session_ids: new JsonFields(replica.isLeading ? expiring(replica) : []),
    session_id_to_ephemeral_paths: new JsonFields(owned(replica)),
  };
}

function* expiring(replica: Replica): Generator<readonly [string, Json] | undefined, void, undefined> {
  const buckets = expiryBuckets(replica);
  let step = buckets.next();
  for (; step.done !== true; step = buckets.next()) yield undefined;
  for (const [borderMs, ids] of step.value) yield [String(borderMs), new JsonItems(ids)];
}

function* owned(replica: Replica): Generator<readonly [string, Json] | undefined, void, undefined> {
  for (const owner of owners(replica)) {
    if (owner === undefined) yield undefined;
    else {
      const { high, low } = owner;
      yield [String(sessionIdFromHalves(high, low)), new JsonItems(replica.tree.listEphemerals(high, low))];
    }
  }
}

function hash(view: AdminView): Fields {
  return { digests: digestHistory(view).map(({ zxid, digest }) => ({ zxid, digest, digest_version: DIGEST_VERSION })) };
}

function lastSnapshot(view: AdminView): Fields {
  const state = view.lastState();
  if (state === undefined) return { zxid: "ffffffffffffffff", timestamp: -1 };
  return { zxid: state.zxid.toString(16), timestamp: state.writtenAtSeconds };
}

function leader({ driver, config }: AdminView): Fields | Failure {
  const sid = driver.replica.zab.leader;
  const server = config.ensemble?.servers.find((one) => one.sid === sid);
  if (server === undefined) return new Failure("server is not initialized");
  return { is_leader: driver.replica.isLeading, leader_id: server.sid, leader_ip: server.host };
}

function monitor(view: AdminView): Fields {
  return Object.fromEntries<Json>([
    ...facts(view),
    ...monitorValues(view).map(([name, value]) => [name, new JsonText(value)] as const),
  ]);
}

function observers(view: AdminView): Fields {
  if (modeOf(view) === "follower") {
    const passedOn = view.relayedObservers();
    return { synced_observers: passedOn.length, observers: passedOn.map((sid) => ({ sid })) };
  }
  const learners = modeOf(view) === "leader" ? view.driver.replica.zab.learners() : [];
  const watching = learners.filter(({ isObserver }) => isObserver);
  return {
    synced_observers: watching.filter(({ phase }) => phase === "synced").length,
    observers: watching.map(({ sid, applied }) => ({ sid, last_zxid: applied })),
  };
}

function serverStats(view: AdminView): Fields {
  const { driver, version } = view;
  const { replica, proposals } = driver;
  const { counters } = replica;
  const { dataBytes, logBytes } = view.diskUsage();
  const hasLatency = counters.latencyCount > 0;
  return {
    version,
    read_only: replica.isReadOnly,
    server_stats: {
      packets_sent: counters.packetsSent,
      packets_received: counters.packetsReceived,
      fsync_threshold_exceed_count: view.slowSyncCount(),
      client_response_stats: NO_SIZES,
      provider_null: false,
      server_state: modeOf(view),
      outstanding_requests: replica.outstandingCount,
      min_latency: hasLatency ? Math.floor(counters.latencyMsMin) : 0,
      avg_latency: new JsonText(javaDecimal(hasLatency ? counters.latencyMsTotal / counters.latencyCount : 0)),
      max_latency: Math.floor(counters.latencyMsMax),
      data_dir_size: dataBytes,
      log_dir_size: logBytes,
      last_processed_zxid: replica.visibleZxid,
      num_alive_client_connections: replica.connectionCount,
      uptime: Math.floor(performance.now() - view.startedAtMs),
      auth_failed_count: counters.authFailures,
      non_mtlsremote_conn_count: 0,
      non_mtlslocal_conn_count: 0,
    },
    client_response: NO_SIZES,
    ...(modeOf(view) === "leader" ? { proposal_stats: sizes(proposals.sizes) } : {}),
    node_count: replica.tree.nodeCount,
  };
}

function sizes({ last, min, max }: { readonly last: number; readonly min: number; readonly max: number }): Fields {
  return { last_buffer_size: last, min_buffer_size: min, max_buffer_size: max };
}

/** Sizes of single answers are not measured. */
const NO_SIZES: Fields = sizes({ last: -1, min: -1, max: -1 });

async function snapshot(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { query, address, certificateSubject } = request;
  const taken = await view.snapshots.take(certificateSubject ?? address);
  audited(view, request, "snapshot", taken);
  if (taken instanceof SnapshotRefusal) return refused(taken);
  const headers = { last_zxid: formatZxid(taken.position.zxid), snapshot_size: String(taken.sizeBytes) };
  if (isStreaming(query)) return new Snapshot(headers, taken);
  // The state file was advanced to here, and lies in the data directory.
  await taken[Symbol.asyncDispose]();
  return new Snapshot(headers, undefined);
}

/** As Java parses it: everything except "true" is false. */
function isStreaming(query: URLSearchParams): boolean {
  const text = query.get("streaming");
  return text === null || text.toLowerCase() === "true";
}

function audited(view: AdminView, request: CommandRequest, act: StateAct, outcome: unknown): void {
  const requester = { identities: requesterIdentities(view, request), address: request.address };
  const isRefused = outcome === undefined || outcome instanceof SnapshotRefusal;
  view.acted(act, requester, isRefused ? "failure" : "success");
}

async function restore(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { address, certificateSubject, contentType, body } = request;
  const restored = await view.snapshots.restore(certificateSubject ?? address, contentType, body);
  audited(view, request, "restore", restored);
  return restored instanceof SnapshotRefusal ? refused(restored) : { last_zxid: restored };
}

/**
 * Begins a restore of a state of the past from the backup, or only a plan of it. Its status says
 * how it ends.
 */
function restoreState(view: AdminView, request: CommandRequest): Outcome {
  const { runningRestore } = view;
  const { zab, isLeading } = view.driver.replica;
  if (!isLeading) {
    return new Failure(`the leader restores, and this server does not lead${leaderText(zab.leader)}`, 409);
  }
  const moment = momentOf(request.query);
  if (typeof moment === "string") return new Failure(moment, 400);
  const obstacle = runningRestore.obstacle();
  if (obstacle !== undefined) return new Failure(obstacle, 409);
  const isPlan = request.query.get("plan") === "true";
  const keepsSessions = request.query.get("keepSessions") === "true";
  runningRestore.begin({ moment, isPlan, keepsSessions }, (isRestored) =>
    audited(view, request, "restore", isRestored ? true : undefined),
  );
  return restoreFields(runningRestore.status);
}

const NO_BACKUP = "this server has no backup: zooid.backup.target is not set";

function backupNow(view: AdminView, request: CommandRequest): Outcome {
  const begun = beginBackup(view);
  audited(view, request, "backup", begun);
  return begun ?? new Failure(NO_BACKUP, 409);
}

function backupStatus(view: AdminView): Outcome {
  return backupFields(view) ?? new Failure(NO_BACKUP, 409);
}

async function purgeHistory(view: AdminView, request: CommandRequest): Promise<Outcome> {
  const { query, address, certificateSubject } = request;
  const asked = purgeRequestOf(query);
  if (asked instanceof BadParameter) return new Failure(asked.error, 400);
  if (query.get("dryRun") === "true") return outlineOr(await view.purges.plan(asked));
  const begun = await view.purges.begin(asked, certificateSubject ?? address);
  audited(view, request, "purgeHistory", begun instanceof PurgeRefusal ? undefined : begun);
  return outlineOr(begun);
}

function outlineOr(found: PurgeOutline | PurgeRefusal): Outcome {
  return found instanceof PurgeRefusal ? new Failure(found.reason, 409) : outlineFields(found);
}

/** Over how long a drain closes connections. */
const DRAIN_MS = 10_000;
const DRAIN_MS_MAX = 3_600_000;
/** Maximum time until the successor has every entry; writes wait meanwhile. */
const TRANSFER_MS = 2000;
const WHOLE = /^\d{1,9}$/;

function drain(view: AdminView, { query }: CommandRequest): Outcome {
  const text = query.get("durationMs") ?? `${DRAIN_MS}`;
  if (!WHOLE.test(text) || Number(text) > DRAIN_MS_MAX) {
    return new Failure(`durationMs is a number of milliseconds from 0 to ${DRAIN_MS_MAX}, not ${text}`, 400);
  }
  view.drain.begin(Number(text));
  return drainStatus(view);
}

function undrain(view: AdminView): Fields {
  view.drain.end();
  return drainStatus(view);
}

function drainStatus({ drain }: AdminView): Fields {
  const { isDraining, connections, isLeading } = drain.progress();
  return { is_draining: isDraining, num_alive_connections: connections, is_leader: isLeading };
}

/**
 * Transfers leadership to the server that is named, or to the one that suits best; `dryRun` only
 * checks.
 */
async function transferLeadership(view: AdminView, { query }: CommandRequest): Promise<Outcome> {
  const { driver, config } = view;
  const { zab, isLeading } = driver.replica;
  if (config.ensemble === undefined) return new Failure("this server is no member of an ensemble", 409);
  if (!isLeading) return new Failure(`this server does not lead${leaderText(zab.leader)}`, 409);
  const to = query.get("to");
  const learners = zab.learners();
  const successor = to === null ? undefined : learners.find(({ sid }) => String(sid) === to);
  if (to !== null && successor?.mayLead !== true) return whyNoSuccessor(view, to, successor);
  if (!learners.some(({ mayLead }) => mayLead)) {
    return notYet("no other server can lead now: none is a synchronized voter with room on its disk");
  }
  if (query.get("dryRun") === "true") return { is_dry_run: true, successor_id: successor?.sid ?? null };
  const leader = await driver.transferLeadership({ withinMs: TRANSFER_MS, to: successor?.sid, keepServing: true });
  if (leader !== undefined) return { leader_id: leader };
  return notYet(`no server had all transactions within ${TRANSFER_MS} ms, and this one leads on`);
}

const SESSION_ID = /^0x[0-9a-f]{1,16}$/i;

/**
 * Ends a session as its expiry would: its ephemeral nodes are deleted, and its client is
 * disconnected.
 */
function endSession(view: AdminView, request: CommandRequest): Outcome {
  const text = request.query.get("id") ?? "";
  if (!SESSION_ID.test(text)) return new Failure(`id is a session as 0x1000abc, not ${JSON.stringify(text)}`, 400);
  const id = BigInt.asIntN(64, BigInt(text)) as SessionId;
  const identities = requesterIdentities(view, request);
  const ending = view.endSession(id, { identities, address: request.address });
  switch (ending) {
    case "ended":
    case "ending":
      return { session_id: text, is_ended: ending === "ended" };
    case "unknown":
      return new Failure(`there is no session ${text}`, 404);
    case "not-leading":
      return new Failure(
        `the leader ends sessions, and this server does not lead${leaderText(view.driver.replica.zab.leader)}`,
        409,
      );
  }
}

function leaderText(leader: number | undefined): string {
  return leader === undefined ? ": no leader is known" : `: server ${leader} does`;
}

function whyNoSuccessor({ config }: AdminView, to: string, learner: LearnerStatus | undefined): Failure {
  const server = config.ensemble?.servers.find(({ sid }) => String(sid) === to);
  if (server === undefined) return new Failure(`to is the number of a server of the ensemble, not ${to}`, 409);
  if (server.sid === config.ensemble?.sid) return new Failure(`server ${to} is this server, which leads`, 409);
  if (server.isObserver) return new Failure(`server ${to} is an observer and cannot lead`, 409);
  if (learner === undefined) return notYet(`server ${to} does not follow now`);
  if (learner.phase !== "synced") return notYet(`server ${to} is not synchronized yet (${learner.phase})`);
  return notYet(
    `server ${to} cannot lead now: it has no weight, no room on its disk, or has lost data and is not counted`,
  );
}

/** What the same request may find different later, without a change of the configuration. */
function notYet(error: string): Failure {
  return new Failure(error, 503, { "retry-after": "1" });
}

const NO_LOG_LEVEL = new Failure("the log of this server has no level that can be changed here", 409);

function logLevel(view: AdminView): Outcome {
  return { log_level: view.logLevel() ?? null };
}

function setLogLevel(view: AdminView, request: CommandRequest): Outcome {
  const before = view.logLevel();
  if (before === undefined) return NO_LOG_LEVEL;
  const level = request.query.get("level") ?? "";
  if (!isLogLevel(level)) {
    return new Failure(`level is one of ${LOG_LEVELS.join(", ")}, not ${JSON.stringify(level)}`, 400);
  }
  view.setLogLevel(level, { identities: requesterIdentities(view, request), address: request.address });
  return { log_level: level, log_level_before: before };
}

function setTraceMask({ traceMask }: AdminView, { query }: CommandRequest): Fields | Failure {
  const text = query.get("traceMask");
  if (text === null) return new Failure("setTraceMask requires long traceMask argument");
  if (!LONG.test(text) || BigInt(text) !== BigInt.asIntN(64, BigInt(text))) {
    return new Failure(`setTraceMask requires long traceMask argument, got ${text}`);
  }
  traceMask.value = BigInt(text);
  return { tracemask: traceMask.value };
}

function votingView(view: AdminView): Fields {
  const voters = view.config.ensemble?.servers.filter(({ isObserver }) => !isObserver) ?? [];
  return {
    current_config: new Map<string, Json>(
      voters.map(({ sid, host, quorumPort, electionPort }) => [
        String(sid),
        {
          server_addresses: [hostPort(host, quorumPort)],
          election_addresses: [hostPort(host, electionPort)],
          client_address: clientAddress(view, sid),
          learner_type: "participant",
        },
      ]),
    ),
  };
}

function clientAddress({ config, clientPort }: AdminView, sid: number): string {
  if (sid === config.ensemble?.sid) return hostPort(config.address === "*" ? "0.0.0.0" : config.address, clientPort());
  const address = config.ensemble?.servers.find((server) => server.sid === sid)?.clientAddress;
  return address === undefined ? "" : hostPort(address.host ?? "0.0.0.0", address.port);
}

function watchSummary({ driver }: AdminView): Fields {
  const { dataConnectionCount, dataPathCount, dataWatchCount } = driver.replica.watches;
  return { num_connections: dataConnectionCount, num_paths: dataPathCount, num_total_watches: dataWatchCount };
}

function watches(view: AdminView): JsonFields {
  return listing("session_id_to_watched_paths", dataWatches(view, "connections"), ({ session, path }) => [
    String(session),
    path,
  ]);
}

function watchesByPath(view: AdminView): JsonFields {
  return listing("path_to_session_ids", dataWatches(view, "paths"), ({ session, path }) => [path, session]);
}

/** Groups at most `WATCHES_MAX` watches, and says whether there were more. */
function listing(
  name: string,
  found: Iterable<ListedWatch>,
  pairOf: (watch: NonNullable<ListedWatch>) => readonly [string, Json],
): JsonFields {
  let count = 0;
  function* pairs(): Generator<readonly [string, Json] | undefined, void, undefined> {
    for (const watch of found) {
      if (watch !== undefined && ++count > WATCHES_MAX) return;
      yield watch === undefined ? undefined : pairOf(watch);
    }
  }
  function* groups(): Generator<readonly [string, Json] | undefined, void, undefined> {
    for (const group of grouped(pairs())) {
      yield group === undefined ? undefined : [group[0], new JsonItems(group[1])];
    }
  }
  function* fields(): Generator<readonly [string, Json], void, undefined> {
    yield [name, new JsonFields(groups())];
    if (count > WATCHES_MAX) yield ["truncated", true];
  }
  return new JsonFields(fields());
}

function zabState(view: AdminView): Fields {
  const { ensemble } = view.config;
  const own = ensemble?.servers.find(({ sid }) => sid === ensemble.sid);
  if (own === undefined) return { voting: false, zabstate: "" };
  const { zab, visibleZxid, isLeading } = view.driver.replica;
  return {
    myid: own.sid,
    is_leader: isLeading,
    quorum_address: addresses(own.host, own.quorumPort),
    election_address: addresses(own.host, own.electionPort),
    client_address: clientAddress(view, own.sid),
    voting: !own.isObserver,
    last_zxid: formatZxid(visibleZxid),
    zab_epoch: epochOf(visibleZxid),
    zab_counter: counterOf(visibleZxid),
    zabstate: zab.phase,
  };
}

/** A server has one address for each purpose; Apache's servers may have several. */
function addresses(host: string, port: number): Fields {
  const only = hostPort(host, port);
  return {
    empty: false,
    all_addresses: [only],
    wildcard_addresses: [hostPort("0.0.0.0", port)],
    all_ports: [port],
    all_host_strings: [host],
    reachable_address: only,
    all_reachable_addresses: [only],
    all_reachable_addresses_or_all: [only],
    reachable_or_one: only,
    one: only,
  };
}
