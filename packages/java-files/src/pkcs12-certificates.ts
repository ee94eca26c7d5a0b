import type forge from "node-forge";
import { loadForge } from "#node-forge";

/**
 * The certificates in a PKCS#12 file (RFC 7292), in PEM. The platform reads such a file only where
 * it holds a private key, and a file of those who are trusted holds none.
 *
 * @throws for a file that cannot be read, was changed, or has another password
 */
export function pkcs12Certificates(file: Buffer, password: string): readonly string[] {
  const forge = loadForge();
  const store = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(file.toString("latin1")), true, password);
  const type = forge.pki.oids["certBag"] ?? "";
  const bags = store.getBags({ bagType: type })[type] ?? [];
  // The library itself understands keys of RSA only; of others it hands over what it found.
  return bags.flatMap(({ cert, asn1 }) => (cert === undefined && asn1 === undefined ? [] : [pem(forge, cert, asn1)]));
}

function pem(library: typeof forge, cert: forge.pki.Certificate | null | undefined, found: forge.asn1.Asn1): string {
  const whole = cert === null || cert === undefined ? found : library.pki.certificateToAsn1(cert);
  return library.pem.encode({ type: "CERTIFICATE", body: library.asn1.toDer(whole).getBytes() });
}
