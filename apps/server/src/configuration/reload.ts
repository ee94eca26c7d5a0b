import { ConfigError, type ReloadResult, type ServerOptions, type ZooidServer } from "@zooid/embedded-server";
import { LINE_CHARS_MAX, type ProcessLog } from "../logs/logger.ts";
import { explain } from "../process/exit-status.ts";
import type { Command, ServeCommand } from "./command-line.ts";
import { mayShowValue } from "./keys/known-keys.ts";
import { errorWithOrigins } from "./setting-origins.ts";

/** Keys of links between servers whose values a reload applies. */
const OF_LINKS =
  /^(?:zooid\.peerSecret(?:File|Mode)|zooid\.peerTls\.(?:key|cert|ca)|(?:zooid\.)?ssl\.quorum\..*|sslQuorum|sslQuorumReloadCertFiles|portUnification|zooid\.allowUnauthenticatedPeers)$/;
/** The admin port has the certificates of these, too. */
const OF_ADMIN_PORT = /^(?:zooid\.)?ssl\.quorum\./;
const OF_EVERY_SERVER = new Set(["4lw.commands.whitelist", "zooid.logLevel"]);

/**
 * Whether SIGHUP applies a change of this key; a change of any other takes effect at the next
 * start.
 */
export function isReloaded(key: string): boolean {
  return OF_EVERY_SERVER.has(key) || OF_LINKS.test(key);
}

/** Keys that changes of the ensemble's configuration write into the files. */
const MOVED = /^(?:server\.\d+|group\.\d+|weight\.\d+|clientPort|clientPortAddress|peerType|dynamicConfigFile)$/;

/** What a reload needs of the process. */
export interface Reloaded {
  readonly server: Pick<ZooidServer, "reload">;
  /** Parses the command line and its file again; throws ConfigError. */
  readonly read: () => Command;
  /** What a start makes of the command. */
  readonly optionsOf: (command: ServeCommand) => ServerOptions;
  readonly log: Pick<ProcessLog, "level" | "answer" | "warn" | "error">;
}

/**
 * Reads the configuration again: log level, four-letter words, certificates, and the secrets and
 * modes of links between servers take effect at once. A configuration that a start would refuse
 * changes nothing, and neither does one that would cut servers off. The answer is written whatever
 * the level of the log.
 *
 * @param started what is in force
 * @returns what is in force now
 */
export function reload({ server, read, optionsOf, log }: Reloaded, started: ServeCommand): ServeCommand {
  const refuse = (problems: readonly string[]): ServeCommand => {
    for (const line of linesOf("the configuration is not reloaded", problems))
      log.error(line, { event: "reload-refused" });
    return started;
  };
  let command: Command;
  try {
    command = read();
  } catch (error) {
    return refuse(problemsOf(error));
  }
  if (command.kind !== "serve") return started;
  const { options, logLevel, warnings } = command;
  const { fourLetterWords = "" } = options;
  const result = server.reload({ ...optionsOf(command), fourLetterWords });
  if (result.problems.length > 0)
    return refuse(problemsOf(errorWithOrigins(new ConfigError(result.problems), command)));
  const before = log.level;
  log.level = logLevel;
  const changed = changedSettings(started.values, command.values);
  const told = changed.filter(({ key }) => key !== "zooid.logLevel" || before === logLevel);
  const clausesOf = (isMeant: boolean): readonly string[] =>
    told.filter(({ key }) => isApplied(key, started) === isMeant).map((each) => clauseOf(each, started, command));
  const clauses = [
    ...(before === logLevel ? [] : [`the log level is ${logLevel}, was ${before}`]),
    ...clausesOf(true),
    ...(result.changes.length === 0 ? [] : [`for new links between servers: ${result.changes.join(", ")}`]),
    ...certificateClauses(result.certificates),
    ...clausesOf(false),
    ...myidClauses(started, command),
  ];
  const text = clauses.length === 0 ? ["nothing has changed"] : clauses;
  for (const line of linesOf("the configuration is reloaded", text)) log.answer(line, { event: "reloaded" });
  const known = new Set(started.warnings);
  for (const warning of [...warnings, ...result.notices])
    if (!known.has(warning)) log.warn(warning, { event: "setting" });
  const values = new Map(started.values);
  for (const { key } of changed) {
    if (!isApplied(key, started)) continue;
    const value = command.values.get(key);
    if (value === undefined) values.delete(key);
    else values.set(key, value);
  }
  const seen = [...started.warnings, ...warnings, ...result.notices];
  return { ...started, logLevel, values, warnings: seen, options: { ...started.options, fourLetterWords } };
}

