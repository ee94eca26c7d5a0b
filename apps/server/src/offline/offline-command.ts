import { resolve } from "node:path";
import {
  type ApacheDirectories,
  ConfigError,
  type DataDirectories,
  type ImportedSessions,
  type InspectOptions,
  type NodeHistoryOptions,
  type RestoreTarget,
  type TreePlace,
} from "@zooid/embedded-server";
import { type Member, parseMembers, serverId, type Zxid } from "@zooid/model";
import type { ConfigFile } from "../configuration/config-file.ts";
import { parseOptions } from "../configuration/options.ts";
import { isRemote, type NamedTarget, namedTarget, TARGET_OPTIONS } from "./target-options.ts";

/** A command for the data directories of a stopped server. */
export type OfflineCommand =
  | BackupCommand
  | CompareCommand
  | ExportCommand
  | HistoryCommand
  | ImportCommand
  | InspectCommand
  | RecoverCommand
  | RestoreCommand
  | SnapshotCommand;

/** `backup list`, `verify` and `prune` */
export interface BackupCommand {
  readonly kind: "backup";
  readonly act: "list" | "verify" | "prune";
  readonly target: NamedTarget;
  /** States before this time are given up; `prune` alone has it. */
  readonly beforeMs: number | undefined;
  readonly isPlan: boolean;
}

/** `inspect --diff` */
export interface CompareCommand {
  readonly kind: "compare";
  readonly places: readonly [TreePlace, TreePlace];
  readonly hasData: boolean;
}

export interface ExportCommand {
  readonly kind: "export";
  /** The directory that Apache's server gets. */
  readonly to: string;
  readonly source: ExportedData | ExportedHistory;
  /** Whether sessions that Apache's servers can continue are in it. */
  readonly sessions: "keep" | "drop";
}

export interface ExportedData {
  readonly directories: DataDirectories;
  readonly takesDamaged: boolean;
}

export interface ExportedHistory {
  /** The folder of an archive or a backup, or a data directory that has an archive. */
  readonly from: string | NamedTarget;
  /** The moment; undefined: the newest one. */
  readonly target: RestoreTarget | undefined;
}

/** The changes of a node, or the node at a moment. */
export interface HistoryCommand extends NodeHistoryOptions {
  readonly kind: "history";
  /** The folder of the archive, or a data directory that has one. */
  readonly from: string;
  readonly at: RestoreTarget | undefined;
}

export interface ImportCommand {
  readonly kind: "import";
  /** As a shell takes it. */
  readonly line: string;
  /** Those of one server, or of several servers of an ensemble. */
  readonly from: readonly ApacheDirectories[];
  readonly directories: DataDirectories;
  readonly member: Member | undefined;
  readonly sessions: ImportedSessions;
  readonly isPlan: boolean;
}

export interface RestoreCommand {
  readonly kind: "restore";
  /** As a shell takes it. */
  readonly line: string;
  /** The folder of an archive or a backup, or a data directory that has an archive. */
  readonly from: string | NamedTarget;
  readonly directories: DataDirectories;
  /** The moment; undefined: the newest one. */
  readonly target: RestoreTarget | undefined;
  readonly member: Member | undefined;
  readonly keepsSessions: boolean;
  readonly isPlan: boolean;
  /** The id of the ensemble of the history, which may still run. */
  readonly confirmed: string | undefined;
  /** The members that zoo.cfg lists. */
  readonly listed: readonly Member[];
}

export interface InspectCommand extends InspectOptions {
  readonly kind: "inspect";
  /** Files of a history, of a log, or of Apache's, or folders that have some. */
  readonly paths: readonly string[];
}

export interface RecoverCommand {
  readonly kind: "recover";
  /** Several only with `isPlan`. */
  readonly directories: readonly DataDirectories[];
  /** The server's place in its ensemble; undefined only with `isPlan`. */
  readonly member: Member | undefined;
  readonly isPlan: boolean;
  /** The id of the ensemble that ends. */
  readonly confirmed: string | undefined;
  readonly takesDamaged: boolean;
  /** The members that zoo.cfg lists. */
  readonly listed: readonly Member[];
}

export interface SnapshotCommand {
  readonly kind: "snapshot";
  readonly directories: DataDirectories;
  readonly out: string | undefined;
  readonly takesDamaged: boolean;
}

