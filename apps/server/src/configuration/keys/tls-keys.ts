import type { ServerOptions } from "@zooid/embedded-server";
import { pathValue, trueOrFalse } from "../key-values.ts";
import {
  flag,
  ignored,
  type KeyEntry,
  type KeyRule,
  listenAddress,
  type Mutable,
  type Options,
  portNumber,
  refused,
} from "./key-rule.ts";

export const NO_OCSP =
  "asks for certificates to be checked by OCSP, which is not supported; lists of revoked ones are:";

/** The port that clients reach by TLS. */
export const TLS_KEYS: readonly KeyEntry[] = [
  ["secureClientPort", portNumber("securePort")],
  ["secureClientPortAddress", listenAddress("secureAddress")],
  ["client.portUnification", flag("portUnification")],
  ["client.certReload", tlsFlag("certReload")],
  ...storeRules("keyStore"),
  ...storeRules("trustStore"),
  ["ssl.clientAuth", tlsText("clientAuth")],
  ["ssl.protocol", tlsText("protocol")],
  ["ssl.enabledProtocols", tlsList("enabledProtocols")],
  ["ssl.ciphersuites", tlsList("cipherSuites")],
  ["ssl.handshakeDetectionTimeoutMillis", tlsNumber("handshakeTimeoutMs")],
  ["ssl.authProvider", refused("names who judges certificates of clients; only x509 does here", "x509")],
  ["ssl.crl", tlsFlag("crl")],
  ["ssl.ocsp", refused(`${NO_OCSP} ssl.crl=true with zooid.ssl.crlFile=FILE`, "false")],
  ["ssl.clientHostnameVerification", tlsFlag("clientHostnameVerification")],
  ["ssl.context.supplier.class", refused("names a class of Java's, which is not supported")],
  ["ssl.hostnameVerification", ignored("this server opens no connection by TLS to clients")],
  [
    "ssl.allowReverseDnsLookup",
    ignored("no name is looked up for an address: where it is asked for, certificates name the address itself"),
  ],
  ["ssl.sslProvider", ignored("there is one: OpenSSL, in Node.js")],
  ["zooid.ssl.crlFile", tlsFile("crlFile")],
  ["netty.server.outstandingHandshake.limit", tlsNumber("handshakeCountMax")],
];

/** Keys that begin so and are no other: TLS that would be neglected must not go unseen. */
export const TLS_FAMILIES: readonly KeyEntry[] = [["ssl.", refused("is a setting of TLS that is not supported")]];

/**
 * TLS between servers, and of the admin port, which in ZooKeeper has the same keys and authorities.
 */
export const QUORUM_TLS_KEYS: readonly KeyEntry[] = [
  ...storeRules("keyStore"),
  ...storeRules("trustStore"),
  ["ssl.protocol", tlsText("protocol")] as const,
  ["ssl.enabledProtocols", tlsList("enabledProtocols")] as const,
  ["ssl.ciphersuites", tlsList("cipherSuites")] as const,
  ["ssl.crl", tlsFlag("crl")] as const,
  ["zooid.ssl.crlFile", tlsFile("crlFile")] as const,
].map(([key, rule]) => [key.replace("ssl.", "ssl.quorum."), forAdmin(rule)]);

type Tls = Mutable<NonNullable<ServerOptions["tls"]>>;

type TlsOf<T> = keyof { [K in keyof Tls as Exclude<Tls[K], undefined> extends T ? K : never]: true };

function tls(set: (tls: Tls, value: string) => string | undefined): KeyRule {
  return {
    kind: "honoured",
    set: (options, value) => {
      const changed: Tls = { ...options.tls };
      options.tls = changed;
      return set(changed, value);
    },
  };
}

function tlsText(name: TlsOf<string>): KeyRule {
  return tls((options, value) => {
    options[name] = value;
    return undefined;
  });
}

function tlsFile(name: TlsOf<string>): KeyRule {
  return tls((options, value) => {
    const found = pathValue(value);
    if ("problem" in found) return found.problem;
    options[name] = found.value;
    return undefined;
  });
}

function tlsList(name: TlsOf<readonly string[]>): KeyRule {
  return tls((options, value) => {
    options[name] = value.split(",").map((one) => one.trim());
    return undefined;
  });
}

function tlsFlag(name: TlsOf<boolean>): KeyRule {
  return tls((options, value) => {
    const isOn = trueOrFalse(value);
    if (isOn === undefined) return `is true or false, found "${value}"`;
    options[name] = isOn;
    return undefined;
  });
}

function tlsNumber(name: TlsOf<number>): KeyRule {
  return tls((options, value) => {
    if (!/^[+-]?\d+$/.test(value)) return `is a whole number, found "${value}"`;
    options[name] = Number(value);
    return undefined;
  });
}

/** The four settings of a store of keys or certificates. */
function storeRules(store: "keyStore" | "trustStore"): readonly KeyEntry[] {
  const rule = (name: "location" | "password" | "passwordPath" | "type", isFile: boolean): KeyRule =>
    tls((options, value) => {
      const found = isFile ? pathValue(value) : { value };
      if ("problem" in found) return found.problem;
      options[store] = { ...options[store], [name]: found.value };
      return undefined;
    });
  return [
    [`ssl.${store}.location`, rule("location", true)],
    [`ssl.${store}.password`, rule("password", false)],
    [`ssl.${store}.passwordPath`, rule("passwordPath", true)],
    [`ssl.${store}.type`, rule("type", false)],
  ];
}

/** A setting of TLS for the admin port instead of clients. */
function forAdmin(rule: KeyRule): KeyRule {
  if (rule.kind !== "honoured") return rule;
  return {
    kind: "honoured",
    set: (options, ...rest) => {
      const { tls } = options.admin ?? {};
      const changed: Options = tls === undefined ? {} : { tls };
      const problem = rule.set(changed, ...rest);
      options.admin = { ...options.admin, ...changed };
      return problem;
    },
  };
}
