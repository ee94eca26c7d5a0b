import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseProperties } from "zooid-server/internal/configuration/properties";
import type { Authority } from "../faults/ensemble-certificates.ts";

/** Java refuses shorter passwords for a store that it writes. */
const JAVA_CHARS_MIN = 6;

/**
 * Makes the stores that a configuration names: of keys with a certificate for these hosts, of trust
 * with its authority. Needs the `openssl` command, and `keytool` for stores of Java's form.
 *
 * @param authority of all members of an ensemble
 * @returns settings for passwords that are too short for Java, which take the place of the file's
 */
export function makeStores(text: string, hosts: readonly string[], authority: () => Authority): readonly string[] {
  const settings = new Map(parseProperties(text).map(({ key, value }) => [key, value]));
  const stores = [...settings].flatMap(([key, location]) => {
    const [, prefix = "", kind = ""] = /^(ssl\.(?:quorum\.)?)(keyStore|trustStore)\.location$/.exec(key) ?? [];
    return prefix === "" ? [] : [{ name: `${prefix}${kind}`, location, isTrust: kind === "trustStore" }];
  });
  const [first] = stores;
  if (first === undefined) return [];
  mkdirSync(dirname(first.location), { recursive: true });
  const pem = join(dirname(first.location), "server.pem");
  authority().issue(pem, ["DNS:localhost", ...hosts.map((host) => `IP:${host}`)]);
  const changed: string[] = [];
  for (const { name, location, isTrust } of stores) {
    mkdirSync(dirname(location), { recursive: true });
    rmSync(location, { force: true });
    const written = settings.get(`${name}.password`) ?? "";
    const password = written.length < JAVA_CHARS_MIN ? `${written}-as-long-as-needed` : written;
    if (password !== written) changed.push(`${name}.password=${password}`);
    writeStore(location, { isTrust, password, pem: isTrust ? authority().certificate : pem });
  }
  return changed;
}

interface Content {
  readonly isTrust: boolean;
  readonly password: string;
  readonly pem: string;
}

function writeStore(location: string, { isTrust, password, pem }: Content): void {
  if (location.endsWith(".pem")) {
    copyFileSync(pem, location);
    return;
  }
  const type = location.endsWith(".jks") ? "JKS" : "PKCS12";
  if (isTrust) {
    keytool("-importcert", "-noprompt", "-alias", "authority", "-file", pem, ...store(location, type, password));
    return;
  }
  const bundle = `${location}.p12`;
  run("openssl", "pkcs12", "-export", "-in", pem, "-out", bundle, "-name", "server", "-passout", `pass:${password}`);
  const from = ["-srckeystore", bundle, "-srcstoretype", "PKCS12", "-srcstorepass", password];
  const to = ["-destkeystore", location, "-deststoretype", type, "-deststorepass", password];
  keytool("-importkeystore", "-noprompt", ...from, ...to);
}

function store(location: string, type: string, password: string): readonly string[] {
  return ["-keystore", location, "-storetype", type, "-storepass", password];
}

function keytool(...args: readonly string[]): void {
  run("keytool", ...args);
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: ["ignore", "ignore", "pipe"] });
}
