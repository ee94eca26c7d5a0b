import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { readJavaKeyStore } from "./java-key-store.ts";
import { pkcs12Certificates } from "./pkcs12-certificates.ts";

/** A file of keys or of certificates, as Java's settings name one. */
export interface KeyStoreOptions {
  readonly location?: string;
  readonly password?: string;
  /** A file that holds the password; it wins over `password`. */
  readonly passwordPath?: string;
  /** PEM, PKCS12 or JKS. Default: by the file's name. */
  readonly type?: string;
}

/** Who a server is, in the platform's terms. */
export interface TlsMaterial {
  readonly key?: Buffer;
  readonly cert?: Buffer;
  readonly pfx?: Buffer;
  readonly passphrase?: string;
}

type StoreType = "PEM" | "PKCS12" | "JKS";

const TYPES: ReadonlyMap<string, StoreType | "BCFKS"> = new Map<string, StoreType | "BCFKS">([
  ["PEM", "PEM"],
  ["PKCS12", "PKCS12"],
  ["P12", "PKCS12"],
  ["PFX", "PKCS12"],
  ["JKS", "JKS"],
  ["BCFKS", "BCFKS"],
]);
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
const OTHERS_MAY = 0o077;
/** The first four bytes of a JKS file. */
const JKS_MAGIC = 0xfeedfeed;

/** A store that can be read, and its bytes. */
interface OpenedStore {
  readonly file: string;
  readonly type: StoreType;
  readonly bytes: Buffer;
  readonly password: string | undefined;
}

/**
 * Reads who the server is: a private key with its certificate and the chain behind it.
 *
 * @param name how the setting is called, for what is wrong
 */
export function readKeyStore(
  name: string,
  options: KeyStoreOptions,
  problems: string[],
  notices: string[],
): TlsMaterial | undefined {
  const store = open(name, options, problems);
  if (store === undefined) return undefined;
  const { file, type, bytes, password } = store;
  if (process.platform !== "win32" && (statSync(file).mode & OTHERS_MAY) !== 0) {
    notices.push(`${name}.location: ${file} holds a private key and is open to other users: chmod 600 ${file}`);
  }
  const passphrase = password === undefined ? {} : { passphrase: password };
  try {
    const material = materialOf(type, bytes, password, passphrase);
    if (material === undefined) {
      problems.push(`${name}.location: ${file} holds no private key`);
      return undefined;
    }
    createSecureContext(material);
    const fault = type === "PEM" ? pairFault(bytes, password) : undefined;
    if (fault === undefined) return material;
    problems.push(`${name}.location: ${file} ${fault}`);
  } catch (error) {
    problems.push(`${name}.location: ${file} cannot be used: ${reasonOf(error, file)}`);
  }
  return undefined;
}

function materialOf(
  type: StoreType,
  bytes: Buffer,
  password: string | undefined,
  passphrase: Pick<TlsMaterial, "passphrase">,
): Omit<TlsMaterial, "ca"> | undefined {
  if (type === "PEM") return { key: bytes, cert: bytes, ...passphrase };
  if (type === "PKCS12") return { pfx: bytes, ...passphrase };
  const { identity } = readJavaKeyStore(bytes, password);
  return identity && { key: Buffer.from(identity.key), cert: Buffer.from(identity.cert) };
}

/** Reads whom the server trusts to say who somebody is. */
export function readTrustStore(
  name: string,
  options: KeyStoreOptions,
  problems: string[],
): readonly string[] | undefined {
  const store = open(name, options, problems);
  if (store === undefined) return undefined;
  const { file } = store;
  try {
    const certificates = certificatesOf(store);
    for (const certificate of certificates) new X509Certificate(certificate);
    if (certificates.length > 0) return certificates;
    problems.push(`${name}.location: ${file} holds no certificate`);
  } catch (error) {
    problems.push(`${name}.location: ${file} cannot be used: ${reasonOf(error, file)}`);
  }
  return undefined;
}

function certificatesOf({ type, bytes, password }: OpenedStore): readonly string[] {
  if (type === "PEM") return bytes.toString("latin1").match(CERTIFICATES) ?? [];
  if (type === "PKCS12") return pkcs12Certificates(bytes, password ?? "");
  return readJavaKeyStore(bytes, password).certificates;
}

function open(
  name: string,
  { location, password, passwordPath, type }: KeyStoreOptions,
  problems: string[],
): OpenedStore | undefined {
  if (location === undefined) return undefined;
  const suffix = /\.([^./\\]+)$/.exec(location)?.[1] ?? "";
  const found = TYPES.get((type ?? suffix).toUpperCase());
  if (found === undefined) {
    problems.push(
      type === undefined
        ? `${name}.location: the name of ${location} does not tell what it is; ${name}.type=PEM, PKCS12 or JKS does`
        : `${name}.type is PEM, PKCS12 or JKS, found "${type}"`,
    );
    return undefined;
  }
  try {
    const bytes = readFileSync(location);
    const secret = passwordPath === undefined ? password : readFileSync(passwordPath, "utf8").replace(/\r?\n$/, "");
    if (found === "PEM") return { file: location, type: found, bytes, password: secret };
    if (found !== "BCFKS") return { file: location, type: javaType(bytes), bytes, password: secret };
    problems.push(`${name}.location: ${location} is a store that only Java reads (${found}); ${conversion(location)}`);
  } catch (error) {
    problems.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

/** Java reads either of its forms by either name, and so gives stores that are called .jks the newer form for years. */
function javaType(bytes: Buffer): StoreType {
  return bytes.length >= 4 && bytes.readUInt32BE(0) === JKS_MAGIC ? "JKS" : "PKCS12";
}

function conversion(file: string): string {
  const target = `${file.replace(/\.[^./\\]+$/, "")}.p12`;
  return `convert it: keytool -importkeystore -srckeystore ${file} -destkeystore ${target} -deststoretype PKCS12`;
}

/** What speaks against the key of a PEM file being that of its first certificate. */
function pairFault(pem: Buffer, passphrase: string | undefined): string | undefined {
  const key = createPrivateKey({ key: pem, ...(passphrase === undefined ? {} : { passphrase }) });
  return new X509Certificate(pem).checkPrivateKey(key) ? undefined : "holds a certificate that is not of its key";
}

function reasonOf(error: unknown, file: string): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/unsupported/i.test(message)) {
    return `${message}; a newer keytool writes it anew: ${conversion(file)
      .replace("convert it: ", "")
      .replace(/\.p12 -dest/, ".new.p12 -dest")}`;
  }
  if (
    /mac (verify|could not be verified)|bad decrypt|wrong final block|password verification failed|cannot recover key/i.test(
      message,
    )
  )
    return `its password is another (${message})`;
  return message;
}
