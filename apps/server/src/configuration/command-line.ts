import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  accessFault,
  ConfigError,
  isLogLevel,
  LOG_LEVELS,
  type LogLevel,
  type ServerOptions,
} from "@zooid/embedded-server";
import { type OfflineCommand, parseOfflineCommand } from "../offline/offline-command.ts";
import { unreadSettings } from "../process/start-scripts.ts";
import {
  applySettings,
  type ConfigFile,
  MEMBERS_REMEDY,
  parseConfigFile,
  type UnknownKeys,
  unknownKeysOf,
} from "./config-file.ts";
import { readText } from "./configuration-text.ts";
import { completeEnsemble, mergeEnsembles, NO_ENSEMBLE } from "./ensemble-settings.ts";
import { type JvmFlags, jvmRest, jvmSettings, misspeltFlags } from "./jvm-flags.ts";
import { ANY_ADDRESS } from "./key-values.ts";
import type { AuditSettings, Setting } from "./keys/key-rule.ts";
import { mergeOptions } from "./merge-options.ts";
import { type OptionValues, parseOptions } from "./options.ts";
import { errorWithOrigins, withOrigins } from "./setting-origins.ts";

export const USAGE = `zooid-server [zoo.cfg] [options]
zooid-server PORT DATADIR [TICKTIME] [MAXCLIENTCNXNS]
zooid-server init-secret FILE
zooid-server follow zoo.cfg [options]
zooid-server status [zoo.cfg] [options]
zooid-server health [zoo.cfg] [options]
zooid-server check [zoo.cfg] [options] [--json]
zooid-server recover [zoo.cfg] --data DIR --as-member N=LINE [--plan] [--confirm ID] [--force]
zooid-server snapshot [zoo.cfg] --data DIR [--out FILE] [--force]
zooid-server restore [zoo.cfg] --from DIR|TARGET --data DIR [--to ZXID|TIME] [--as-member N=LINE [--confirm ID]] [--keep-sessions] [--plan]
zooid-server backup {list|verify} TARGET
zooid-server backup prune TARGET --before TIME [--plan]
zooid-server import --apache DIR[,DIR…] [--apache-log DIR[,DIR…]] --data DIR [--sessions keep|drop] [--as-member N=LINE] [--plan]
zooid-server export --apache OUT {--data DIR [--log DIR] [--force] | --from DIR|TARGET [--to ZXID|TIME]} [--sessions keep|drop]
zooid-server inspect FILE... [--entries [--data]] [--verify]
zooid-server inspect --diff STATE STATE [--data]
zooid-server history DIR PATH [--recursive] [--after ZXID] [--data]
zooid-server history DIR PATH --at ZXID|TIME [--data]
zooid-server container

Serves ZooKeeper clients. Without a file: 127.0.0.1:2181, with its data under ./data.

  --port N           port for clients; 0 lets the system choose
  --address A        address to listen on; * for every one
  --data DIR         directory for state and log
  --set KEY=VALUE    any setting of zoo.cfg; may be given more than once
  --log-level LEVEL  debug, info (default), warn or error
  --version          print the version
  --help             print this

Options win over the file. follow applies the transactions of a running Apache ZooKeeper ensemble, which zooid.follow=HOST:2888,… names, and serves no clients
(docs/moving-in.md). init-secret writes a new secret by which the servers of an ensemble know each other; every one of them gets
the same file, and the setting zooid.peerSecretFile=FILE. status asks the server with this configuration on this machine for its role, prints
it as zkServer.sh does, and ends with status 0 if clients are served, else 1. health asks the admin port the same.
check looks at the configuration and at this machine, whether the server runs or not, names what is wrong or risky, and ends with status 0 if nothing was found. recover and snapshot
are for a server that is stopped (docs/disaster.md): recover lets the one survivor of an ensemble go on alone, as server N at the place that LINE names,
host:port:port;clientPort, and --plan only says what that means; snapshot writes what it holds in ZooKeeper's form. restore makes a new data directory from
the history of another one (zooid.history.retainMs) or from a backup, as it was at a zxid or a time, for a standalone server or for server N alone. A backup's
TARGET is a directory or s3://BUCKET/PREFIX, with --endpoint URL, --region R, and --credentials FILE where the key is not in the environment; backup says what
is in one, checks all of it, or removes what no state from a time on needs. import makes one from the
data directory of a stopped Apache ZooKeeper server; --plan only says which of its files are read, and how far they go. export is the way back: OUT becomes
a data directory for Apache's servers, from that of a stopped server, a history or a backup. inspect says what is in files of
the history (zooid.history.retainMs), in a data directory's archive, in segments of the log, and in ZooKeeper's snapshots and logs: --entries prints each
change, --data with values and access lists, --verify reads everything against its sums. --diff compares two states by path, each a data directory of a stopped
server or of ZooKeeper, a snapshot, or a moment of a history, DIR@ZXID or DIR@TIME; status 1 if they differ. history prints the changes of one node
out of a history, or of all nodes below it, or the node as it was at a moment. container is the entry point of the container image: it reads the variables of ZooKeeper's images.`;

