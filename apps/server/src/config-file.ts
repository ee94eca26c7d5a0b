import { resolve } from "node:path";
import { type AdminOptions, ConfigError, type MetricsOptions, type ServerOptions } from "@zooid/server";
import { distance } from "./edit-distance.ts";
import { type EnsembleLimits, type EnsembleSettings, NO_ENSEMBLE } from "./ensemble-settings.ts";
import { parseProperties } from "./properties.ts";
import { parseServerLine, type ServerLine } from "./server-line.ts";

/** What a zoo.cfg says, and what it says that is not done. */
export interface ConfigFile {
  readonly options: ServerOptions;
  /** What it says of other servers, see `completeEnsemble`. */
  readonly ensemble: EnsembleSettings;
  readonly audit: AuditSettings;
  /** One sentence each, for the log. */
  readonly warnings: readonly string[];
}

/** What is to be written down of clients' writes, and where. */
export interface AuditSettings {
  readonly isEnabled?: boolean;
  readonly file?: string;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Options = Mutable<ServerOptions>;

/** Writes a value into the options, or says what was expected. Of keys that come in families, the key says which one it is. */
type Setter = (options: Options, value: string, key: string) => string | undefined;
/** As {@link Setter}, for what only an ensemble has. */
type EnsembleSetter = (limits: Mutable<EnsembleLimits>, value: string) => string | undefined;

/** As {@link Setter}, for the audit log. */
type AuditSetter = (audit: Mutable<AuditSettings>, value: string) => string | undefined;

/** What to do with a key: honour it, refuse values that matter, or say that it has no effect here. */
type KeyRule =
  | { readonly kind: "honoured"; readonly set: Setter }
  /** Neglecting it would change who may do what, or what survives: values other than the harmless ones stop the start. */
  | { readonly kind: "refused"; readonly harmless: readonly string[]; readonly reason: string }
  /** Values other than the harmless ones are told of. */
  | { readonly kind: "ignored"; readonly harmless: readonly string[]; readonly reason: string }
  | { readonly kind: "ensemble"; readonly set: EnsembleSetter }
  | { readonly kind: "audit"; readonly set: AuditSetter };

/** The file that lists the servers, where zoo.cfg does not. */
const DYNAMIC_FILE = "dynamicConfigFile";

/**
 * Reads the text of a zoo.cfg; throws one ConfigError that lists everything that is wrong with it.
 *
 * @param readFile gives the text of the file that lists the servers, where this one names it
 */
export function parseConfigFile(text: string, readFile: (file: string) => string): ConfigFile {
  const settings = parseProperties(text).flatMap(({ key, value, line }) => {
    if (key === DYNAMIC_FILE) return listedServers(value, readFile(value), `line ${line}`);
    return [{ key, value, where: `line ${line}` }];
  });
  const config = applySettings(settings);
  if (config.options.dataDir === undefined)
    throw new ConfigError(["dataDir is missing: it names the directory for the server's data"]);
  return config;
}

/** A file that ZooKeeper itself may have written: servers, groups, weights, and a version, which counts its changes. */
function listedServers(file: string, text: string, where: string): readonly Setting[] {
  const settings = parseProperties(text)
    .filter(({ key }) => key !== "version")
    .map(({ key, value, line }) => ({ key, value, where: `line ${line} of ${file}` }));
  const problems = settings
    .filter(({ key }) => ![SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((pattern) => pattern.test(key)))
    .map((setting) => `${setting.key} (${setting.where}) is none of server.N, group.N, weight.N and version`);
  if (settings.length === 0) problems.push(`${DYNAMIC_FILE} (${where}): ${file} lists no server`);
  if (problems.length > 0) throw new ConfigError(problems);
  return settings;
}

export interface Setting {
  readonly key: string;
  readonly value: string;
  /** Where it stands, for messages. */
  readonly where: string;
}

/** Options of which later ones win, each with what it holds. */
export function mergeOptions(earlier: ServerOptions, later: ServerOptions): ServerOptions {
  const metrics =
    earlier.metrics === undefined && later.metrics === undefined
      ? {}
      : { metrics: { ...earlier.metrics, ...later.metrics } };
  return {
    ...earlier,
    ...later,
    ...mergedAuth(earlier, later),
    ...mergedTls(earlier, later),
    ...mergedAdmin(earlier, later),
    ...metrics,
  };
}

function mergedAuth({ auth: earlier }: ServerOptions, { auth: later }: ServerOptions): Pick<ServerOptions, "auth"> {
  if (earlier === undefined || later === undefined) return {};
  const providers = { ...earlier.providers, ...later.providers };
  const saslSuperUsers = { ...earlier.saslSuperUsers, ...later.saslSuperUsers };
  return { auth: { ...earlier, ...later, providers, saslSuperUsers } };
}

function mergedAdmin({ admin: earlier }: ServerOptions, { admin: later }: ServerOptions): Pick<ServerOptions, "admin"> {
  if (earlier === undefined || later === undefined) return {};
  return { admin: { ...earlier, ...later, ...mergedTls(earlier, later) } };
}

type HasTls = Pick<ServerOptions, "tls">;

function mergedTls({ tls: earlier }: HasTls, { tls: later }: HasTls): HasTls {
  if (earlier === undefined || later === undefined) return {};
  const keyStore = { ...earlier.keyStore, ...later.keyStore };
  const trustStore = { ...earlier.trustStore, ...later.trustStore };
  return { tls: { ...earlier, ...later, keyStore, trustStore } };
}

/** Later settings of a key win over earlier ones. */
export function applySettings(settings: readonly Setting[]): ConfigFile {
  const options: Options = {};
  const audit: Mutable<AuditSettings> = {};
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
      const problem = rule.set(options, value, key.replace(SYSTEM_PREFIX, ""));
      if (problem !== undefined) problems.push(`${key} (${where}) ${problem}`);
    } else if (rule.kind === "audit") {
      const problem = rule.set(audit, value);
      if (problem !== undefined) problems.push(`${key} (${where}) ${problem}`);
    } else if (rule.kind === "ensemble") draft.set(`${key} (${where})`, rule.set, value, problems);
    else if (rule.kind === "refused") {
      if (!rule.harmless.includes(value.toLowerCase())) problems.push(`${key} (${where}) ${rule.reason}`);
    } else if (!rule.harmless.includes(value.toLowerCase())) {
      warnings.push(`${key} (${where}) has no effect: ${rule.reason}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return { options, ensemble: draft.settings(), audit, warnings };
}

const SYSTEM_PREFIX = /^zookeeper\./;
/** What share of its letters may differ for a known key to be what was meant. */
const UNLIKENESS_MAX = 0.4;
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

const NO_PEER_UNIFICATION =
  "asks for servers that take plain connections of each other and TLS, which is not supported: stop all of them, set sslQuorum=true, start them";
const NO_OCSP = "asks for certificates to be checked by OCSP, which is not supported; lists of revoked ones are:";
const NO_KERBEROS = "Kerberos is not supported";
const NO_RECONFIG =
  "servers cannot join or leave while the ensemble runs, and who asks for it is told that it is switched off";
const NOT_YET_PEER_AUTH =
  "asks for SASL between servers, which is not supported; zooid.peerSecretFile names a secret by which they know each other";

function refused(reason: string, ...harmless: string[]): KeyRule {
  return { kind: "refused", harmless, reason };
}

function ignored(reason: string, ...harmless: string[]): KeyRule {
  return { kind: "ignored", harmless, reason };
}

const DURABLE_LOG = "the log and its state file are SQLite files that need no such setting";
const ONE_LOOP = "one thread serves all connections";
const LOGS_TO_STDOUT = "the log goes to the standard output, from --log-level on";
const NEVER_BLOCKED = "nothing waits for a socket";
const NOT_YET = "not supported yet";
const BYTES_WAIT =
  "the bytes of requests under way are bounded already, and clients beyond it are left unread instead of closed";
const REQUESTS_WAIT =
  "a request that cannot be served yet waits unread with its client, in no queue that could grow old";

/** TLS between servers, and of the admin port, which in ZooKeeper has the same keys and authorities. */
const QUORUM_TLS_RULES: readonly (readonly [string, KeyRule])[] = [
  ...storeRules("keyStore"),
  ...storeRules("trustStore"),
  ["ssl.protocol", tlsText("protocol")] as const,
  ["ssl.enabledProtocols", tlsList("enabledProtocols")] as const,
  ["ssl.ciphersuites", tlsList("cipherSuites")] as const,
  ["ssl.crl", tlsFlag("crl")] as const,
  ["zooid.ssl.crlFile", tlsFile("crlFile")] as const,
].map(([key, rule]) => [key.replace("ssl.", "ssl.quorum."), forAdmin(rule)]);

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

  ["secureClientPort", wholeNumber("securePort")],
  [
    "secureClientPortAddress",
    {
      kind: "honoured",
      set: (options, value) => {
        options.secureAddress = value === "" ? ANY_ADDRESS : value;
        return undefined;
      },
    },
  ],
  ["client.portUnification", flag("portUnification")],
  ["client.certReload", tlsFlag("certReload")],
  ...storeRules("keyStore"),
  ...storeRules("trustStore"),
  ["ssl.clientAuth", tlsText("clientAuth")],
  ["ssl.protocol", tlsText("protocol")],
  ["ssl.enabledProtocols", tlsList("enabledProtocols")],
  ["ssl.ciphersuites", tlsList("cipherSuites")],
  ["ssl.handshakeDetectionTimeoutMillis", tlsNumber("handshakeTimeoutMs")],
  ["netty.server.outstandingHandshake.limit", tlsNumber("handshakeCountMax")],
  ["ssl.authProvider", refused("names who judges certificates of clients; only x509 does here", "x509")],
  ["ssl.crl", tlsFlag("crl")],
  ["zooid.ssl.crlFile", tlsFile("crlFile")],
  ["ssl.ocsp", refused(`${NO_OCSP} ssl.crl=true with zooid.ssl.crlFile=FILE`, "false")],
  ["ssl.clientHostnameVerification", tlsFlag("clientHostnameVerification")],
  ["ssl.context.supplier.class", refused("names a class of Java's, which is not supported")],
  ["ssl.hostnameVerification", ignored("this server opens no connection by TLS to clients")],
  [
    "ssl.allowReverseDnsLookup",
    ignored("no name is looked up for an address: where it is asked for, certificates name the address itself"),
  ],
  ["ssl.sslProvider", ignored("there is one: OpenSSL, in Node.js")],
  ["sslQuorum", ensembleFlag("sslQuorum")],
  ["sslQuorumReloadCertFiles", ensembleFlag("reloadPeerStores")],
  ["portUnification", refused(NO_PEER_UNIFICATION, "false")],
  ["ssl.quorum.hostnameVerification", ensembleFlag("hostnameVerification")],
  ["ssl.quorum.clientHostnameVerification", ensembleFlag("clientHostnameVerification")],
  ["ssl.quorum.clientAuth", refused("servers always ask each other for certificates", "need")],
  ["ssl.quorum.ocsp", refused(`${NO_OCSP} ssl.quorum.crl=true with zooid.ssl.quorum.crlFile=FILE`, "false")],
  ["ssl.quorum.allowReverseDnsLookup", ignored("no name is looked up for an address")],
  ["ssl.quorum.handshakeDetectionTimeoutMillis", ignored("a handshake is part of cnxTimeout")],
  ["ssl.quorum.context.supplier.class", refused("names a class of Java's, which is not supported")],
  ["jaasLoginConfig", jaasFile()],
  ["sasl.serverconfig", authText("jaasSection")],
  ["SASLAuthenticationProvider.superPassword", authText("saslSuperPassword")],
  ["letAnySaslUserDoX", authText("anySaslUser")],
  ["allowSaslFailedClients", authFlag("allowSaslFailedClients")],
  ["sessionRequireClientSASLAuth", authFlag("requireSasl")],
  ["enforce.auth.enabled", authFlag("enforceAuth")],
  ["enforce.auth.schemes", authList("enforcedSchemes")],
  ["ensembleAuthName", authList("ensembleNames")],
  ["zooid.authFailureDelayMaxMs", authNumber("failureDelayMsMax")],
  ["X509AuthenticationProvider.superUser", authText("x509SuperUser")],
  [
    "requireClientAuthScheme",
    ignored("ZooKeeper does not read it either; sessionRequireClientSASLAuth=true asks for SASL"),
  ],
  ["jaasLoginRenew", ignored(NO_KERBEROS)],
  ["sasl.client", ignored("it is a client's setting")],
  ["fips-mode", ignored("it chooses among Java's security providers")],
  ["enforceQuota", flag("enforceQuota")],
  ["zooid.heldBytesMax", wholeNumber("heldBytesMax")],
  ["znode.container.checkIntervalMs", reaping("checkIntervalMs")],
  ["znode.container.maxPerMinute", reaping("perMinuteMax")],
  ["znode.container.maxNeverUsedIntervalMs", reaping("neverUsedMsMax")],
  ["readonlymode.enabled", flag("readOnlyMode")],
  ["localSessionsEnabled", flag("localSessions")],
  ["localSessionsUpgradingEnabled", flag("localSessionsUpgrading")],
  ["leaderServes", leaderServes()],
  ["reconfigEnabled", ignored(NO_RECONFIG, "false")],
  // Its lines stand where the setting stood, see parseConfigFile: where it is still here, nobody has read it.
  [DYNAMIC_FILE, refused("is read where a configuration file names it, not supported elsewhere")],
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
  ["nioNumSelectorThreads", ignored(ONE_LOOP)],
  ["nioNumWorkerThreads", ignored(ONE_LOOP)],
  ["nio.directBufferBytes", ignored(ONE_LOOP)],
  ["nio.shutdownTimeout", ignored(ONE_LOOP)],
  ["log.dir", ignored(LOGS_TO_STDOUT)],
  ["log.file", ignored(LOGS_TO_STDOUT)],
  ["root.logger", ignored(LOGS_TO_STDOUT)],
  ["commitProcessor.numWorkerThreads", ignored(ONE_LOOP)],
  ["advancedFlowControlEnabled", ignored(ONE_LOOP)],
  ["jute.maxbuffer.extrasize", ignored("a field is bounded by its frame")],
  ["largeRequestMaxBytes", ignored(BYTES_WAIT)],
  ["largeRequestThreshold", ignored(BYTES_WAIT)],
  ["throttled_op_wait_time", ignored(REQUESTS_WAIT)],
  ["request_throttle_max_requests", wholeNumber("requestThrottleMax")],
  ["request_throttle_stall_time", ignored("what waits goes on as soon as there is room, not in steps")],
  ["request_throttle_drop_stale", ignored(REQUESTS_WAIT)],
  ["request_stale_connection_check", ignored(REQUESTS_WAIT)],
  ["request_stale_latency_check", ignored(REQUESTS_WAIT)],
  ["connection_throttle_tokens", throttleNumber("tokens")],
  ["connection_throttle_fill_time", throttleNumber("fillMs")],
  ["connection_throttle_fill_count", throttleNumber("fillCount")],
  ["connection_throttle_freeze_time", throttleNumber("freezeMs")],
  ["connection_throttle_drop_increase", throttleNumber("dropIncrease")],
  ["connection_throttle_drop_decrease", throttleNumber("dropDecrease")],
  ["connection_throttle_decrease_ratio", throttleNumber("decreaseRatio")],
  ["connection_throttle_global_session_weight", throttleNumber("globalWeight")],
  ["connection_throttle_local_session_weight", throttleNumber("localWeight")],
  ["connection_throttle_renew_session_weight", throttleNumber("renewWeight")],
  ["connection_throttle_weight_enabled", throttleWeights()],
  ["extendedTypesEnabled", flag("ttlNodes")],
  ["emulate353TTLNodes", ignored("it is about data of ZooKeeper 3.5.3, which cannot be here")],
  ["enableEagerACLCheck", ignored("a write is judged once, where it takes its place in the order")],
  ["audit.enable", auditEnabled()],
  ["audit.impl.class", ignored("the audit log has one form, and no class of Java's can be loaded")],
  ["zooid.audit.file", auditFile()],
  ["closeSessionTxn.enabled", ignored("the end of a session always lists the nodes that go with it")],
  ["clientTcpKeepAlive", flag("tcpKeepAlive")],
  ["tcpKeepAlive", ignored("connections between servers always have it")],

  ["admin.enableServer", admin("enabled", trueOrFalseValue)],
  ["admin.serverAddress", admin("address", addressValue)],
  ["admin.serverPort", admin("port", wholeValue)],
  ["admin.commandURL", admin("commandUrl", textValue)],
  ["admin.idleTimeout", admin("idleTimeoutMs", wholeValue)],
  ["admin.needClientAuth", admin("needClientAuth", trueOrFalseValue)],
  ["admin.forceHttps", admin("forceHttps", trueOrFalseValue)],
  [
    "admin.portUnification",
    ignored("the admin port speaks HTTP or, with admin.forceHttps=true, HTTPS, and never both"),
  ],
  ...QUORUM_TLS_RULES,
  ["admin.httpVersion", ignored("the admin port speaks HTTP 1.1")],
  ["IPAuthenticationProvider.usexforwardedfor", ignored("what a proxy says of an address counts for nothing", "false")],
  ["admin.snapshot.enabled", admin("snapshotEnabled", trueOrFalseValue)],
  ["admin.restore.enabled", admin("restoreEnabled", trueOrFalseValue)],
  ["admin.rateLimiterIntervalInMS", admin("rateLimiterIntervalMs", wholeValue)],
  ["metricsProvider.className", metrics("enabled", metricsProviderValue)],
  ["metricsProvider.httpHost", metrics("address", addressValue)],
  ["metricsProvider.httpPort", metrics("port", wholeValue)],
  ["metricsProvider.exportJvmInfo", metrics("exportJvmInfo", trueOrFalseValue)],
  ["metricsProvider.httpsPort", refused("asks for metrics over TLS, which is not supported yet")],
]);

/** Keys that come in families. */
const FAMILIES: readonly (readonly [prefix: string, rule: KeyRule])[] = [
  ["ssl.", refused("is a setting of TLS that is not supported")],
  ["authProvider.", authEntry("authProvider.", "providers")],
  ["quorum.auth.", refused(NOT_YET_PEER_AUTH, "false")],
  ["leader.", ignored(NOT_YET)],
  ["superUser", authEntry("superUser", "saslSuperUsers")],
  ["kerberos.", ignored(NO_KERBEROS)],
  ["metricsProvider.", ignored("values are read when they are asked for, and nothing is queued")],
  ["jvm.pause.", ignored("there is no Java machine")],
  ["netty.", ignored(ONE_LOOP)],
  ["snapshot.compression.", ignored(DURABLE_LOG)],
];

/** Estates write system properties with or without their prefix. */
function findRule(key: string): KeyRule | undefined {
  const bare = key.replace(SYSTEM_PREFIX, "");
  return RULES.get(bare) ?? FAMILIES.find(([prefix]) => bare.startsWith(prefix))?.[1];
}

function unknownKey(key: string, where: string): string {
  let nearest = "";
  let least = Number.POSITIVE_INFINITY;
  for (const known of RULES.keys()) {
    const steps = distance(key.replace(SYSTEM_PREFIX, "").toLowerCase(), known.toLowerCase());
    if (steps < least) {
      least = steps;
      nearest = known;
    }
  }
  const advice = least <= key.length * UNLIKENESS_MAX ? `; the nearest known one is ${nearest}` : "";
  return `${key} (${where}) is not a known setting and has no effect${advice}`;
}

function set<K extends keyof Options>(options: Options, name: K, value: NonNullable<Options[K]>): undefined {
  options[name] = value;
  return undefined;
}

type Flag =
  | "digestEnabled"
  | "readOnlyMode"
  | "localSessions"
  | "localSessionsUpgrading"
  | "ttlNodes"
  | "enforceQuota"
  | "portUnification"
  | "tcpKeepAlive";

function flag(name: Flag): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const isOn = trueOrFalse(value);
      return isOn === undefined ? `is true or false, found "${value}"` : set(options, name, isOn);
    },
  };
}

function auditEnabled(): KeyRule {
  return {
    kind: "audit",
    set: (audit, value) => {
      const isOn = trueOrFalse(value);
      if (isOn === undefined) return `is true or false, found "${value}"`;
      audit.isEnabled = isOn;
      return undefined;
    },
  };
}

function auditFile(): KeyRule {
  return {
    kind: "audit",
    set: (audit, value) => {
      if (value === "") return "is empty; it names a file";
      audit.file = resolve(value);
      return undefined;
    },
  };
}

type Auth = Mutable<NonNullable<ServerOptions["auth"]>>;
type AuthOf<T> = keyof { [K in keyof Auth as Exclude<Auth[K], undefined> extends T ? K : never]: true };

function auth(set: (auth: Auth, value: string, key: string) => string | undefined): KeyRule {
  return {
    kind: "honoured",
    set: (options, value, key) => {
      const changed: Auth = { ...options.auth };
      options.auth = changed;
      return set(changed, value, key);
    },
  };
}

function authText(name: AuthOf<string>): KeyRule {
  return auth((options, value) => {
    if (value === "") return "is empty";
    options[name] = value;
    return undefined;
  });
}

function authFlag(name: AuthOf<boolean>): KeyRule {
  return auth((options, value) => {
    const isOn = trueOrFalse(value);
    if (isOn === undefined) return `is true or false, found "${value}"`;
    options[name] = isOn;
    return undefined;
  });
}

function authNumber(name: AuthOf<number>): KeyRule {
  return auth((options, value) => {
    if (!/^\d+$/.test(value)) return `is a whole number, found "${value}"`;
    options[name] = Number(value);
    return undefined;
  });
}

function authList(name: AuthOf<readonly string[]>): KeyRule {
  return auth((options, value) => {
    options[name] = value.split(",").map((one) => one.trim());
    return undefined;
  });
}

/** One of a family: `authProvider.1`, `superUser.ops`. */
function authEntry(prefix: string, name: "providers" | "saslSuperUsers"): KeyRule {
  return auth((options, value, key) => {
    options[name] = Object.fromEntries([...Object.entries(options[name] ?? {}), [key.slice(prefix.length), value]]);
    return undefined;
  });
}

type Tls = Mutable<NonNullable<ServerOptions["tls"]>>;
type TlsOf<T> = keyof { [K in keyof Tls as Exclude<Tls[K], undefined> extends T ? K : never]: true };

function tls(set: (tls: Tls, value: string) => string | undefined): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const changed: Tls = { ...options.tls };
      options.tls = changed;
      return set(changed, value);
    },
  };
}

function tlsText(name: TlsOf<string>): KeyRule {
  return tls((options, value) => {
    options[name] = value;
    return undefined;
  });
}

function tlsFile(name: TlsOf<string>): KeyRule {
  return tls((options, value) => {
    if (value === "") return "is empty; it names a file";
    options[name] = resolve(value);
    return undefined;
  });
}

function tlsList(name: TlsOf<readonly string[]>): KeyRule {
  return tls((options, value) => {
    options[name] = value.split(",").map((one) => one.trim());
    return undefined;
  });
}

function tlsFlag(name: TlsOf<boolean>): KeyRule {
  return tls((options, value) => {
    const isOn = trueOrFalse(value);
    if (isOn === undefined) return `is true or false, found "${value}"`;
    options[name] = isOn;
    return undefined;
  });
}

function tlsNumber(name: TlsOf<number>): KeyRule {
  return tls((options, value) => {
    if (!/^-?\d+$/.test(value)) return `is a whole number, found "${value}"`;
    options[name] = Number(value);
    return undefined;
  });
}

/** A setting of TLS for the admin port instead of clients. */
function forAdmin(rule: KeyRule): KeyRule {
  if (rule.kind !== "honoured") return rule;
  return {
    kind: "honoured",
    set: (options, ...rest) => {
      const { tls } = options.admin ?? {};
      const changed: Options = tls === undefined ? {} : { tls };
      const problem = rule.set(changed, ...rest);
      options.admin = { ...options.admin, ...changed };
      return problem;
    },
  };
}

/** The four settings of a store of keys or certificates. */
function storeRules(store: "keyStore" | "trustStore"): readonly (readonly [string, KeyRule])[] {
  const rule = (name: "location" | "password" | "passwordPath" | "type", isFile: boolean): KeyRule =>
    tls((options, value) => {
      if (isFile && value === "") return "is empty; it names a file";
      options[store] = { ...options[store], [name]: isFile ? resolve(value) : value };
      return undefined;
    });
  return [
    [`ssl.${store}.location`, rule("location", true)],
    [`ssl.${store}.password`, rule("password", false)],
    [`ssl.${store}.passwordPath`, rule("passwordPath", true)],
    [`ssl.${store}.type`, rule("type", false)],
  ];
}

type Throttle = Mutable<NonNullable<ServerOptions["connectionThrottle"]>>;

function throttleNumber(name: Exclude<keyof Throttle, "isWeighted">): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^-?\d+(?:\.\d+)?$/.test(value)) return `is a number, found "${value}"`;
      options.connectionThrottle = { ...options.connectionThrottle, [name]: Number(value) };
      return undefined;
    },
  };
}

function throttleWeights(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const isWeighted = trueOrFalse(value);
      if (isWeighted === undefined) return `is true or false, found "${value}"`;
      options.connectionThrottle = { ...options.connectionThrottle, isWeighted };
      return undefined;
    },
  };
}

function jaasFile(): KeyRule {
  return auth((options, value) => {
    if (value === "") return "is empty; it names a file";
    options.jaasFile = resolve(value);
    return undefined;
  });
}

/** A value, or what is wrong with it. */
type Read<T> = { readonly value: T } | { readonly problem: string };

function read<T>(value: T | undefined, problem: string): Read<T> {
  return value === undefined ? { problem } : { value };
}

/** A setting of the HTTP port for operators. */
function admin<K extends keyof AdminOptions>(name: K, reader: (value: string) => Read<AdminOptions[K]>): KeyRule {
  return {
    kind: "honoured",
    set: (options, text) => {
      const found = reader(text);
      if ("problem" in found) return found.problem;
      options.admin = { ...options.admin, [name]: found.value };
      return undefined;
    },
  };
}

/** A setting of the port for metrics, which `metricsProvider.className` alone opens. */
function metrics<K extends keyof MetricsOptions>(name: K, reader: (value: string) => Read<MetricsOptions[K]>): KeyRule {
  return {
    kind: "honoured",
    set: (options, text) => {
      const found = reader(text);
      if ("problem" in found) return found.problem;
      options.metrics = { ...options.metrics, [name]: found.value };
      return undefined;
    },
  };
}

function wholeValue(value: string): Read<number> {
  return read(/^[+-]?\d+$/.test(value) ? Number(value) : undefined, `is a whole number, found "${value}"`);
}

function trueOrFalseValue(value: string): Read<boolean> {
  return read(trueOrFalse(value), `is true or false, found "${value}"`);
}

/** Every address is written in several ways. */
function addressValue(value: string): Read<string> {
  if (value === "") return { problem: "is empty; it names an address" };
  return { value: value === "0.0.0.0" || value === "::" ? ANY_ADDRESS : value };
}

function textValue(value: string): Read<string> {
  return read(value === "" ? undefined : value, "is empty");
}

const PROVIDERS: ReadonlyMap<string, boolean> = new Map([
  ["org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider", true],
  ["org.apache.zookeeper.metrics.impl.DefaultMetricsProvider", false],
  ["org.apache.zookeeper.metrics.impl.NullMetricsProvider", false],
]);

/** Whether a class of Apache's is the one that answers Prometheus. */
function metricsProviderValue(value: string): Read<boolean> {
  return read(PROVIDERS.get(value), `names one of ${[...PROVIDERS.keys()].join(", ")}; found "${value}"`);
}

function trueOrFalse(value: string): boolean | undefined {
  const lower = value.toLowerCase();
  return lower === "true" || lower === "false" ? lower === "true" : undefined;
}

function reaping(name: keyof NonNullable<Options["reaping"]>): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      if (!/^\d+$/.test(value)) return `is a whole number, found "${value}"`;
      return set(options, "reaping", { ...options.reaping, [name]: Number(value) });
    },
  };
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

type EnsembleFlag =
  | "listenOnAllAddresses"
  | "allowUnauthenticatedPeers"
  | "sslQuorum"
  | "reloadPeerStores"
  | "hostnameVerification"
  | "clientHostnameVerification";

function ensembleFlag(name: EnsembleFlag): KeyRule {
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
