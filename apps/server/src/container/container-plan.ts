import { counted } from "@zooid/model";
import { ConfigError } from "@zooid/server";
import { distance } from "fastest-levenshtein";
import { KNOWN_KEYS } from "../known-keys.ts";
import { isBeyondLoopback, type ServerSetting, serverList } from "./server-list.ts";
import { type Form, GROUP_SETTINGS, type GroupName, isServiceLink, VARIABLES, type Variable } from "./variables.ts";

/** A container's environment, with secrets read from the files that it names. */
export interface ContainerEnvironment {
  readonly variables: ReadonlyMap<string, string>;
  /** Of variables whose value came from a file, that file. */
  readonly files: ReadonlyMap<string, string>;
  readonly hostname: string;
}

/** What a container's start writes, and how the server is started. */
export interface ContainerPlan {
  readonly confDir: string;
  readonly dataDir: string;
  readonly logDir: string;
  /** Written to `myid` in the data directory if there is none. */
  readonly myId: string;
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
  ...([
    ["TRACE", "debug"],
    ["DEBUG", "debug"],
    ["INFO", "info"],
    ["WARN", "warn"],
  ] as const),
  ...([
    ["ERROR", "error"],
    ["FATAL", "error"],
    ["OFF", "error"],
  ] as const),
]);
/** What the official image writes in any case. */
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
const SECRET_FILE = "peer.secret";
const JAAS_FILE = "jaas.conf";
const CONFLUENT = "ZOOKEEPER_";
/** What share of a name may differ for a known one to be what was meant. */
const UNLIKENESS_MAX = 0.4;