/** First arguments that name a command; all others are those of a server. */
export const COMMANDS: ReadonlySet<string> = new Set([
  "init-secret",
  "container",
  "health",
  "status",
  "check",
  "backup",
  "export",
  "history",
  "import",
  "inspect",
  "recover",
  "restore",
  "snapshot",
  "--help",
  "-h",
  "--version",
]);

export type Command =
  | { readonly kind: "help" }
  | { readonly kind: "version" }
  | { readonly kind: "init-secret"; readonly file: string }
  | { readonly kind: "container" }
  | { readonly kind: "health" | "status"; readonly options: ServerOptions }
  | CheckCommand
  | OfflineCommand
  | ServeCommand;

export interface ServeCommand extends Pick<ConfigFile, "options" | "warnings" | "console" | "values" | "origins"> {
  readonly kind: "serve";
  /** The configuration file, if there is one. */
  readonly configFile?: string;
  /** Its text. */
  readonly configuration: string | undefined;
  readonly logLevel: LogLevel;
  /** Where clients' writes are written down; undefined: nowhere. */
  readonly auditFile: string | undefined;
}

/** `check`: looks at a configuration and at this machine; the server need not run. */
export interface CheckCommand {
  readonly kind: "check";
  /** The server of a start with these arguments; an error: the reason why it would not start. */
  readonly server: ServeCommand | ConfigError;
  /** As the operator named it. */
  readonly file: string | undefined;
  readonly isJson: boolean;
}

const DEFAULT_DATA_DIR = "data";
/** As in the logging of Apache ZooKeeper. */
const AUDIT_FILE = "zookeeper_audit.log";
/** The tick of Apache's server where a configuration names none. */
const CONFIGURED_TICK_MS = 3000;
/** A longer file cannot be the one that was meant. */
const FILE_BYTES_MAX = 1024 * 1024;

/**
 * Reads what follows the command's name; throws ConfigError with everything that is wrong.
 *
 * @param jvmFlags what the environment has for Java's command line, where estates of ZooKeeper put
 *   settings
 */
export function parseCommandLine(argv: readonly string[], jvmFlags: JvmFlags = {}): Command {
  const offline = parseOfflineCommand(argv, fromFile);
  if (offline !== undefined) return offline;
  const { values, positionals } = parseOptions(argv, OPTIONS, "last wins");
  if (values.help === true) return { kind: "help" };
  if (values.version === true) return { kind: "version" };
  const [first, second] = positionals;
  if (first === "init-secret" && positionals.length <= 2) {
    if (second === undefined) throw new ConfigError([`init-secret takes the name of a file\n\n${USAGE}`]);
    return { kind: "init-secret", file: resolve(second) };
  }
  if (first === "container" && positionals.length === 1) return { kind: "container" };
  if (first === "health" || first === "status")
    return { kind: first, options: serveCommand(values, positionals.slice(1), jvmFlags).options };
  if (first === "check") {
    const file = positionals[1];
    const server = unlessRefused(() => serveCommand(values, positionals.slice(1), jvmFlags));
    return { kind: "check", server, file, isJson: values.json === true };
  }
  if (values.json === true) throw new ConfigError([`--json belongs to check\n\n${USAGE}`]);
  const follows = first === "follow";
  const command = serveCommand(values, follows ? positionals.slice(1) : positionals, jvmFlags);
  const hasHosts = command.options.follow !== undefined;
  if (follows && !hasHosts)
    throw new ConfigError([
      "zooid.follow is missing: zooid-server follow needs the quorum ports of the Apache servers, HOST:2888,HOST:2888",
    ]);
  if (!follows && hasHosts)
    throw new ConfigError([
      "zooid.follow is set, with which no clients are served: start zooid-server follow, or remove the keys zooid.follow",
    ]);
  return command;
}

