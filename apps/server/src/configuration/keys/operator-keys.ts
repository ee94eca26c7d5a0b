import { isLogLevel, LOG_LEVELS, type LogLevel } from "@zooid/embedded-server";
import {
  addressValue,
  oneOf,
  pathValue,
  portValue,
  type Read,
  read,
  textValue,
  trueOrFalseValue,
  wholeValue,
} from "../key-values.ts";
import { auditSetting, honoured, ignored, type KeyEntry, type KeyRule, part, refused } from "./key-rule.ts";
import { QUORUM_TLS_KEYS } from "./tls-keys.ts";

const LOGS_TO_STDOUT = "the log goes to the standard output, from --log-level on";

/**
 * Settings of the operators' side: the admin port and the one for metrics, the audit log, the log.
 */
export const OPERATOR_KEYS: readonly KeyEntry[] = [
  ["admin.enableServer", part("admin", "enabled", trueOrFalseValue)],
  ["admin.serverAddress", part("admin", "address", addressValue)],
  ["admin.serverPort", part("admin", "port", portValue)],
  ["admin.commandURL", part("admin", "commandUrl", textValue)],
  ["admin.idleTimeout", part("admin", "idleTimeoutMs", wholeValue)],
  ["admin.needClientAuth", part("admin", "needClientAuth", trueOrFalseValue)],
  ["admin.forceHttps", part("admin", "forceHttps", trueOrFalseValue)],
  ["admin.portUnification", part("admin", "portUnification", trueOrFalseValue)],
  ["admin.httpVersion", ignored("the admin port speaks HTTP 1.1")],
  ["admin.snapshot.enabled", part("admin", "snapshotEnabled", trueOrFalseValue)],
  ["admin.restore.enabled", part("admin", "restoreEnabled", trueOrFalseValue)],
  ["admin.rateLimiterIntervalInMS", part("admin", "rateLimiterIntervalMs", wholeValue)],
  ...QUORUM_TLS_KEYS,
  ["metricsProvider.className", part("metrics", "enabled", metricsProviderValue)],
  ["metricsProvider.httpHost", part("metrics", "address", addressValue)],
  ["metricsProvider.httpPort", part("metrics", "port", portValue)],
  ["metricsProvider.exportJvmInfo", part("metrics", "exportJvmInfo", trueOrFalseValue)],
  ["metricsProvider.httpsPort", refused("asks for metrics over TLS, which is not supported yet")],

  ["zooid.logLevel", logLevelKey()],
  ["zooid.unknownKeys", unknownKeys()],
  ["audit.enable", auditSetting("isEnabled", trueOrFalseValue)],
  ["audit.impl.class", ignored("the audit log has one form, and no class of Java's can be loaded")],
  ["zooid.audit.file", auditSetting("file", pathValue)],
  ["log.dir", ignored(LOGS_TO_STDOUT)],
  ["log.file", ignored(LOGS_TO_STDOUT)],
  ["root.logger", ignored(LOGS_TO_STDOUT)],
];

/** As {@link OPERATOR_KEYS}, of keys that begin so. */
export const OPERATOR_FAMILIES: readonly KeyEntry[] = [
  ["metricsProvider.", ignored("values are read when they are asked for, and nothing is queued")],
  ["jvm.pause.", ignored("there is no Java machine")],
];

const PROVIDERS: ReadonlyMap<string, boolean> = new Map([
  ["org.apache.zookeeper.metrics.prometheus.PrometheusMetricsProvider", true],
  ["org.apache.zookeeper.metrics.impl.DefaultMetricsProvider", false],
  ["org.apache.zookeeper.metrics.impl.NullMetricsProvider", false],
]);

/** Whether a class of Apache's is the one that answers Prometheus. */
function metricsProviderValue(value: string): Read<boolean> {
  return read(PROVIDERS.get(value), `names one of ${[...PROVIDERS.keys()].join(", ")}; found "${value}"`);
}

/** It is honoured where the command line is read, whose --log-level wins. */
function logLevelKey(): KeyRule {
  return honoured(logLevelValue, () => {});
}

function logLevelValue(value: string): Read<LogLevel> {
  return read(isLogLevel(value) ? value : undefined, `is one of ${LOG_LEVELS.join(", ")}, found "${value}"`);
}

/** It is honoured where the keys are read. */
function unknownKeys(): KeyRule {
  return honoured(oneOf(["warn", "refuse"], true), () => {});
}
