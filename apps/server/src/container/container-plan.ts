import { createHash } from "node:crypto";
import { ConfigError } from "@zooid/embedded-server";
import { counted } from "@zooid/model";
import { isGuardingKey } from "../configuration/keys/known-keys.ts";
import { isBeyondLoopback, type ServerSetting, serverList } from "./server-list.ts";
import { findVariable, isNearlyKnown, misspeltGuard, unknownVariable } from "./variable-names.ts";
import { type Form, GROUP_SETTINGS, type GroupName, isServiceLink, VARIABLES } from "./variables.ts";

/** A container's environment, with secrets read from the files that it names. */
export interface ContainerEnvironment {
  readonly variables: ReadonlyMap<string, string>;
  /** The file of each variable whose value came from one. */
  readonly files: ReadonlyMap<string, string>;
  readonly hostname: string;
  /** Whether a volume is mounted where Bitnami's image has its data. */
  readonly hasBitnamiVolume?: boolean;
  /** Whether a `zoo.cfg` is mounted where Bitnami's image has it. */
  readonly hasBitnamiFile?: boolean;
}

/** Where Bitnami's image has its data and its configuration. */
export const BITNAMI_VOLUME = "/bitnami/zookeeper";
export const BITNAMI_CONF = "/opt/bitnami/zookeeper/conf";

/** The files that a container's start writes, and the arguments of the server. */
export interface ContainerPlan {
  readonly confDir: string;
  readonly dataDir: string;
  readonly logDir: string;
  /** Written to `myid` in the data directory if there is none. */
  readonly myId: string;
  /** The variable that says so; undefined where none does. */
  readonly myIdFrom: string | undefined;
  /** Written to `zoo.cfg` if there is none. */
  readonly zooCfg: string;
  /** Files beside zoo.cfg with secrets, for the server's user alone: text by name. */
  readonly secretFiles: ReadonlyMap<string, string>;
  readonly logLevel: string | undefined;
  /** Variables that zoo.cfg was made from: they have no effect where there is one already. */
  readonly names: readonly string[];
  /** One sentence each, without any value of a secret. */
  readonly warnings: readonly string[];
}

const LOG_LEVELS: ReadonlyMap<string, string> = new Map([
  ["TRACE", "debug"],
  ["DEBUG", "debug"],
  ["INFO", "info"],
  ["WARN", "warn"],
  ["ERROR", "error"],
  ["FATAL", "error"],
  ["OFF", "error"],
]);
/** The settings that the official image writes in any case. */
const DEFAULTS: readonly ServerSetting[] = [
  ["tickTime", "2000"],
  ["initLimit", "5"],
  ["syncLimit", "2"],
  ["maxClientCnxns", "60"],
  ["standaloneEnabled", "true"],
  ["admin.enableServer", "true"],
  // A container's port is reached from outside only where it is published.
  ["admin.serverAddress", "0.0.0.0"],
];
const DEFAULT_SERVER: ServerSetting = ["server.1", "localhost:2888:3888;2181"];
const DEFAULT_CLIENT_PORT = "2181";
/** Lists, and texts of files that end with a line. */
const IN_LINES: ReadonlySet<string> = new Set([
  "ZOO_CFG_EXTRA",
  "ZOO_SERVERS",
  "ZOOID_PEER_SECRET",
  "ZOOID_SUPER_PASSWORD",
]);
const SECRET_FILE = "peer.secret";
const JAAS_FILE = "jaas.conf";

/**
 * The plan for the variables of the official image, of Bitnami's and of Confluent's.
 *
 * @throws ConfigError with everything that is wrong with them
 */
export function planContainer(environment: ContainerEnvironment): ContainerPlan {
  return new Planner(environment).plan();
}

class Planner {
  readonly #variables: ReadonlyMap<string, string>;
  readonly #files: ReadonlyMap<string, string>;
  readonly #hostname: string;
  readonly #directories: Readonly<Record<"conf" | "data" | "log", string>>;
  /** With the variable that each came from, whether that says so itself or its default does. */
  readonly #settings = new Map<
    string,
    { readonly value: string; readonly from: string; readonly isDefault: boolean }
  >();
  readonly #secretFiles = new Map<string, string>();
  readonly #names: string[] = [];
  readonly #warnings: string[] = [];
  readonly #problems: string[] = [];

