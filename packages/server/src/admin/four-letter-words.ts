import { formatSessionId, formatZxid } from "@zooid/model";
import type { ClientConnection } from "../clients/client-connection.ts";
import {
  type AdminView,
  isServing,
  modeOf,
  NOT_SERVING,
  resetConnections,
  resetServer,
  shownZxid,
} from "./admin-view.ts";
import type { Pieces, SlicedAnswer } from "./answer-slices.ts";
import { configurationText } from "./configuration.ts";
import { type ConnectionFacts, connectionFacts } from "./connection-facts.ts";
import { environment } from "./environment.ts";
import { javaDecimal } from "./java-text.ts";
import { facts, monitorValues } from "./monitor.ts";
import { digestHistory } from "./past-digests.ts";
import { sessionDump } from "./session-dump.ts";
import { watchesByPath, watchesBySession } from "./watch-listing.ts";
import type { WordName } from "./word-names.ts";

/** Pieces: an answer that grows with the state. */
type Word = (view: AdminView, asking: ClientConnection, argument: Buffer) => string | Pieces;

/** Words that are answered whether or not the server serves. */
const ALWAYS: ReadonlySet<string> = new Set(["ruok", "isro", "envi", "gtmk", "stmk"]);

const WORDS: Readonly<Record<WordName, Word>> = {
  ruok: () => "imok",
  isro: (view) => (view.driver.replica.isReadOnly ? "ro" : isServing(view) ? "rw" : "null"),
  srvr: (view) => `${versionLine(view)}${statistics(view)}`,
  stat: status,
  mntr: monitor,
  cons: connections,
  conf: configurationText,
  envi: (view) => `Environment:\n${keysAndValues(environment(view))}`,
  wchs: watchSummary,
  wchc: (view) => lineEnded(watchesBySession(view)),
  wchp: (view) => lineEnded(watchesByPath(view)),
  dump: sessionDump,
  dirs: directories,
  hash: (view) =>
    digestHistory(view)
      .map(({ zxid, digest }) => `${zxid.toString(16)}: ${digest}\n`)
      .join(""),
  gtmk: ({ traceMask }) => String(traceMask.value),
  stmk: setTraceMask,
  crst: resetOfConnections,
  srst: resetOfServer,
};

/** Length of a word with its argument, in bytes. */
export function wordBytes(word: string, view: AdminView): number {
  return word === "stmk" && isListed(word, view) ? 12 : 4;
}

/**
 * The answer to a word; undefined if the bytes are no word. It counts as a packet received and one
 * sent.
 */
export function answerWord(
  word: string,
  argument: Buffer,
  view: AdminView,
  asking: ClientConnection,
): string | SlicedAnswer | undefined {
  if (!isWord(word)) return undefined;
  const answer = WORDS[word];
  const { counters } = view.driver.replica;
  const stats = view.driver.replica.connection(asking.ref)?.stats;
  counters.packetsReceived++;
  if (stats !== undefined) stats.received++;
  const found = permitted(word, view) ?? answer(view, asking, argument);
  counters.packetsSent++;
  if (stats !== undefined) stats.sent++;
  return typeof found === "string" ? found : view.slices.answer(asking.address, found);
}

function isWord(text: string): text is WordName {
  return Object.hasOwn(WORDS, text);
}

/** A four-letter word that other parts of this process ask. */
export type Report = "srvr" | "cons" | "dump" | "conf" | "envi" | "mntr" | "dirs" | "wchs" | "wchc" | "wchp";

/** Whatever the whitelist, and not counted. */
const REPORTS: Readonly<Record<Report, (view: AdminView) => string | Pieces>> = {
  srvr: (view) => `${versionLine(view)}${statistics(view)}`,
  cons: (view) => connections(view),
  dump: sessionDump,
  conf: configurationText,
  envi: (view) => `Environment:\n${keysAndValues(environment(view))}`,
  mntr: monitor,
  dirs: directories,
  wchs: watchSummary,
  wchc: (view) => lineEnded(watchesBySession(view)),
  wchp: (view) => lineEnded(watchesByPath(view)),
};

/** The text of a four-letter word, or that the server does not serve. */
export async function reportText(report: Report, view: AdminView): Promise<string> {
  if (!isServing(view)) return `${NOT_SERVING}\n`;
  const answer = REPORTS[report](view);
  return typeof answer === "string" ? answer : await view.slices.text(answer);
}

/** The answer to a word that is not executed. */
function permitted(word: string, view: AdminView): string | undefined {
  if (!isListed(word, view)) return `${word} is not executed because it is not in the whitelist.\n`;
  if (isServing(view) || ALWAYS.has(word)) return undefined;
  // As Apache does.
  return word === "hash" ? NOT_SERVING : `${NOT_SERVING}\n`;
}

function isListed(word: string, { config, fourLetterWords }: AdminView): boolean {
  return fourLetterWords.allowed.has(word) || (word === "isro" && config.readOnlyMode);
}

