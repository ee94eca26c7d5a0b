/**
 * The faults of TLS handshakes, by the codes of Node.js and OpenSSL, whose texts name functions and
 * source files. Each port has sentences of its own for these faults.
 */

export type HandshakeFault =
  | "no certificate"
  | "no common version"
  | "no common algorithm"
  | "HTTP"
  | "not TLS"
  | "own certificate refused"
  | "closed";

export type CertificateFault =
  | "expired"
  | "not valid yet"
  | "revoked"
  | "no revocation list"
  | "unknown authority"
  | "wrong purpose"
  | "invalid chain";

/** The system's or OpenSSL's code of an error, empty without one. */
export function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** @returns undefined for a code that is not known */
export function handshakeFault(error: Error): HandshakeFault | undefined {
  const code = codeOf(error);
  return HANDSHAKE.find(([codes]) => codes.test(code))?.[1];
}

/** @param code of the verification, such as `CERT_HAS_EXPIRED` */
export function certificateFaultOf(code: string): CertificateFault | undefined {
  return CERTIFICATE.find(([codes]) => codes.test(code))?.[1];
}

/** The text of an error without a known fault. */
export function unknownReason(error: Error): string {
  return "reason" in error && typeof error.reason === "string" ? `${error.reason} (${codeOf(error)})` : error.message;
}

/** Codes of OpenSSL's reasons; alerts are what the other side sent. */
const HANDSHAKE: readonly (readonly [codes: RegExp, fault: HandshakeFault])[] = [
  [/^ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE$|_ALERT_CERTIFICATE_REQUIRED$/, "no certificate"],
  [
    /^ERR_SSL_(UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|NO_PROTOCOLS_AVAILABLE)$|_ALERT_PROTOCOL_VERSION$/,
    "no common version",
  ],
  [
    /^ERR_SSL_NO_SHARED_(CIPHER|GROUP|SIGNATURE_ALGORITHMS)$|^ERR_SSL_NO_SUITABLE_(KEY_SHARE|SIGNATURE_ALGORITHM)$|_ALERT_HANDSHAKE_FAILURE$/,
    "no common algorithm",
  ],
  [/^ERR_SSL_HTTPS?_(PROXY_)?REQUEST$/, "HTTP"],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|BAD_RECORD_TYPE|RECORD_TOO_SMALL)$/,
    "not TLS",
  ],
  [
    /_ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_EXPIRED|UNSUPPORTED_CERTIFICATE)$/,
    "own certificate refused",
  ],
  [/^ERR_SSL_UNEXPECTED_EOF_WHILE_READING$/, "closed"],
];

const CERTIFICATE: readonly (readonly [codes: RegExp, fault: CertificateFault])[] = [
  [/^CERT_HAS_EXPIRED$/, "expired"],
  [/^CERT_NOT_YET_VALID$/, "not valid yet"],
  [/^CERT_REVOKED$/, "revoked"],
  [/^(UNABLE_TO_GET_CRL|CRL_)/, "no revocation list"],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE)/,
    "unknown authority",
  ],
  [/^INVALID_PURPOSE$/, "wrong purpose"],
  [/^CERT_CHAIN_TOO_LONG$|^INVALID_CA$/, "invalid chain"],
];
