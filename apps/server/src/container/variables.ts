import { assertNever } from "@zooid/model";
import { isGuardingKey } from "../configuration/keys/known-keys.ts";

/** The meaning of a variable of a container's environment. */
export type Variable =
  /** A setting of zoo.cfg. */
  | { readonly kind: "setting"; readonly key: string; readonly form: Form }
  /** A setting that counts only where another variable switches its group on. */
  | {
      readonly kind: "grouped";
      readonly group: GroupName;
      readonly key: string;
      readonly form: Form;
      readonly fallback?: string;
    }
  /** Switches a group on. */
  | { readonly kind: "switch"; readonly group: GroupName }
  /** Read by the plan itself; some decide about votes, access or where data are. */
  | { readonly kind: "own"; readonly isGuarding: boolean }
  /** Values other than the harmless ones are reported. */
  | { readonly kind: "ignored"; readonly reason: string; readonly harmless: readonly string[] }
  /** Values other than the harmless ones stop the start. */
  | { readonly kind: "refused"; readonly reason: string; readonly harmless: readonly string[] };

/** How a value is written in zoo.cfg: as it stands, or yes and no as true and false. */
export type Form = "text" | "flag";

export type GroupName = "prometheus" | "clientTls" | "quorumTls" | "auth";

/** The settings that a group adds to zoo.cfg when it is on. */
export const GROUP_SETTINGS: Readonly<Record<GroupName, readonly (readonly [key: string, value: string])[]>> = {
  prometheus: [["metricsProvider.className", "org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider"]],
  clientTls: [],
  quorumTls: [["sslQuorum", "true"]],
  auth: [["authProvider.1", "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"]],
};

const own: Variable = { kind: "own", isGuarding: false };
const guarding: Variable = { kind: "own", isGuarding: true };
const setting = (key: string, form: Form = "text"): Variable => ({ kind: "setting", key, form });
const grouped = (group: GroupName, key: string, fallback?: string): Variable => ({
  kind: "grouped",
  group,
  key,
  form: "text",
  ...(fallback === undefined ? {} : { fallback }),
});
const ignored = (reason: string, ...harmless: string[]): Variable => ({ kind: "ignored", reason, harmless });

const NO_QUORUM_SASL =
  "asks for SASL between servers, which is not supported; ZOOID_PEER_SECRET_FILE names a secret by which they know each other";
const NO_JVM = "there is no Java machine";

/**
 * Every variable by name, except those of Confluent's form, which are made from settings by a rule.
 */
