import { parseServerConfig } from "@zooid/embedded-server/internal/config";
import type { KeyRule, Options } from "zooid-server/internal/configuration/keys/key-rule";
import { KEY_FAMILIES, KEY_RULES } from "zooid-server/internal/configuration/keys/known-keys";
import { isReloaded } from "zooid-server/internal/configuration/reload";

/** A line of the table of settings. */
export interface SettingLine {
  readonly key: string;
  readonly defaultValue: string;
  readonly unit: string;
  readonly change: string;
  readonly note: string;
}

/** Values that one of the rules takes: the option that it sets is found by trying. */
const SAMPLES = ["7", "true", "yes", "3", "/file", "127.0.0.1", "offer", "follow", "closed", "observer"];

const NEXT_START = "next start";

/** Every key of zoo.cfg, in the order of the alphabet. */
export function settingLines(): readonly SettingLine[] {
  const lines = [...KEY_RULES].map(([key, rule]) => lineOf(key, rule));
  const families = KEY_FAMILIES.map(([prefix, rule]) => lineOf(`${prefix}*`, rule));
  const members = [
    ["server.N", "a member: its host, its ports, its role, and where its clients come"],
    ["group.N", "the servers of a group"],
    ["weight.N", "the weight of a member's vote in its group"],
    ["standaloneEnabled", "whether one line `server.N` is a single server"],
  ].map(([key = "", note = ""]) => ({
    key,
    note,
    unit: "",
    change: key === "standaloneEnabled" ? NEXT_START : "next start, or `reconfig`",
    defaultValue: key === "standaloneEnabled" ? "true" : "",
  }));
  const known = new Set(lines.map(({ key }) => key));
  return [...lines, ...families, ...members.filter(({ key }) => !known.has(key))].toSorted((a, b) =>
    a.key < b.key ? -1 : 1,
  );
}

function lineOf(key: string, rule: KeyRule): SettingLine {
  const change = isReloaded(key.replace("*", "x")) ? "SIGHUP" : NEXT_START;
  if (rule.kind === "ignored")
    return { key, defaultValue: "", unit: "", change: "", note: `no effect: ${rule.reason}` };
  if (rule.kind === "refused") {
    const allowed = rule.harmless.length === 0 ? "" : ` (${rule.harmless.join(", ")} may be written)`;
    return { key, defaultValue: "", unit: "", change: "", note: `refused: it ${rule.reason}${allowed}` };
  }
  const path = pathOf(rule, key.replace("*", "x"));
  return { key, change, note: "", defaultValue: STATED_DEFAULTS.get(key) ?? defaultOf(path), unit: unitOf(key, path) };
}

/** Where the rule's value lies in the options of a server, found by giving it one. */
function pathOf(rule: KeyRule, key: string): readonly string[] {
  for (const sample of SAMPLES) {
    const given: Record<string, unknown> = {};
    if (apply(rule, given, sample, key) === undefined) return firstPath(given);
  }
  return [];
}

function apply(rule: KeyRule, given: Record<string, unknown>, value: string, key: string): string | undefined {
  switch (rule.kind) {
    case "honoured": {
      const options: Options = {};
      const problem = rule.set(options, value, key);
      Object.assign(given, options);
      return problem;
    }
    case "ensemble":
      return within(given, "ensemble", (part) => rule.set(part, value));
    case "audit":
      return within(given, "audit", (part) => rule.set(part, value));
    case "console":
      return within(given, "console", (part) => rule.set(part, value));
    default:
      return undefined;
  }
}

function within(
  given: Record<string, unknown>,
  name: string,
  set: (part: Record<string, never>) => string | undefined,
): string | undefined {
  const part: Record<string, never> = {};
  const problem = set(part);
  given[name] = part;
  return problem;
}

function firstPath(given: object): readonly string[] {
  const [entry] = Object.entries(given);
  if (entry === undefined) return [];
  const [name, value]: readonly [string, unknown] = entry;
  const isGroup = typeof value === "object" && value !== null && !Array.isArray(value);
  return isGroup ? [name, ...firstPath(value)] : [name];
}

/** The configuration of a member without any other setting. */
const MEMBER = parseServerConfig({
  admin: {},
  metrics: {},
  ensemble: {
    sid: 1,
    servers: [1, 2, 3].map((sid) => ({ sid, host: "127.0.0.1", quorumPort: sid, electionPort: 10 + sid })),
  },
});

function defaultOf(path: readonly string[]): string {
  let value: unknown = MEMBER;
  for (const name of path) {
    const entries: ReadonlyMap<string, unknown> = new Map(
      typeof value === "object" && value !== null ? Object.entries(value) : [],
    );
    value = entries.get(name);
  }
  if (value === undefined || typeof value === "object" || typeof value === "function") return "none";
  if (value === Number.POSITIVE_INFINITY) return "no limit";
  return String(value);
}

