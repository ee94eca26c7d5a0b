import { settingOf } from "../configuration/settings.ts";
import type { ApacheServerFacts } from "./apache-facts.ts";

/** Where a setting of Apache's server stands. */
export interface ApacheSetting {
  /** The key in zoo.cfg; undefined for one that is read from Java's properties only. */
  readonly key: string | undefined;
  /** The Java system property; undefined for one that is read from zoo.cfg only. */
  readonly property: string | undefined;
}

/**
 * Keys of zoo.cfg that the server itself does not know become properties with this prefix, so that
 * some settings stand in either place.
 */
const PREFIX = "zookeeper.";

function inFile(key: string): ApacheSetting {
  return { key, property: undefined };
}
function inEither(key: string): ApacheSetting {
  return { key, property: `${PREFIX}${key}` };
}

type SettingName =
  | "localSessions"
  | "extendedTypes"
  | "emulatedTtl"
  | "maxBuffer"
  | "superDigest"
  | "skipAcl"
  | "digests"
  | "reconfig"
  | "standalone"
  | "quorumTls"
  | "quorumSasl"
  | "quorumSaslRequired"
  | "quorumKerberos"
  | "observerMasters";

/** The settings that decide about a move. */
export const APACHE_SETTINGS: Readonly<Record<SettingName, ApacheSetting>> = {
  localSessions: inFile("localSessionsEnabled"),
  extendedTypes: inEither("extendedTypesEnabled"),
  emulatedTtl: inEither("emulate353TTLNodes"),
  maxBuffer: { key: undefined, property: "jute.maxbuffer" },
  superDigest: inEither("DigestAuthenticationProvider.superDigest"),
  skipAcl: inEither("skipACL"),
  digests: inEither("digest.enabled"),
  reconfig: inFile("reconfigEnabled"),
  standalone: inFile("standaloneEnabled"),
  quorumTls: inFile("sslQuorum"),
  quorumSasl: inFile("quorum.auth.enableSasl"),
  quorumSaslRequired: inFile("quorum.auth.serverRequireSasl"),
  quorumKerberos: inFile("quorum.auth.kerberos.servicePrincipal"),
  observerMasters: inFile("observerMasterPort"),
};

/** Where an operator finds a setting that cannot be seen from outside. */
export function nameOf({ key, property }: ApacheSetting): string {
  return key ?? `-D${property}`;
}

/** Whether a setting of this server could be seen, set or not. */
export function isSeen({ settings, properties }: ApacheServerFacts, { key, property }: ApacheSetting): boolean {
  return (key !== undefined && settings !== undefined) || (property !== undefined && properties !== undefined);
}

/** The value of a setting; undefined where it is not set, and where it cannot be seen. */
export function settingValue(
  { settings, properties }: ApacheServerFacts,
  { key, property }: ApacheSetting,
): string | undefined {
  const ofProperty = property === undefined ? undefined : properties?.get(property);
  if (ofProperty !== undefined || key === undefined || settings === undefined) return ofProperty;
  return (settingOf(settings, key) ?? settingOf(settings, `${PREFIX}${key}`))?.value;
}

/** As Java reads flags: everything else is false. */
export function isOn(server: ApacheServerFacts, setting: ApacheSetting): boolean {
  return settingValue(server, setting)?.trim().toLowerCase() === "true";
}

/** `zk1:2181, zk2:2181`. */
export function namesOf(servers: readonly ApacheServerFacts[]): string {
  return servers.map(({ address }) => address).join(", ");
}
