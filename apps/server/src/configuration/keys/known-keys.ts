import { GROUP_KEY, SERVER_KEY, WEIGHT_KEY } from "../ensemble-draft.ts";
import { APACHE_KEYS } from "./apache-keys.ts";
import { AUTH_FAMILIES, AUTH_KEYS } from "./auth-keys.ts";
import { CLIENT_FAMILIES, CLIENT_KEYS } from "./client-keys.ts";
import { CONSOLE_KEYS } from "./console-keys.ts";
import { DYNAMIC_FILE, ENSEMBLE_FAMILIES, ENSEMBLE_KEYS } from "./ensemble-keys.ts";
import { FOLLOW_KEYS } from "./follow-keys.ts";
import type { KeyRule } from "./key-rule.ts";
import { OPERATOR_FAMILIES, OPERATOR_KEYS } from "./operator-keys.ts";
import { STORAGE_FAMILIES, STORAGE_KEYS } from "./storage-keys.ts";
import { TLS_FAMILIES, TLS_KEYS } from "./tls-keys.ts";

export const SYSTEM_PREFIX: RegExp = /^zookeeper\./;

/** The setting that says what an unknown key is. */
export const UNKNOWN_KEYS = "zooid.unknownKeys";

/** The rule of every key that has one of its own, without the prefix `zookeeper.`. */
export const KEY_RULES: ReadonlyMap<string, KeyRule> = new Map([
  ...CLIENT_KEYS,
  ...STORAGE_KEYS,
  ...AUTH_KEYS,
  ...TLS_KEYS,
  ...ENSEMBLE_KEYS,
  ...OPERATOR_KEYS,
  ...CONSOLE_KEYS,
  ...FOLLOW_KEYS,
  ...APACHE_KEYS,
]);

/** Every key that has a rule of its own, and the one that decides whether there is an ensemble. */
export const KNOWN_KEYS: readonly string[] = [...KEY_RULES.keys(), "standaloneEnabled"];

/** Keys that come in families. */
export const KEY_FAMILIES: readonly (readonly [prefix: string, rule: KeyRule])[] = [
  ...CLIENT_FAMILIES,
  ...STORAGE_FAMILIES,
  ...AUTH_FAMILIES,
  ...TLS_FAMILIES,
  ...ENSEMBLE_FAMILIES,
  ...OPERATOR_FAMILIES,
];

/** Estates write system properties with or without their prefix. */
export function bareKey(key: string): string {
  return key.replace(SYSTEM_PREFIX, "");
}

export function ruleOf(key: string): KeyRule | undefined {
  return KEY_RULES.get(bareKey(key));
}

export function familyOf(key: string): KeyRule | undefined {
  return KEY_FAMILIES.find(([prefix]) => bareKey(key).startsWith(prefix))?.[1];
}

/** Whether it is a setting, rather than a word that stands in front of an equals sign. */
export function isKnownKey(key: string): boolean {
  const isMember = [SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((pattern) => pattern.test(key));
  return isMember || DRAFTED.has(bareKey(key)) || ruleOf(key) !== undefined;
}

/** Keys that the draft of an ensemble takes, which have no rule. */
const DRAFTED: ReadonlySet<string> = new Set(["standaloneEnabled", "db.autocreate", DYNAMIC_FILE]);

const SECRET =
  /passw|passphrase|secret|superDigest|superUser|credential|token|private|^zooid\.console\.(?:viewers|editors|operators)$/i;
/** Names of files, and a mode. */
const NO_SECRET = /(?:passwordPath|passwordFile|peerSecretFile|peerSecretMode)$/;

/** Whether the value of a key may be logged. The value of an unknown key may be a secret. */
export function mayShowValue(key: string): boolean {
  const bare = bareKey(key);
  if (SECRET.test(bare) && !NO_SECRET.test(bare)) return false;
  return isKnownKey(bare) || bare.startsWith("authProvider.");
}

/**
 * Where clients connect, and what they may ask for: the other keys of clients are limits and times.
 */
const GUARDING_CLIENT_KEYS = ["clientPort", "clientPortAddress", "4lw.commands.whitelist", "readonlymode.enabled"];
const GUARDING_STORAGE_KEYS = ["dataDir", "dataLogDir", "db.autocreate"];
/** Times, limits and names, which let no one in. */
const HARMLESS = new Set([
  "cnxTimeout",
  "electionPortBindRetry",
  "ssl.handshakeDetectionTimeoutMillis",
  "netty.server.outstandingHandshake.limit",
  "sslQuorumReloadCertFiles",
  "client.certReload",
  "admin.commandURL",
  "admin.idleTimeout",
  "admin.rateLimiterIntervalInMS",
  "metricsProvider.exportJvmInfo",
]);

/**
 * Keys that decide which servers vote, who may enter, where the server listens and which data are
 * durable.
 */
export const GUARDING_KEYS: readonly string[] = [
  ...[...AUTH_KEYS, ...TLS_KEYS, ...ENSEMBLE_KEYS, ...CONSOLE_KEYS, ...OPERATOR_KEYS]
    .filter(([key, { kind }]) => kind !== "ignored" && !HARMLESS.has(key))
    .map(([key]) => key),
  ...GUARDING_CLIENT_KEYS,
  ...GUARDING_STORAGE_KEYS,
  "standaloneEnabled",
];

/** The beginnings of such keys, each with a dot at its end. */
export const GUARDING_FAMILIES: readonly string[] = [...AUTH_FAMILIES, ...TLS_FAMILIES, ...ENSEMBLE_FAMILIES]
  .filter(([, { kind }]) => kind !== "ignored")
  .map(([prefix]) => (prefix.endsWith(".") ? prefix : `${prefix}.`));

/** Whether a key, without the prefix `zookeeper.`, decides about any of these. */
export function isGuardingKey(key: string): boolean {
  const isMember = [SERVER_KEY, GROUP_KEY, WEIGHT_KEY].some((pattern) => pattern.test(key));
  return isMember || GUARDING_KEYS.includes(key) || GUARDING_FAMILIES.some((family) => key.startsWith(family));
}
