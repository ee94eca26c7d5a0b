import { hostname, release, tmpdir, userInfo } from "node:os";
import { counterOf, epochOf, formatSessionId, formatZxid, OpCode, sessionIdFromHalves, type Zxid } from "@zooid/model";
import type { Replica } from "@zooid/replica";
import type { ClientConnection } from "../client-connection.ts";
import type { ServerConfig } from "../config.ts";
import type { Driver } from "../driver.ts";
import { fileDescriptors } from "./file-descriptors.ts";
import { javaDate, javaDecimal } from "./java-text.ts";

/** What the words tell of beyond the replica. */
export interface AdminView {
  readonly driver: Driver;
  readonly config: ServerConfig;
  readonly version: string;
  readonly startedAtMs: number;
  /** The port that is bound. */
  clientPort(): number;
  /** Bytes of state files and of the log. */
  diskUsage(): { readonly dataBytes: number; readonly logBytes: number };
  /** Further values of `mntr`, without the prefix. */
  metrics(): Iterable<readonly [name: string, value: number | string]>;
}

type Word = (view: AdminView, asking: ClientConnection) => string;

const NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n";

/** Words that answer whether or not the server serves. */
const ALWAYS: ReadonlySet<string> = new Set(["ruok", "isro", "conf", "envi"]);

const WORDS: ReadonlyMap<string, Word> = new Map<string, Word>([
  ["ruok", () => "imok"],
  ["isro", ({ driver }) => (driver.replica.isReadOnly ? "ro" : isServing(driver) ? "rw" : "null")],
  ["srvr", (view) => `${versionLine(view)}${statistics(view)}${nodeCount(view)}${proposalSizes(view)}`],
  [
    "stat",
    (view, asking) =>
      `${versionLine(view)}${clients(view, asking)}${statistics(view)}${nodeCount(view)}${proposalSizes(view)}`,
  ],
  ["mntr", monitor],
  ["cons", (view, asking) => `${connectionLines(view, asking, fullLine)}\n`],
  ["conf", configuration],
  ["envi", environment],
  ["wchs", watchSummary],
  ["dump", dump],
  ["crst", resetConnections],
  ["srst", resetServer],
]);

/** Known words that this server does not answer yet; they are refused like those that are not listed. */
const KNOWN: ReadonlySet<string> = new Set([...WORDS.keys(), "wchc", "wchp", "dirs", "gtmk", "stmk", "hash"]);

/** The listed words: `srvr` always, and what the operator names; `*` names all. */
export function parseWhitelist(text: string | undefined): ReadonlySet<string> {
  const listed = new Set(["srvr"]);
  for (const part of (text ?? "").split(",")) {
    const word = part.trim();
    if (word === "*") for (const known of WORDS.keys()) listed.add(known);
    else if (word !== "") listed.add(word);
  }
  return listed;
}

/** The answer to a word; undefined when the four bytes are none. */
export function answerWord(word: string, view: AdminView, asking: ClientConnection): string | undefined {
  if (!KNOWN.has(word)) return undefined;
  const answer = WORDS.get(word);
  const isListed = view.config.fourLetterWords.has(word) || (word === "isro" && view.config.readOnlyMode);
  if (answer === undefined || !isListed) {
    return `${word} is not executed because it is not in the whitelist.\n`;
  }
  if (!isServing(view.driver) && !ALWAYS.has(word)) return NOT_SERVING;
  return answer(view, asking);
}

/** A server of an ensemble that has no role takes connections all the same, and serves none. */
function isServing(driver: Driver): boolean {
  return driver.isServing && (driver.replica.isServing || driver.replica.isReadOnly);
}