function unlessRefused(read: () => ServeCommand): ServeCommand | ConfigError {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error;
  }
}

function serveCommand(values: Values, positionals: readonly string[], jvmFlags: JvmFlags): ServeCommand {
  const [first] = positionals;
  const given = flagSettings(values);
  const said = unknownKeysOf(given);
  // No estate has options of these: an unknown one is a mistake.
  const flags = applySettings(given, said ?? "refuse");
  const isFile = positionals.length <= 1;
  const base: ReturnType<typeof fromFile> = isFile ? fromFile(first, said) : fromArguments(positionals);
  const jvm = fromJvmFlags(jvmFlags, said ?? base.unknown);
  const options = {
    dataDir: resolve(DEFAULT_DATA_DIR),
    ...mergeOptions(mergeOptions(jvm.options, base.options), flags.options),
  };
  // A log directory of the file does not go with another data directory of the command line.
  if (flags.options.dataDir !== undefined && flags.options.logDir === undefined)
    delete (options as { logDir?: string }).logDir;
  const configFile = first === undefined || !isFile ? undefined : resolve(first);
  const myid: readonly [string, string] = ["myid", join(options.dataDir, "myid")];
  const origins = new Map([...jvm.origins, ...base.origins, ...flags.origins, myid]);
  const ensemble = placed({ origins, configFile }, () =>
    completeEnsemble(mergeEnsembles(mergeEnsembles(jvm.ensemble, base.ensemble), flags.ensemble), options, {
      port: base.options.port,
      address: base.options.address,
      hasDynamicFile: base.membersFile !== undefined,
    }),
  );
  const settings = new Map([...jvm.values, ...base.values, ...flags.values]);
  const unread = unreadSettings(configFile, settings);
  if (unread.problems.length > 0) throw new ConfigError(unread.problems);
  // A file that names the TLS port alone opens no other.
  const hasPlainPort =
    options.securePort === undefined || options.port !== undefined || ensemble.options.port !== undefined;
  return {
    kind: "serve",
    options: {
      // Apache listens on every address by default; a server without any configuration listens on
      // the loopback only.
      ...(first === undefined && ensemble.options.ensemble === undefined ? {} : { address: ANY_ADDRESS }),
      ...(first === undefined ? {} : { tickMs: CONFIGURED_TICK_MS }),
      ...(options.securePort === undefined ? {} : { secureAddress: ANY_ADDRESS }),
      ...(hasPlainPort ? {} : { plainPort: false }),
      ...options,
      ...withVersion(ensemble.options, base),
    },
    ...(configFile === undefined ? {} : { configFile }),
    configuration: base.text,
    warnings: [
      ...[...jvm.warnings, ...base.warnings, ...flags.warnings, ...unread.warnings],
      ...ensemble.warnings,
      ...ensemble.addressWarnings.map((warning) => withOrigins(warning, origins)),
    ],
    logLevel: logLevel(values["log-level"], settings.get("zooid.logLevel")),
    console: { ...jvm.console, ...base.console, ...flags.console },
    values: settings,
    origins,
    auditFile: auditFileOf({ ...jvm.audit, ...base.audit, ...flags.audit }, options.dataDir),
  };
}

function placed<T>(where: Parameters<typeof errorWithOrigins>[1], complete: () => T): T {
  try {
    return complete();
  } catch (error) {
    throw errorWithOrigins(error, where);
  }
}

function withVersion(
  options: Pick<ServerOptions, "ensemble">,
  { membersVersion: version, membersFile: versionFile }: Pick<ConfigFile, "membersVersion" | "membersFile">,
): Pick<ServerOptions, "ensemble"> {
  if (options.ensemble === undefined || version === undefined || versionFile === undefined) return options;
  return { ...options, ensemble: { ...options.ensemble, version, versionFile } };
}

function auditFileOf({ isEnabled, file }: AuditSettings, dataDir: string): string | undefined {
  return isEnabled === true ? (file ?? join(dataDir, AUDIT_FILE)) : undefined;
}

type Values = OptionValues<typeof OPTIONS>;

const OPTIONS = {
  port: { type: "string" },
  address: { type: "string" },
  data: { type: "string" },
  set: { type: "string", multiple: true },
  "log-level": { type: "string" },
  json: { type: "boolean" },
  version: { type: "boolean" },
  help: { type: "boolean", short: "h" },
} as const;

interface ReadFile extends ConfigFile {
  readonly text?: string;
  /** The rule for unknown keys, where the file has one. */
  readonly unknown?: UnknownKeys | undefined;
}

