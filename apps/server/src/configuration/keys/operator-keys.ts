import type { AdminOptions, MetricsOptions } from "@zooid/embedded-server";
import { isLogLevel, LOG_LEVELS } from "../../logs/log-level.ts";
import {
  addressValue,
  pathValue,
  portValue,
  type Read,
  read,
  textValue,
  trueOrFalse,
  trueOrFalseValue,
  wholeValue,
} from "../key-values.ts";
import { ignored, type KeyEntry, type KeyRule, refused } from "./key-rule.ts";
import { QUORUM_TLS_KEYS } from "./tls-keys.ts";

const LOGS_TO_STDOUT = "the log goes to the standard output, from --log-level on";

/** What operators see: the admin port and the one for metrics, the audit log, the log. */
export const OPERATOR_KEYS: readonly KeyEntry[] = [
  ["admin.enableServer", admin("enabled", trueOrFalseValue)],
  ["admin.serverAddress", admin("address", addressValue)],
  ["admin.serverPort", admin("port", portValue)],
  ["admin.commandURL", admin("commandUrl", textValue)],
  ["admin.idleTimeout", admin("idleTimeoutMs", wholeValue)],
  ["admin.needClientAuth", admin("needClientAuth", trueOrFalseValue)],
  ["admin.forceHttps", admin("forceHttps", trueOrFalseValue)],
  ["admin.portUnification", admin("portUnification", trueOrFalseValue)],
  ["admin.httpVersion", ignored("the admin port speaks HTTP 1.1")],
  ["admin.snapshot.enabled", admin("snapshotEnabled", trueOrFalseValue)],
  ["admin.restore.enabled", admin("restoreEnabled", trueOrFalseValue)],
  ["admin.rateLimiterIntervalInMS", admin("rateLimiterIntervalMs", wholeValue)],
  ...QUORUM_TLS_KEYS,
  ["metricsProvider.className", metrics("enabled", metricsProviderValue)],
  ["metricsProvider.httpHost", metrics("address", addressValue)],
  ["metricsProvider.httpPort", metrics("port", portValue)],
  ["metricsProvider.exportJvmInfo", metrics("exportJvmInfo", trueOrFalseValue)],
  ["metricsProvider.httpsPort", refused("asks for metrics over TLS, which is not supported yet")],

  ["zooid.logLevel", logLevelKey()],
  ["zooid.unknownKeys", unknownKeys()],
  ["audit.enable", auditEnabled()],
  ["audit.impl.class", ignored("the audit log has one form, and no class of Java's can be loaded")],
  ["zooid.audit.file", auditFile()],
  ["log.dir", ignored(LOGS_TO_STDOUT)],
  ["log.file", ignored(LOGS_TO_STDOUT)],
  ["root.logger", ignored(LOGS_TO_STDOUT)],
];

/** As {@link OPERATOR_KEYS}, of keys that begin so. */
export const OPERATOR_FAMILIES: readonly KeyEntry[] = [
  ["metricsProvider.", ignored("values are read when they are asked for, and nothing is queued")],
  ["jvm.pause.", ignored("there is no Java machine")],
];

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
  return {
    kind: "honoured",
    set: (_, value) => (isLogLevel(value) ? undefined : `is one of ${LOG_LEVELS.join(", ")}, found "${value}"`),
  };
}

/** It is honoured where the keys are read. */
function unknownKeys(): KeyRule {
  return {
    kind: "honoured",
    set: (_, value) =>
      value === "warn" || value === "refuse" ? undefined : `is warn (the default) or refuse, found "${value}"`,
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
      const found = pathValue(value);
      if ("problem" in found) return found.problem;
      audit.file = found.value;
      return undefined;
    },
  };
}
