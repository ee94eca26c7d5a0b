import { getCiphers, type SecureContextOptions, type SecureVersion } from "node:tls";
import { keyStoreFiles } from "@zooid/java-files";
import { opensslCipher } from "./cipher-suites.ts";
import { type KeyStoreOptions, readKeyStore, readTrustStore } from "./key-store.ts";
import { readRevocationLists } from "./revocation-lists.ts";

/** TLS, by the names of ZooKeeper's settings. */
export interface TlsOptions {
  /**
   * The server's identity: private key, certificate and chain, in one file; or a key `NAME.key`,
   * and the others in `NAME.crt` beside it.
   */
  readonly keyStore?: KeyStoreOptions;
  /** The trusted authorities for clients' certificates. */
  readonly trustStore?: KeyStoreOptions;
  /**
   * Client certificates: required (`need`), verified if there is one (`want`), or not requested
   * (`none`). Default `need`.
   */
  readonly clientAuth?: string;
  /** The newest enabled version: TLSv1.3 or TLSv1.2. Default TLSv1.3. */
  readonly protocol?: string;
  /** Enabled versions. Default: TLSv1.2 and all above it up to `protocol`. */
  readonly enabledProtocols?: readonly string[];
  /** Enabled cipher suites, by Java's names. Default: the platform's. */
  readonly cipherSuites?: readonly string[];
  /**
   * How long a client may take from its first byte to the end of the handshake, in milliseconds.
   * Default 5000.
   */
  readonly handshakeTimeoutMs?: number;
  /** Handshakes at a time; connections beyond are closed. -1 is no limit. Default -1. */
  readonly handshakeCountMax?: number;
  /** Read the files again when they change. Default false. */
  readonly certReload?: boolean;
  /** Whether revoked certificates are refused; needs `crlFile`. Default: whether there is one. */
  readonly crl?: boolean;
  /** A PEM file of certificate revocation lists, one of each authority in `trustStore`. */
  readonly crlFile?: string;
  /** Whether a client's certificate must name the client's address. Default false. */
  readonly clientHostnameVerification?: boolean;
}

const INT_MAX = 2 ** 31 - 1;

const CLIENT_AUTH: readonly ClientAuthMode[] = ["need", "want", "none"];
export type ClientAuthMode = "need" | "want" | "none";

/** {@link TlsOptions} after validation. */
export interface TlsConfig {
  readonly clientAuth: ClientAuthMode;
  readonly handshakeTimeoutMs: number;
  readonly handshakeCountMax: number;
  readonly clientHostnameVerification: boolean;
  /** Every file that was read. */
  readonly files: readonly string[];
  /** Those that are read again when they change: none without `certReload`. */
  readonly watched: readonly string[];
  /** The TLS settings at startup, with the files' content. */
  readonly context: SecureContextOptions;
  /** Reads the files again. @returns the settings, or a list of problems */
  reload(): SecureContextOptions | readonly string[];
}

/** The settings that ask for TLS, by the prefix of the stores' settings. */
const ASKED_BY: ReadonlyMap<string, string> = new Map([
  ["ssl", "secureClientPort and client.portUnification ask for it"],
  ["ssl.quorum", "sslQuorum, portUnification, admin.forceHttps and admin.portUnification ask for it"],
]);

const VERSIONS: readonly string[] & readonly SecureVersion[] = ["TLSv1.2", "TLSv1.3"];

/**
 * Validates options and reads the files; errors are added to the problems, and the result is then
 * undefined.
 *
 * @param prefix of the settings' names, for problems
 */