/**
 * What the variables of the official image, of Bitnami's and of Confluent's come to.
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
  /** With the variable that each came from. */
  readonly #settings = new Map<string, { readonly value: string; readonly from: string }>();
  readonly #secretFiles = new Map<string, string>();
  readonly #names: string[] = [];
  readonly #warnings: string[] = [];
  readonly #problems: string[] = [];

  constructor({ variables, files, hostname }: ContainerEnvironment) {
    // An empty value is none: compose files write `${NAME:-}`.
    this.#variables = new Map([...variables].filter(([, value]) => value !== ""));
    this.#files = files;
    this.#hostname = hostname;
  }

  plan(): ContainerPlan {
    const confDir = this.#directory("ZOO_CONF_DIR", "/conf");
    const dataDir = this.#directory("ZOO_DATA_DIR", "/data");
    const dataLogDir = this.#directory("ZOO_DATA_LOG_DIR", "/datalog");
    const logDir = this.#directory("ZOO_LOG_DIR", "/logs");
    for (const [name, value] of this.#variables) this.#take(name, value);
    for (const group of Object.keys(GROUP_SETTINGS) as GroupName[]) this.#takeGroup(group);
    this.#takeAuth(confDir);
    this.#takePeerSecret(confDir);
    const servers = this.#servers();
    const extra = this.#extra();
    this.#checkPeers([...servers, ...extra]);
    const settings: ServerSetting[] = [
      ["dataDir", dataDir],
      ["dataLogDir", dataLogDir],
      ["zooid.audit.file", `${logDir}/zookeeper_audit.log`],
      ...DEFAULTS.filter(([key]) => !this.#settings.has(key)),
      ...[...this.#settings].map(([key, { value }]) => [key, value] as const),
      ...servers,
      ...extra,
    ];
    // The last value of a key wins: a file with two is refused.
    const lines = [...new Map(settings)];
    const plan = {
      ...{ confDir, dataDir, logDir, myId: this.#myId(), logLevel: this.#logLevel() },
      ...{ zooCfg: lines.map(([key, value]) => `${key}=${escaped(value)}\n`).join("") },
      ...{ secretFiles: this.#secretFiles, names: this.#names.sort(), warnings: this.#warnings },
    };
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
    return plan;
  }

  #take(name: string, value: string): void {
    const variable = findVariable(name);
    if (variable === undefined) {
      if (isServiceLink(name, value)) return;
      if (OURS.test(name)) this.#warnings.push(unknownVariable(name));
      else if (isNearlyKnown(name)) this.#warnings.push(unknownVariable(name));
      return;
    }
    if (/[\n\r\0]/.test(value) && name !== "ZOO_CFG_EXTRA" && name !== "ZOO_SERVERS" && name !== "ZOOID_PEER_SECRET")
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
      case "switch":
      case "grouped":
      case "own":
        return;
    }
  }

  #set(key: string, value: string, form: Form, from: string): void {
    const isPasswordInFile = /[sS]tore\.password$/.test(key) && this.#files.has(from);
    const [name, text] = isPasswordInFile ? [`${key}Path`, this.#files.get(from) ?? ""] : [key, written(value, form)];
    if (text === undefined) {
      this.#problems.push(`${from} is yes or no, true or false, found "${value}"`);
      return;
    }
    const earlier = this.#settings.get(name);
    if (earlier !== undefined && earlier.value !== text)
      this.#problems.push(`${earlier.from} and ${from} both set ${name}, to different values`);
    this.#settings.set(name, { value: text, from });
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
      const value = this.#variables.get(name) ?? one.fallback;
      if (value !== undefined) this.#set(one.key, value, one.form, name);
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
    const hasClientPort = servers.some(([, value]) => value.includes(";"));
    if (!hasClientPort && !this.#settings.has("clientPort")) this.#set("clientPort", DEFAULT_CLIENT_PORT, "text", name);
    return servers;
  }

  #extra(): readonly ServerSetting[] {
    const settings: ServerSetting[] = [];
    for (const entry of (this.#variables.get("ZOO_CFG_EXTRA") ?? "").split(/\s+/).filter((one) => one !== "")) {
      const equals = entry.indexOf("=");
      if (equals < 1) this.#problems.push(`ZOO_CFG_EXTRA lists key=value, found an entry without "=" or without a key`);
      else settings.push([entry.slice(0, equals), entry.slice(equals + 1)]);
    }
    if (settings.length > 0) this.#names.push("ZOO_CFG_EXTRA");
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

  #myId(): string {
    const name = this.#one("ZOO_MY_ID", "ZOO_SERVER_ID", "ZOOKEEPER_SERVER_ID");
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

  #directory(name: string, fallback: string): string {
    const value = this.#variables.get(name) ?? fallback;
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

/** Names that are meant for this container, known or not. */
const OURS = /^(?:ZOO|ZOOID|ZOOKEEPER)_/;

/** Of `ZOOKEEPER_TICK_TIME`, tickTime: Confluent's names are those of settings in capitals. */
const CONFLUENT_KEYS: ReadonlyMap<string, string> = new Map(KNOWN_KEYS.map((key) => [bare(key), key]));

/** @returns undefined for a name that means nothing here */
export function findVariable(name: string): Variable | undefined {
  const known = VARIABLES.get(name);
  if (known !== undefined || !name.startsWith(CONFLUENT)) return known;
  const key = CONFLUENT_KEYS.get(bare(name.slice(CONFLUENT.length)));
  return key === undefined ? undefined : { kind: "setting", key, form: "text" };
}

function bare(name: string): string {
  return name.replace(/[._-]/g, "").toUpperCase();
}

/** Variables that other parts of the start read. */
const JVM_VARIABLES = ["SERVER_JVMFLAGS", "JVMFLAGS"];
/** Letters in which the name of a variable may differ that was meant for this image; of short ones more are by chance. */
const STEPS_MAX = 2;
const NAME_CHARS_MIN = 8;

function knownNames(): readonly string[] {
  return [...VARIABLES.keys(), ...JVM_VARIABLES, ...KNOWN_KEYS.map(confluentName)];
}

/** Whether a name without a beginning of ours is one of ours but for two letters, or for case. */
function isNearlyKnown(name: string): boolean {
  if (name.length < NAME_CHARS_MIN || JVM_VARIABLES.includes(name)) return false;
  return knownNames().some((known) => distance(name.toUpperCase(), known) <= STEPS_MAX);
}

function unknownVariable(name: string): string {
  const known = knownNames();
  const steps = (one: string): number => distance(name.toUpperCase(), one);
  const nearest = known.reduce((best, one) => (steps(one) < steps(best) ? one : best));
  const advice = steps(nearest) <= name.length * UNLIKENESS_MAX ? `; the nearest known one is ${nearest}` : "";
  return `${name} is not a variable of this image and has no effect${advice}`;
}

/** As Confluent writes it. */
function confluentName(key: string): string {
  return (
    CONFLUENT +
    key
      .replace(/(?<=[a-z])(?=[A-Z])/g, "_")
      .replace(/[.-]/g, "_")
      .toUpperCase()
  );
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
