import { generateKeyPairSync } from "node:crypto";
import forge from "node-forge";

const NOT_AFTER = new Date("2200-01-01");

/** A private key and its certificate, in PEM. */
export interface Holder {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority, created for each run. */
export class Authority {
  readonly cert: string;
  readonly #key: forge.pki.rsa.PrivateKey;
  readonly #name: forge.pki.CertificateField[];

  constructor(name: string) {
    this.#name = [{ name: "commonName", value: name }];
    const { certificate, key } = newCertificate(this.#name, this.#name);
    certificate.setExtensions([{ name: "basicConstraints", cA: true }]);
    certificate.sign(key, forge.md.sha256.create());
    this.#key = key;
    this.cert = forge.pki.certificateToPem(certificate);
  }

  /** @param hosts names and IP addresses of the certificate */
  holder(name: string, hosts: readonly string[] = [], notAfter: Date = NOT_AFTER): Holder {
    const { certificate, key } = newCertificate([{ name: "commonName", value: name }], this.#name);
    const altNames = hosts.map((host) => (/^[\d.]+$/.test(host) ? { type: 7, ip: host } : { type: 2, value: host }));
    certificate.validity.notAfter = notAfter;
    if (altNames.length > 0) certificate.setExtensions([{ name: "subjectAltName", altNames }]);
    certificate.sign(this.#key, forge.md.sha256.create());
    return { key: forge.pki.privateKeyToPem(key), cert: forge.pki.certificateToPem(certificate) };
  }
}

function newCertificate(
  subject: forge.pki.CertificateField[],
  issuer: forge.pki.CertificateField[],
): { readonly certificate: forge.pki.Certificate; readonly key: forge.pki.rsa.PrivateKey } {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs1", format: "pem" },
  });
  const key = forge.pki.privateKeyFromPem(privateKey);
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.setRsaPublicKey(key.n, key.e);
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  certificate.validity.notBefore = new Date(0);
  certificate.validity.notAfter = NOT_AFTER;
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  return { certificate, key };
}