const BACKUP = {
  ...TARGET_OPTIONS,
  before: { type: "string" },
  plan: { type: "boolean" },
} as const;

const EXPORT = {
  ...TARGET_OPTIONS,
  apache: { type: "string" },
  data: { type: "string" },
  log: { type: "string" },
  force: { type: "boolean" },
  from: { type: "string" },
  to: { type: "string" },
  sessions: { type: "string" },
} as const;

const HISTORY = {
  recursive: { type: "boolean", short: "R" },
  after: { type: "string" },
  at: { type: "string" },
  data: { type: "boolean" },
} as const;

const IMPORT = {
  apache: { type: "string" },
  "apache-log": { type: "string" },
  data: { type: "string" },
  log: { type: "string" },
  "as-member": { type: "string" },
  sessions: { type: "string" },
  plan: { type: "boolean" },
} as const;

const INSPECT = {
  entries: { type: "boolean" },
  verify: { type: "boolean" },
  data: { type: "boolean" },
  diff: { type: "boolean" },
} as const;

const RECOVER = {
  data: { type: "string", multiple: true },
  log: { type: "string" },
  "as-member": { type: "string" },
  plan: { type: "boolean" },
  confirm: { type: "string" },
  force: { type: "boolean" },
} as const;

const RESTORE = {
  ...TARGET_OPTIONS,
  from: { type: "string" },
  data: { type: "string" },
  log: { type: "string" },
  to: { type: "string" },
  "as-member": { type: "string" },
  "keep-sessions": { type: "boolean" },
  confirm: { type: "string" },
  plan: { type: "boolean" },
} as const;

const SNAPSHOT = {
  data: { type: "string" },
  log: { type: "string" },
  out: { type: "string" },
  force: { type: "boolean" },
} as const;

/**
 * Undefined for any other command.
 *
 * @param readFile reads a zoo.cfg
 * @throws ConfigError with everything that is wrong
 */
export function parseOfflineCommand(
  argv: readonly string[],
  readFile: (file: string) => ConfigFile,
): OfflineCommand | undefined {
  const [first, ...rest] = argv;
  if (rest.includes("--help")) return undefined;
  if (first === "backup") return backupCommand(rest);
  if (first === "export") return exportCommand(rest);
  if (first === "history") return historyCommand(rest);
  if (first === "import") return importCommand(rest);
  if (first === "inspect") return inspectCommand(rest);
  if (first === "recover") return recoverCommand(rest, readFile);
  if (first === "restore") return restoreCommand(rest, readFile);
  return first === "snapshot" ? snapshotCommand(rest, readFile) : undefined;
}

const BACKUP_ACTS = ["list", "verify", "prune"] as const;

function backupCommand(argv: readonly string[]): BackupCommand {
  const { values, positionals } = parseOptions(argv, BACKUP);
  const problems: string[] = [];
  const [word, place, ...more] = positionals;
  const act = BACKUP_ACTS.find((each) => each === word);
  if (act === undefined || place === undefined || more.length > 0)
    problems.push(
      `backup takes list, verify or prune, and a target: a directory or s3://BUCKET/PREFIX; found ${positionals.join(", ") || "none"}`,
    );
  const target = namedTarget(place ?? ".", values, problems);
  const { before, plan: isPlan = false } = values;
  const moment = before === undefined ? undefined : targetOf("--before", before, problems);
  if (moment !== undefined && "zxid" in moment) problems.push(`--before takes a time, found ${before}`);
  if (act === "prune" && before === undefined)
    problems.push("prune takes --before TIME: states from then on can still be restored");
  if (act !== "prune" && (before !== undefined || isPlan)) problems.push("--before and --plan go with prune");
  if (problems.length > 0) throw new ConfigError(problems);
  const beforeMs = moment !== undefined && "timeMs" in moment ? moment.timeMs : undefined;
  return { kind: "backup", act: act ?? "list", target, beforeMs, isPlan };
}

