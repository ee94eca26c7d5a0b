import type { SecureVersion } from "node:tls";
import { type SaslMechanism, type TlsOptions, tlsTransport } from "@zooid/client";
import { usageError } from "../cli-error.ts";
import { jaasMechanism } from "./jaas-login.ts";
import type { JavaSetting } from "./java-settings.ts";
import { readKeyStore, readTrustStore, type StoreSettings } from "./java-stores.ts";

/** The effect of a Java client's settings here. */
export interface ClientConfiguration {
  readonly frameBytesMax: number | undefined;
  readonly tls: TlsOptions | undefined;
  readonly sasl: SaslMechanism | undefined;
  /** A message for each setting without effect. */
  readonly warnings: readonly string[];
}

/** Unsupported security settings: ignoring one would connect in another way than configured. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ["zookeeper.ssl.ciphersuites", "the suites are chosen by this program"],
  ["zookeeper.ssl.context.supplier.class", "it names a class of Java's"],
]);
const REFUSED_WHERE_TRUE: ReadonlyMap<string, string> = new Map([
  ["zookeeper.ssl.crl", "revocation lists are not supported"],
  ["zookeeper.ssl.ocsp", "OCSP is not supported"],
]);
/** Settings that select Java classes, which are meaningless here. */
const SILENT: ReadonlySet<string> = new Set(["zookeeper.clientCnxnSocket", "zookeeper.fips-mode"]);

const TLS_VERSIONS: readonly string[] & readonly SecureVersion[] = ["TLSv1.2", "TLSv1.3"];

/**
 * @param all the last value of a setting wins
 * @throws CliError for invalid and unsupported settings
 */
export function parseClientConfiguration(all: readonly JavaSetting[]): ClientConfiguration {
  const settings = new Settings(all);
  const frameBytesMax = settings.bytes("jute.maxbuffer");
  // Both are checked, so that each error is reported.
  const tls = parseTls(settings);
  const notes: string[] = [];
  const sasl = parseSasl(settings, notes);
  return { frameBytesMax, tls, sasl, warnings: [...notes, ...settings.warnings()] };
}

function parseTls(settings: Settings): TlsOptions | undefined {
  const keyStore = settings.store("zookeeper.ssl.keyStore");
  const trustStore = settings.store("zookeeper.ssl.trustStore");
  const isVerified = settings.isTrue("zookeeper.ssl.hostnameVerification", true);
  const versions = settings.versions();
  if (!settings.isTrue("zookeeper.client.secure", false)) return undefined;
  const tls = {
    ...readKeyStore(keyStore),
    ...readTrustStore(trustStore),
    ...versions,
    ...(isVerified ? {} : { checkServerIdentity: () => undefined }),
  };
  try {
    tlsTransport(tls);
  } catch (error) {
    const file = keyStore.location?.value ?? trustStore.location?.value;
    throw usageError(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
  return tls;
}

function parseSasl(settings: Settings, notes: string[]): SaslMechanism | undefined {
  const file = settings.take("java.security.auth.login.config");
  const section = settings.take("zookeeper.sasl.clientconfig");
  const wanted = settings.take("zookeeper.sasl.client");
  if (wanted?.value.toLowerCase() === "false") return undefined;
  if (file !== undefined) {
    const mechanism = jaasMechanism(file, section);
    if (mechanism === undefined) notes.push(`${file.value} has no section Client: SASL is not used`);
    return mechanism;
  }
  const asked = section ?? wanted;
  if (asked === undefined) return undefined;
  throw usageError(
    `${asked.where}: ${asked.key}=${asked.value} needs java.security.auth.login.config, the file with the credentials`,
  );
}

/** Settings by name, which are taken one by one; the remaining ones have no effect. */
class Settings {
  readonly #left: Map<string, JavaSetting>;

  constructor(all: readonly JavaSetting[]) {
    this.#left = new Map(all.map((setting) => [setting.key, setting]));
  }

  take(key: string): JavaSetting | undefined {
    const setting = this.#left.get(key);
    this.#left.delete(key);
    return setting;
  }

  isTrue(key: string, otherwise: boolean): boolean {
    return (this.take(key)?.value ?? String(otherwise)).trim().toLowerCase() === "true";
  }

  store(prefix: string): StoreSettings {
    return {
      location: this.take(`${prefix}.location`),
      password: this.take(`${prefix}.password`)?.value,
      passwordPath: this.take(`${prefix}.passwordPath`)?.value,
      type: this.take(`${prefix}.type`)?.value,
    };
  }

  bytes(key: string): number | undefined {
    const setting = this.take(key);
    if (setting === undefined) return undefined;
    const { value, where } = setting;
    const bytes = /^0x/i.test(value) ? Number.parseInt(value, 16) : Number(value);
    if (Number.isInteger(bytes) && bytes >= 1024 && bytes < 2 ** 31) return bytes;
    throw usageError(`${where}: ${key} takes bytes from 1024 to ${2 ** 31 - 1}, found ${JSON.stringify(value)}`);
  }

  versions(): Pick<TlsOptions, "minVersion" | "maxVersion"> {
    const newest = this.take("zookeeper.ssl.protocol");
    const enabled = this.take("zookeeper.ssl.enabledProtocols");
    const setting = enabled ?? newest;
    if (setting === undefined) return {};
    const places = setting.value.split(",").map((name) => TLS_VERSIONS.indexOf(name.trim()));
    if (places.includes(-1)) {
      throw usageError(`${setting.where}: ${setting.key} names TLSv1.2 or TLSv1.3, found ${setting.value}`);
    }
    const [least, most] = [Math.min(...places), Math.max(...places)].map((place) => TLS_VERSIONS[place]);
    return {
      ...(enabled === undefined || least === undefined ? {} : { minVersion: least }),
      ...(most && { maxVersion: most }),
    };
  }

  /** A message for each remaining setting. @throws CliError for an unsupported security setting */
  warnings(): readonly string[] {
    const left = [...this.#left.values()].filter(({ key }) => !SILENT.has(key));
    for (const { key, value, where } of left) {
      const isAsked = value.trim().toLowerCase() === "true";
      const reason = REFUSED.get(key) ?? (isAsked ? REFUSED_WHERE_TRUE.get(key) : undefined);
      if (reason !== undefined) throw usageError(`${where}: ${key}=${value} cannot be honoured: ${reason}`);
    }
    return left
      .filter(({ key }) => !REFUSED_WHERE_TRUE.has(key))
      .map(({ key, where }) => `${where}: ${key} has no effect here`);
  }
}
