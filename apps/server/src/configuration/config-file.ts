import { ConfigError, type ServerOptions } from "@zooid/embedded-server";
import { parseZxid, type Zxid } from "@zooid/model";
import { versionInName } from "./dynamic-file.ts";
import { EnsembleDraft, GROUP_KEY, SERVER_KEY, WEIGHT_KEY } from "./ensemble-draft.ts";
import type { EnsembleSettings } from "./ensemble-settings.ts";
import { DYNAMIC_FILE } from "./keys/ensemble-keys.ts";
import type { AuditSettings, ConsoleSettings, KeyRule, Mutable, Options, Setting } from "./keys/key-rule.ts";
import {
  bareKey,
  familyOf,
  GUARDING_FAMILIES,
  GUARDING_KEYS,
  isKnownKey,
  KEY_RULES,
  mayShowValue,
  ruleOf,
  SYSTEM_PREFIX,
  UNKNOWN_KEYS,
} from "./keys/known-keys.ts";
import { misreadLines } from "./misread-lines.ts";
import { type Misspelling, MisspeltKeys } from "./misspelt-keys.ts";
import { parseProperties } from "./properties.ts";

/** The settings of a zoo.cfg, and those of them that have no effect. */
export interface ConfigFile {
  readonly options: ServerOptions;
  /** The lines about other servers, see `completeEnsemble`. */
  readonly ensemble: EnsembleSettings;
  /** The version of the servers that a dynamic file lists, if it has one. */
  readonly membersVersion?: Zxid;
  /** That file. */
  readonly membersFile?: string;
  readonly audit: AuditSettings;
  readonly console: ConsoleSettings;
  /** The value of each known key, without the prefix `zookeeper.`. */
  readonly values: ReadonlyMap<string, string>;
  /** Where each of these settings stands, for messages. */
  readonly origins: ReadonlyMap<string, string>;
  /** One sentence each, for the log. */
  readonly warnings: readonly string[];
}

/** The remedy where the file that lists the servers is lost, or empty. */
export const MEMBERS_REMEDY: string = `write into it what zooid-cli -server HOST:PORT config prints of another server of the ensemble, or write the lines server.N into zoo.cfg in place of ${DYNAMIC_FILE}`;

/**
 * Reads the text of a zoo.cfg; throws one ConfigError that lists everything that is wrong with it.
 *
 * @param readFile gives the text of the file that lists the servers, where this one names it
 * @param unknown what the command line says of unknown keys
 */
export function parseConfigFile(
  text: string,
  readFile: (file: string) => string,
  unknown?: UnknownKeys,
): ConfigFile & { readonly unknown: UnknownKeys | undefined } {
  let membersVersion: Zxid | undefined;
  let membersFile: string | undefined;
  const settings = parseProperties(text).flatMap(({ key, value, line }): readonly Setting[] => {
    if (key !== DYNAMIC_FILE) return [{ key, value, where: `line ${line}`, isOfFile: true }];
    if (membersFile !== undefined && membersFile !== value) {
      throw new ConfigError([`${key} (line ${line}) is "${value}", and "${membersFile}" before: keep one of them`]);
    }
    const listed = named(`${key} (line ${line})`, () => readFile(value));
    membersVersion = versionOf(value, listed);
    membersFile = value;
    return listedServers(value, listed, `line ${line}`);
  });
  const slips = [...misreadLines(text, (line) => `line ${line}`), ...contradictionsIn(settings)];
  if (slips.length > 0) throw new ConfigError(slips);
  const said = unknown ?? unknownKeysOf(settings);
  const config = {
    ...applySettings(settings, said),
    unknown: said,
    ...(membersVersion === undefined ? {} : { membersVersion }),
    ...(membersFile === undefined ? {} : { membersFile }),
  };
  if (config.options.dataDir === undefined)
    throw new ConfigError(["dataDir is missing: it names the directory for the server's data"]);
  return config;
}

/** The problems of a file that a setting names begin with the setting. */
function named<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `${setting}: ${problem}`));
  }
}

/**
 * Lines that give a key two values: Apache's server takes the last one, which need not be the one
 * that was meant.
 */