function exportCommand(argv: readonly string[]): ExportCommand {
  const { values, positionals } = parseOptions(argv, EXPORT);
  const problems: string[] = [];
  if (positionals.length > 0) problems.push(`export takes options alone, found ${positionals.join(", ")}`);
  const { apache, data, log, force = false, from, to, sessions = "drop" } = values;
  if (sessions !== "keep" && sessions !== "drop") problems.push(`--sessions takes keep or drop, found ${sessions}`);
  if (apache === undefined) problems.push("--apache names the directory that gets the data: an empty one, or none");
  if ((data === undefined) === (from === undefined))
    problems.push(
      "--data names the data directory of the stopped server, or --from one that has a history, a backup's directory, or s3://BUCKET/PREFIX: give one",
    );
  if (data === undefined && (log !== undefined || force)) problems.push("--log and --force go with --data");
  if (from === undefined && to !== undefined)
    problems.push("--to goes with --from: a data directory has its last state");
  const target = to === undefined ? undefined : targetOf("--to", to, problems);
  const named = namedTarget(from ?? ".", values, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const directories = { dataDir: resolve(data ?? "."), logDir: log === undefined ? undefined : resolve(log) };
  const place = isRemote(named.target) ? named : named.target;
  const source = from === undefined ? { directories, takesDamaged: force } : { from: place, target };
  return { kind: "export", to: resolve(apache ?? "."), source, sessions: sessions === "keep" ? "keep" : "drop" };
}

function historyCommand(argv: readonly string[]): HistoryCommand {
  const { values, positionals } = parseOptions(argv, HISTORY);
  const problems: string[] = [];
  const [from, path, ...more] = positionals;
  if (from === undefined || path === undefined || more.length > 0)
    problems.push(
      `history takes a data directory that has a history, and the path of a node, found ${positionals.join(", ") || "none"}`,
    );
  const { recursive = false, after, at, data = false } = values;
  if (at !== undefined && (recursive || after !== undefined))
    problems.push("--at shows one node at one moment, without --recursive and --after");
  const begin = after === undefined ? undefined : targetOf("--after", after, problems);
  if (begin !== undefined && !("zxid" in begin)) problems.push(`--after takes a zxid, found ${after}`);
  const moment = at === undefined ? undefined : targetOf("--at", at, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    kind: "history",
    from: resolve(from ?? "."),
    path: path ?? "/",
    isRecursive: recursive,
    after: begin !== undefined && "zxid" in begin ? begin.zxid : undefined,
    at: moment,
    hasData: data,
  };
}

function importCommand(argv: readonly string[]): ImportCommand {
  const { values, positionals } = parseOptions(argv, IMPORT);
  const problems: string[] = [];
  if (positionals.length > 0) problems.push(`import takes options alone, found ${positionals.join(", ")}`);
  const { apache, "apache-log": apacheLog, data, log, plan: isPlan = false } = values;
  if (apache === undefined)
    problems.push("--apache names the data directory of the stopped Apache server, or several, separated by commas");
  if (data === undefined && !isPlan)
    problems.push("--data names the directory that gets the data: an empty one, or none");
  const named = values["as-member"];
  const member = named === undefined ? undefined : memberOf(named, problems);
  const from = apacheDirectories(apache ?? ".", apacheLog, problems);
  const { sessions = "keep" } = values;
  if (sessions !== "keep" && sessions !== "drop") problems.push(`--sessions takes keep or drop, found ${sessions}`);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    kind: "import",
    line: commandLine(["import", ...argv]),
    from,
    directories: { dataDir: resolve(data ?? "."), logDir: log === undefined ? undefined : resolve(log) },
    member,
    sessions: sessions === "drop" ? "drop" : "keep",
    isPlan,
  };
}

/** Logs in directories of their own are named for each server, in the same order. */
function apacheDirectories(data: string, log: string | undefined, problems: string[]): readonly ApacheDirectories[] {
  const dataDirs = data.split(",");
  const logDirs = log?.split(",");
  if ([...dataDirs, ...(logDirs ?? [])].includes(""))
    problems.push("--apache and --apache-log take names, found an empty one");
  if (logDirs !== undefined && logDirs.length !== dataDirs.length) {
    problems.push(
      `--apache-log names the dataLogDir of each server of --apache: expected ${dataDirs.length}, found ${logDirs.length}`,
    );
  }
  const places = dataDirs.map((each) => resolve(each));
  const twice = places.find((place, i) => places.indexOf(place) < i);
  if (twice !== undefined) problems.push(`--apache names ${twice} twice`);
  return places.map((dataDir, i) => ({
    dataDir,
    logDir: logDirs?.[i] === undefined ? undefined : resolve(logDirs[i]),
  }));
}