/** The server's role, as tools know it. */
function modeOf({ driver, config }: AdminView): "standalone" | "leader" | "follower" | "observer" | "read-only" {
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

function proposalSizes(view: AdminView): string {
  if (modeOf(view) !== "leader") return "";
  const { last, min, max } = view.driver.proposalSizes;
  return `Proposal sizes last/min/max: ${last}/${min}/${max}\n`;
}

function versionLine({ version, driver }: AdminView): string {
  const banner = driver.replica.isReadOnly ? "READ-ONLY mode; serving only read-only clients\n" : "";
  return `Zookeeper version: ${version}\n${banner}`;
}

function statistics(view: AdminView): string {
  const { replica } = view.driver;
  const { counters } = replica;
  const min = counters.latencyCount === 0 ? 0 : counters.latencyMsMin;
  const average = counters.latencyCount === 0 ? 0 : counters.latencyMsTotal / counters.latencyCount;
  return [
    `Latency min/avg/max: ${Math.floor(min)}/${javaDecimal(average)}/${Math.floor(counters.latencyMsMax)}`,
    `Received: ${counters.packetsReceived}`,
    `Sent: ${counters.packetsSent}`,
    `Connections: ${replica.connectionCount}`,
    `Outstanding: ${replica.outstandingCount}`,
    `Zxid: ${formatZxid(replica.visibleZxid)}`,
    `Mode: ${modeOf(view)}`,
    "",
  ].join("\n");
}

function nodeCount({ driver }: AdminView): string {
  return `Node count: ${driver.replica.tree.nodeCount}\n`;
}

function clients(view: AdminView, asking: ClientConnection): string {
  return `Clients:\n${connectionLines(view, asking, briefLine)}\n`;
}

function connectionLines(
  view: AdminView,
  asking: ClientConnection,
  line: (view: AdminView, connection: ClientConnection, isAsking: boolean) => string,
): string {
  let lines = "";
  for (const connection of view.driver.connections()) lines += line(view, connection, connection === asking);
  return lines;
}

/** What a socket waits for, as Java's selector numbers it: reading 1, writing 4. */
function interestOps(connection: ClientConnection, isAsking: boolean): string {
  if (isAsking) return "0";
  return connection.socket.writableLength > 0 ? "5" : "1";
}

function briefLine({ driver }: AdminView, connection: ClientConnection, isAsking: boolean): string {
  const known = driver.replica.connection(connection.ref);
  const queued = known?.inFlight ?? 0;
  const received = known?.stats.received ?? 0;
  const sent = known?.stats.sent ?? 0;
  return ` ${connection.peer}[${interestOps(connection, isAsking)}](queued=${queued},recved=${received},sent=${sent})\n`;
}

function fullLine(view: AdminView, connection: ClientConnection, isAsking: boolean): string {
  const known = view.driver.replica.connection(connection.ref);
  const session = known?.session;
  if (known === undefined || session === undefined) return briefLine(view, connection, isAsking);
  const { stats } = known;
  const average = stats.latencyCount === 0 ? 0 : Math.floor(stats.latencyMsTotal / stats.latencyCount);
  const fields = [
    `queued=${known.inFlight}`,
    `recved=${stats.received}`,
    `sent=${stats.sent}`,
    `sid=${formatSessionId(session.id)}`,
    `lop=${OPERATION_CODES.get(stats.lastOp) ?? "NA"}`,
    `est=${Math.floor(connection.establishedMs)}`,
    `to=${session.timeoutMs}`,
    ...(stats.lastXid >= 0 ? [`lcxid=0x${stats.lastXid.toString(16)}`] : []),
    `lzxid=0x${stats.lastZxid < 0 ? "ffffffffffffffff" : stats.lastZxid.toString(16)}`,
    `lresp=${Math.floor(stats.lastResponseMs)}`,
    `llat=${Math.floor(stats.lastLatencyMs)}`,
    `minlat=${stats.latencyCount === 0 ? 0 : Math.floor(stats.latencyMsMin)}`,
    `avglat=${average}`,
    `maxlat=${Math.floor(stats.latencyMsMax)}`,
  ];
  return ` ${connection.peer}[${interestOps(connection, isAsking)}](${fields.join(",")})\n`;
}

const OPERATION_CODES: ReadonlyMap<number, string> = new Map<number, string>([
  [OpCode.PING, "PING"],
  [OpCode.CREATE_SESSION, "SESS"],
  [OpCode.MULTI, "MULT"],
  [OpCode.MULTI_READ, "MLTR"],
  [OpCode.CREATE, "CREA"],
  [OpCode.CREATE2, "CREA"],
  [OpCode.DELETE, "DELE"],
  [OpCode.SET_DATA, "SETD"],
  [OpCode.SET_ACL, "SETA"],
  [OpCode.CLOSE_SESSION, "CLOS"],
  [OpCode.SYNC, "SYNC"],
  [OpCode.EXISTS, "EXIS"],
  [OpCode.GET_DATA, "GETD"],
  [OpCode.SET_WATCHES, "SETW"],
  [OpCode.SET_WATCHES2, "STW2"],
  [OpCode.GET_ACL, "GETA"],
  [OpCode.GET_CHILDREN, "GETC"],
  [OpCode.GET_CHILDREN2, "GETC"],
  [OpCode.GET_ALL_CHILDREN_NUMBER, "GETACN"],
  [OpCode.GET_EPHEMERALS, "GETE"],
  [OpCode.ADD_WATCH, "ADDW"],
  [OpCode.CHECK_WATCHES, "CHKW"],
  [OpCode.REMOVE_WATCHES, "REMW"],
  [OpCode.WHO_AM_I, "HOMI"],
]);

function monitor(view: AdminView): string {
  const { replica } = view.driver;
  const { counters, tree } = replica;
  const min = counters.latencyCount === 0 ? 0 : Math.floor(counters.latencyMsMin);
  const average = counters.latencyCount === 0 ? 0 : counters.latencyMsTotal / counters.latencyCount;
  const { open, max } = fileDescriptors();
  const values: (readonly [string, number | string])[] = [
    ["version", view.version],
    ["server_state", modeOf(view)],
    ...(view.config.ensemble === undefined ? [] : ([["peer_state", peerState(view)]] as const)),
    ["avg_latency", javaDecimal(average)],
    ["max_latency", Math.floor(counters.latencyMsMax)],
    ["min_latency", min],
    ["packets_received", counters.packetsReceived],
    ["packets_sent", counters.packetsSent],
    ["num_alive_connections", replica.connectionCount],
    ["outstanding_requests", replica.outstandingCount],
    ["uptime", Math.floor(performance.now() - view.startedAtMs)],
    ["znode_count", tree.nodeCount],
    ["watch_count", replica.watches.watchCount],
    ["ephemerals_count", tree.ephemeralCount],
    ["approximate_data_size", tree.approximateDataSize],
    ["open_file_descriptor_count", open],
    ["max_file_descriptor_count", max],
    ["global_sessions", tree.sessionCount],
    ["local_sessions", replica.localSessionCount],
    ["commit_count", counters.commitCount],
    ["stale_sessions_expired", counters.expiredSessions],
    ["auth_failed_count", counters.authFailures],
    ...ensembleValues(view),
    ...view.metrics(),
  ];
  return values.map(([name, value]) => `zk_${name}\t${value}\n`).join("");
}

/** `following - broadcast`: the role and how far it has come. */
function peerState({ driver }: AdminView): string {
  const { state, phase } = driver.replica.zab;
  return phase === "election" ? state : `${state} - ${phase}`;
}

function ensembleValues(view: AdminView): (readonly [string, number | string])[] {
  const { ensemble } = view.config;
  if (ensemble === undefined) return [];
  const { zab } = view.driver.replica;
  const voters = ensemble.servers.filter((server) => !server.isObserver);
  const values: (readonly [string, number | string])[] = [
    ["quorum_size", voters.length],
    ["looking_count", view.driver.lookingCount],
    ["zooid_epoch", zab.epoch],
    ["zooid_committed", zab.committed],
    ["zooid_applied", view.driver.replica.tree.applied],
    ["zooid_leader", zab.leader ?? 0],
  ];
  if (modeOf(view) !== "leader") return values;
  const learners = zab.learners();
  const level = learners.filter(({ phase }) => phase === "level");
  const votes = new Set<number>(voters.map(({ sid }) => sid));
  const followers = level.filter(({ sid, isObserver }) => !isObserver && votes.has(sid));
  const { last, min, max } = view.driver.proposalSizes;
  values.push(
    ["learners", learners.length],
    ["followers", learners.length],
    ["synced_followers", followers.length],
    ["synced_non_voting_followers", level.filter(({ sid }) => !votes.has(sid) && !isListed(ensemble, sid)).length],
    ["synced_observers", level.filter(({ sid, isObserver }) => isObserver && isListed(ensemble, sid)).length],
    ["pending_syncs", view.driver.replica.pendingSyncCount],
    ["leader_uptime", Math.floor(performance.now() - view.driver.roleSinceMs)],
    ["last_proposal_size", last],
    ["min_proposal_size", min],
    ["max_proposal_size", max],
  );
  // What each learner has not got yet: the entries of this epoch, for zxids of one epoch are consecutive.
  for (const { sid, acked, applied } of learners) {
    values.push([`zooid_learner_${sid}_unacked`, lag(zab.lastProposed, acked)]);
    values.push([`zooid_learner_${sid}_unapplied`, lag(zab.committed, applied)]);
  }
  return values;
}

function isListed(ensemble: NonNullable<ServerConfig["ensemble"]>, sid: number): boolean {
  return ensemble.servers.some((server) => server.sid === sid);
}

/** Entries between two zxids; what lies before the epoch counts as its beginning. */
function lag(newest: Zxid, reached: Zxid): number {
  return epochOf(newest) === epochOf(reached) ? Math.max(0, newest - reached) : counterOf(newest);
}

function configuration(view: AdminView): string {
  const { config } = view;
  const { dataBytes, logBytes } = view.diskUsage();
  const lines: (readonly [string, number | string])[] = [
    ["clientPort", view.clientPort()],
    ["secureClientPort", -1],
    ["dataDir", config.dataDir ?? ""],
    ["dataDirSize", dataBytes],
    ["dataLogDir", config.logDir ?? ""],
    ["dataLogSize", logBytes],
    ["tickTime", config.tickMs],
    ["maxClientCnxns", config.connectionsPerAddressMax],
    ["minSessionTimeout", config.sessionTimeoutMsMin],
    ["maxSessionTimeout", config.sessionTimeoutMsMax],
    ["clientPortListenBacklog", config.listenBacklog ?? -1],
    ["serverId", config.ensemble?.sid ?? 0],
    ...quorumSettings(config),
  ];
  const text = lines.map(([name, value]) => `${name}=${value}\n`).join("");
  return config.ensemble === undefined ? text : `${text}membership: \n${membership(config.ensemble)}`;
}

function quorumSettings({ ensemble }: ServerConfig): (readonly [string, number])[] {
  if (ensemble === undefined) return [];
  const own = ensemble.servers.find(({ sid }) => sid === ensemble.sid);
  return [
    ["initLimit", ensemble.initLimit],
    ["syncLimit", ensemble.syncLimit],
    ["electionAlg", ensemble.electionAlg],
    ["electionPort", own?.electionPort ?? 0],
    ["quorumPort", own?.quorumPort ?? 0],
    ["peerType", ensemble.isObserver ? 1 : 0],
  ];
}

/** The configuration in ZooKeeper's own form. It never changes while servers run, so its version is 0. */
function membership({ servers }: NonNullable<ServerConfig["ensemble"]>): string {
  const lines = servers.map(({ sid, host, quorumPort, electionPort, isObserver, clientAddress }) => {
    const client =
      clientAddress === undefined
        ? ""
        : `;${clientAddress.host === undefined ? "" : `${clientAddress.host}:`}${clientAddress.port}`;
    const at = host.includes(":") ? `[${host}]` : host;
    return `server.${sid}=${at}:${quorumPort}:${electionPort}:${isObserver ? "observer" : "participant"}${client}\n`;
  });
  return `${lines.join("")}version=0`;
}

function environment({ version }: AdminView): string {
  const memory = process.memoryUsage();
  const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)}MB`;
  const lines: (readonly [string, string])[] = [
    ["zookeeper.version", version],
    ["host.name", hostname()],
    ["java.version", `Node.js ${process.versions.node}`],
    ["java.vendor", "Node.js"],
    ["java.home", process.execPath],
    ["java.class.path", "<NA>"],
    ["java.library.path", "<NA>"],
    ["java.io.tmpdir", tmpdir()],
    ["java.compiler", "<NA>"],
    ["os.name", process.platform === "linux" ? "Linux" : process.platform],
    ["os.arch", process.arch === "x64" ? "amd64" : process.arch],
    ["os.version", release()],
    ["user.name", userInfo().username],
    ["user.home", userInfo().homedir],
    ["user.dir", process.cwd()],
    ["os.memory.free", mebibytes(memory.heapTotal - memory.heapUsed)],
    ["os.memory.max", mebibytes(memory.rss)],
    ["os.memory.total", mebibytes(memory.heapTotal)],
  ];
  return `Environment:\n${lines.map(([name, value]) => `${name}=${value}\n`).join("")}`;
}

function watchSummary({ driver }: AdminView): string {
  const { watches } = driver.replica;
  const first = `${watches.dataConnectionCount} connections watching ${watches.dataPathCount} paths`;
  return `${first}\nTotal watches:${watches.dataWatchCount}\n`;
}

function dump({ driver }: AdminView): string {
  const { replica } = driver;
  const toWall = Date.now() - replica.nowMs;
  let text = `SessionTracker dump:\n${replica.isLeading ? sessionBuckets(replica, toWall) : globalSessions(replica)}`;
  const owners: string[] = [];
  replica.tree.forEachSession((high, low) => {
    const paths = replica.tree.ephemeralPaths(high, low) ?? [];
    if (paths.length === 0) return;
    owners.push(`${formatSessionId(sessionIdFromHalves(high, low))}:\n${paths.map((path) => `\t${path}\n`).join("")}`);
  });
  text += `ephemeral nodes dump:\nSessions with Ephemerals (${owners.length}):\n${owners.join("")}`;
  const connections = [...driver.connections()];
  text += `Connections dump:\nConnections Sets (1)/(${connections.length}):\n`;
  text += `${connections.length} expire at ${javaDate(toWall + replica.nowMs)}:\n`;
  for (const connection of connections) {
    const session = replica.connection(connection.ref)?.session;
    const sid = session === undefined ? "0x0" : formatSessionId(session.id);
    text += `\tip: ${connection.peer} sessionId: ${sid}\n`;
  }
  return text;
}

function sessionBuckets({ sessions }: Replica, toWall: number): string {
  const buckets = sessions.buckets();
  let text = `Session Sets (${buckets.length})/(${sessions.size}):\n`;
  for (const { borderMs, sessions: due } of buckets) {
    text += `${due.length} expire at ${javaDate(borderMs + toWall)}:\n`;
    for (const session of due) text += `\t${formatSessionId(session.id)}\n`;
  }
  return text;
}

/** A learner knows which sessions there are, not when they end. */
function globalSessions({ tree }: Replica): string {
  let text = `Global Sessions(${tree.sessionCount}):\n`;
  tree.forEachSession((high, low, timeoutMs) => {
    text += `${formatSessionId(sessionIdFromHalves(high, low))}\t${timeoutMs}ms\n`;
  });
  return text;
}

function resetConnections({ driver }: AdminView): string {
  for (const connection of driver.replica.connections()) connection.stats.reset();
  return "Connection stats reset.\n";
}

function resetServer({ driver }: AdminView): string {
  driver.replica.resetCounters();
  return "Server stats reset.\n";
}
