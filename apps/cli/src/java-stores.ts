/** Keys and certificates as Java's settings name them: PEM, PKCS#12, and the form that was Java's own. */
import { readFileSync } from "node:fs";
import type { TlsOptions } from "@zooid/client";
import { toPem } from "jks-js";
import forge from "node-forge";
import { usageError } from "./cli-error.ts";
import type { JavaSetting } from "./java-settings.ts";

export interface StoreSettings {
  readonly location: JavaSetting | undefined;
  readonly password: string | undefined;
  /** A file that holds the password; it wins over `password`. */
  readonly passwordPath: string | undefined;
  /** PEM, PKCS12 or JKS. Default: by the file's name. */
  readonly type: string | undefined;
}

type StoreType = "PEM" | "PKCS12" | "JKS";

interface OpenedStore {
  readonly type: StoreType;
  readonly bytes: Buffer;
  readonly password: string | undefined;
}

const TYPES: ReadonlyMap<string, StoreType> = new Map<string, StoreType>([
  ["PEM", "PEM"],
  ...["PKCS12", "P12", "PFX", "JKS"].map((name) => [name, "PKCS12"] as const),
]);
const CERTIFICATES = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;
/** The first four bytes of a JKS file. Java reads either form by either name. */
const JKS_MAGIC = 0xfeedfeed;

/** Who we are: a private key with its certificate. Nobody, where no file is named. @throws CliError */
export function readKeyStore(settings: StoreSettings): TlsOptions {
  return opened(settings, ({ type, bytes, password }) => {
    const passphrase = password === undefined ? {} : { passphrase: password };
    if (type === "PEM") return { key: bytes, cert: bytes, ...passphrase };
    if (type === "PKCS12") return { pfx: bytes, ...passphrase };
    const found = Object.values(toPem(bytes, password ?? "")).find(
      ({ key, cert }) => key !== undefined && cert !== undefined,
    );
    if (found?.key === undefined || found.cert === undefined) throw new Error("it holds no private key");
    return { key: found.key, cert: found.cert };
  });
}

/** Whom we trust; whoever is trusted by this system's Node, where no file is named. @throws CliError */
export function readTrustStore(settings: StoreSettings): TlsOptions {
  return opened(settings, (store) => {
    const ca = certificatesOf(store);
    if (ca.length === 0) throw new Error("it holds no certificate");
    return { ca };
  });
}

function certificatesOf({ type, bytes, password = "" }: OpenedStore): string[] {
  if (type === "PEM") return bytes.toString("latin1").match(CERTIFICATES) ?? [];
  if (type === "PKCS12") return pkcs12Certificates(bytes, password);
  // Of those who have a key in it their own certificate counts, not who signed it.
  return Object.values(toPem(bytes, password)).flatMap(
    ({ ca, cert }) => (ca ?? cert ?? "").match(CERTIFICATES)?.[0] ?? [],
  );
}

/** RFC 7292. The platform reads such a file only where it holds a private key, and a file of those who are trusted holds none. */
function pkcs12Certificates(bytes: Buffer, password: string): string[] {
  const store = forge.pkcs12.pkcs12FromAsn1(forge.asn1.fromDer(bytes.toString("latin1")), true, password);
  const type = forge.pki.oids["certBag"] ?? "";
  return (store.getBags({ bagType: type })[type] ?? []).flatMap(({ cert, asn1 }) => {
    // The library itself understands keys of RSA only; of others it hands over what it found.
    const whole = cert === null || cert === undefined ? asn1 : forge.pki.certificateToAsn1(cert);
    if (whole === undefined) return [];
    return forge.pem.encode({ type: "CERTIFICATE", body: forge.asn1.toDer(whole).getBytes() });
  });
}

function opened(settings: StoreSettings, read: (store: OpenedStore) => TlsOptions): TlsOptions {
  const { location, passwordPath } = settings;
  if (location === undefined) return {};
  const { key, value: file, where } = location;
  const type = TYPES.get((settings.type ?? /\.([^./\\]+)$/.exec(file)?.[1] ?? "").toUpperCase());
  if (type === undefined) {
    throw usageError(
      `${where}: ${key.replace(/location$/, "type")} is PEM, PKCS12 or JKS, or the name of ${file} ends so`,
    );
  }
  try {
    const bytes = readFileSync(file);
    const password =
      passwordPath === undefined ? settings.password : readFileSync(passwordPath, "utf8").replace(/\r?\n$/, "");
    const isOld = type === "PKCS12" && bytes.length >= 4 && bytes.readUInt32BE(0) === JKS_MAGIC;
    return read({ type: isOld ? "JKS" : type, bytes, password });
  } catch (error) {
    throw usageError(
      `${where}: ${key}: ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