function inspectCommand(argv: readonly string[]): InspectCommand | CompareCommand {
  const { values, positionals } = parseOptions(argv, INSPECT);
  const { entries = false, verify = false, data = false, diff = false } = values;
  if (diff) {
    if (entries || verify) throw new ConfigError(["--diff compares whole states, without --entries and --verify"]);
    return { kind: "compare", places: placesOf(positionals), hasData: data };
  }
  if (positionals.length === 0) {
    throw new ConfigError([
      "inspect takes files of a history or of a log, or a data directory that has a history in archive/log",
    ]);
  }
  if (data && !entries)
    throw new ConfigError(["--data shows the values of --entries or --diff: give one of these too"]);
  const paths = positionals.map((path) => resolve(path));
  return { kind: "inspect", paths, hasEntries: entries, isVerified: verify, hasData: data };
}

/** Each may name a moment behind an `@`. */
function placesOf(positionals: readonly string[]): readonly [TreePlace, TreePlace] {
  const problems: string[] = [];
  const [one, other, ...more] = positionals.map((text) => {
    // A moment has no slash; a path may have an `@` before one, or before other words.
    const at = text.lastIndexOf("@");
    const moment =
      at > 0 && /^(?:0x|\d{4}-\d\d-\d\dT)[^/]*$/i.test(text.slice(at + 1)) ? text.slice(at + 1) : undefined;
    const path = moment === undefined ? text : text.slice(0, at);
    return {
      path: resolve(path),
      target: moment === undefined ? undefined : targetOf("the moment behind @", moment, problems),
    };
  });
  if (one === undefined || other === undefined || more.length > 0) {
    problems.push(`--diff takes two states, found ${positionals.length === 0 ? "none" : positionals.join(", ")}`);
  }
  if (problems.length > 0 || one === undefined || other === undefined) throw new ConfigError(problems);
  return [one, other];
}

function recoverCommand(argv: readonly string[], readFile: (file: string) => ConfigFile): RecoverCommand {
  const { values, positionals } = parseOptions(argv, RECOVER);
  const problems: string[] = [];
  const file = fileOf("recover", positionals, readFile, problems);
  const directories = (values.data ?? []).map((dataDir) => ({ dataDir: resolve(dataDir) }));
  const isPlan = values.plan === true;
  if (directories.length > 1 && (!isPlan || values.log !== undefined))
    problems.push("several --data are for --plan, without --log: it says which of them is the newest");
  const named = values["as-member"];
  if (named === undefined && !isPlan)
    problems.push("recover takes --as-member N=HOST:PORT:PORT;CLIENTPORT, the server that the survivor is to be");
  const member = named === undefined ? undefined : memberOf(named, problems);
  const chosen =
    directories.length > 1 ? directories : [directoriesOf(values, directories[0]?.dataDir, file, problems)];
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    kind: "recover",
    directories: chosen,
    member,
    isPlan,
    confirmed: values.confirm,
    takesDamaged: values.force === true,
    listed: membersIn(file),
  };
}

function restoreCommand(argv: readonly string[], readFile: (file: string) => ConfigFile): RestoreCommand {
  const { values, positionals } = parseOptions(argv, RESTORE);
  const problems: string[] = [];
  const file = fileOf("restore", positionals, readFile, problems);
  const { from, data, log, to, plan: isPlan = false } = values;
  if (from === undefined)
    problems.push("--from names a data directory that has a history, a backup's directory, or s3://BUCKET/PREFIX");
  const source = namedTarget(from ?? ".", values, problems);
  if (data === undefined && !isPlan)
    problems.push("--data names the directory that gets the data: an empty one, or none");
  const target = to === undefined ? undefined : targetOf("--to", to, problems);
  const named = values["as-member"];
  const member = named === undefined ? undefined : memberOf(named, problems);
  if (member === undefined && (file !== undefined || values.confirm !== undefined))
    problems.push("a zoo.cfg and --confirm go with --as-member: they say which ensemble the copy may meet");
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    kind: "restore",
    line: commandLine(["restore", ...argv]),
    from: isRemote(source.target) ? source : source.target,
    directories: { dataDir: resolve(data ?? "."), logDir: log === undefined ? undefined : resolve(log) },
    target,
    member,
    keepsSessions: values["keep-sessions"] === true,
    isPlan,
    confirmed: values.confirm,
    listed: membersIn(file),
  };
}

