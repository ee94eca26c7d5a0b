import { X509Certificate } from "node:crypto";
import { type ConnectionOptions, connect, createSecureContext } from "node:tls";
import { ArgumentError, checkRecord, hasMethods, rules, type Shape, shape } from "@zooid/model";
import { resolveByName, socketConnection } from "./socket-connection.ts";
import type { Transport } from "./transport.ts";

/**
 * The part of Node's `tls.ConnectionOptions` without the address: trusted authorities, own
 * certificate, protocol versions. `servername` is what the server's certificate must match;
 * default: the host of the connect string.
 */
export type TlsOptions = Pick<
  ConnectionOptions,
  | "ca"
  | "cert"
  | "key"
  | "pfx"
  | "passphrase"
  | "crl"
  | "servername"
  | "rejectUnauthorized"
  | "checkServerIdentity"
  | "minVersion"
  | "maxVersion"
  | "ciphers"
  | "sigalgs"
>;

/** Node.js checks the values. */
const given = rules.anything;
const TLS: Shape<TlsOptions> = shape<TlsOptions>({
  ca: given,
  cert: given,
  key: given,
  pfx: given,
  passphrase: rules.text,
  crl: given,
  servername: rules.text,
  rejectUnauthorized: rules.flag,
  checkServerIdentity: rules.callable,
  minVersion: given,
  maxVersion: given,
  ciphers: rules.text,
  sigalgs: rules.text,
});

/**
 * TLS, names resolved by the system at each attempt.
 *
 * @param options an object, or a function that returns one for each connection, which picks up
 *   renewed certificates
 * @throws for unusable keys and certificates, if an object is given
 */
export function tlsTransport(options: TlsOptions | (() => TlsOptions)): Transport {
  const current = typeof options === "function" ? () => checked(options()) : () => options;
  // Unusable keys are reported now, and not as failing connections.
  if (typeof options !== "function") {
    checkRecord("TLS options", options, TLS, []);
    createSecureContext(options);
  }
  return {
    isSecure: true,
    certificateFault: () => ownCertificateFault(current()),
    resolve: resolveByName,
    connect: ({ host, port, name }, events, reachMs) => {
      const { servername = name, ...others } = current();
      const named = servername === undefined ? {} : { servername };
      const how = { opened: "secureConnect", reachMs } as const;
      return socketConnection((base) => connect({ ...others, ...named, ...base, host, port }), how, events);
    },
  };
}

function checked(options: TlsOptions): TlsOptions {
  if (hasMethods(options, ["then"]))
    throw new ArgumentError("TLS options", ["the function's result is an object, found a promise: read files before"]);
  checkRecord("TLS options", options, TLS, []);
  return options;
}

function ownCertificateFault({ cert }: TlsOptions): string | undefined {
  if (typeof cert !== "string" && !Buffer.isBuffer(cert)) return undefined;
  try {
    const { validFromDate, validToDate } = new X509Certificate(cert);
    const nowMs = Date.now();
    if (validToDate.getTime() < nowMs)
      return `the client's certificate (tls.cert) has expired on ${validToDate.toISOString()}`;
    if (validFromDate.getTime() > nowMs)
      return `the client's certificate (tls.cert) is not valid before ${validFromDate.toISOString()}`;
  } catch {
    // Of a form that this class does not read: the handshake has judged it.
  }
  return undefined;
}