function problemsOf(error: unknown): readonly string[] {
  return error instanceof ConfigError ? error.problems : [explain(error)];
}

/**
 * Clauses behind one beginning, on as many lines as they take; a value that fills a line alone is
 * cut off.
 */
function linesOf(beginning: string, clauses: readonly string[]): readonly string[] {
  const room = LINE_CHARS_MAX - beginning.length - ": ".length;
  const lines: string[] = [];
  for (const clause of clauses) {
    const short = clause.length > room ? `${clause.slice(0, room - 1)}…` : clause;
    const last = lines.at(-1);
    if (last !== undefined && last.length + "; ".length + short.length <= room)
      lines[lines.length - 1] = `${last}; ${short}`;
    else lines.push(short);
  }
  return lines.map((line) => `${beginning}: ${line}`);
}

/** Whether this server uses the setting, and a reload applies it. */
function isApplied(key: string, { options: { ensemble, admin } }: ServeCommand): boolean {
  if (OF_EVERY_SERVER.has(key)) return true;
  if (!OF_LINKS.test(key)) return false;
  const hasHttps = admin?.forceHttps === true || admin?.portUnification === true;
  return ensemble !== undefined || (hasHttps && OF_ADMIN_PORT.test(key));
}

/** What became of a changed setting. */
function clauseOf({ key, text }: ChangedSetting, started: ServeCommand, command: ServeCommand): string {
  if (key === "zooid.logLevel") return `${text}, and --log-level ${command.logLevel} wins`;
  if (isApplied(key, started)) return text;
  if (OF_LINKS.test(key) && command.options.ensemble === undefined) return `${text}, without effect on a single server`;
  if (started.options.reconfigEnabled === true && command.options.reconfigEnabled === true && MOVED.test(key))
    return `${text}, and the ensemble's configuration in force decides`;
  return `${text}, from the next start on`;
}

/** What became of the certificates, with their dates where those are others. */
function certificateClauses(certificates: ReloadResult["certificates"]): readonly string[] {
  if (certificates.length === 0) return [];
  const renewed = certificates.filter(({ notAfter, notAfterBefore }) => notAfter !== notAfterBefore);
  if (renewed.length === 0)
    return [`the certificates that ${certificates.map(({ shownTo }) => shownTo).join(" and ")} see are read again`];
  return renewed.map(
    ({ shownTo, notAfter, notAfterBefore }) =>
      `the certificate that ${shownTo} see is valid until ${dateOf(notAfter)}, was ${dateOf(notAfterBefore)}`,
  );
}

function dateOf(seconds: number | undefined): string {
  return seconds === undefined
    ? "none"
    : `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** The number of a server is no setting of zoo.cfg. */
function myidClauses(started: ServeCommand, command: ServeCommand): readonly string[] {
  const [was, is] = [started, command].map(({ options }) => options.ensemble?.sid);
  if (was === undefined || is === undefined || was === is) return [];
  return [`myid is ${is}, was ${was}, from the next start on`];
}

interface ChangedSetting {
  readonly key: string;
  /** What it is and was, unless that may be a secret. */
  readonly text: string;
}

function changedSettings(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): readonly ChangedSetting[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys
    .filter((key) => before.get(key) !== after.get(key))
    .map((key) => {
      const [was, is] = [before.get(key), after.get(key)];
      if (mayShowValue(key)) return { key, text: `${key} is ${shown(is)}, was ${shown(was)}` };
      if (was !== undefined && is !== undefined) return { key, text: `${key} has another value` };
      return { key, text: `${key} is ${is === undefined ? "not set any more" : "set"}` };
    });
}

function shown(value: string | undefined): string {
  return value === undefined ? "not set" : `"${value}"`;
}