export const VARIABLES: ReadonlyMap<string, Variable> = new Map<string, Variable>([
  // The official image's.
  ["ZOO_MY_ID", guarding],
  ["ZOO_SERVERS", guarding],
  ["ZOO_CFG_EXTRA", guarding],
  ["ZOO_CONF_DIR", guarding],
  ["ZOO_DATA_DIR", guarding],
  ["ZOO_DATA_LOG_DIR", guarding],
  ["ZOO_LOG_DIR", own],
  ["ZOO_TICK_TIME", setting("tickTime")],
  ["ZOO_INIT_LIMIT", setting("initLimit")],
  ["ZOO_SYNC_LIMIT", setting("syncLimit")],
  ["ZOO_MAX_CLIENT_CNXNS", setting("maxClientCnxns")],
  ["ZOO_STANDALONE_ENABLED", setting("standaloneEnabled", "flag")],
  ["ZOO_ADMINSERVER_ENABLED", setting("admin.enableServer", "flag")],
  ["ZOO_4LW_COMMANDS_WHITELIST", setting("4lw.commands.whitelist")],
  ["ZOO_AUTOPURGE_PURGEINTERVAL", setting("autopurge.purgeInterval")],
  ["ZOO_AUTOPURGE_SNAPRETAINCOUNT", setting("autopurge.snapRetainCount")],

  // Bitnami's.
  ["ZOO_SERVER_ID", guarding],
  ["ZOO_PORT_NUMBER", setting("clientPort")],
  ["ZOO_PEER_TYPE", setting("peerType")],
  ["ZOO_MAX_CNXNS", setting("maxCnxns")],
  ["ZOO_MIN_SESSION_TIMEOUT", setting("minSessionTimeout")],
  ["ZOO_MAX_SESSION_TIMEOUT", setting("maxSessionTimeout")],
  ["ZOO_ENABLE_ADMIN_SERVER", setting("admin.enableServer", "flag")],
  ["ZOO_ADMIN_SERVER_ADDRESS", setting("admin.serverAddress")],
  ["ZOO_ADMIN_SERVER_PORT_NUMBER", setting("admin.serverPort")],
  ["ZOO_AUTOPURGE_INTERVAL", setting("autopurge.purgeInterval")],
  ["ZOO_AUTOPURGE_RETAIN_COUNT", setting("autopurge.snapRetainCount")],
  ["ZOO_SNAPCOUNT", setting("snapCount")],
  ["ZOO_PRE_ALLOC_SIZE", setting("preAllocSize")],
  ["ZOO_RECONFIG_ENABLED", setting("reconfigEnabled", "flag")],
  ["ZOO_LISTEN_ALLIPS_ENABLED", setting("quorumListenOnAllIPs", "flag")],
  ["ZOO_LOG_LEVEL", own],
  ["ZOO_ENABLE_PROMETHEUS_METRICS", { kind: "switch", group: "prometheus" }],
  ["ZOO_PROMETHEUS_METRICS_PORT_NUMBER", grouped("prometheus", "metricsProvider.httpPort", "7000")],
  ["ZOO_TLS_CLIENT_ENABLE", { kind: "switch", group: "clientTls" }],
  ["ZOO_TLS_CLIENT_PORT_NUMBER", grouped("clientTls", "secureClientPort", "3181")],
  ["ZOO_TLS_CLIENT_AUTH", grouped("clientTls", "ssl.clientAuth", "need")],
  ["ZOO_TLS_CLIENT_KEYSTORE_FILE", grouped("clientTls", "ssl.keyStore.location")],
  ["ZOO_TLS_CLIENT_KEYSTORE_PASSWORD", grouped("clientTls", "ssl.keyStore.password")],
  ["ZOO_TLS_CLIENT_TRUSTSTORE_FILE", grouped("clientTls", "ssl.trustStore.location")],
  ["ZOO_TLS_CLIENT_TRUSTSTORE_PASSWORD", grouped("clientTls", "ssl.trustStore.password")],
  ["ZOO_TLS_QUORUM_ENABLE", { kind: "switch", group: "quorumTls" }],
  ["ZOO_TLS_QUORUM_CLIENT_AUTH", grouped("quorumTls", "ssl.quorum.clientAuth", "need")],
  ["ZOO_TLS_QUORUM_KEYSTORE_FILE", grouped("quorumTls", "ssl.quorum.keyStore.location")],
  ["ZOO_TLS_QUORUM_KEYSTORE_PASSWORD", grouped("quorumTls", "ssl.quorum.keyStore.password")],
  ["ZOO_TLS_QUORUM_TRUSTSTORE_FILE", grouped("quorumTls", "ssl.quorum.trustStore.location")],
  ["ZOO_TLS_QUORUM_TRUSTSTORE_PASSWORD", grouped("quorumTls", "ssl.quorum.trustStore.password")],
  ["ZOO_ENABLE_AUTH", { kind: "switch", group: "auth" }],
  ["ZOO_SERVER_USERS", guarding],
  ["ZOO_SERVER_PASSWORDS", guarding],
  ["ALLOW_ANONYMOUS_LOGIN", guarding],
  ["ZOO_CLIENT_USER", ignored("the server opens no connection to itself; zooid-cli takes -client-configuration")],
  ["ZOO_CLIENT_PASSWORD", ignored("the server opens no connection to itself; zooid-cli takes -client-configuration")],
  ["ZOO_ENABLE_QUORUM_AUTH", { kind: "refused", reason: NO_QUORUM_SASL, harmless: ["no", "false"] }],
  ["ZOO_QUORUM_LEARNER_USER", ignored(NO_QUORUM_SASL)],
  ["ZOO_QUORUM_LEARNER_PASSWORD", ignored(NO_QUORUM_SASL)],
  ["ZOO_QUORUM_SERVER_USERS", ignored(NO_QUORUM_SASL)],
  ["ZOO_QUORUM_SERVER_PASSWORDS", ignored(NO_QUORUM_SASL)],
  ["ZOO_HEAP_SIZE", ignored(NO_JVM)],
  ["ZOOMAIN", ignored(NO_JVM)],

  // Confluent's, beyond its rule.
  ["ZOOKEEPER_SERVER_ID", guarding],
  ["ZOOKEEPER_SERVERS", guarding],
  ["ZOOKEEPER_DATA_DIR", guarding],
  ["ZOOKEEPER_DATA_LOG_DIR", guarding],
  ["ZOOKEEPER_LOG4J_ROOT_LOGLEVEL", own],
  ["ZOOKEEPER_LOG4J_LOGGERS", ignored("there is one log, with one level")],
  ["ZOOKEEPER_TOOLS_LOG4J_LOGLEVEL", ignored("there is one log, with one level")],

  // Ours.
  ["ZOOID_PEER_SECRET", guarding],
  ["ZOOID_JOINING_SERVER", guarding],
  ["ZOOID_SUPER_PASSWORD", guarding],
  ["ZOOID_ALLOW_UNAUTHENTICATED_PEERS", setting("zooid.allowUnauthenticatedPeers", "flag")],
]);

/**
 * Whether a misspelt name must not be neglected: it decides which servers vote, who may enter, or
 * where data are.
 */
export function isGuarding(variable: Variable): boolean {
  switch (variable.kind) {
    case "setting":
    case "grouped":
      return isGuardingKey(variable.key);
    case "switch":
      return variable.group !== "prometheus";
    case "own":
      return variable.isGuarding;
    case "ignored":
      return false;
    case "refused":
      return true;
    default:
      return assertNever(variable);
  }
}

/** Variables whose names end in _FILE and mean that file, not a secret to be read from it. */
export function isSecretFile(name: string): boolean {
  return name.endsWith("_FILE") && !VARIABLES.has(name);
}

/**
 * Whether Kubernetes or Docker set it for a service or a container of that name: `ZOOKEEPER_PORT`,
 * `ZOO_1_SERVICE_HOST`, `ZOOKEEPER_PORT_2181_TCP_ADDR`.
 */
export function isServiceLink(name: string, value: string): boolean {
  if (/_SERVICE_(?:HOST|PORT)(?:_|$)|_PORT_\d{1,5}_(?:TCP|UDP)(?:_(?:PROTO|PORT|ADDR))?$/.test(name)) return true;
  return name.endsWith("_PORT") && /^(?:tcp|udp):\/\//.test(value);
}
