import {
  type CertificateFault,
  certificateFaultOf,
  type HandshakeFault,
  handshakeFault,
  unknownReason,
} from "./handshake-fault.ts";

/** Why a client's TLS handshake failed, with the remedy. */
export function handshakeReason(error: Error, certificateFault?: string): string {
  if (certificateFault !== undefined) return certificateReason(certificateFault);
  const fault = handshakeFault(error);
  return fault === undefined ? unknownReason(error) : HANDSHAKE[fault];
}

/** @param code of the verification, such as `CERT_HAS_EXPIRED` */
export function certificateReason(code: string): string {
  const fault = certificateFaultOf(code);
  return `its certificate is not accepted: ${fault === undefined ? "it cannot be verified" : CERTIFICATE[fault]} (${code})`;
}

const HANDSHAKE: Readonly<Record<HandshakeFault, string>> = {
  "no certificate":
    "it sent no certificate, which ssl.clientAuth=need asks for: set zookeeper.ssl.keyStore.location at the client, or " +
    "ssl.clientAuth=want or none here",
  "no common version":
    "it offers no version of TLS that this server allows: see ssl.enabledProtocols, or a newer client",
  "no common algorithm":
    "it offers no cipher suite, curve or signature that this server has: compare ssl.ciphersuites and the server's key",
  HTTP: "it sent an HTTP request; the admin port (admin.serverPort) answers those",
  "not TLS": "it does not speak TLS: connect it to clientPort, or set zookeeper.client.secure=true at the client",
  "own certificate refused":
    "it does not accept this server's certificate: its trust store (zookeeper.ssl.trustStore.location) needs the authority of " +
    "ssl.keyStore.location, and the certificate the name that the client connects to",
  closed: "it closed the connection; a client that does not accept this server's certificate may do so",
};

const CERTIFICATE: Readonly<Record<CertificateFault, string>> = {
  expired: "it has expired",
  "not valid yet": "it is not valid yet: compare the clocks of both machines",
  revoked: "it is revoked by the list in zooid.ssl.crlFile",
  "no revocation list": "zooid.ssl.crlFile has no current list of its authority",
  "unknown authority": "no authority in ssl.trustStore.location has signed it",
  "wrong purpose": "it is not for clients: its extended key usage lacks clientAuth",
  "invalid chain": "its chain of authorities is not valid",
};