  constructor({ variables, files, hostname, hasBitnamiVolume, hasBitnamiFile }: ContainerEnvironment) {
    // An empty value is none: compose files write `${NAME:-}`.
    this.#variables = new Map([...variables].filter(([, value]) => value !== ""));
    this.#files = files;
    this.#hostname = hostname;
    const volume = hasBitnamiVolume === true;
    this.#directories = {
      conf: hasBitnamiFile === true ? BITNAMI_CONF : "/conf",
      data: volume ? `${BITNAMI_VOLUME}/data` : "/data",
      log: volume ? `${BITNAMI_VOLUME}/data` : "/datalog",
    };
  }

  plan(): ContainerPlan {
    const confDir = this.#directory(this.#directories.conf, "ZOO_CONF_DIR");
    const logDir = this.#directory("/logs", "ZOO_LOG_DIR");
    for (const [name, value] of this.#variables) this.#take(name, value);
    for (const group of Object.keys(GROUP_SETTINGS) as GroupName[]) this.#takeGroup(group);
    this.#takeAuth(confDir);
    this.#takePeerSecret(confDir);
    this.#takeSuperPassword();
    const myIdFrom = this.#one("ZOO_MY_ID", "ZOO_SERVER_ID", "ZOOKEEPER_SERVER_ID");
    const myId = this.#myId(myIdFrom);
    const listed = this.#servers();
    const servers = [...listed, ...this.#joiningServer(listed, myId)];
    const extra = this.#extra(servers);
    this.#checkPeers([...servers, ...extra]);
    const settings: ServerSetting[] = [
      ["dataDir", this.#directory(this.#directories.data, "ZOO_DATA_DIR", "ZOOKEEPER_DATA_DIR")],
      ["dataLogDir", this.#directory(this.#directories.log, "ZOO_DATA_LOG_DIR", "ZOOKEEPER_DATA_LOG_DIR")],
      ["zooid.audit.file", `${logDir}/zookeeper_audit.log`],
      ...DEFAULTS.filter(([key]) => !this.#settings.has(key)),
      ...[...this.#settings].map(([key, { value }]) => [key, value] as const),
      ...servers,
      ...extra,
    ];
    // The last value of a key wins: a file with two is refused.
    const lines = new Map(settings);
    const plan = {
      confDir,
      dataDir: lines.get("dataDir") ?? "",
      logDir,
      myId,
      myIdFrom,
      zooCfg: [...lines].map(([key, value]) => `${key}=${escaped(value)}\n`).join(""),
      secretFiles: this.#secretFiles,
      logLevel: this.#logLevel(),
      names: this.#names.sort(),
      warnings: this.#warnings,
    };
    if (this.#problems.length > 0) throw new ConfigError([...new Set(this.#problems)]);
    return plan;
  }

  #take(name: string, value: string): void {
    const variable = findVariable(name);
    if (variable === undefined) {
      if (isServiceLink(name, value)) return;
      const problem = misspeltGuard(name, value);
      if (problem !== undefined) this.#problems.push(problem);
      else if (isNearlyKnown(name)) this.#warnings.push(unknownVariable(name));
      return;
    }
    if (/[\n\r\0]/.test(value) && !IN_LINES.has(name))
      this.#problems.push(`${name} has a line break, which a setting cannot have`);
    if (variable.kind !== "own" && variable.kind !== "ignored") this.#names.push(name);
    switch (variable.kind) {
      case "setting":
        this.#set(variable.key, value, variable.form, name);
        return;
      case "ignored":
        if (!variable.harmless.includes(value.toLowerCase()))
          this.#warnings.push(`${name} has no effect: ${variable.reason}`);
        return;
      case "refused":
        if (!variable.harmless.includes(value.toLowerCase())) this.#problems.push(`${name} ${variable.reason}`);
        return;
      default:
    }
  }

  #set(key: string, value: string, form: Form, from: string, isDefault = false): void {
    const isPasswordInFile = /[sS]tore\.password$/.test(key) && this.#files.has(from);
    const [name, text] = isPasswordInFile ? [`${key}Path`, this.#files.get(from) ?? ""] : [key, written(value, form)];
    if (text === undefined) {
      this.#problems.push(`${from} is yes or no, true or false, found "${value}"`);
      return;
    }
    const earlier = this.#settings.get(name);
    if (earlier !== undefined && earlier.value !== text)
      this.#problems.push(`${earlier.from} and ${from} both set ${name}, to different values`);
    this.#settings.set(name, { value: text, from, isDefault });
  }

  #takeGroup(group: GroupName): void {
    const members = [...VARIABLES].filter(([, one]) => one.kind === "grouped" && one.group === group);
    const [switchName = ""] = [...VARIABLES].find(([, one]) => one.kind === "switch" && one.group === group) ?? [];
    if (!this.#isOn(switchName)) {
      for (const [name] of members)
        if (this.#variables.has(name)) this.#warnings.push(`${name} has no effect without ${switchName}=yes`);
      return;
    }
    for (const [key, value] of GROUP_SETTINGS[group]) this.#set(key, value, "text", switchName);
    for (const [name, one] of members) {
      if (one.kind !== "grouped") continue;
      const said = this.#variables.get(name);
      const value = said ?? one.fallback;
      if (value !== undefined) this.#set(one.key, value, one.form, name, said === undefined);
    }
  }

  /** Users of SASL go into a JAAS file, as ZooKeeper's servers read them. */
  #takeAuth(confDir: string): void {
    const users = this.#list("ZOO_SERVER_USERS");
    const passwords = this.#list("ZOO_SERVER_PASSWORDS");
    if (!this.#isOn("ZOO_ENABLE_AUTH")) {
      if (users.length > 0) this.#warnings.push("ZOO_SERVER_USERS has no effect without ZOO_ENABLE_AUTH=yes");
      if (this.#variables.get("ALLOW_ANONYMOUS_LOGIN")?.toLowerCase() === "no")
        this.#problems.push(
          "ALLOW_ANONYMOUS_LOGIN=no needs ZOO_ENABLE_AUTH=yes, ZOO_SERVER_USERS and ZOO_SERVER_PASSWORDS",
        );
      return;
    }
    if (users.length === 0 || users.length !== passwords.length) {
      this.#problems.push(
        `ZOO_ENABLE_AUTH=yes needs a password in ZOO_SERVER_PASSWORDS for each of ZOO_SERVER_USERS, found ${counted(users.length, "user")} and ${counted(passwords.length, "password")}`,
      );
      return;
    }
    this.#set("jaasLoginConfig", `${confDir}/${JAAS_FILE}`, "text", "ZOO_SERVER_USERS");
    if (!this.#isOn("ALLOW_ANONYMOUS_LOGIN"))
      this.#set("sessionRequireClientSASLAuth", "true", "text", "ZOO_ENABLE_AUTH");
    const lines = users.map((user, i) => `  ${quoted(`user_${user}`)}=${quoted(passwords[i] ?? "")}`);
    const module = "org.apache.zookeeper.server.auth.DigestLoginModule required";
    this.#secretFiles.set(JAAS_FILE, `Server {\n  ${module}\n${lines.join("\n")};\n};\n`);
  }

  #takePeerSecret(confDir: string): void {
    const secret = this.#variables.get("ZOOID_PEER_SECRET");
    if (secret === undefined) return;
    this.#set("zooid.peerSecretFile", `${confDir}/${SECRET_FILE}`, "text", "ZOOID_PEER_SECRET");
    this.#secretFiles.set(SECRET_FILE, `${secret.trimEnd()}\n`);
  }

  /** The superuser's password is nowhere in clear: zoo.cfg gets its hash. */
  #takeSuperPassword(): void {
    const name = "ZOOID_SUPER_PASSWORD";
    const password = this.#variables.get(name)?.trimEnd();
    if (password === undefined) return;
    const user = `super:${password}`;
    const digest = `super:${createHash("sha1").update(user).digest("base64")}`;
    this.#set("DigestAuthenticationProvider.superDigest", digest, "text", name);
    if (/DigestAuthenticationProvider\.digestAlg=(?!SHA1\b)/.test(this.#variables.get("ZOO_CFG_EXTRA") ?? ""))
      this.#problems.push(
        `${name} makes a SHA1 hash: with another DigestAuthenticationProvider.digestAlg, set DigestAuthenticationProvider.superDigest in ZOO_CFG_EXTRA`,
      );
  }

  /**
   * The line of a server that the list lacks, as a pod that was added to a StatefulSet later: it
   * joins as an observer, and changes nothing about the votes of the others.
   */
  #joiningServer(listed: readonly ServerSetting[], myId: string): readonly ServerSetting[] {
    const name = "ZOOID_JOINING_SERVER";
    const pattern = this.#variables.get(name);
    if (pattern === undefined) return [];
    this.#names.push(name);
    if (this.#one("ZOO_SERVERS", "ZOOKEEPER_SERVERS") === undefined)
      this.#problems.push(`${name} is for a server that joins others: list those in ZOO_SERVERS`);
    const parts = /^([^\s:;=]+|\[[0-9a-fA-F:.]+\]):(\d+:\d+)(?::observer)?(;\S+)?$/.exec(pattern);
    if (parts === null) {
      this.#problems.push(`${name} is {hostname}.DOMAIN:2888:3888;2181, found "${pattern}"`);
      return [];
    }
    const key = `server.${Number(myId)}`;
    if (listed.some(([each]) => each === key)) return [];
    const [, host = "", ports = "", client = ""] = parts;
    return [[key, `${host.replace("{hostname}", this.#hostname)}:${ports}:observer${client}`]];
  }

  #servers(): readonly ServerSetting[] {
    const name = this.#one("ZOO_SERVERS", "ZOOKEEPER_SERVERS");
    if (name === undefined) {
      // With a client port of its own the default line would name another.
      return this.#settings.has("clientPort") ? [] : [DEFAULT_SERVER];
    }
    this.#names.push(name);
    const servers = serverList(name, this.#variables.get(name) ?? "");
    if (typeof servers === "string") {
      this.#problems.push(`${name} ${servers}`);
      return [];
    }
    for (const [key] of contradictory(servers))
      this.#problems.push(`${key} is in ${name} twice, with different values: keep one of them`);
    const hasClientPort = servers.some(([, value]) => value.includes(";"));
    if (!hasClientPort && !this.#settings.has("clientPort")) this.#set("clientPort", DEFAULT_CLIENT_PORT, "text", name);
    return servers;
  }

  /** They win over other variables, except where both decide about votes, access or durability. */
  #extra(servers: readonly ServerSetting[]): readonly ServerSetting[] {
    const settings: ServerSetting[] = [];
    for (const entry of (this.#variables.get("ZOO_CFG_EXTRA") ?? "").split(/\s+/).filter((one) => one !== "")) {
      const equals = entry.indexOf("=");
      if (equals < 1) this.#problems.push(`ZOO_CFG_EXTRA lists key=value, found an entry without "=" or without a key`);
      else settings.push([entry.slice(0, equals), entry.slice(equals + 1)]);
    }
    if (settings.length > 0) this.#names.push("ZOO_CFG_EXTRA");
    for (const [key] of contradictory(settings))
      this.#problems.push(`${key} is in ZOO_CFG_EXTRA twice, with different values: keep one of them`);
    for (const [key, value] of settings.filter(([key]) => isGuardingKey(key))) {
      const other = this.#settings.get(key);
      if (other !== undefined && !other.isDefault && other.value !== value)
        this.#problems.push(
          `${key} is set by ${other.from} and by ZOO_CFG_EXTRA, to different values: keep one of them`,
        );
    }
    const own = new Map(settings);
    for (const [key, value] of new Map(servers))
      if ((own.get(key) ?? value) !== value)
        this.#problems.push(
          `${key} is in the list of servers and in ZOO_CFG_EXTRA, with different values: keep one of them`,
        );
    return settings;
  }

  /** Before the server refuses them, in words of the container. */
  #checkPeers(settings: readonly ServerSetting[]): void {
    const servers = settings.filter(([key]) => /^server\.\d+$/.test(key));
    const isProtected = [
      "zooid.peerSecretFile",
      "zooid.peerTls.key",
      "sslQuorum",
      "zooid.allowUnauthenticatedPeers",
    ].some((key) => this.#settings.has(key) || settings.some(([name]) => name === key));
    if (servers.length < 2 || isProtected || !servers.some(isBeyondLoopback)) return;
    this.#problems.push(
      "the servers of this ensemble have to prove who they are: set ZOOID_PEER_SECRET_FILE to a file with one secret for all of them " +
        "(zooid-server init-secret FILE writes one), or ZOO_TLS_QUORUM_ENABLE=yes with certificates, or " +
        "ZOOID_ALLOW_UNAUTHENTICATED_PEERS=true where the network is trusted",
    );
  }

  #myId(name: string | undefined): string {
    const value = name === undefined ? "1" : (this.#variables.get(name) ?? "");
    if (value === "from-hostname") {
      // Ordinals of a StatefulSet begin at 0, servers at 1.
      const ordinal = /-(\d+)$/.exec(this.#hostname)?.[1];
      if (ordinal !== undefined) return String(Number(ordinal) + 1);
      this.#problems.push(
        `${name}=from-hostname needs a host name that ends in a number, as zk-0, found "${this.#hostname}"`,
      );
    } else if (!/^\d+$/.test(value)) this.#problems.push(`${name} is a number, or from-hostname, found "${value}"`);
    return value;
  }

  #logLevel(): string | undefined {
    const name = this.#one("ZOO_LOG_LEVEL", "ZOOKEEPER_LOG4J_ROOT_LOGLEVEL");
    if (name === undefined) return undefined;
    const value = this.#variables.get(name) ?? "";
    const level = LOG_LEVELS.get(value.toUpperCase());
    if (level === undefined)
      this.#problems.push(`${name} is one of ${[...LOG_LEVELS.keys()].join(", ")}, found "${value}"`);
    return level;
  }

  /** The variable that is set, of several with one meaning. */
  #one(...names: readonly string[]): string | undefined {
    const [first, ...others] = names.filter((name) => this.#variables.has(name));
    for (const other of others) {
      if (this.#variables.get(other) !== this.#variables.get(first ?? ""))
        this.#problems.push(`${first} and ${other} have one meaning, and different values`);
    }
    return first;
  }

  #directory(fallback: string, ...names: readonly string[]): string {
    const name = this.#one(...names);
    // The file has no blanks around a value.
    const value = name === undefined ? fallback : (this.#variables.get(name) ?? "").trim();
    if (!value.startsWith("/")) this.#problems.push(`${name} is an absolute path, found "${value}"`);
    let end = value.length;
    while (end > 1 && value[end - 1] === "/") end--;
    return value.slice(0, end);
  }

  #list(name: string): readonly string[] {
    return (this.#variables.get(name) ?? "").split(/[,;\s]+/).filter((one) => one !== "");
  }

  #isOn(name: string): boolean {
    const value = this.#variables.get(name);
    if (value === undefined) return false;
    const flag = written(value, "flag");
    if (flag === undefined) this.#problems.push(`${name} is yes or no, true or false, found "${value}"`);
    return flag === "true";
  }
}

/** Settings that come with several values. */
function contradictory(settings: readonly ServerSetting[]): ReadonlyMap<string, string> {
  const last = new Map(settings);
  return new Map(settings.filter(([key, value]) => last.get(key) !== value));
}

function written(value: string, form: Form): string | undefined {
  if (form === "text") return value;
  const lower = value.toLowerCase();
  if (lower === "yes" || lower === "true") return "true";
  return lower === "no" || lower === "false" ? "false" : undefined;
}

/** As Java's properties are written: a backslash would change what follows it. */
function escaped(value: string): string {
  return value.replace(/\\/g, "\\\\");
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