function commandLine(argv: readonly string[]): string {
  const quoted = argv.map((word) => (/^[\w%+,./:=@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return ["zooid-server", ...quoted].join(" ");
}

/** `0x300000007`, or a time as ISO 8601 has it. */
function targetOf(option: string, text: string, problems: string[]): RestoreTarget | undefined {
  if (/^0x[0-9a-f]{1,16}$/i.test(text)) {
    const zxid = Number.parseInt(text.slice(2), 16);
    if (Number.isSafeInteger(zxid)) return { zxid: zxid as Zxid };
  } else if (/^\d{4}-\d{2}-\d{2}T/.test(text)) {
    const timeMs = Date.parse(text);
    if (!Number.isNaN(timeMs)) return { timeMs };
  }
  problems.push(
    `${option} takes a zxid like 0x300000007 or a time like 2026-05-31T23:59:00Z, found ${JSON.stringify(text)}`,
  );
  return undefined;
}

function snapshotCommand(argv: readonly string[], readFile: (file: string) => ConfigFile): SnapshotCommand {
  const { values, positionals } = parseOptions(argv, SNAPSHOT);
  const problems: string[] = [];
  const file = fileOf("snapshot", positionals, readFile, problems);
  const data = values.data === undefined ? undefined : resolve(values.data);
  const directories = directoriesOf(values, data, file, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  const out = values.out === undefined ? undefined : resolve(values.out);
  return { kind: "snapshot", directories, out, takesDamaged: values.force === true };
}

function fileOf(
  command: string,
  positionals: readonly string[],
  readFile: (file: string) => ConfigFile,
  problems: string[],
): ConfigFile | undefined {
  const [name, ...more] = positionals;
  if (more.length > 0) problems.push(`${command} takes one zoo.cfg, found ${positionals.join(", ")}`);
  return name === undefined ? undefined : readFile(name);
}

/**
 * Options win over the file; a log directory of the file does not go with another data directory.
 */
function directoriesOf(
  { log }: { readonly log?: string | undefined },
  dataDir: string | undefined,
  file: ConfigFile | undefined,
  problems: string[],
): DataDirectories {
  const logDir = log === undefined ? undefined : resolve(log);
  if (dataDir !== undefined) return { dataDir, logDir };
  const { dataDir: fromFile, logDir: logFromFile } = file?.options ?? {};
  if (fromFile === undefined) problems.push("--data names the data directory of the stopped server, or a zoo.cfg does");
  return { dataDir: resolve(fromFile ?? "."), logDir: logDir ?? logFromFile };
}

function memberOf(text: string, problems: string[]): Member | undefined {
  const line = /^\d/.test(text) ? `server.${text}` : text;
  try {
    const [member, ...others] = parseMembers(line).servers;
    if (member === undefined || others.length > 0) throw new RangeError(`found ${JSON.stringify(text)}`);
    if (member.isObserver) throw new RangeError("an observer alone is no ensemble");
    const ports = portsOf(member);
    if (new Set(ports).size < ports.length) throw new RangeError(`it has a port twice: ${ports.join(", ")}`);
    return member;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    problems.push(`--as-member takes N=HOST:PORT:PORT;CLIENTPORT, as in a line server.N: ${error.message}`);
    return undefined;
  }
}

/** The ports on a member's host, of which each has a number of its own. */
function portsOf({ host, quorumPort, electionPort, clientAddress }: Member): readonly number[] {
  const isHere = clientAddress !== undefined && [undefined, "0.0.0.0", "::", host].includes(clientAddress.host);
  return [quorumPort, electionPort, ...(isHere ? [clientAddress.port] : [])];
}

function membersIn(file: ConfigFile | undefined): readonly Member[] {
  return [...(file?.ensemble.servers ?? [])].map(
    ([key, { host, quorumPort, electionPort, isObserver, clientAddress }]) => ({
      sid: serverId(Number(key.slice("server.".length))),
      host,
      quorumPort,
      electionPort,
      isObserver,
      clientAddress: clientAddress === undefined ? undefined : { host: clientAddress.host, port: clientAddress.port },
      group: undefined,
      weight: 1,
    }),
  );
}
