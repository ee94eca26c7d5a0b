import { resolve } from "node:path";
import { ConfigError, type ServerOptions } from "@zooid/server";
import { distance } from "./edit-distance.ts";
import { parseProperties } from "./properties.ts";

/** What a zoo.cfg says, and what it says that is not done. */
export interface ConfigFile {
  readonly options: ServerOptions;
  /** One sentence each, for the log. */
  readonly warnings: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Options = Mutable<ServerOptions>;

/** Writes a value into the options, or says what was expected. */
type Setter = (options: Options, value: string) => string | undefined;

/** What to do with a key: honour it, refuse values that matter, or say that it has no effect here. */
type KeyRule =
  | { readonly kind: "honoured"; readonly set: Setter }
  /** Neglecting it would change who may do what, or what survives: values other than the harmless ones stop the start. */
  | { readonly kind: "refused"; readonly harmless: readonly string[]; readonly reason: string }
  | { readonly kind: "ignored"; readonly reason: string };

/** Reads the text of a zoo.cfg; throws one ConfigError that lists everything that is wrong with it. */
export function parseConfigFile(text: string): ConfigFile {
  const settings = parseProperties(text).map(({ key, value, line }) => ({ key, value, where: `line ${line}` }));
  const { options, warnings } = applySettings(settings);
  if (options.dataDir === undefined)
    throw new ConfigError(["dataDir is missing: it names the directory for the server's data"]);
  return { options: { address: ANY_ADDRESS, ...options }, warnings };
}

export interface Setting {
  readonly key: string;
  readonly value: string;
  /** Where it stands, for messages. */
  readonly where: string;
}

/** Later settings of a key win over earlier ones. */
export function applySettings(settings: readonly Setting[]): ConfigFile {
  const options: Options = {};
  const warnings: string[] = [];
  const problems: string[] = [];
  const last = new Map<string, Setting>();
  for (const setting of settings) last.set(setting.key, setting);
  const servers = [...last.values()].filter(({ key }) => SERVER_KEY.test(key));
  if (servers.length > 1) {
    problems.push(
      `${servers.length} servers are listed (server.N): an ensemble is not supported yet, a single server is`,
    );
  }
  for (const { key, value, where } of last.values()) {
    if (SERVER_KEY.test(key)) continue;
    const rule = findRule(key);
    if (rule === undefined) warnings.push(unknownKey(key, where));
    else if (rule.kind === "honoured") {
      const problem = rule.set(options, value);
      if (problem !== undefined) problems.push(`${key} (${where}) ${problem}`);
    } else if (rule.kind === "refused") {
      if (!rule.harmless.includes(value.toLowerCase())) problems.push(`${key} (${where}) ${rule.reason}`);
    } else {
      warnings.push(`${key} (${where}) has no effect: ${rule.reason}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { options, warnings };
}

const SERVER_KEY = /^server\.\d+$/;

function wholeNumber(
  name: keyof { [K in keyof Options as Options[K] extends number | undefined ? K : never]: true },
): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^[+-]?\d+$/.test(value)) return `is a whole number, found "${value}"`;
      options[name] = Number(value);
      return undefined;
    },
  };
}

function text(
  name: keyof { [K in keyof Options as Options[K] extends string | undefined ? K : never]: true },
): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (value === "") return "is empty";
      Object.assign(options, { [name]: value });
      return undefined;
    },
  };
}

const path: (name: "dataDir" | "logDir") => KeyRule = (name) => ({
  kind: "honoured",
  set: (options, value) => {
    if (value === "") return "is empty; it names a directory";
    options[name] = resolve(value);
    return undefined;
  },
});

/** Apache listens on every address unless a file names one. */
const ANY_ADDRESS = "*";

const NOT_YET_TLS = "asks for TLS, which is not supported yet; without it connections would be plain";
const NOT_YET_AUTH =
  "asks for authentication that is not supported yet; without it clients would get in that should not";
const NOT_YET_ENSEMBLE = "belongs to an ensemble, which is not supported yet; a single server is";
const NOT_YET_READ_ONLY = "asks for read-only mode, which is not supported yet";

function refused(reason: string, ...harmless: string[]): KeyRule {
  return { kind: "refused", harmless, reason };
}

function ignored(reason: string): KeyRule {
  return { kind: "ignored", reason };
}

const DURABLE_LOG = "the log and its state file are SQLite files that need no such setting";
const ONE_LOOP = "one thread serves all connections";
const STANDALONE = "a single server has no peers";
const NOT_YET = "not supported yet";

const RULES: ReadonlyMap<string, KeyRule> = new Map<string, KeyRule>([
  ["clientPort", wholeNumber("port")],
  [
    "clientPortAddress",
    {
      kind: "honoured",
      set: (options, value) => {
        options.address = value === "" ? ANY_ADDRESS : value;
        return undefined;
      },
    },
  ],
  ["clientPortListenBacklog", backlog()],
  ["dataDir", path("dataDir")],
  ["dataLogDir", path("logDir")],
  ["tickTime", wholeNumber("tickMs")],
  ["minSessionTimeout", wholeNumber("sessionTimeoutMsMin")],
  ["maxSessionTimeout", wholeNumber("sessionTimeoutMsMax")],
  ["maxClientCnxns", wholeNumber("connectionsPerAddressMax")],
  ["maxCnxns", wholeNumber("connectionsMax")],
  ["4lw.commands.whitelist", { kind: "honoured", set: (options, value) => set(options, "fourLetterWords", value) }],
  ["jute.maxbuffer", juteMaxbuffer()],
  ["nio.sessionlessCnxnTimeout", wholeNumber("sessionlessTimeoutMs")],
  ["globalOutstandingLimit", wholeNumber("outstandingCountMax")],
  ["fsync.warningthresholdms", wholeNumber("fsyncWarnMs")],
  ["DigestAuthenticationProvider.superDigest", text("superDigest")],
  ["DigestAuthenticationProvider.digestAlg", text("digestAlgorithm")],
  ["DigestAuthenticationProvider.enabled", flag("digestEnabled")],
  ["skipACL", { kind: "honoured", set: (options, value) => set(options, "skipAcl", value === "yes") }],

  ["secureClientPort", refused(NOT_YET_TLS)],
  ["secureClientPortAddress", refused(NOT_YET_TLS)],
  ["client.portUnification", refused(NOT_YET_TLS, "false")],
  ["sslQuorum", refused(NOT_YET_TLS, "false")],
  ["portUnification", refused(NOT_YET_TLS, "false")],
  ["sslQuorumReloadCertFiles", refused(NOT_YET_TLS, "false")],
  ["sessionRequireClientSASLAuth", refused(NOT_YET_AUTH, "false")],
  ["enforce.auth.enabled", refused(NOT_YET_AUTH, "false")],
  ["enforce.auth.schemes", refused(NOT_YET_AUTH)],
  ["jaasLoginConfig", refused(NOT_YET_AUTH)],
  ["ensembleAuthName", refused(NOT_YET_AUTH)],
  [
    "enforceQuota",
    refused("asks for quotas to be enforced, which is not supported yet; writes beyond them would pass", "false"),
  ],
  ["readonlymode.enabled", refused(NOT_YET_READ_ONLY, "false")],
  ["peerType", refused(NOT_YET_ENSEMBLE, "participant")],
  ["reconfigEnabled", refused(NOT_YET_ENSEMBLE, "false")],
  [
    "standaloneEnabled",
    refused("set to false asks for an ensemble of one that others can join, which is not supported yet", "true"),
  ],
  ["dynamicConfigFile", refused(NOT_YET_ENSEMBLE)],
  ["localSessionsEnabled", refused("asks for local sessions, which are not supported yet", "false")],
  ["localSessionsUpgradingEnabled", refused("asks for local sessions, which are not supported yet", "false")],
  ["observerMasterPort", refused(NOT_YET_ENSEMBLE, "0")],
  ["electionAlg", { kind: "honoured", set: (_, value) => electionAlg(value) }],

  ["initLimit", ignored(STANDALONE)],
  ["syncLimit", ignored(STANDALONE)],
  ["connectToLearnerMasterLimit", ignored(STANDALONE)],
  ["leaderServes", ignored(STANDALONE)],
  ["quorumListenOnAllIPs", ignored(STANDALONE)],
  ["cnxTimeout", ignored(STANDALONE)],
  ["electionPortBindRetry", ignored(STANDALONE)],
  ["syncEnabled", ignored(STANDALONE)],
  ["multiAddress.enabled", ignored(STANDALONE)],
  ["quorum.cnxn.threads.size", ignored(STANDALONE)],
  ["learner.asyncSending", ignored(STANDALONE)],
  ["learner.closeSocketAsync", ignored(STANDALONE)],
  ["observer.reconnectDelayMs", ignored(STANDALONE)],
  ["preAllocSize", ignored(DURABLE_LOG)],
  ["snapCount", ignored(DURABLE_LOG)],
  ["snapSizeLimitInKb", ignored(DURABLE_LOG)],
  ["txnLogSizeLimitInKb", ignored(DURABLE_LOG)],
  ["commitLogCount", ignored(DURABLE_LOG)],
  ["flushDelay", ignored("a batch is what gathers while the one before it is synced")],
  ["maxWriteQueuePollTime", ignored("a batch is what gathers while the one before it is synced")],
  ["maxBatchSize", ignored("a batch is what gathers while the one before it is synced")],
  ["forceSync", ignored("every acknowledged write is synced")],
  ["snapshot.trust.empty", ignored(DURABLE_LOG)],
  ["snapshot.compression.method", ignored(DURABLE_LOG)],
  ["serializeLastProcessedZxid.enabled", ignored(DURABLE_LOG)],
  ["digest.enabled", ignored("the tree's digest is always kept")],
  ["autopurge.snapRetainCount", ignored("purging is always on and keeps what a restart needs")],
  ["autopurge.purgeInterval", ignored("purging is always on and keeps what a restart needs")],
  ["datadir.autocreate", ignored("the data directory is made when it is missing")],
  ["db.autocreate", ignored(STANDALONE)],
  ["maxResponseCacheSize", ignored("replies are copied from the tree, which needs no cache")],
  ["maxGetChildrenResponseCacheSize", ignored("replies are copied from the tree, which needs no cache")],
  ["watchManagerName", ignored("there is one table of watches")],
  ["serverCnxnFactory", ignored(ONE_LOOP)],
  ["nio.numSelectorThreads", ignored(ONE_LOOP)],
  ["nio.numWorkerThreads", ignored(ONE_LOOP)],
  ["nio.directBufferBytes", ignored(ONE_LOOP)],
  ["nio.shutdownTimeout", ignored(ONE_LOOP)],
  ["commitProcessor.numWorkerThreads", ignored(ONE_LOOP)],
  ["advancedFlowControlEnabled", ignored(ONE_LOOP)],
  ["jute.maxbuffer.extrasize", ignored("a field is bounded by its frame")],
  ["largeRequestMaxBytes", ignored(NOT_YET)],
  ["largeRequestThreshold", ignored(NOT_YET)],
  ["throttled_op_wait_time", ignored(NOT_YET)],
  ["extendedTypesEnabled", ignored("nodes with a time to live are not supported yet, and creating one is refused")],
  ["emulate353TTLNodes", ignored("nodes with a time to live are not supported yet, and creating one is refused")],
  ["enableEagerACLCheck", ignored(STANDALONE)],
  ["audit.enable", ignored(NOT_YET)],
  ["audit.impl.class", ignored(NOT_YET)],
  ["closeSessionTxn.enabled", ignored("the end of a session always lists the nodes that go with it")],
  ["clientTcpKeepAlive", ignored(NOT_YET)],
  ["tcpKeepAlive", ignored(STANDALONE)],
]);

/** Keys that come in families. */
const FAMILIES: readonly (readonly [prefix: string, rule: KeyRule])[] = [
  ["ssl.quorum.", refused(NOT_YET_TLS)],
  ["ssl.", refused(NOT_YET_TLS)],
  ["authProvider.", refused(NOT_YET_AUTH)],
  ["quorum.auth.", refused(NOT_YET_AUTH, "false")],
  ["superUser", refused(NOT_YET_AUTH)],
  ["kerberos.", ignored("SASL is not supported yet")],
  ["group.", refused(NOT_YET_ENSEMBLE)],
  ["weight.", refused(NOT_YET_ENSEMBLE)],
  ["admin.", ignored("there is no HTTP admin server yet")],
  ["metricsProvider.", ignored("there is no metrics exporter yet; the four-letter word mntr has the values")],
  ["jvm.pause.", ignored("there is no Java machine")],
  ["netty.", ignored(ONE_LOOP)],
  ["request_", ignored(NOT_YET)],
  ["connection_throttle_", ignored(NOT_YET)],
  ["znode.container.", ignored("container nodes are not supported yet, and creating one is refused")],
];

/** Estates write system properties with or without their prefix. */
function findRule(key: string): KeyRule | undefined {
  const bare = key.replace(/^zookeeper\./, "");
  return RULES.get(bare) ?? FAMILIES.find(([prefix]) => bare.startsWith(prefix))?.[1];
}

function unknownKey(key: string, where: string): string {
  let nearest = "";
  let least = Number.POSITIVE_INFINITY;
  for (const known of RULES.keys()) {
    const steps = distance(key.toLowerCase(), known.toLowerCase());
    if (steps < least) {
      least = steps;
      nearest = known;
    }
  }
  return `${key} (${where}) is not a known setting and has no effect; the nearest known one is ${nearest}`;
}

function set<K extends keyof Options>(options: Options, name: K, value: NonNullable<Options[K]>): undefined {
  options[name] = value;
  return undefined;
}

function flag(name: "digestEnabled"): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const lower = value.toLowerCase();
      if (lower !== "true" && lower !== "false") return `is true or false, found "${value}"`;
      return set(options, name, lower === "true");
    },
  };
}

function backlog(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^-?\d+$/.test(value)) return `is a whole number, found "${value}"`;
      return Number(value) < 0 ? undefined : set(options, "listenBacklog", Number(value));
    },
  };
}

/** Java reads it with `Integer.getInteger`, so hexadecimal is in use too. */
function juteMaxbuffer(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^(0x[0-9a-f]+|\d+)$/i.test(value)) return `is a number of bytes, found "${value}"`;
      return set(options, "frameBytesMax", Number(value));
    },
  };
}

function electionAlg(value: string): string | undefined {
  if (value === "3" || value === "0") return undefined;
  if (value === "1" || value === "2") {
    return `${value} is the fast election over UDP, which ZooKeeper itself no longer has; use 3 (the default) or 0`;
  }
  return `is 3 (the default) or 0, found "${value}"`;
}
