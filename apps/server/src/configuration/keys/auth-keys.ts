import { anyValue, countValue, listValue, pathValue, type Read, textValue, trueOrFalseValue } from "../key-values.ts";
import { stepsBetween } from "../misspelt-keys.ts";
import { honoured, ignored, type KeyEntry, type KeyRule, option, part } from "./key-rule.ts";

/** Authentication of clients, and whether access lists are checked. */
export const AUTH_KEYS: readonly KeyEntry[] = [
  ["skipACL", skipAcl()],
  ["enableEagerACLCheck", ignored("a write is judged once, where it takes its place in the order")],
  ["DigestAuthenticationProvider.superDigest", option("superDigest", textValue)],
  ["DigestAuthenticationProvider.digestAlg", option("digestAlgorithm", textValue)],
  ["DigestAuthenticationProvider.enabled", option("digestEnabled", trueOrFalseValue)],
  ["jaasLoginConfig", part("auth", "jaasFile", pathValue)],
  ["jaasLoginRenew", ignored("a server's key comes from its keytab, which needs no ticket of its own")],
  ["security.auth_to_local", part("auth", "authToLocal", textValue)],
  ["kerberos.removeHostFromPrincipal", part("auth", "removeHostFromPrincipal", trueOrFalseValue)],
  ["kerberos.removeRealmFromPrincipal", part("auth", "removeRealmFromPrincipal", trueOrFalseValue)],
  ["sasl.serverconfig", part("auth", "jaasSection", textValue)],
  ["SASLAuthenticationProvider.superPassword", part("auth", "saslSuperPassword", textValue)],
  ["letAnySaslUserDoX", part("auth", "anySaslUser", textValue)],
  ["allowSaslFailedClients", part("auth", "allowSaslFailedClients", trueOrFalseValue)],
  ["sessionRequireClientSASLAuth", part("auth", "requireSasl", trueOrFalseValue)],
  [
    "requireClientAuthScheme",
    ignored("ZooKeeper does not read it either; sessionRequireClientSASLAuth=true asks for SASL"),
  ],
  ["sasl.client", ignored("it is a client's setting")],
  ["enforce.auth.enabled", part("auth", "enforceAuth", trueOrFalseValue)],
  ["enforce.auth.schemes", part("auth", "enforcedSchemes", listValue)],
  ["ensembleAuthName", part("auth", "ensembleNames", listValue)],
  ["zooid.authFailureDelayMaxMs", part("auth", "failureDelayMsMax", countValue)],
  ["X509AuthenticationProvider.superUser", part("auth", "x509SuperUser", textValue)],
  ["IPAuthenticationProvider.usexforwardedfor", ignored("the server believes no proxy about an address", "false")],
  ["fips-mode", ignored("it chooses among Java's security providers")],
];

/** As {@link AUTH_KEYS}, of keys that begin so. */
export const AUTH_FAMILIES: readonly KeyEntry[] = [
  ["authProvider.", authEntry("authProvider.", "providers", providerValue)],
  ["superUser", authEntry("superUser", "saslSuperUsers")],
  ["kerberos.", ignored("it is a client's setting, or one of Java's")],
];

/**
 * Files that say `true` are there, and their servers check access lists: Apache's takes no other
 * yes than this one.
 */
function skipAcl(): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      options.skipAcl = value === "yes";
      return undefined;
    },
    remark: (value) => {
      if (value === "yes" || ["no", "false", ""].includes(value.toLowerCase())) return undefined;
      return `is "${value}", which is a no, as for Apache ZooKeeper: access lists are checked; yes alone switches them off`;
    },
  };
}

/** One of a family: `authProvider.1`, `superUser.ops`. */
function authEntry(prefix: string, name: "providers" | "saslSuperUsers", reader = anyValue): KeyRule {
  return honoured(reader, (options, value, key) => {
    const entries = Object.entries(options.auth?.[name] ?? {});
    const known = Object.fromEntries([...entries, [key.slice(prefix.length), value]]);
    options.auth = { ...options.auth, [name]: known };
  });
}

const PROVIDERS = ["SASL", "X509", "Ensemble", "Digest", "IP", "Key"].map(
  (name) => `org.apache.zookeeper.server.auth.${name}AuthenticationProvider`,
);

/**
 * Classes of others cannot be loaded, and are reported; one that is nearly ZooKeeper's was meant to
 * be that one.
 */
function providerValue(value: string): Read<string> {
  if (PROVIDERS.includes(value)) return { value };
  const nearest = PROVIDERS.find((known) => Number.isFinite(stepsBetween(value, known)));
  if (nearest === undefined) return { value };
  return { problem: `names no class of ZooKeeper, found "${value}"; the nearest is ${nearest}` };
}
