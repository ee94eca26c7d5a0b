import { hostname, release, tmpdir, userInfo } from "node:os";
import { formatSessionId, formatZxid, OpCode, sessionIdFromHalves } from "@zooid/model";
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
  ["isro", ({ driver }) => (driver.isServing ? "rw" : "null")],
  ["srvr", (view) => `${versionLine(view)}${statistics(view)}${nodeCount(view)}`],
  ["stat", (view, asking) => `${versionLine(view)}${clients(view, asking)}${statistics(view)}${nodeCount(view)}`],
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
  if (answer === undefined || !view.config.fourLetterWords.has(word)) {
    return `${word} is not executed because it is not in the whitelist.\n`;
  }
  if (!view.driver.isServing && !ALWAYS.has(word)) return NOT_SERVING;
  return answer(view, asking);
}

function versionLine({ version }: AdminView): string {
  return `Zookeeper version: ${version}\n`;
}

function statistics({ driver }: AdminView): string {
  const { replica } = driver;
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
    "Mode: standalone",
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
    ["server_state", "standalone"],
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
    ["global_sessions", replica.sessions.size],
    ["local_sessions", 0],
    ["commit_count", counters.commitCount],
    ["stale_sessions_expired", counters.expiredSessions],
    ["auth_failed_count", counters.authFailures],
    ...view.metrics(),
  ];
  return values.map(([name, value]) => `zk_${name}\t${value}\n`).join("");
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
    ["serverId", 0],
  ];
  return lines.map(([name, value]) => `${name}=${value}\n`).join("");
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
  const buckets = replica.sessions.buckets();
  const toWall = Date.now() - replica.nowMs;
  let text = `SessionTracker dump:\nSession Sets (${buckets.length})/(${replica.sessions.size}):\n`;
  for (const { borderMs, sessions } of buckets) {
    text += `${sessions.length} expire at ${javaDate(borderMs + toWall)}:\n`;
    for (const session of sessions) text += `\t${formatSessionId(session.id)}\n`;
  }
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

function resetConnections({ driver }: AdminView): string {
  for (const connection of driver.replica.connections()) connection.stats.reset();
  return "Connection stats reset.\n";
}

function resetServer({ driver }: AdminView): string {
  driver.replica.resetCounters();
  return "Server stats reset.\n";
}
