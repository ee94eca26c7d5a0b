import {
  ConfigError,
  type ReloadAnswer,
  type ReloadResult,
  type ServerOptions,
  type ZooidServer,
} from "@zooid/embedded-server";
import type { AuditSwitch, PreparedAudit } from "../logs/audit-switch.ts";
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
/** Limits, thresholds, and what is kept or written down. */
const OF_EVERY_SERVER: ReadonlySet<string> = new Set([
  "4lw.commands.whitelist",
  "audit.enable",
  "enforceQuota",
  "fsync.warningthresholdms",
  "maxClientCnxns",
  "maxCnxns",
  "maxSessionTimeout",
  "minSessionTimeout",
  "zooid.audit.file",
  "zooid.authFailureDelayMaxMs",
  "zooid.childrenBytesMax",
  "zooid.disk.lowBytes",
  "zooid.disk.reserveBytes",
  "zooid.heldBytesMax",
  "zooid.log.retainBytes",
  "zooid.log.retainMs",
  "zooid.logLevel",
  "zooid.multiPartsMax",
  "zooid.slowRequestMs",
  "zooid.watchBytesMax",
]);
const THROTTLE = /^connection_throttle_/;
/** They begin and end with the history, at a start. */
const OF_HISTORY =
  /^zooid\.(?:history\.(?:retainMs|retainBytes|lagBytesMax|fileMs)|backup\.(?:target|endpoint|region|credentialsFile|baseEveryMs|retainMs|bytesPerSecond))$/;

/**
 * Whether a reload applies a change of this key; a change of any other takes effect at the next
 * start.
 */
export function isReloaded(key: string): boolean {
  return isOfEveryServer(key) || OF_LINKS.test(key) || OF_HISTORY.test(key);
}

function isOfEveryServer(key: string): boolean {
  return OF_EVERY_SERVER.has(key) || THROTTLE.test(key);
}

const NOTHING: ReloadAnswer = { problems: [], changed: [], notApplied: [], warnings: [] };

/** Keys that changes of the ensemble's configuration write into the files. */
const MOVED = /^(?:server\.\d+|group\.\d+|weight\.\d+|clientPort|clientPortAddress|peerType|dynamicConfigFile)$/;

/** The parts of the process that a reload needs. */
export interface Reloaded {
  readonly server: Pick<ZooidServer, "reload">;
  /** Parses the command line and its file again; throws ConfigError. */
  readonly read: () => Command;
  /** The options that a start makes of the command. */
  readonly optionsOf: (command: ServeCommand) => ServerOptions;
  readonly audit: Pick<AuditSwitch, "check" | "prepare">;
  readonly log: Pick<ProcessLog, "level" | "answer" | "warn" | "error">;
}

/** The requester of a reload, and the request. */
export interface ReloadRequest {
  /** Everything is checked and answered, and nothing changes. Default false. */
  readonly isDryRun?: boolean;
  /** For the log, where an operator asks by the admin port. */
  readonly address?: string;
}

export interface ReloadOutcome {
  /** The command in force. */
  readonly inForce: ServeCommand;
  readonly answer: ReloadAnswer;
}

/**
 * Reads the configuration again: log level, limits, thresholds, the audit log, four-letter words,
 * certificates, and the secrets and modes of links between servers take effect at once. A
 * configuration that a start would refuse changes nothing, and neither does one that would cut
 * servers off. The answer is written whatever the level of the log.
 *
 * @param started what is in force
 */