export function parseTls(
  options: TlsOptions,
  prefix: string,
  problems: string[],
  notices: string[],
): TlsConfig | undefined {
  const found = problems.length;
  const clientAuth = CLIENT_AUTH.find((mode) => mode === (options.clientAuth ?? "need").toLowerCase());
  if (clientAuth === undefined) {
    problems.push(`${prefix}.clientAuth is need, want or none, found "${options.clientAuth}"`);
  }
  const fixed = { ...versions(options, prefix, problems), ...ciphers(options, prefix, problems) };
  const { keyStore = {}, trustStore = {} } = options;
  if (keyStore.location === undefined) {
    problems.push(
      `TLS needs ${prefix}.keyStore.location: it names the file with the server's key and certificate; ${ASKED_BY.get(prefix)}`,
    );
  }
  if (trustStore.location === undefined && clientAuth === "need") {
    problems.push(
      `clients need certificates (${prefix}.clientAuth=need), and ${prefix}.trustStore.location does not say whose; ` +
        `${prefix}.clientAuth=none asks for none`,
    );
  }
  const crlFile = usedCrlFile(options, prefix, problems);
  const read = (into: string[], also: string[]): SecureContextOptions => {
    const own = readKeyStore(`${prefix}.keyStore`, keyStore, into, also);
    const ca = readTrustStore(`${prefix}.trustStore`, trustStore, into);
    const crl = crlFile === undefined ? undefined : readRevocationLists(`zooid.${prefix}.crlFile`, crlFile, into, also);
    // No authority is trusted by default: those of web sites do not vouch for ZooKeeper's clients.
    return { ...own, ca: [...(ca ?? [])], ...(crl === undefined ? {} : { crl }), ...fixed };
  };
  const context = read(problems, notices);
  const { handshakeTimeoutMs = 5000, handshakeCountMax = -1 } = options;
  if (!Number.isInteger(handshakeTimeoutMs) || handshakeTimeoutMs < 1 || handshakeTimeoutMs > INT_MAX) {
    problems.push(
      `${prefix}.handshakeDetectionTimeoutMillis is a whole number from 1 to ${INT_MAX}, found ${handshakeTimeoutMs}`,
    );
  }
  if (!Number.isInteger(handshakeCountMax) || handshakeCountMax < -1 || handshakeCountMax > INT_MAX) {
    problems.push(
      `netty.server.outstandingHandshake.limit is a whole number from -1 to ${INT_MAX}, found ${handshakeCountMax}`,
    );
  }
  if (problems.length > found || clientAuth === undefined) return undefined;
  const stores = [keyStore, trustStore];
  const files = [...stores.flatMap(filesOf), crlFile].filter((file) => file !== undefined);
  return {
    clientAuth,
    handshakeTimeoutMs,
    handshakeCountMax: handshakeCountMax === -1 ? Number.POSITIVE_INFINITY : handshakeCountMax,
    clientHostnameVerification: options.clientHostnameVerification ?? false,
    files,
    watched: options.certReload === true ? files : [],
    context,
    reload: () => {
      const wrong: string[] = [];
      const again = read(wrong, []);
      return wrong.length > 0 ? wrong : again;
    },
  };
}

function filesOf({ location, passwordPath }: KeyStoreOptions): readonly (string | undefined)[] {
  return [...(location === undefined ? [] : keyStoreFiles(location)), passwordPath];
}

function usedCrlFile({ crl, crlFile }: TlsOptions, prefix: string, problems: string[]): string | undefined {
  if (crl === true && crlFile === undefined) {
    problems.push(
      `${prefix}.crl=true needs zooid.${prefix}.crlFile=FILE, a PEM file of the authorities' lists: they are not fetched from where certificates say`,
    );
  }
  return crl === false ? undefined : crlFile;
}

type Versions = { readonly minVersion: SecureVersion; readonly maxVersion: SecureVersion };

function versions(
  { protocol = "TLSv1.3", enabledProtocols }: TlsOptions,
  prefix: string,
  problems: string[],
): Versions {
  const place = (setting: string, name: string): number => {
    const at = VERSIONS.indexOf(name);
    if (at === -1)
      problems.push(`${prefix}.${setting} names TLSv1.3 or TLSv1.2, found "${name}"; older ones are not safe`);
    return Math.max(at, 0);
  };
  const newest = place("protocol", protocol);
  const enabled = enabledProtocols?.map((name) => place("enabledProtocols", name)) ?? [0, newest];
  return {
    minVersion: VERSIONS[Math.min(...enabled)] ?? "TLSv1.2",
    maxVersion: VERSIONS[Math.max(...enabled)] ?? "TLSv1.3",
  };
}

function ciphers({ cipherSuites }: TlsOptions, prefix: string, problems: string[]): { readonly ciphers?: string } {
  if (cipherSuites === undefined) return {};
  const known = new Set(getCiphers());
  const names: string[] = [];
  for (const name of cipherSuites) {
    const cipher = opensslCipher(name);
    if (cipher !== undefined && known.has(cipher.toLowerCase())) names.push(cipher);
    else problems.push(`${prefix}.ciphersuites: ${name} is not known here, or too weak to be offered`);
  }
  return { ciphers: names.join(":") };
}
