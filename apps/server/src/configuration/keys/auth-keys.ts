import type { ServerOptions } from "@zooid/embedded-server";
import { pathValue, trueOrFalse } from "../key-values.ts";
import { stepsBetween } from "../misspelt-keys.ts";
import { flag, ignored, type KeyEntry, type KeyRule, type Mutable, set, text } from "./key-rule.ts";

/** Who clients are, and whether access lists are asked. */
export const AUTH_KEYS: readonly KeyEntry[] = [
  ["skipACL", skipAcl()],
  ["enableEagerACLCheck", ignored("a write is judged once, where it takes its place in the order")],
  ["DigestAuthenticationProvider.superDigest", text("superDigest")],
  ["DigestAuthenticationProvider.digestAlg", text("digestAlgorithm")],
  ["DigestAuthenticationProvider.enabled", flag("digestEnabled")],
  ["jaasLoginConfig", jaasFile()],
  ["jaasLoginRenew", ignored("a server's key comes from its keytab, which needs no ticket of its own")],
  ["security.auth_to_local", authText("authToLocal")],
  ["kerberos.removeHostFromPrincipal", authFlag("removeHostFromPrincipal")],
  ["kerberos.removeRealmFromPrincipal", authFlag("removeRealmFromPrincipal")],
  ["sasl.serverconfig", authText("jaasSection")],
  ["SASLAuthenticationProvider.superPassword", authText("saslSuperPassword")],
  ["letAnySaslUserDoX", authText("anySaslUser")],
  ["allowSaslFailedClients", authFlag("allowSaslFailedClients")],
  ["sessionRequireClientSASLAuth", authFlag("requireSasl")],
  [
    "requireClientAuthScheme",
    ignored("ZooKeeper does not read it either; sessionRequireClientSASLAuth=true asks for SASL"),
  ],
  ["sasl.client", ignored("it is a client's setting")],
  ["enforce.auth.enabled", authFlag("enforceAuth")],
  ["enforce.auth.schemes", authList("enforcedSchemes")],
  ["ensembleAuthName", authList("ensembleNames")],
  ["zooid.authFailureDelayMaxMs", authNumber("failureDelayMsMax")],
  ["X509AuthenticationProvider.superUser", authText("x509SuperUser")],
  ["IPAuthenticationProvider.usexforwardedfor", ignored("the server believes no proxy about an address", "false")],
  ["fips-mode", ignored("it chooses among Java's security providers")],
];

/** As {@link AUTH_KEYS}, of keys that begin so. */
export const AUTH_FAMILIES: readonly KeyEntry[] = [
  ["authProvider.", authEntry("authProvider.", "providers", misspeltProvider)],
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
    set: (options, value) => set(options, "skipAcl", value === "yes"),
    remark: (value) => {
      if (value === "yes" || ["no", "false", ""].includes(value.toLowerCase())) return undefined;
      return `is "${value}", which is a no, as for Apache ZooKeeper: access lists are checked; yes alone switches them off`;
    },
  };
}

type Auth = Mutable<NonNullable<ServerOptions["auth"]>>;

type AuthOf<T> = keyof { [K in keyof Auth as Exclude<Auth[K], undefined> extends T ? K : never]: true };

function auth(set: (auth: Auth, value: string, key: string) => string | undefined): KeyRule {
  return {
    kind: "honoured",
    set: (options, value, key) => {
      const changed: Auth = { ...options.auth };
      options.auth = changed;
      return set(changed, value, key);
    },
  };
}

function authText(name: AuthOf<string>): KeyRule {
  return auth((options, value) => {
    if (value === "") return "is empty";
    options[name] = value;
    return undefined;
  });
}

function authFlag(name: AuthOf<boolean>): KeyRule {
  return auth((options, value) => {
    const isOn = trueOrFalse(value);
    if (isOn === undefined) return `is true or false, found "${value}"`;
    options[name] = isOn;
    return undefined;
  });
}

function authNumber(name: AuthOf<number>): KeyRule {
  return auth((options, value) => {
    if (!/^\d+$/.test(value)) return `is a whole number, found "${value}"`;
    options[name] = Number(value);
    return undefined;
  });
}

function authList(name: AuthOf<readonly string[]>): KeyRule {
  return auth((options, value) => {
    options[name] = value.split(",").map((one) => one.trim());
    return undefined;
  });
}

/** One of a family: `authProvider.1`, `superUser.ops`. */
function authEntry(
  prefix: string,
  name: "providers" | "saslSuperUsers",
  problemOf: (value: string) => string | undefined = () => undefined,
): KeyRule {
  return auth((options, value, key) => {
    const problem = problemOf(value);
    if (problem !== undefined) return problem;
    options[name] = Object.fromEntries([...Object.entries(options[name] ?? {}), [key.slice(prefix.length), value]]);
    return undefined;
  });
}

const PROVIDERS = ["SASL", "X509", "Ensemble", "Digest", "IP", "Key"].map(
  (name) => `org.apache.zookeeper.server.auth.${name}AuthenticationProvider`,
);

/**
 * Classes of others cannot be loaded, and are reported; one that is nearly ZooKeeper's was meant to
 * be that one.
 */
function misspeltProvider(value: string): string | undefined {
  if (PROVIDERS.includes(value)) return undefined;
  const nearest = PROVIDERS.find((known) => Number.isFinite(stepsBetween(value, known)));
  return nearest && `names no class of ZooKeeper, found "${value}"; the nearest is ${nearest}`;
}

function jaasFile(): KeyRule {
  return auth((options, value) => {
    const found = pathValue(value);
    if ("problem" in found) return found.problem;
    options.jaasFile = found.value;
    return undefined;
  });
}
