import { readFileSync } from "node:fs";
import { readJavaKeyStore } from "./java-key-store.ts";
import { pemBlocks } from "./pem-blocks.ts";
import { pkcs12Certificates } from "./pkcs12-certificates.ts";

/** The forms of a store that can be read; Bouncy Castle's BCFKS is known by name alone. */
export type KeyStoreType = "PEM" | "PKCS12" | "JKS";

/** A store's bytes, with what they are and the password that opens them. */
export interface OpenedKeyStore {
  readonly file: string;
  readonly type: KeyStoreType;
  readonly bytes: Buffer;
  readonly password: string | undefined;
}

/** A private key with its certificate, in the form of `node:tls`. */
export interface IdentityMaterial {
  readonly key?: Buffer;
  readonly cert?: Buffer;
  readonly pfx?: Buffer;
  readonly passphrase?: string;
}

const TYPES: ReadonlyMap<string, KeyStoreType | "BCFKS"> = new Map<string, KeyStoreType | "BCFKS">([
  ["PEM", "PEM"],
  ["KEY", "PEM"],
  ["CRT", "PEM"],
  ["PKCS12", "PKCS12"],
  ["P12", "PKCS12"],
  ["PFX", "PKCS12"],
  ["JKS", "JKS"],
  ["BCFKS", "BCFKS"],
]);
/** The first four bytes of a JKS file. */
const JKS_MAGIC = 0xfeedfeed;

/** The form of a store by its setting, or else by the end of its name. */
export function keyStoreType(file: string, type?: string): KeyStoreType | "BCFKS" | undefined {
  return TYPES.get((type ?? /\.([^./\\]+)$/.exec(file)?.[1] ?? "").toUpperCase());
}

/**
 * The files of a store, which may change together: of a key `NAME.key` the certificate `NAME.crt`
 * beside it too, as in Kubernetes' secrets of the type `kubernetes.io/tls`.
 */
export function keyStoreFiles(file: string): readonly string[] {
  return KEY_FILE.test(file) ? [file, certificateBeside(file)] : [file];
}

const KEY_FILE = /\.key$/i;

function certificateBeside(file: string): string {
  return file.replace(KEY_FILE, ".crt");
}

/**
 * Reads a store, and its password where a file holds it: that one wins over `password`. A key
 * `NAME.key` without a certificate is read with the certificate `NAME.crt` beside it.
 *
 * @throws the system's error for a file that cannot be read
 */
export function openKeyStore(
  file: string,
  {
    type,
    password,
    passwordPath,
  }: {
    readonly type: KeyStoreType;
    readonly password?: string | undefined;
    readonly passwordPath?: string | undefined;
  },
): OpenedKeyStore {
  const bytes = readFileSync(file);
  const secret = passwordPath === undefined ? password : readFileSync(passwordPath, "utf8").replace(/\r?\n$/, "");
  if (type !== "PEM") return { file, type: javaType(bytes), bytes, password: secret };
  return { file, type, bytes: KEY_FILE.test(file) ? withCertificate(file, bytes) : bytes, password: secret };
}

function withCertificate(file: string, key: Buffer): Buffer {
  if (CERTIFICATE.test(key.toString("latin1"))) return key;
  const beside = certificateBeside(file);
  try {
    return Buffer.concat([key, Buffer.from("\n"), readFileSync(beside)]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${file} holds no certificate, and ${beside} beside it cannot be read: ${reason}`);
  }
}

const CERTIFICATE = /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/;

/**
 * The private key of a store, with its certificate and the chain behind it; undefined where a JKS
 * file holds none. The other forms are handed on as they are.
 *
 * @throws for a JKS file that cannot be read, was changed, or has another password
 */
export function identityOf({ type, bytes, password }: OpenedKeyStore): IdentityMaterial | undefined {
  const passphrase = password === undefined ? {} : { passphrase: password };
  if (type === "PEM") return { key: bytes, cert: bytes, ...passphrase };
  if (type === "PKCS12") return { pfx: bytes, ...passphrase };
  const { identity } = readJavaKeyStore(bytes, password);
  return identity && { key: Buffer.from(identity.key), cert: Buffer.from(identity.cert) };
}

/**
 * The certificates of a store, in PEM; of an entry with a key its own certificate alone.
 *
 * @throws for a file that cannot be read, was changed, or has another password
 */
export function certificatesOf({ type, bytes, password }: OpenedKeyStore): readonly string[] {
  if (type === "PEM") return pemBlocks(bytes.toString("latin1"), "CERTIFICATE");
  if (type === "PKCS12") return pkcs12Certificates(bytes, password ?? "");
  return readJavaKeyStore(bytes, password).certificates;
}

/**
 * Java reads either of its forms by either name, and so gives stores that are called .jks the newer
 * form for years.
 */
function javaType(bytes: Buffer): KeyStoreType {
  return bytes.length >= 4 && bytes.readUInt32BE(0) === JKS_MAGIC ? "JKS" : "PKCS12";
}
