/**
 * Why a client's TLS handshake failed, with the remedy, from the codes of Node.js and OpenSSL: their
 * texts name functions and source files.
 */
export function handshakeReason(error: Error, certificateFault?: string): string {
  if (certificateFault !== undefined) return certificateReason(certificateFault);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known = HANDSHAKE.find(([codes]) => codes.test(code))?.[1];
  if (known !== undefined) return known;
  return "reason" in error && typeof error.reason === "string" ? `${error.reason} (${code})` : error.message;
}

/** @param code of the verification, such as `CERT_HAS_EXPIRED` */
export function certificateReason(code: string): string {
  const known = CERTIFICATE.find(([codes]) => codes.test(code))?.[1] ?? "it cannot be verified";
  return `its certificate is not accepted: ${known} (${code})`;
}

const OWN_REFUSED =
  "it does not accept this server's certificate: its trust store (zookeeper.ssl.trustStore.location) needs the authority of " +
  "ssl.keyStore.location, and the certificate the name that the client connects to";

/** Codes of OpenSSL's reasons; alerts are what the client sent. */
const HANDSHAKE: readonly (readonly [codes: RegExp, reason: string])[] = [
  [
    /^ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE$/,
    "it sent no certificate, which ssl.clientAuth=need asks for: set zookeeper.ssl.keyStore.location at the client, or " +
      "ssl.clientAuth=want or none here",
  ],
  [
    /^ERR_SSL_(UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_PROTOCOLS_AVAILABLE)$|_ALERT_PROTOCOL_VERSION$/,
    "it offers no version of TLS that this server allows: see ssl.enabledProtocols, or a newer client",
  ],
  [
    /^ERR_SSL_NO_SHARED_(CIPHER|GROUP|SIGNATURE_ALGORITHMS)$|^ERR_SSL_NO_SUITABLE_(KEY_SHARE|SIGNATURE_ALGORITHM)$/,
    "it offers no cipher suite, curve or signature that this server has: compare ssl.ciphersuites and the server's key",
  ],
  [/^ERR_SSL_HTTPS?_(PROXY_)?REQUEST$/, "it sent an HTTP request; the admin port (admin.serverPort) answers those"],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|BAD_RECORD_TYPE|RECORD_TOO_SMALL)$/,
    "it does not speak TLS: connect it to clientPort, or set zookeeper.client.secure=true at the client",
  ],
  [/_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|UNSUPPORTED_CERTIFICATE)$/, OWN_REFUSED],
  [
    /^ERR_SSL_UNEXPECTED_EOF_WHILE_READING$/,
    "it closed the connection; a client that does not accept this server's certificate may do so",
  ],
];

const CERTIFICATE: readonly (readonly [codes: RegExp, reason: string])[] = [
  [/^CERT_HAS_EXPIRED$/, "it has expired"],
  [/^CERT_NOT_YET_VALID$/, "it is not valid yet: compare the clocks of both machines"],
  [/^CERT_REVOKED$/, "it is revoked by the list in zooid.ssl.crlFile"],
  [/^(UNABLE_TO_GET_CRL|CRL_)/, "zooid.ssl.crlFile has no current list of its authority"],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)/,
    "no authority in ssl.trustStore.location has signed it",
  ],
  [/^INVALID_PURPOSE$/, "it is not for clients: its extended key usage lacks clientAuth"],
  [/^CERT_CHAIN_TOO_LONG$|^INVALID_CA$/, "its chain of authorities is not valid"],
];
