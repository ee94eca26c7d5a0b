import { KNOWN_KEYS } from "zooid-server/internal/configuration/keys/known-keys";

/**
 * Values of a key that a generator writes: those of manuals, those that work by chance, and those
 * that no server should take.
 */
export interface KeySamples {
  readonly key: string;
  readonly kind: "number" | "flag" | "other";
  readonly valid: readonly string[];
  readonly odd: readonly string[];
  readonly invalid: readonly string[];
}

const NUMBER_ODD = ["+5", "007", "0"];
const NUMBER_INVALID = ["abc", "1.5", "12ms", "99999999999", "0x10", "-7", ""];
const FLAG_ODD = ["TRUE", "False"];
const FLAG_INVALID = ["yes", "no", "on", "1", ""];
const ADDRESSES = ["127.0.0.1", "localhost", "0.0.0.0"];
const ADDRESS_ODD = ["[::1]", "::1", "::", "0:0:0:0:0:0:0:1"];
const ADDRESS_INVALID = ["127.0.0", "999.1.1.1", "[127.0.0.1]", "host/24", "::g"];

function numbers(...keys: readonly string[]): readonly KeySamples[] {
  return keys.map((key) => ({
    key,
    kind: "number",
    valid: ["3", "20", "5000", "120000"],
    odd: NUMBER_ODD,
    invalid: NUMBER_INVALID,
  }));
}

function flags(...keys: readonly string[]): readonly KeySamples[] {
  return keys.map((key) => ({ key, kind: "flag", valid: ["true", "false"], odd: FLAG_ODD, invalid: FLAG_INVALID }));
}

function ports(...keys: readonly string[]): readonly KeySamples[] {
  return keys.map((key) => ({
    key,
    kind: "number",
    valid: ["21810"],
    odd: ["0", "021810"],
    invalid: ["99999", "-1", "http", "+21810"],
  }));
}

function addresses(...keys: readonly string[]): readonly KeySamples[] {
  return keys.map((key) => ({ key, kind: "other", valid: ADDRESSES, odd: ADDRESS_ODD, invalid: ADDRESS_INVALID }));
}

function texts(key: string, valid: readonly string[], invalid: readonly string[] = []): KeySamples {
  return { key, kind: "other", valid, odd: [], invalid };
}

/**
 * Keys of forks and of other tools, which Apache's server turns into properties that nothing reads.
 */
const FOREIGN: readonly string[] = [
  ...["4lw.commands.whitelist.extra", "leader.election.port.timeout", "snapshot.sizelimit", "purge.interval.hours"],
  ...["quorumListenOnAllInterfaces", "skipTxnEnabled", "dataTree.shards", "requestThrottler.size", "log4j.rootLogger"],
  ...["kafka.heap.opts", "confluent.support.metrics.enable", "cloudera.health.enabled", "pravega.mode", "strimzi.id"],
  ...["heapSize", "jvm.flags", "maxSessions", "zookeeper.znode.parent", "autopurge.enabled", "exporter.port"],
];

