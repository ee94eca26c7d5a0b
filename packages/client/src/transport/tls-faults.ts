/** The meanings of failed TLS handshakes, by the codes of Node.js and OpenSSL. */

const UNTRUSTED_SERVER =
  "the server's certificate is of an authority that is not trusted: add it to tls.ca, or check the server";
const REFUSED_CLIENT = "the server refused the client's certificate (tls.cert)";

const MEANINGS: ReadonlyMap<string, string> = new Map([
  ["CERT_HAS_EXPIRED", "the server's certificate has expired"],
  ["CERT_NOT_YET_VALID", "the server's certificate is not valid yet"],
  ["CERT_REVOKED", "the server's certificate is revoked"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", UNTRUSTED_SERVER],
  ["SELF_SIGNED_CERT_IN_CHAIN", UNTRUSTED_SERVER],
  ["UNABLE_TO_GET_ISSUER_CERT", UNTRUSTED_SERVER],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", UNTRUSTED_SERVER],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", UNTRUSTED_SERVER],
  ["CERT_SIGNATURE_FAILURE", UNTRUSTED_SERVER],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED", `${REFUSED_CLIENT}: it has expired`],
  ["ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED", `${REFUSED_CLIENT}: it is revoked`],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", REFUSED_CLIENT],
  [
    "ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN",
    `${REFUSED_CLIENT}: it is of an authority that the server does not trust`,
  ],
  ["ERR_SSL_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE", REFUSED_CLIENT],
  ["ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", `${REFUSED_CLIENT}: it is of an authority that the server does not trust`],
  ["ERR_SSL_TLSV1_ALERT_ACCESS_DENIED", REFUSED_CLIENT],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "the server requires a client certificate: set tls.cert and tls.key"],
]);

/** The names of the certificate, which the system's message has. */
const WRONG_NAME = "ERR_TLS_CERT_ALTNAME_INVALID";

/** The meaning of a code that is about a certificate; undefined for others. */
export function certificateFault(code: string | undefined): string | undefined {
  return code === undefined ? undefined : MEANINGS.get(code);
}

/**
 * Whether another attempt at the same server meets the same fault, until a certificate is replaced.
 */
export function isPermanentTlsFault(code: string | undefined): boolean {
  return code === WRONG_NAME || certificateFault(code) !== undefined;
}
