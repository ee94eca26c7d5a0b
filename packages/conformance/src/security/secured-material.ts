import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import forge from "node-forge";

/**
 * Certificates and their authorities; each file `NAME.pem` has a private key and its certificate.
 */
const HOLDERS: readonly (readonly [name: string, authority: "authority" | "other-authority"])[] = [
  ["server", "authority"],
  ["alice", "authority"],
  ["bob", "authority"],
  ["stranger", "other-authority"],
];

/**
 * Writes what a run with TLS and SASL needs, new for each run: `authority.pem` and
 * `other-authority.pem`, a file for each holder of a certificate, and `jaas.conf` with the server's
 * users and a section for each Java client.
 */
export function writeSecuredMaterial(folder: string): void {
  const authorities = {
    authority: makeAuthority("conformance authority"),
    "other-authority": makeAuthority("other authority"),
  };
  for (const [name, { certificate }] of Object.entries(authorities)) {
    writeFileSync(join(folder, `${name}.pem`), forge.pki.certificateToPem(certificate));
  }
  for (const [name, authority] of HOLDERS) {
    writeFileSync(join(folder, `${name}.pem`), makeHolder(name, authorities[authority]), { mode: 0o600 });
  }
  writeFileSync(join(folder, "jaas.conf"), JAAS, { mode: 0o600 });
}

const LOGIN = "org.apache.zookeeper.server.auth.DigestLoginModule required";
const JAAS = `Server {
  ${LOGIN}
  user_alice="of wonderland"
  user_bob="the builder";
};
${client("Alice", "alice", "of wonderland")}
${client("Bob", "bob", "the builder")}
${client("WrongPassword", "alice", "the builder")}
${client("Guest", "guest", "knows")}
`;

function client(section: string, user: string, password: string): string {
  return `${section} {\n  ${LOGIN}\n  username="${user}"\n  password="${password}";\n};`;
}

interface Authority {
  readonly certificate: forge.pki.Certificate;
  readonly key: forge.pki.rsa.PrivateKey;
}

function makeAuthority(name: string): Authority {
  const { certificate, key } = makeCertificate();
  certificate.setSubject([{ name: "commonName", value: name }]);
  certificate.setIssuer(certificate.subject.attributes);
  certificate.setExtensions([{ name: "basicConstraints", cA: true }]);
  certificate.sign(key, forge.md.sha256.create());
  return { certificate, key };
}

/** A private key, as PKCS#8 since Java reads no other, and its certificate. */
function makeHolder(name: string, authority: Authority): string {
  const { certificate, key } = makeCertificate();
  certificate.setSubject([
    { name: "organizationName", value: "zooid" },
    { shortName: "OU", value: "people" },
    { name: "commonName", value: name },
  ]);
  certificate.setIssuer(authority.certificate.subject.attributes);
  certificate.setExtensions([
    { name: "extKeyUsage", serverAuth: true, clientAuth: true },
    {
      name: "subjectAltName",
      altNames: [
        { type: 2, value: "localhost" },
        { type: 7, ip: "127.0.0.1" },
      ],
    },
  ]);
  certificate.sign(authority.key, forge.md.sha256.create());
  const info = forge.pki.wrapRsaPrivateKey(forge.pki.privateKeyToAsn1(key));
  return forge.pki.privateKeyInfoToPem(info) + forge.pki.certificateToPem(certificate);
}

let serialNumber = 0;

/** A revocation list that is empty and valid for a day. */
function makeCertificate(): Authority {
  const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs1", format: "pem" });
  const key = forge.pki.privateKeyFromPem(String(pem));
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.rsa.setPublicKey(key.n, key.e);
  certificate.serialNumber = `0${(++serialNumber).toString(16)}`.slice(-2);
  const [from, to] = [new Date(), new Date()];
  from.setHours(from.getHours() - 1);
  to.setDate(to.getDate() + 1);
  Object.assign(certificate.validity, { notBefore: from, notAfter: to });
  return { certificate, key };
}
