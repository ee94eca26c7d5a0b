import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { delimiter, join, normalize } from "node:path";
import { type ConfigurationCase, writeCase } from "./configuration-case.ts";
import { type Outcome, withoutOwnClient } from "./outcome.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const SOURCES = ["ParseConfigs.java", "PrometheusMetricsProvider.java"].map((name) => join(import.meta.dirname, name));
const CLASSES = join(ROOT, ".cache/config-differential");
const OUTPUT_BYTES_MAX = 1024 * 1024 * 1024;

/**
 * As the parser of Apache ZooKeeper answers, see ParseConfigs.java; folders are written as `{dir}`.
 */
export interface ApacheAnswer {
  readonly refused?: string;
  readonly values?: Readonly<Record<string, string>>;
  /** Properties of the Java machine that the file or the flags have set. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** Parses all cases in one Java machine, each in a folder of its own below `root`. */
export function askApache(cases: readonly ConfigurationCase[], root: string, jars: string): readonly ApacheAnswer[] {
  compile(jars);
  const folders = cases.map((each, i) => {
    const folder = join(root, `apache-${i}`);
    writeCase(each, folder);
    return folder;
  });
  const classpath = [CLASSES, `${jars}/*`].join(delimiter);
  const { stdout, stderr, status } = spawnSync("java", ["-cp", classpath, "ParseConfigs"], {
    input: folders.map((folder) => `${folder}\n`).join(""),
    encoding: "utf8",
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  const lines = stdout.trimEnd().split("\n");
  if (status !== 0 || lines.length !== cases.length) throw new Error(`Apache's parser ended early: ${stderr}`);
  return lines.map((line, i) => JSON.parse(line.replaceAll(folders[i] ?? "", "{dir}")) as ApacheAnswer);
}

function compile(jars: string): void {
  const compiled = join(CLASSES, "ParseConfigs.class");
  if (existsSync(compiled) && SOURCES.every((source) => statSync(compiled).mtimeMs > statSync(source).mtimeMs)) return;
  mkdirSync(CLASSES, { recursive: true });
  // First on the class path: thousands of warnings of the parser are of no use.
  writeFileSync(join(CLASSES, "logback.xml"), '<configuration><root level="OFF"/></configuration>\n');
  execFileSync("javac", ["-cp", `${jars}/*`, "-d", CLASSES, ...SOURCES], { stdio: "inherit" });
}

/** The values in force, as the code that reads the properties takes them. */
export function apacheOutcome({ refused, values = {}, properties = {} }: ApacheAnswer): Outcome {
  if (refused !== undefined) return { kind: "refuses", reason: refused };
  const late = refusedBehindParser(properties);
  if (late !== undefined) return { kind: "refuses", reason: late };
  const found = new Map(Object.entries(values));
  for (const name of ["dataDir", "dataLogDir"]) found.set(name, sameFolder(found.get(name) ?? ""));
  for (const name of ["clientAddress", "secureAddress"])
    found.set(name, found.get(name)?.replace("localhost", "127.0.0.1") ?? "none");
  const members = found.get("members");
  if (members !== undefined) found.set("members", withoutOwnClient(asWritten(members), found.get("serverId")));
  const backlog = found.get("clientPortListenBacklog");
  if (backlog?.startsWith("-")) found.set("clientPortListenBacklog", "-1");
  for (const [name, read] of PROPERTIES) found.set(name, read(properties));
  return { kind: "starts", values: found };
}

const SASL = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider";

const KNOWN_SCHEMES = new Set(["digest", "ip", "x509", "world"]);

/** The reason why the start ends once the configuration has been read. */
function refusedBehindParser(properties: Properties): string | undefined {
  const isOn = (name: string): boolean => properties[`zookeeper.${name}`]?.toLowerCase() === "true";
  if (isOn("sessionRequireClientSASLAuth"))
    return Object.entries(properties).some(
      ([name, value]) => name.startsWith("zookeeper.authProvider.") && value === SASL,
    )
      ? undefined
      : "sasl is enforced, and there is no provider of it";
  if (!isOn("enforce.auth.enabled")) return undefined;
  const schemes = properties["zookeeper.enforce.auth.schemes"]?.split(",") ?? [];
  if (schemes.length === 0 || schemes.some((scheme) => !KNOWN_SCHEMES.has(scheme.trim())))
    return "authentication is enforced, by no scheme or by one without a provider";
  return undefined;
}

/** Observers that are in no group have no weight there. */
function asWritten(members: string): string {
  return members.replace(/^(.* OBSERVER .*) none$/gm, "$1 1");
}

/** Java keeps `..` in a path, and reads an absolute one below its own folder. */
function sameFolder(path: string): string {
  const normal = normalize(path.slice(Math.max(0, path.indexOf("{dir}"))));
  return normal.endsWith("/") ? normal.slice(0, -1) : normal;
}

/** `srvr` is always allowed, and `isro` where there is a read-only mode. */
function words(properties: Properties): string {
  const listed = (properties["zookeeper.4lw.commands.whitelist"] ?? "").split(",").map((word) => word.trim());
  if (listed.includes("*")) return "*";
  const isReadOnly = properties["readonlymode.enabled"] === "true";
  return [...new Set([...listed.filter((word) => word !== ""), ...(isReadOnly ? ["isro"] : []), "srvr"])]
    .toSorted()
    .join(",");
}

type Properties = Readonly<Record<string, string>>;

/** `Integer.getInteger`: what is no number counts as not set. */
function number(name: string, fallback: number): (properties: Properties) => string {
  return (properties) => {
    const text = properties[name] ?? "";
    const isNumber = /^(?:[+-]?\d{1,18}|0x[0-9a-f]+)$/i.test(text) && Math.abs(Number(text)) < 2 ** 31;
    return String(isNumber ? Number(text) : fallback);
  };
}

/** `Boolean.parseBoolean`: what is not "true" is false. */
function flag(name: string, fallback: boolean): (properties: Properties) => string {
  return (properties) => String(name in properties ? properties[name]?.toLowerCase() === "true" : fallback);
}

function text(name: string, fallback: string): (properties: Properties) => string {
  return (properties) => properties[name] ?? fallback;
}

/** Values that Apache's server keeps in properties, by the name in zoo.cfg. */
const PROPERTIES: readonly (readonly [name: string, read: (properties: Properties) => string])[] = [
  ["maxCnxns", number("zookeeper.maxCnxns", 0)],
  ["globalOutstandingLimit", number("zookeeper.globalOutstandingLimit", 1000)],
  ["skipACL", ({ "zookeeper.skipACL": value = "no" }) => String(value === "yes")],
  ["superDigest", text("zookeeper.DigestAuthenticationProvider.superDigest", "")],
  ["digestEnabled", flag("zookeeper.DigestAuthenticationProvider.enabled", true)],
  ["4lw.commands.whitelist", words],
  ["admin.enableServer", flag("zookeeper.admin.enableServer", true)],
  ["admin.serverPort", number("zookeeper.admin.serverPort", 8080)],
  ["admin.commandURL", text("zookeeper.admin.commandURL", "/commands")],
  ["admin.idleTimeout", number("zookeeper.admin.idleTimeout", 30_000)],
  ["audit.enable", flag("zookeeper.audit.enable", false)],
  ["extendedTypesEnabled", flag("zookeeper.extendedTypesEnabled", false)],
  ["enforceQuota", flag("zookeeper.enforceQuota", false)],
  ["sessionRequireClientSASLAuth", flag("zookeeper.sessionRequireClientSASLAuth", false)],
  ["enforce.auth.enabled", flag("zookeeper.enforce.auth.enabled", false)],
  ["clientTcpKeepAlive", flag("zookeeper.clientTcpKeepAlive", false)],
  ["leaderServes", ({ "zookeeper.leaderServes": value = "yes" }) => String(value === "yes")],
  ["jute.maxbuffer", number("jute.maxbuffer", 0xf_ffff)],
  ["readonlymode.enabled", flag("readonlymode.enabled", false)],
  ["znode.container.checkIntervalMs", number("znode.container.checkIntervalMs", 60_000)],
  ["znode.container.maxPerMinute", number("znode.container.maxPerMinute", 10_000)],
  [
    "fsync.warningthresholdms",
    (properties) =>
      number(
        "zookeeper.fsync.warningthresholdms",
        Number(number("fsync.warningthresholdms", 1000)(properties)),
      )(properties),
  ],
];
