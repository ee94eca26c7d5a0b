/** Key stores and trust stores of Java's settings: PEM, PKCS#12 and JKS. */
import type { TlsOptions } from "@zooid/client";
import { certificatesOf, identityOf, keyStoreType, type OpenedKeyStore, openKeyStore } from "@zooid/java-files";
import { usageError } from "../cli-error.ts";
import type { JavaSetting } from "./java-settings.ts";

export interface StoreSettings {
  readonly location: JavaSetting | undefined;
  readonly password: string | undefined;
  /** A file with the password; overrides `password`. */
  readonly passwordPath: string | undefined;
  /** PEM, PKCS12 or JKS. Default: by the file's name. */
  readonly type: string | undefined;
}

/** The private key with its certificate; undefined without a file. @throws CliError */
export function readKeyStore(settings: StoreSettings): TlsOptions {
  return opened(settings, (store) => {
    const identity = identityOf(store);
    if (identity === undefined) throw new Error("it holds no private key");
    return identity;
  });
}

/** The trusted certificates; Node's default without a file. @throws CliError */
export function readTrustStore(settings: StoreSettings): TlsOptions {
  return opened(settings, (store) => {
    const ca = certificatesOf(store);
    if (ca.length === 0) throw new Error("it holds no certificate");
    return { ca: [...ca] };
  });
}

function opened(settings: StoreSettings, read: (store: OpenedKeyStore) => TlsOptions): TlsOptions {
  const { location, passwordPath } = settings;
  if (location === undefined) return {};
  const { key, value: file, where } = location;
  const type = keyStoreType(file, settings.type);
  if (type === undefined || type === "BCFKS") {
    throw usageError(
      `${where}: ${key.replace(/location$/, "type")} is PEM, PKCS12 or JKS, or the name of ${file} ends so`,
    );
  }
  try {
    return read(openKeyStore(file, { type, password: settings.password, passwordPath }));
  } catch (error) {
    throw usageError(
      `${where}: ${key}: ${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
