import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import type { TlsOptions } from "@zooid/client";

/** Files in PEM, and the name that the servers' certificates must match. */
export interface TlsFiles {
  /** Trusted authorities; undefined: those that Node.js trusts. */
  readonly authorities: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** A file with the key's password. */
  readonly keyPassword: string | undefined;
  /** Undefined: the host of the connect string. */
  readonly serverName: string | undefined;
}

/**
 * The files' contents, read again for each connection: renewed certificates need no restart.
 *
 * @throws now for a file that cannot be read, and for a key that does not fit its certificate
 */
export function tlsOfFiles(files: TlsFiles): () => TlsOptions {
  createSecureContext(readTls(files));
  return () => readTls(files);
}

function readTls({ authorities, certificate, key, keyPassword, serverName }: TlsFiles): TlsOptions {
  return {
    ...(authorities === undefined ? {} : { ca: readFileSync(authorities) }),
    ...(certificate === undefined ? {} : { cert: readFileSync(certificate) }),
    ...(key === undefined ? {} : { key: readFileSync(key) }),
    ...(keyPassword === undefined ? {} : { passphrase: readFileSync(keyPassword, "utf8").replace(/\r?\n$/, "") }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}
