import { type ConnectionOptions, connect, createSecureContext } from "node:tls";
import { resolveByName, socketConnection } from "./socket-connection.ts";
import type { Transport } from "./transport.ts";

/**
 * Whom to trust, who we are, and what is spoken: the part of Node's `tls.ConnectionOptions` that is not about the address.
 * `servername` is what the server's certificate must vouch for; default: the host of the connect string.
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

/**
 * TLS, names resolved by the system at each attempt.
 *
 * @param options an object, or what gives one for each connection: so that certificates that were renewed are used from then on
 * @throws for keys and certificates that cannot be used, where an object is given
 */
export function tlsTransport(options: TlsOptions | (() => TlsOptions)): Transport {
  // What cannot be used is told now and not as a connection that never comes about.
  if (typeof options !== "function") createSecureContext(options);
  const current = typeof options === "function" ? options : () => options;
  return {
    isSecure: true,
    resolve: resolveByName,
    connect: ({ host, port, name }, events) => {
      const { servername = name, ...others } = current();
      const named = servername === undefined ? {} : { servername };
      return socketConnection((base) => connect({ ...others, ...named, ...base, host, port }), "secureConnect", events);
    },
  };
}
