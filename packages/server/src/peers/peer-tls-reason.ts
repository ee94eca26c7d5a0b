import {
  type CertificateFault,
  certificateFaultOf,
  codeOf,
  type HandshakeFault,
  handshakeFault,
  unknownReason,
} from "../tls/handshake-fault.ts";

/**
 * Why TLS with another server failed, with the remedy; "it" is the other server.
 *
 * @param certificateFault the code of the verification of its certificate
 */
export function peerTlsReason(error: Error, certificateFault: string = codeOf(error)): string {
  const certificate = certificateFaultOf(certificateFault);
  if (certificate !== undefined) {
    return `its certificate is not accepted: ${CERTIFICATE[certificate]} (${certificateFault})`;
  }
  const fault = handshakeFault(error);
  return fault === undefined ? unknownReason(error) : HANDSHAKE[fault];
}

/** Why a certificate is not accepted, by the code of its verification. */
export function certificateReason(code: string): string {
  const fault = certificateFaultOf(code);
  return fault === undefined ? `it cannot be verified (${code})` : `${CERTIFICATE[fault]} (${code})`;
}

/** As {@link certificateReason}, where there is none. */
export const NO_CERTIFICATE =
  "there is none, and servers ask each other for one: see ssl.quorum.keyStore.location or zooid.peerTls.cert";
export const NO_TLS = "the connection has no TLS";

/** The reason for a connection that begins with a TLS handshake, on a port without TLS. */
export const SPEAKS_TLS =
  "it speaks TLS, which this server does not: sslQuorum and zooid.peerTls have to be equal on all servers";

/** Why a server ended a connection before it had introduced itself. */
export const CLOSED_EARLY: string =
  "it closed the connection before it introduced itself: it may use no TLS on this port (sslQuorum and zooid.peerTls " +
  "have to be equal on all servers), or refuse this server's certificate; its log has the reason";

const HANDSHAKE: Readonly<Record<HandshakeFault, string>> = {
  "no certificate":
    "one side sent no certificate, which servers ask each other for: see ssl.quorum.keyStore.location or zooid.peerTls.cert",
  "no common version":
    "the two servers have no version of TLS in common: compare ssl.quorum.enabledProtocols; zooid.peerTls needs TLS 1.3",
  "no common algorithm":
    "the two servers have no cipher suite, curve or signature in common, or a certificate is missing: compare " +
    "ssl.quorum.ciphersuites and the keys",
  HTTP: "it sent an HTTP request; the admin port (admin.serverPort) answers those",
  "not TLS": "it does not speak TLS on this port: sslQuorum and zooid.peerTls have to be equal on all servers",
  "own certificate refused":
    "it does not accept this server's certificate: its trust store (ssl.quorum.trustStore.location or zooid.peerTls.ca) needs " +
    "the authority that signed it, and the certificate has to be valid",
  closed: CLOSED_EARLY,
};

const CERTIFICATE: Readonly<Record<CertificateFault, string>> = {
  expired: "it has expired",
  "not valid yet": "it is not valid yet: compare the clocks of both machines",
  revoked: "it is revoked by the list in zooid.ssl.quorum.crlFile",
  "no revocation list": "zooid.ssl.quorum.crlFile has no current list of its authority",
  "unknown authority": "no authority in ssl.quorum.trustStore.location or zooid.peerTls.ca has signed it",
  "wrong purpose": "servers need both serverAuth and clientAuth in the extended key usage",
  "invalid chain": "its chain of authorities is not valid",
};
