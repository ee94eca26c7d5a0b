import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";

/**
 * The certificate that this side shows, whatever the store's format. Undefined without one, or
 * where this version of Node.js does not give it.
 */
export function ownCertificate(options: SecureContextOptions): X509Certificate | undefined {
  try {
    const { context } = createSecureContext(options);
    // Node.js does not document this method, which reads a PKCS#12 store's certificate too.
    const getCertificate: unknown = Reflect.get(context as object, "getCertificate");
    const der: unknown = typeof getCertificate === "function" ? getCertificate.call(context) : undefined;
    return der instanceof Uint8Array ? new X509Certificate(der) : undefined;
  } catch {
    return undefined;
  }
}

/** The end of a certificate's validity, in seconds since 1970. */
export function notAfterSeconds(certificate: X509Certificate | undefined): number | undefined {
  return certificate === undefined ? undefined : Math.floor(Date.parse(certificate.validTo) / 1000);
}