function contradictionsIn(settings: readonly Setting[]): readonly string[] {
  const first = new Map<string, Setting>();
  const problems: string[] = [];
  for (const setting of settings) {
    const bare = bareKey(setting.key);
    const isNumbered = [SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((pattern) => pattern.test(bare));
    const key = isNumbered ? bare.replace(/\.0+(?=\d)/, ".") : bare;
    const before = first.get(key);
    if (before === undefined) first.set(key, setting);
    else if (before.value !== setting.value) problems.push(contradiction(setting, before));
  }
  return problems;
}

/** Values that are secrets, or show one, do not go to the log. */
function contradiction({ key, value, where }: Setting, before: Setting): string {
  const other = before.key === key ? "" : `${before.key} is `;
  if (mayShowValue(key)) {
    return `${key} (${where}) is "${value}", and ${other}"${before.value}" on ${before.where}: keep one of them`;
  }
  return `${key} (${where}) and ${before.key} (${before.where}) have different values: keep one of them`;
}

/** As its name ends, or as its line `version` says. */
function versionOf(file: string, text: string): Zxid | undefined {
  const said = parseProperties(text).findLast(({ key }) => key === "version")?.value;
  const version = versionInName(file) ?? said;
  try {
    return version === undefined ? undefined : parseZxid(version);
  } catch (error) {
    throw new ConfigError([`${file}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

/**
 * A file that ZooKeeper itself may have written: servers, groups, weights, and a version, which
 * counts its changes.
 */
function listedServers(file: string, text: string, where: string): readonly Setting[] {
  const settings = parseProperties(text)
    .filter(({ key }) => key !== "version")
    .map(({ key, value, line }) => ({ key, value, where: `line ${line} of ${file}`, isOfFile: true }));
  const problems = [
    ...misreadLines(text, (line) => `line ${line} of ${file}`),
    ...settings
      .filter(({ key }) => ![SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((pattern) => pattern.test(key)))
      .map((setting) => `${setting.key} (${setting.where}) is none of server.N, group.N, weight.N and version`),
  ];
  if (settings.length === 0) problems.push(`${DYNAMIC_FILE} (${where}): ${file} lists no server: ${MEMBERS_REMEDY}`);
  if (problems.length > 0) throw new ConfigError(problems);
  return settings;
}

/**
 * The treatment of keys without a rule: existing files are full of them, so that they are reported
 * by default.
 */
export type UnknownKeys = "warn" | "refuse";

/**
 * The rule that settings of any source have for unknown keys; undefined where they have none, or no
 * valid one.
 */
export function unknownKeysOf(settings: readonly Setting[]): UnknownKeys | undefined {
  const said = settings.findLast(({ key }) => bareKey(key) === UNKNOWN_KEYS)?.value;
  return said === "warn" || said === "refuse" ? said : undefined;
}

/** Later settings of a key win over earlier ones. */
export function applySettings(settings: readonly Setting[], unknown: UnknownKeys = "warn"): ConfigFile {
  const options: Options = {};
  const audit: Mutable<AuditSettings> = {};
  const console: Mutable<ConsoleSettings> = {};
  const warnings: string[] = [];
  const problems: string[] = [];
  const draft = new EnsembleDraft();
  const last = new Map<string, Setting>();
  for (const setting of settings) last.set(setting.key, setting);
  for (const { key, value, where, isOfFile } of last.values()) {
    // In a file every key that begins like a member's is one, also for Apache's server.
    const own = isOfFile === true && MEMBER_HEAD.test(key) ? undefined : ruleOf(key);
    const family = own === undefined ? familyOf(key) : undefined;
    const rule: KeyRule | undefined = own ?? family;
    if (isOfFile === true && SYSTEM_PREFIX.test(key) && rule !== undefined && rule.kind !== "ignored") {
      const bare = bareKey(key);
      const text = `${key} (${where}): Apache ZooKeeper ignores the prefix "zookeeper." in this file, where ${bare} is the setting`;
      if (opensAccess(bare, value)) {
        problems.push(`${text}; it opens access, so write ${bare}, or remove the line`);
        continue;
      }
      warnings.push(`${text}; it is used here`);
    }
    const note = (problem: string | undefined): boolean => {
      if (problem !== undefined) problems.push(`${key} (${where}) ${problem}`);
      return problem !== undefined;
    };
    const found = draft.take(key, value, where);
    if (found === "taken") continue;
    if (found !== "not mine") {
      problems.push(`${key} (${where}) ${found}`);
      continue;
    }
    const misspelling = rule === undefined ? MISSPELT.find(key, value) : misspeltInFamily(key, family);
    if (misspelling.danger !== undefined || rule === undefined) {
      const { nearest, danger } = misspelling;
      const advice = nearest === undefined ? "" : `; the nearest known one is ${nearest}`;
      if (danger !== undefined) problems.push(`${key} (${where}) ${danger}${advice}`);
      else if (unknown === "refuse") problems.push(`${key} (${where}) is not a known setting${advice}`);
      else warnings.push(`${key} (${where}) is not a known setting and has no effect${advice}`);
    } else if (rule.kind === "honoured") {
      const remark = rule.remark?.(value);
      if (!note(rule.set(options, value, bareKey(key))) && remark !== undefined)
        warnings.push(`${key} (${where}) ${remark}`);
    } else if (rule.kind === "audit") note(rule.set(audit, value));
    else if (rule.kind === "console") note(rule.set(console, value));
    else if (rule.kind === "ensemble") draft.set(`${key} (${where})`, rule.set, value, problems);
    else if (rule.kind === "refused") {
      if (!rule.harmless.includes(value.toLowerCase())) problems.push(`${key} (${where}) ${rule.reason}`);
    } else if (!rule.harmless.includes(value.toLowerCase())) {
      warnings.push(`${key} (${where}) has no effect: ${rule.reason}`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems);
  const values = new Map([...last.values()].map(({ key, value }) => [bareKey(key), value]));
  const origins = new Map(
    [...last.values()].filter(({ key }) => isKnownKey(key)).map(({ key, where }) => [bareKey(key), where]),
  );
  return { options, ensemble: draft.settings(), audit, console, values, origins, warnings };
}

const MEMBER_HEAD = /^(?:server|group|weight)\./;

/** Compares keys that have no rule with those that have one. */
export const MISSPELT: MisspeltKeys = new MisspeltKeys({
  known: [...KEY_RULES.keys()],
  guarding: GUARDING_KEYS,
  families: GUARDING_FAMILIES,
});

/**
 * A key that only a family of ignored keys has may be a misspelt one of those that are not ignored.
 */
function misspeltInFamily(key: string, family: KeyRule | undefined): Misspelling {
  return family?.kind === "ignored" ? MISSPELT.findInFamily(key) : {};
}

/** Settings that let clients or operators do more than without them. */
const OPENING = new Set(
  [
    "skipACL",
    "DigestAuthenticationProvider.superDigest",
    "SASLAuthenticationProvider.superPassword",
    "X509AuthenticationProvider.superUser",
    "letAnySaslUserDoX",
    "allowSaslFailedClients",
    "kerberos.removeHostFromPrincipal",
    "kerberos.removeRealmFromPrincipal",
    "security.auth_to_local",
    "zooid.allowUnauthenticatedPeers",
    "reconfigEnabled",
    "admin.snapshot.enabled",
    "admin.restore.enabled",
    "zooid.console.viewers",
    "zooid.console.editors",
    "zooid.console.operators",
    "4lw.commands.whitelist",
  ].map((key) => key.toLowerCase()),
);

/** Settings that keep clients, operators or servers out, by the values with which they do. */
const CLOSING: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "ssl.clientAuth": "need",
    "ssl.quorum.clientAuth": "need",
    "ssl.hostnameVerification": "true",
    "ssl.clientHostnameVerification": "true",
    "ssl.quorum.hostnameVerification": "true",
    "ssl.quorum.clientHostnameVerification": "true",
    "ssl.crl": "true",
    "ssl.ocsp": "true",
    "ssl.quorum.crl": "true",
    "ssl.quorum.ocsp": "true",
    sessionRequireClientSASLAuth: "true",
    "enforce.auth.enabled": "true",
    "admin.needClientAuth": "true",
    "admin.forceHttps": "true",
    sslQuorum: "true",
    "zooid.peerSecretMode": "require",
    "zooid.unlisted": "refuse",
    "zooid.clients": "closed",
    "client.portUnification": "false",
    portUnification: "false",
    "admin.portUnification": "false",
  }).map(([key, value]) => [key.toLowerCase(), value]),
);

/** Settings each of whose values may let someone in. */
const DECIDING =
  /^(?:authProvider\.|ssl\.authProvider$|enforce\.auth\.schemes$|ensembleAuthName$|admin\.serverAddress$|clientPortAddress$|secureClientPortAddress$|zooid\.trustedProxies)/i;

function opensAccess(bare: string, value: string): boolean {
  const lower = bare.toLowerCase();
  if (lower.startsWith("superuser") || DECIDING.test(bare)) return true;
  const closed = CLOSING.get(lower);
  if (closed !== undefined) return value.toLowerCase() !== closed;
  return OPENING.has(lower) && !["", "no", "false"].includes(value.toLowerCase());
}
