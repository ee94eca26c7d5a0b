import { resolve } from "node:path";
import { ConfigError, type ServerOptions } from "@zooid/server";
import { distance } from "./edit-distance.ts";
import { type EnsembleLimits, type EnsembleSettings, NO_ENSEMBLE } from "./ensemble-settings.ts";
import { parseProperties } from "./properties.ts";
import { parseServerLine, type ServerLine } from "./server-line.ts";

/** What a zoo.cfg says, and what it says that is not done. */
export interface ConfigFile {
  readonly options: ServerOptions;
  /** What it says of other servers, see `completeEnsemble`. */
  readonly ensemble: EnsembleSettings;
  /** One sentence each, for the log. */
  readonly warnings: readonly string[];
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Options = Mutable<ServerOptions>;

/** Writes a value into the options, or says what was expected. */
type Setter = (options: Options, value: string) => string | undefined;
/** As {@link Setter}, for what only an ensemble has. */
type EnsembleSetter = (limits: Mutable<EnsembleLimits>, value: string) => string | undefined;

/** What to do with a key: honour it, refuse values that matter, or say that it has no effect here. */
type KeyRule =
  | { readonly kind: "honoured"; readonly set: Setter }
  /** Neglecting it would change who may do what, or what survives: values other than the harmless ones stop the start. */
  | { readonly kind: "refused"; readonly harmless: readonly string[]; readonly reason: string }
  | { readonly kind: "ignored"; readonly reason: string }
  | { readonly kind: "ensemble"; readonly set: EnsembleSetter };

/** Reads the text of a zoo.cfg; throws one ConfigError that lists everything that is wrong with it. */
export function parseConfigFile(text: string): ConfigFile {
  const settings = parseProperties(text).map(({ key, value, line }) => ({ key, value, where: `line ${line}` }));
  const config = applySettings(settings);
  if (config.options.dataDir === undefined)
    throw new ConfigError(["dataDir is missing: it names the directory for the server's data"]);
  return config;
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
  const draft = new EnsembleDraft();
  const last = new Map<string, Setting>();
  for (const setting of settings) last.set(setting.key, setting);
  for (const { key, value, where } of last.values()) {
    const found = draft.take(key, value, where);
    if (found === "taken") continue;
    if (found !== "not mine") {
      problems.push(`${key} (${where}) ${found}`);
      continue;
    }
    const rule = findRule(key);
    if (rule === undefined) warnings.push(unknownKey(key, where));
    else if (rule.kind === "honoured") {
      const problem = rule.set(options, value);
      if (problem !== undefined) problems.push(`${key} (${where}) ${problem}`);
    } else if (rule.kind === "ensemble") draft.set(`${key} (${where})`, rule.set, value, problems);
    else if (rule.kind === "refused") {
      if (!rule.harmless.includes(value.toLowerCase())) problems.push(`${key} (${where}) ${rule.reason}`);
    } else {
      warnings.push(`${key} (${where}) has no effect: ${rule.reason}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { options, ensemble: draft.settings(), warnings };
}

const SERVER_KEY = /^server\.\d+$/;
const GROUP_KEY = /^group\.(\d+)$/;
const WEIGHT_KEY = /^weight\.(\d+)$/;

/** Gathers what is said of other servers. */
class EnsembleDraft {
  readonly #servers = new Map<string, ServerLine>();
  readonly #groups = new Map<number, readonly number[]>();
  readonly #weights = new Map<number, number>();
  readonly #limits: Mutable<EnsembleLimits> = {};
  readonly #keys: string[] = [];
  readonly #problems: string[] = [];
  #isStandaloneEnabled: boolean | undefined;

  /** Takes the keys that name a server or a group; says what is wrong with the value of one. */
  take(key: string, value: string, where: string): "taken" | "not mine" | string {
    if (SERVER_KEY.test(key)) {
      const line = parseServerLine(value);
      if (typeof line === "string") return line;
      this.#servers.set(key, line);
      return "taken";
    }
    const group = GROUP_KEY.exec(key)?.[1];
    if (group !== undefined) {
      if (!/^\d+(:\d+)*$/.test(value)) return `names servers by their numbers, like 1:2:3, found "${value}"`;
      this.#groups.set(Number(group), value.split(":").map(Number));
      return "taken";
    }
    const weight = WEIGHT_KEY.exec(key)?.[1];
    if (weight !== undefined) {
      if (!/^\d+$/.test(value)) return `is a whole number, found "${value}"`;
      this.#weights.set(Number(weight), Number(value));
      return "taken";
    }
    if (key === "standaloneEnabled") {
      const enabled = trueOrFalse(value);
      if (enabled === undefined) return `is true or false, found "${value}"`;
      this.#isStandaloneEnabled = enabled;
      return "taken";
    }
    // Safe to neglect where there is nobody to vote with.
    if (key.replace(/^zookeeper\./, "") === "db.autocreate") {
      this.#keys.push(`${key} (${where})`);
      if (value.toLowerCase() !== "true") {
        this.#problems.push(
          `${key} (${where}) asks that a server without data does not vote until a file says so, which is not supported yet`,
        );
      }
      return "taken";
    }
    return "not mine";
  }

  set(key: string, set: EnsembleSetter, value: string, problems: string[]): void {
    this.#keys.push(key);
    const problem = set(this.#limits, value);
    if (problem !== undefined) problems.push(`${key} ${problem}`);
  }

  settings(): EnsembleSettings {
    return {
      ...NO_ENSEMBLE,
      ...{ servers: this.#servers, groups: this.#groups, weights: this.#weights, limits: this.#limits },
      ...{ isStandaloneEnabled: this.#isStandaloneEnabled, keys: this.#keys, problems: this.#problems },
    };
  }
}

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
export const ANY_ADDRESS = "*";

const NOT_YET_TLS = "asks for TLS, which is not supported yet; without it connections would be plain";
const OTHER_PEER_TLS =
  "asks for TLS between servers, which is not supported in this form; zooid.peerTls.key, .cert and .ca name PEM files for it";
const NOT_YET_AUTH =
  "asks for authentication that is not supported yet; without it clients would get in that should not";
const NOT_YET_RECONFIG = "asks for an ensemble that changes while it runs, which is not supported yet";
const NOT_YET_PEER_AUTH =
  "asks for SASL between servers, which is not supported; zooid.peerSecretFile names a secret by which they know each other";

function refused(reason: string, ...harmless: string[]): KeyRule {
  return { kind: "refused", harmless, reason };
}

function ignored(reason: string): KeyRule {
  return { kind: "ignored", reason };
}

const DURABLE_LOG = "the log and its state file are SQLite files that need no such setting";
const ONE_LOOP = "one thread serves all connections";
const NEVER_BLOCKED = "nothing waits for a socket";
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
  ["sslQuorum", refused(OTHER_PEER_TLS, "false")],
  ["portUnification", refused(NOT_YET_TLS, "false")],
  ["sslQuorumReloadCertFiles", refused(OTHER_PEER_TLS, "false")],
  ["sessionRequireClientSASLAuth", refused(NOT_YET_AUTH, "false")],
  ["enforce.auth.enabled", refused(NOT_YET_AUTH, "false")],
  ["enforce.auth.schemes", refused(NOT_YET_AUTH)],
  ["jaasLoginConfig", refused(NOT_YET_AUTH)],
  ["ensembleAuthName", refused(NOT_YET_AUTH)],
  [
    "enforceQuota",
    refused("asks for quotas to be enforced, which is not supported yet; writes beyond them would pass", "false"),
  ],
  ["readonlymode.enabled", flag("readOnlyMode")],
  ["localSessionsEnabled", flag("localSessions")],
  ["localSessionsUpgradingEnabled", flag("localSessionsUpgrading")],
  ["leaderServes", leaderServes()],
  ["reconfigEnabled", refused(NOT_YET_RECONFIG, "false")],
  ["dynamicConfigFile", refused(NOT_YET_RECONFIG)],
  ["observerMasterPort", refused("asks for observers that follow observers, which is not supported yet", "0")],
  [
    "oraclePath",
    refused("asks for an oracle to stand in for a quorum, which can make two leaders; it is not supported"),
  ],

  ["initLimit", ensembleNumber("initLimit")],
  ["syncLimit", ensembleNumber("syncLimit")],
  ["electionAlg", electionAlg()],
  ["peerType", peerType()],
  ["cnxTimeout", connectTimeout()],
  ["quorumListenOnAllIPs", ensembleFlag("listenOnAllAddresses")],
  ["electionPortBindRetry", ensembleNumber("bindRetryCount")],
  ["zooid.peerSecretFile", peerSecretFile()],
  ["zooid.peerTls.key", peerTls("key")],
  ["zooid.peerTls.cert", peerTls("cert")],
  ["zooid.peerTls.ca", peerTls("ca")],
  ["zooid.allowUnauthenticatedPeers", ensembleFlag("allowUnauthenticatedPeers")],
  ["connectToLearnerMasterLimit", ignored("connecting to the leader is part of initLimit")],
  ["quorumCnxnTimeoutMs", ignored("a connection between servers is given up after three silent ticks")],
  ["syncEnabled", ignored("an observer always keeps what it learned")],
  ["multiAddress.enabled", ignored("of several addresses of a server the first is used")],
  ["multiAddress.reachabilityCheckEnabled", ignored("of several addresses of a server the first is used")],
  ["multiAddress.reachabilityCheckTimeoutMs", ignored("of several addresses of a server the first is used")],
  ["maxTimeToWaitForEpoch", ignored(NOT_YET)],
  ["quorum.cnxn.threads.size", ignored(ONE_LOOP)],
  ["learner.asyncSending", ignored(NEVER_BLOCKED)],
  ["learner.closeSocketAsync", ignored(NEVER_BLOCKED)],
  ["observer.reconnectDelayMs", ignored(NOT_YET)],
  ["observer.election.DelayMs", ignored(NOT_YET)],
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
  ["enableEagerACLCheck", ignored(NOT_YET)],
  ["audit.enable", ignored(NOT_YET)],
  ["audit.impl.class", ignored(NOT_YET)],
  ["closeSessionTxn.enabled", ignored("the end of a session always lists the nodes that go with it")],
  ["clientTcpKeepAlive", ignored(NOT_YET)],
  ["tcpKeepAlive", ignored("connections between servers always have it")],
]);

/** Keys that come in families. */
const FAMILIES: readonly (readonly [prefix: string, rule: KeyRule])[] = [
  ["ssl.quorum.", refused(OTHER_PEER_TLS)],
  ["ssl.", refused(NOT_YET_TLS)],
  ["authProvider.", refused(NOT_YET_AUTH)],
  ["quorum.auth.", refused(NOT_YET_PEER_AUTH, "false")],
  ["leader.", ignored(NOT_YET)],
  ["superUser", refused(NOT_YET_AUTH)],
  ["kerberos.", ignored("SASL is not supported yet")],
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

function flag(name: "digestEnabled" | "readOnlyMode" | "localSessions" | "localSessionsUpgrading"): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const isOn = trueOrFalse(value);
      return isOn === undefined ? `is true or false, found "${value}"` : set(options, name, isOn);
    },
  };
}

function trueOrFalse(value: string): boolean | undefined {
  const lower = value.toLowerCase();
  return lower === "true" || lower === "false" ? lower === "true" : undefined;
}

function leaderServes(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const lower = value.toLowerCase();
      if (lower !== "yes" && lower !== "no") return `is yes or no, found "${value}"`;
      return set(options, "leaderServes", lower === "yes");
    },
  };
}

function ensembleNumber(name: "initLimit" | "syncLimit" | "bindRetryCount"): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (!/^\d+$/.test(value)) return `is a whole number, found "${value}"`;
      limits[name] = Number(value);
      return undefined;
    },
  };
}

function ensembleFlag(name: "listenOnAllAddresses" | "allowUnauthenticatedPeers"): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const isOn = trueOrFalse(value);
      if (isOn === undefined) return `is true or false, found "${value}"`;
      limits[name] = isOn;
      return undefined;
    },
  };
}

function peerType(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      const lower = value.toLowerCase();
      if (lower !== "participant" && lower !== "observer") return `is participant or observer, found "${value}"`;
      limits.isObserver = lower === "observer";
      return undefined;
    },
  };
}

function peerSecretFile(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (value === "") return "is empty; it names a file";
      limits.peerSecretFile = resolve(value);
      return undefined;
    },
  };
}

function peerTls(name: "key" | "cert" | "ca"): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (value === "") return "is empty; it names a PEM file";
      limits.peerTls = { ...limits.peerTls, [name]: resolve(value) };
      return undefined;
    },
  };
}

/** Seconds by ZooKeeper's documentation, milliseconds by its code: a value that makes sense as one makes none as the other. */
const SECONDS_MAX = 100;

function connectTimeout(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (!/^\d+$/.test(value) || Number(value) === 0) {
        return `is a number of seconds below ${SECONDS_MAX} or of milliseconds from there, found "${value}"`;
      }
      limits.connectTimeoutMs = Number(value) < SECONDS_MAX ? Number(value) * 1000 : Number(value);
      return undefined;
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

function electionAlg(): KeyRule {
  return {
    kind: "ensemble",
    set: (limits, value) => {
      if (value === "1" || value === "2") {
        return `${value} is the fast election over UDP, which ZooKeeper itself no longer has; use 3 (the default) or 0`;
      }
      if (value !== "3" && value !== "0") return `is 3 (the default) or 0, found "${value}"`;
      limits.electionAlg = Number(value);
      return undefined;
    },
  };
}