function unitOf(key: string, path: readonly string[]): string {
  const name = path.at(-1) ?? "";
  if (/^(?:initLimit|syncLimit)$/.test(key)) return "ticks";
  if (/Seconds$/.test(name)) return "seconds";
  if (/^ms$|Ms$|Ms(?:Max|Min)$|^(?:fillMs|freezeMs)$/.test(name)) return "milliseconds";
  if (/^bytes|[bB]ytes(?:$|Max|Per)/.test(name)) return name === "bytesPerSecond" ? "bytes a second" : "bytes";
  return "";
}

/** Switches that are off, and of which the configuration keeps no trace. */
const OFF = [
  ...[
    "admin.forceHttps",
    "admin.needClientAuth",
    "allowSaslFailedClients",
    "client.certReload",
    "enforce.auth.enabled",
  ],
  ...["kerberos.removeHostFromPrincipal", "kerberos.removeRealmFromPrincipal", "portUnification", "sslQuorum"],
  ...["sessionRequireClientSASLAuth", "ssl.clientHostnameVerification", "ssl.crl", "ssl.quorum.crl"],
  ...["sslQuorumReloadCertFiles", "zooid.allowUnauthenticatedPeers", "admin.portUnification"],
];

/** Where no default of the server's configuration says it. */
const STATED_DEFAULTS: ReadonlyMap<string, string> = new Map([
  ["zooid.follow.sid", "254"],
  ["zooid.follow.spoolMemoryBytesMax", "16777216"],
  ["zooid.follow.spoolBytesMax", "4294967296"],
  ["zooid.follow.packetBytesMax", "4194304"],
  ["zooid.follow.initTimeoutMs", "40000"],
  ["zooid.follow.syncTimeoutMs", "10000"],
  ["zooid.follow.tlsChecksHost", "true"],
  ...OFF.map((key) => [key, "false"] as const),
  ["admin.snapshot.enabled", "true"],
  ["admin.restore.enabled", "true"],
  ["admin.rateLimiterIntervalInMS", "300000"],
  ["ssl.clientAuth", "need"],
  ["ssl.protocol", "TLSv1.3"],
  ["ssl.quorum.protocol", "TLSv1.3"],
  ["ssl.quorum.hostnameVerification", "true"],
  ["ssl.quorum.clientHostnameVerification", "true"],
  ["request_throttle_max_requests", "0: no limit"],
  ["maxCnxns", "0: no limit"],
  ["zooid.backup.region", "us-east-1"],
  ["zooid.backup.baseEveryMs", "86400000"],
  ["zooid.backup.retainMs", "2592000000"],
  ["zooid.backup.bytesPerSecond", "0: no limit"],
  ["zooid.peerSecretMode", "require"],
  ["ssl.handshakeDetectionTimeoutMillis", "5000"],
  ["netty.server.outstandingHandshake.limit", "-1: no limit"],
  ["zooid.authFailureDelayMaxMs", "10000"],
  ["sasl.serverconfig", "Server"],
  ["DigestAuthenticationProvider.digestAlg", "SHA1"],
  ["metricsProvider.httpHost", "every address"],
  ["tickTime", "3000"],
  ["dataDir", "none: it must be set"],
  ["dataLogDir", "`dataDir`"],
  ["clientPortAddress", "every address"],
  ["secureClientPortAddress", "every address"],
  ["minSessionTimeout", "2 ticks"],
  ["maxSessionTimeout", "20 ticks"],
  ["clientPortListenBacklog", "the system's"],
  ["4lw.commands.whitelist", "srvr"],
  ["zooid.heldBytesMax", "half of the memory"],
  ["zooid.multiPartsMax", "20000"],
  ["zooid.watchBytesMax", "an eighth of the memory"],
  ["zooid.trustedProxies", "none"],
  ["zooid.trustedProxiesPercent", "25"],
  ["zooid.disk.lowBytes", "a tenth of the disk, at most 1 GiB"],
  ["zooid.disk.reserveBytes", "a twentieth of the disk, at most 128 MiB"],
  ["admin.enableServer", "true"],
  ["metricsProvider.className", "none"],
  ["audit.enable", "false"],
  ["zooid.audit.file", "`zookeeper_audit.log` in `dataDir`"],
  ["zooid.console.enabled", "true"],
  ["zooid.logLevel", "info"],
  ["zooid.unknownKeys", "warn"],
  ["peerType", "as the line `server.N` says"],
  ["observerMasterPort", "0: none"],
]);