export function reload(reloaded: Reloaded, started: ServeCommand, request: ReloadRequest = {}): ReloadOutcome {
  const { server, read, optionsOf, audit, log } = reloaded;
  const { isDryRun = false } = request;
  const by = request.address === undefined ? "" : `, as an operator at ${request.address} asked`;
  const refuse = (problems: readonly string[]): ReloadOutcome => {
    const beginning = `the configuration is not reloaded${by}`;
    for (const line of isDryRun ? [] : linesOf(beginning, problems)) log.error(line, { event: "reload-refused" });
    return { inForce: started, answer: { ...NOTHING, problems } };
  };
  let command: Command;
  try {
    command = read();
    if (command.kind === "serve" && isDryRun) audit.check(command.auditFile);
  } catch (error) {
    return refuse(problemsOf(error));
  }
  if (command.kind !== "serve") return { inForce: started, answer: NOTHING };
  const { options, logLevel, warnings } = command;
  const { fourLetterWords = "" } = options;
  let nextAudit: PreparedAudit | undefined;
  try {
    if (!isDryRun) nextAudit = audit.prepare(command.auditFile);
  } catch (error) {
    return refuse(problemsOf(errorWithOrigins(error, command)));
  }
  const result = server.reload({ ...optionsOf(command), fourLetterWords }, { isDryRun });
  if (result.problems.length > 0) {
    nextAudit?.drop();
    return refuse(problemsOf(errorWithOrigins(new ConfigError(result.problems), command)));
  }
  const before = log.level;
  const known = new Set(started.warnings);
  const changed = changedSettings(started.values, command.values);
  const listed = changed.filter(({ key }) => key !== "zooid.logLevel" || before === logLevel);
  const clausesOf = (isMeant: boolean): readonly string[] =>
    listed
      .filter(({ key }) => isApplied(key, started, command) === isMeant)
      .map((each) => clauseOf(each, started, command));
  const answer: ReloadAnswer = {
    problems: [],
    changed: [
      ...(before === logLevel ? [] : [`the log level is ${logLevel}, was ${before}`]),
      ...clausesOf(true),
      ...(result.changes.length === 0 ? [] : [`for new links between servers: ${result.changes.join(", ")}`]),
      ...certificateClauses(result.certificates),
    ],
    notApplied: [...clausesOf(false), ...myidClauses(started, command)],
    warnings: [...warnings, ...result.notices].filter((warning) => !known.has(warning)),
  };
  if (isDryRun) return { inForce: started, answer };
  nextAudit?.apply();
  log.level = logLevel;
  const clauses = [...answer.changed, ...answer.notApplied];
  const text = clauses.length === 0 ? ["nothing has changed"] : clauses;
  for (const line of linesOf(`the configuration is reloaded${by}`, text)) log.answer(line, { event: "reloaded" });
  for (const warning of answer.warnings) log.warn(warning, { event: "setting" });
  const values = new Map(started.values);
  for (const { key } of changed) {
    if (!isApplied(key, started, command)) continue;
    const value = command.values.get(key);
    if (value === undefined) values.delete(key);
    else values.set(key, value);
  }
  const seen = [...started.warnings, ...answer.warnings];
  const inForce = { ...started, logLevel, values, warnings: seen, options: { ...started.options, fourLetterWords } };
  return { inForce: { ...inForce, auditFile: command.auditFile }, answer };
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
function isApplied(key: string, { options: { ensemble, admin, history } }: ServeCommand, next: ServeCommand): boolean {
  if (isOfEveryServer(key)) return true;
  if (OF_HISTORY.test(key)) return [history, next.options.history].every((kept) => (kept?.retainMs ?? 0) > 0);
  if (!OF_LINKS.test(key)) return false;
  const hasHttps = admin?.forceHttps === true || admin?.portUnification === true;
  return ensemble !== undefined || (hasHttps && OF_ADMIN_PORT.test(key));
}

/** The outcome of a changed setting. */
function clauseOf({ key, text }: ChangedSetting, started: ServeCommand, command: ServeCommand): string {
  if (key === "zooid.logLevel") return `${text}, and --log-level ${command.logLevel} wins`;
  if (isApplied(key, started, command)) return text;
  if (OF_LINKS.test(key) && command.options.ensemble === undefined) return `${text}, without effect on a single server`;
  if (started.options.reconfigEnabled === true && command.options.reconfigEnabled === true && MOVED.test(key))
    return `${text}, and the ensemble's configuration in force decides`;
  return `${text}, from the next start on`;
}

/** The outcome of the certificates, with their dates where those are others. */
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
  /** The value in force and the one before, unless that may be a secret. */
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