function fromFile(file: string | undefined, unknown?: UnknownKeys): ReadFile {
  if (file === undefined) return { ...NOTHING, options: {} };
  const text = readConfiguration(file);
  try {
    return { ...parseConfigFile(text, readMembersFile, unknown), text };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `${file}: ${problem}`));
  }
}

const NOTHING: Omit<ConfigFile, "options"> = {
  ensemble: NO_ENSEMBLE,
  audit: {},
  console: {},
  values: new Map(),
  origins: new Map(),
  warnings: [],
};

/** The file that zoo.cfg names for the servers of the ensemble. */
function readMembersFile(file: string): string {
  return readConfiguration(file, MEMBERS_REMEDY);
}

/** @param remedy what to do where the file is gone; undefined: nothing is known */
function readConfiguration(file: string, remedy?: string): string {
  try {
    const { size } = statSync(file);
    if (size > FILE_BYTES_MAX)
      throw new RangeError(`it has ${size} bytes, and no configuration has more than ${FILE_BYTES_MAX}`);
    return readText(file);
  } catch (error) {
    const isGone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (isGone && remedy !== undefined) throw new ConfigError([`there is no file ${file}: ${remedy}`]);
    const reason = accessFault(resolve(file), "read") ?? (error instanceof Error ? error.message : error);
    // npm takes the name of an option for itself, and leaves its value.
    const hint = /^\d+$/.test(file)
      ? "; a port is given by --port, which npm passes on behind --: npm start -- --port N"
      : "";
    throw new ConfigError([`cannot read the configuration file ${file}: ${reason}${hint}`]);
  }
}

/** As Apache's server takes them when there is no file. */
function fromArguments(positionals: readonly string[]): ReadFile {
  const keys = ["clientPort", "dataDir", "tickTime", "maxClientCnxns"];
  if (positionals.length > keys.length)
    throw new ConfigError([`expected at most ${keys.length} arguments\n\n${USAGE}`]);
  return applySettings(positionals.map((value, i) => ({ key: keys[i] ?? "", value, where: `argument ${i + 1}` })));
}

function flagSettings(values: Values): readonly Setting[] {
  const settings: Setting[] = [];
  for (const pair of values.set ?? []) {
    const equals = pair.indexOf("=");
    // What was meant for a value may be a secret.
    if (equals < 1) throw new ConfigError([`--set takes KEY=VALUE, found ${equals < 0 ? "no" : "nothing before"} "="`]);
    settings.push({ key: pair.slice(0, equals), value: pair.slice(equals + 1), where: "--set" });
  }
  const { port, address, data } = values;
  if (port !== undefined) settings.push({ key: "clientPort", value: port, where: "--port" });
  if (address !== undefined) settings.push({ key: "clientPortAddress", value: address, where: "--address" });
  if (data !== undefined) settings.push({ key: "dataDir", value: data, where: "--data" });
  return settings;
}

/** As with ZooKeeper, a file's own setting wins. */
function fromJvmFlags(flags: JvmFlags, unknown: UnknownKeys | undefined): ConfigFile {
  const problems = misspeltFlags(flags);
  if (problems.length > 0) throw new ConfigError(problems);
  const settings = jvmSettings(flags);
  const config = applySettings(settings, unknown ?? unknownKeysOf(settings));
  const warnings = Object.entries(flags).flatMap(([name, text]) => {
    const keys = [...new Set(settings.filter(({ where }) => where === name).map(({ key }) => key))];
    const rest = jvmRest(name, text);
    return [
      ...(keys.length === 0
        ? []
        : [`${name} sets ${keys.join(", ")}; zoo.cfg is the place for it, and wins where it says otherwise`]),
      ...(rest.length === 0 ? [] : [`${name} has no effect beyond ZooKeeper's settings, and holds ${listed(rest)}`]),
    ];
  });
  return { ...config, warnings: [...warnings, ...config.warnings] };
}

/** Words of a command line may be many. */
const LISTED_MAX = 20;

function listed(words: readonly string[]): string {
  const more = words.length - LISTED_MAX;
  return `${words.slice(0, LISTED_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** As `--log-level` says, else as `zooid.logLevel` does. */
function logLevel(said: string | undefined, setting: string | undefined): LogLevel {
  const level = said ?? setting ?? "info";
  if (!isLogLevel(level)) throw new ConfigError([`--log-level is one of ${LOG_LEVELS.join(", ")}, found "${level}"`]);
  return level;
}