const SAMPLED: readonly KeySamples[] = [
  ...numbers("tickTime", "minSessionTimeout", "maxSessionTimeout", "initLimit", "syncLimit", "maxClientCnxns"),
  ...numbers("maxCnxns", "globalOutstandingLimit", "clientPortListenBacklog", "autopurge.snapRetainCount"),
  ...numbers("autopurge.purgeInterval", "snapCount", "preAllocSize", "commitLogCount", "jute.maxbuffer"),
  ...numbers("fsync.warningthresholdms", "znode.container.checkIntervalMs", "znode.container.maxPerMinute"),
  ...numbers("admin.idleTimeout", "electionAlg", "cnxTimeout", "electionPortBindRetry", "nio.numWorkerThreads"),
  ...numbers("connectToLearnerMasterLimit", "multiAddress.reachabilityCheckTimeoutMs", "maxResponseCacheSize"),
  ...numbers("request_throttle_max_requests", "connection_throttle_tokens", "largeRequestMaxBytes", "flushDelay"),
  ...flags("localSessionsEnabled", "localSessionsUpgradingEnabled", "standaloneEnabled", "reconfigEnabled"),
  ...flags("quorumListenOnAllIPs", "sslQuorum", "portUnification", "syncEnabled", "admin.enableServer"),
  ...flags("extendedTypesEnabled", "enforceQuota", "clientTcpKeepAlive", "readonlymode.enabled", "audit.enable"),
  ...flags("sessionRequireClientSASLAuth", "multiAddress.enabled", "fips-mode", "digest.enabled", "tcpKeepAlive"),
  ...flags(
    "admin.snapshot.enabled",
    "admin.restore.enabled",
    "metricsProvider.exportJvmInfo",
    "sslQuorumReloadCertFiles",
  ),
  ...ports("secureClientPort", "observerMasterPort", "admin.serverPort", "metricsProvider.httpPort"),
  ...addresses("clientPortAddress", "secureClientPortAddress", "admin.serverAddress", "metricsProvider.httpHost"),
  texts("peerType", ["participant", "observer", "PARTICIPANT"], ["leader", ""]),
  texts("leaderServes", ["yes", "no"], ["true", "maybe"]),
  texts("skipACL", ["yes", "no", "true"]),
  texts("forceSync", ["yes", "no"]),
  texts("4lw.commands.whitelist", ["*", "srvr, ruok", "stat,ruok,conf,isro", ""]),
  texts("admin.commandURL", ["/commands", "/admin"], [""]),
  texts("serverCnxnFactory", ["org.apache.zookeeper.server.NettyServerCnxnFactory"]),
  texts("DigestAuthenticationProvider.superDigest", ["super:D/InIHSb7yEEbrWz8b9l71RjZJU="]),
  texts("DigestAuthenticationProvider.digestAlg", ["SHA1", "SHA-256"], ["ROT13"]),
  texts("authProvider.1", ["org.apache.zookeeper.server.auth.SASLAuthenticationProvider"], ["com.example.Provider"]),
  texts("authProvider.sasl", ["org.apache.zookeeper.server.auth.SASLAuthenticationProvider"]),
  texts("requireClientAuthScheme", ["sasl"]),
  texts(
    "metricsProvider.className",
    [
      "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider",
      "org.apache.zookeeper.metrics.impl.DefaultMetricsProvider",
    ],
    ["com.example.Metrics"],
  ),
  texts("watchManagerName", ["org.apache.zookeeper.server.watch.WatchManagerOptimized"]),
  texts("snapshot.compression.method", ["gz", "snappy", "CHECKED"], ["rar"]),
  texts("ssl.clientAuth", ["need", "want", "none"]),
  texts("ssl.quorum.clientAuth", ["need"]),
  texts("oraclePath", ["/run/oracle"]),
  texts("quorum.auth.enableSasl", ["true", "false"], ["yes"]),
  texts("dataLogDir", ["{dir}/log"], ["", "~/log", `\${LOG}/log`, '"{dir}/log"']),
];

const NAMED = new Set(SAMPLED.map(({ key }) => key));
/** Written by the shapes themselves. */
const SHAPED = new Set(["dataDir", "clientPort", "dynamicConfigFile", "zooid.unknownKeys"]);
/** Settings whose file must be there, and is not. */
const OF_FILES = /^(?:zooid\.|ssl\.|jaasLoginConfig|X509)/;

/** How a known key without samples of its own is read, by its name. */
const OTHER_FLAGS =
  /(?:[eE]nabled?|forceHttps|needClientAuth|certReload|portUnification|FromPrincipal|allowSaslFailedClients|weight_enabled)$/;
const OTHER_NUMBERS =
  /^(?:connection_throttle_|nio\.|netty\.|admin\.rate|znode\.|request_)|(?:[lL]imit|Ms|MS|Size|Max)$/;

/** Every key of the manual that Zooid knows, those of forks, and a few values of each. */
export const KEY_SAMPLES: readonly KeySamples[] = [
  ...SAMPLED,
  ...KNOWN_KEYS.filter((key) => !NAMED.has(key) && !SHAPED.has(key) && !OF_FILES.test(key)).map(sampled),
  ...FOREIGN.map((key) => texts(key, ["1", "true", "text"])),
];

function sampled(key: string): KeySamples {
  if (OTHER_FLAGS.test(key))
    return { key, kind: "flag", valid: ["true", "false"], odd: ["TRUE"], invalid: ["", "1000"] };
  const kind = OTHER_NUMBERS.test(key) ? "number" : "other";
  return { key, kind, valid: ["1000", "1"], odd: [], invalid: ["", "abc", "true"] };
}

export const NUMBER_KEYS: ReadonlySet<string> = keysOf("number");
export const FLAG_KEYS: ReadonlySet<string> = keysOf("flag");

function keysOf(kind: KeySamples["kind"]): ReadonlySet<string> {
  return new Set(KEY_SAMPLES.filter((samples) => samples.kind === kind).map(({ key }) => key));
}
