import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import type { CertificateFacts, SecretFile, SecurityFacts } from "@zooid/doctor";
import { keyStoreFiles } from "@zooid/java-files";
import type { ServeCommand } from "../configuration/command-line.ts";
import { publicAddresses } from "./host-facts.ts";

/** Settings that name a file with a key or a password. */
const SECRET_FILES = [
  "ssl.keyStore.location",
  "ssl.keyStore.passwordPath",
  "ssl.trustStore.passwordPath",
  "ssl.quorum.keyStore.location",
  "ssl.quorum.keyStore.passwordPath",
  "ssl.quorum.trustStore.passwordPath",
  "zooid.peerTls.key",
  "zooid.peerSecretFile",
  "zooid.backup.credentialsFile",
] as const;
/** Settings that name a file with the server's own certificate. */
const CERTIFICATE_FILES = ["ssl.keyStore.location", "ssl.quorum.keyStore.location", "zooid.peerTls.cert"] as const;
/** Settings whose values are secrets, so that the file that has them is one. */
const SECRET_VALUES = /(?:^|\.)(?:password|superDigest)$/i;
const ADMIN_PORT = 8080;
const LOCAL = /^(?:localhost|::1|127\..*)$/;
const ANY: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Modes of secret files, ends of certificates, and ports that strangers may reach. */
export function securityFacts(command: ServeCommand, missing: string[]): SecurityFacts {
  const { values, configFile, options } = command;
  const secrets = SECRET_FILES.flatMap((key) => secretFile(key, values.get(key), missing));
  const secretKeys = [...values.keys()].filter((key) => SECRET_VALUES.test(key));
  if (configFile !== undefined && secretKeys.length > 0)
    secrets.push(...secretFile(secretKeys.join(", "), configFile, missing));
  const hosts = options.ensemble?.servers.map(({ host }) => host) ?? [];
  const { admin } = options;
  return {
    secrets,
    certificates: CERTIFICATE_FILES.flatMap((key) => certificate(key, values.get(key), missing)),
    peers:
      options.ensemble === undefined
        ? undefined
        : { isAuthenticated: hasPeerProof(values), distantHost: hosts.find((host) => !LOCAL.test(host)) },
    admin:
      admin?.enabled === false
        ? undefined
        : {
            port: admin?.port ?? ADMIN_PORT,
            needsCertificate: admin?.forceHttps === true && admin.needClientAuth === true,
            publicAddresses: listened(admin?.address ?? options.address),
          },
  };
}

/** A server with neither starts only where zooid.allowUnauthenticatedPeers is true. */
function hasPeerProof(values: ReadonlyMap<string, string>): boolean {
  return values.get("zooid.allowUnauthenticatedPeers")?.toLowerCase() !== "true" || values.has("zooid.peerSecretFile");
}

/** Without a configuration a server listens on the loopback alone. */
function listened(address: string | undefined): readonly string[] {
  if (address === undefined) return [];
  const reachable = publicAddresses();
  return ANY.has(address) ? reachable : reachable.filter((one) => one === address);
}

function secretFile(key: string, path: string | undefined, missing: string[]): SecretFile[] {
  if (path === undefined || path === "") return [];
  try {
    return [{ path, key, mode: statSync(path).mode }];
  } catch (error) {
    missing.push(`the mode of ${path} (${key}): ${messageOf(error)}`);
    return [];
  }
}

/** The first certificate of a PEM file is the server's own. */
function certificate(key: string, path: string | undefined, missing: string[]): readonly CertificateFacts[] {
  if (path === undefined || path === "") return [];
  try {
    // Of a key alone the certificate is beside it.
    const text = keyStoreFiles(path)
      .filter((file) => file === path || existsSync(file))
      .map((file) => readFileSync(file, "latin1"))
      .join("\n");
    if (!text.includes("-----BEGIN CERTIFICATE-----")) {
      missing.push(`the end of the certificate in ${path} (${key}): only PEM files are read; /healthz names it`);
      return [];
    }
    return [{ path, key, notAfterMs: Date.parse(new X509Certificate(text).validTo) }];
  } catch (error) {
    missing.push(`the certificate in ${path} (${key}): ${messageOf(error)}`);
    return [];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