function versionLine({ version, driver }: AdminView): string {
  const banner = driver.replica.isReadOnly ? "READ-ONLY mode; serving only read-only clients\n" : "";
  return `Zookeeper version: ${version}\n${banner}`;
}

function statistics(view: AdminView): string {
  const { replica, proposals } = view.driver;
  const { counters } = replica;
  const min = counters.latencyCount === 0 ? 0 : counters.latencyMsMin;
  const average = counters.latencyCount === 0 ? 0 : counters.latencyMsTotal / counters.latencyCount;
  const mode = modeOf(view);
  const { last, min: least, max } = proposals.sizes;
  return [
    `Latency min/avg/max: ${Math.floor(min)}/${javaDecimal(average)}/${Math.floor(counters.latencyMsMax)}`,
    `Received: ${counters.packetsReceived}`,
    `Sent: ${counters.packetsSent}`,
    `Connections: ${replica.connectionCount}`,
    `Outstanding: ${replica.outstandingCount}`,
    `Zxid: ${formatZxid(shownZxid(view))}`,
    `Mode: ${mode}`,
    `Node count: ${replica.tree.nodeCount}`,
    ...(mode === "leader" ? [`Proposal sizes last/min/max: ${last}/${least}/${max}`, ...unlistedLine(view)] : []),
    "",
  ].join("\n");
}

/** At a leader that unlisted servers follow. No line of Apache's. */
function unlistedLine({ driver }: AdminView): readonly string[] {
  const { zab } = driver.replica;
  const { committed } = zab.members;
  const sids = zab.learners().map(({ sid }) => sid);
  const unlisted = sids.filter((sid) => committed?.servers.some((server) => server.sid === sid) === false);
  return unlisted.length === 0 ? [] : [`Unlisted: ${unlisted.sort((a, b) => a - b).join(", ")}`];
}

function* status(view: AdminView, asking: ClientConnection): Generator<string, void, undefined> {
  yield `${versionLine(view)}Clients:\n`;
  for (const facts of connectionFacts(view, asking)) yield briefLine(facts);
  yield `\n${statistics(view)}`;
}

function* connections(view: AdminView, asking?: ClientConnection): Generator<string, void, undefined> {
  for (const facts of connectionFacts(view, asking)) yield fullLine(facts);
  yield "\n";
}

function* lineEnded(pieces: Pieces): Generator<string, void, undefined> {
  yield* pieces;
  yield "\n";
}

function briefLine({ host, interestOps, queued, received, sent }: ConnectionFacts): string {
  return ` /${host}[${interestOps}](queued=${queued},recved=${received},sent=${sent})\n`;
}

function fullLine(connection: ConnectionFacts): string {
  const { host, interestOps, queued, received, sent, session, establishedMs } = connection;
  if (session === undefined) return briefLine(connection);
  const fields = [
    `queued=${queued},recved=${received},sent=${sent}`,
    `sid=${formatSessionId(session.id)}`,
    `lop=${session.lastOperation}`,
    `est=${establishedMs}`,
    `to=${session.timeoutMs}`,
    ...(session.lastXid >= 0 ? [`lcxid=0x${session.lastXid.toString(16)}`] : []),
    `lzxid=0x${session.lastZxid < 0 ? "ffffffffffffffff" : session.lastZxid.toString(16)}`,
    `lresp=${session.lastResponseMs}`,
    `llat=${session.lastLatencyMs}`,
    `minlat=${session.latencyMsMin}`,
    `avglat=${session.latencyMsAverage}`,
    `maxlat=${session.latencyMsMax}`,
  ];
  return ` /${host}[${interestOps}](${fields.join(",")})\n`;
}

/** First version and state, then single numbers, then summaries, then our own metrics. */
function monitor(view: AdminView): string {
  const lines = facts(view).map(([name, value]) => `zk_${name}\t${value}\n`);
  for (const [name, value] of monitorValues(view)) lines.push(`zk_${name}\t${value}\n`);
  return lines.join("");
}

function watchSummary({ driver }: AdminView): string {
  const { watches } = driver.replica;
  const first = `${watches.dataConnectionCount} connections watching ${watches.dataPathCount} paths`;
  return `${first}\nTotal watches:${watches.dataWatchCount}\n`;
}

function directories(view: AdminView): string {
  const { dataBytes, logBytes } = view.diskUsage();
  return `datadir_size: ${dataBytes}\nlogdir_size: ${logBytes}\n`;
}

function setTraceMask({ traceMask }: AdminView, _asking: ClientConnection, argument: Buffer): string {
  traceMask.value = argument.readBigInt64BE(0);
  return String(traceMask.value);
}

function keysAndValues(pairs: readonly (readonly [string, string])[]): string {
  return pairs.map(([name, value]) => `${name}=${value}\n`).join("");
}

function resetOfConnections(view: AdminView): string {
  resetConnections(view);
  return "Connection stats reset.\n";
}

function resetOfServer(view: AdminView): string {
  resetServer(view);
  return "Server stats reset.\n";
}
