import {
  addressValue,
  anyValue,
  listValue,
  pathValue,
  portValue,
  type Read,
  trueOrFalseValue,
  wholeValue,
} from "../key-values.ts";
import { honoured, ignored, type KeyEntry, type KeyRule, type Options, option, part, refused } from "./key-rule.ts";

export const NO_OCSP =
  "asks for certificates to be checked by OCSP, which is not supported; lists of revoked ones are:";

/** The port that clients reach by TLS. */
export const TLS_KEYS: readonly KeyEntry[] = [
  ["secureClientPort", option("securePort", portValue)],
  ["secureClientPortAddress", option("secureAddress", addressValue)],
  ["client.portUnification", option("portUnification", trueOrFalseValue)],
  ["client.certReload", part("tls", "certReload", trueOrFalseValue)],
  ...storeRules("keyStore"),
  ...storeRules("trustStore"),
  ["ssl.clientAuth", part("tls", "clientAuth", anyValue)],
  ["ssl.protocol", part("tls", "protocol", anyValue)],
  ["ssl.enabledProtocols", part("tls", "enabledProtocols", listValue)],
  ["ssl.ciphersuites", part("tls", "cipherSuites", listValue)],
  ["ssl.handshakeDetectionTimeoutMillis", part("tls", "handshakeTimeoutMs", wholeValue)],
  ["ssl.authProvider", refused("names who judges certificates of clients; only x509 does here", "x509")],
  ["ssl.crl", part("tls", "crl", trueOrFalseValue)],
  ["ssl.ocsp", refused(`${NO_OCSP} ssl.crl=true with zooid.ssl.crlFile=FILE`, "false")],
  ["ssl.clientHostnameVerification", part("tls", "clientHostnameVerification", trueOrFalseValue)],
  ["ssl.context.supplier.class", refused("names a class of Java's, which is not supported")],
  ["ssl.hostnameVerification", ignored("this server opens no connection by TLS to clients")],
  [
    "ssl.allowReverseDnsLookup",
    ignored("no name is looked up for an address: where it is asked for, certificates name the address itself"),
  ],
  ["ssl.sslProvider", ignored("there is one: OpenSSL, in Node.js")],
  ["zooid.ssl.crlFile", part("tls", "crlFile", pathValue)],
  ["netty.server.outstandingHandshake.limit", part("tls", "handshakeCountMax", wholeValue)],
];

/** Keys that begin so and are no other: TLS that would be neglected must not go unseen. */
export const TLS_FAMILIES: readonly KeyEntry[] = [["ssl.", refused("is a setting of TLS that is not supported")]];

/**
 * TLS between servers, and of the admin port, which in ZooKeeper has the same keys and authorities.
 */
export const QUORUM_TLS_KEYS: readonly KeyEntry[] = [
  ...storeRules("keyStore"),
  ...storeRules("trustStore"),
  ["ssl.protocol", part("tls", "protocol", anyValue)] as const,
  ["ssl.enabledProtocols", part("tls", "enabledProtocols", listValue)] as const,
  ["ssl.ciphersuites", part("tls", "cipherSuites", listValue)] as const,
  ["ssl.crl", part("tls", "crl", trueOrFalseValue)] as const,
  ["zooid.ssl.crlFile", part("tls", "crlFile", pathValue)] as const,
].map(([key, rule]) => [key.replace("ssl.", "ssl.quorum."), forAdmin(rule)]);

/** The four settings of a store of keys or certificates. */
function storeRules(store: "keyStore" | "trustStore"): readonly KeyEntry[] {
  const rule = (name: "location" | "password" | "passwordPath" | "type", reader: (value: string) => Read<string>) =>
    honoured(reader, (options, value) => {
      options.tls = { ...options.tls, [store]: { ...options.tls?.[store], [name]: value } };
    });
  return [
    [`ssl.${store}.location`, rule("location", pathValue)],
    [`ssl.${store}.password`, rule("password", anyValue)],
    [`ssl.${store}.passwordPath`, rule("passwordPath", pathValue)],
    [`ssl.${store}.type`, rule("type", anyValue)],
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
