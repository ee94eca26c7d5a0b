import { createPrivateKey, X509Certificate } from "node:crypto";
import { statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import {
  certificatesOf,
  type IdentityMaterial,
  identityOf,
  keyStoreType,
  type OpenedKeyStore,
  openKeyStore,
} from "@zooid/java-files";

/** A file of keys or of certificates, by Java's settings. */
export interface KeyStoreOptions {
  readonly location?: string;
  readonly password?: string;
  /** A file with the password; it overrides `password`. */
  readonly passwordPath?: string;
  /** PEM, PKCS12 or JKS. Default: by the file's extension. */
  readonly type?: string;
}

/** As for the files of links between servers: a group may read it, as Kubernetes mounts secrets. */
const TOO_OPEN = 0o027;
/**
 * Reads the server's identity: a private key with its certificate and chain.
 *
 * @param name of the setting, for problems
 */
export function readKeyStore(
  name: string,
  options: KeyStoreOptions,
  problems: string[],
  notices: string[],
): IdentityMaterial | undefined {
  const store = open(name, options, problems);
  if (store === undefined) return undefined;
  const { file, type, bytes, password } = store;
  if (process.platform !== "win32" && (statSync(file).mode & TOO_OPEN) !== 0) {
    notices.push(`${name}.location: ${file} holds a private key and is open to other users: chmod 600 ${file}`);
  }
  try {
    const material = identityOf(store);
    if (material === undefined) {
      problems.push(`${name}.location: ${file} holds no private key`);
      return undefined;
    }
    const absent = type === "PEM" ? absentPart(bytes) : undefined;
    if (absent !== undefined) {
      problems.push(
        `${name}.location: ${file} holds no ${absent} in PEM; it needs the private key and its certificate`,
      );
      return undefined;
    }
    createSecureContext(material);
    const fault = type === "PEM" ? pairFault(bytes, password) : undefined;
    if (fault === undefined) return material;
    problems.push(`${name}.location: ${file} ${fault}`);
  } catch (error) {
    problems.push(`${name}.location: ${file} cannot be used: ${reasonOf(error, store, name)}`);
  }
  return undefined;
}

/** Reads the trusted authorities. */
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
    problems.push(`${name}.location: ${file} cannot be used: ${reasonOf(error, store, name)}`);
  }
  return undefined;
}

function open(
  name: string,
  { location, password, passwordPath, type }: KeyStoreOptions,
  problems: string[],
): OpenedKeyStore | undefined {
  if (location === undefined) return undefined;
  const found = keyStoreType(location, type);
  if (found === undefined) {
    problems.push(
      type === undefined
        ? `${name}.location: the name of ${location} does not tell what it is; ${name}.type=PEM, PKCS12 or JKS does`
        : `${name}.type is PEM, PKCS12 or JKS, found "${type}"`,
    );
    return undefined;
  }
  try {
    if (found !== "BCFKS") return openKeyStore(location, { type: found, password, passwordPath });
    problems.push(`${name}.location: ${location} is a store that only Java reads (${found}); ${conversion(location)}`);
  } catch (error) {
    const isOfPassword = error instanceof Error && "path" in error && error.path === passwordPath;
    const key = isOfPassword ? "passwordPath" : "location";
    problems.push(`${name}.${key}: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

function conversion(file: string): string {
  const target = `${file.replace(/\.[^./\\]+$/, "")}.p12`;
  return `convert it: keytool -importkeystore -srckeystore ${file} -destkeystore ${target} -deststoretype PKCS12`;
}

function absentPart(pem: Buffer): string | undefined {
  const text = pem.toString("latin1");
  if (!/-----BEGIN ([A-Z]+ )*PRIVATE KEY-----/.test(text)) return "private key";
  return /-----BEGIN (TRUSTED |X509 )?CERTIFICATE-----/.test(text) ? undefined : "certificate";
}

/** The reason why the key of a PEM file does not belong to its first certificate. */
function pairFault(pem: Buffer, passphrase: string | undefined): string | undefined {
  const key = createPrivateKey({ key: pem, ...(passphrase === undefined ? {} : { passphrase }) });
  return new X509Certificate(pem).checkPrivateKey(key) ? undefined : "holds a certificate that is not of its key";
}

function reasonOf(error: unknown, { file, password, type }: OpenedKeyStore, name: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ERR_MISSING_PASSPHRASE" || (PASSWORD_FAULT.test(message) && password === undefined))
    return `it is encrypted, and ${name}.password or ${name}.passwordPath has no password for it`;
  if (code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH") return "its certificate is not that of its key";
  if (PASSWORD_FAULT.test(message)) return `its password is another than that in ${name}.password or .passwordPath`;
  if (/unsupported/i.test(message) && type !== "PEM") {
    const command = conversion(file)
      .replace("convert it: ", "")
      .replace(/\.p12 -dest/, ".new.p12 -dest");
    return `it is encrypted in a form that is not supported; a newer keytool rewrites it: ${command}`;
  }
  return `it is damaged, or no ${type} file (${code === "" ? message : code})`;
}

const PASSWORD_FAULT =
  /mac (verify|could not be verified)|bad decrypt|wrong final block|password verification failed|cannot recover key/i;
