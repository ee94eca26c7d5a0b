import { readFileSync } from "node:fs";
import { parseJaas } from "@zooid/java-files";
import type { AuthConfig, AuthProvider } from "@zooid/replica";
import type { AuthFailuresOptions } from "./auth-failures.ts";
import type { SaslUsers } from "./sasl/digest-md5.ts";

/** Who clients may be, beyond what they get by `digest` and by their address. */
export interface ClientAuthOptions {
  /** Classes that `authProvider.N` names, by N; Apache's own for `sasl`, `x509` and `ensemble` are known. Others are told of. */
  readonly providers?: Readonly<Record<string, string>>;
  /** A JAAS file; users of SASL stand in one of its sections as `user_NAME="PASSWORD"`. Default: there are none. */
  readonly jaasFile?: string;
  /** The section of that file. Default `Server`. */
  readonly jaasSection?: string;
  /** Takes the place of the password that the file has for the user `super`. */
  readonly saslSuperPassword?: string;
  /** Users of SASL who may do everything, by any key. */
  readonly saslSuperUsers?: Readonly<Record<string, string>>;
  /** An access list's entry for this user of SASL stands for every one of them. */
  readonly anySaslUser?: string;
  /** Whoever fails at SASL goes on without it, unless it is required. Default false. */
  readonly allowSaslFailedClients?: boolean;
  /** Nobody is served who has not authenticated by SASL. Default false. */
  readonly requireSasl?: boolean;
  /** Nobody is served who has not authenticated by one of `enforcedSchemes`. Default false. */
  readonly enforceAuth?: boolean;
  readonly enforcedSchemes?: readonly string[];
  /** The certificate subject that may do everything. */
  readonly x509SuperUser?: string;
  /** Names of this ensemble, for clients that ask whether they came to the right one. Default: any name is right. */
  readonly ensembleNames?: readonly string[];
  /**
   * From the sixth failed authentication of an address on, in a minute, its answer is late: by a second, then twice as much each time, up
   * to this, in milliseconds. 0 turns it off. Default 10000, except for clients on this machine itself, which are delayed only where this
   * is given.
   */
  readonly failureDelayMsMax?: number;
}

/** {@link ClientAuthOptions} checked. */
export interface ClientAuth {
  readonly rules: Omit<AuthConfig, "superDigest" | "digestEnabled" | "skipAcl">;
  /** Undefined: SASL is not spoken. */
  readonly saslUsers: SaslUsers | undefined;
  readonly failures: AuthFailuresOptions;
}

const PACKAGE = "org.apache.zookeeper.server.auth.";
const PROVIDERS: ReadonlyMap<string, AuthProvider | "built in"> = new Map<string, AuthProvider | "built in">([
  [`${PACKAGE}SASLAuthenticationProvider`, "sasl"],
  [`${PACKAGE}X509AuthenticationProvider`, "x509"],
  [`${PACKAGE}EnsembleAuthenticationProvider`, "ensemble"],
  [`${PACKAGE}DigestAuthenticationProvider`, "built in"],
  [`${PACKAGE}IPAuthenticationProvider`, "built in"],
]);
/** An example of Apache's for its own tests: it lets clients in by arithmetic. */
const KEY_PROVIDER = `${PACKAGE}KeyAuthenticationProvider`;
const NO_KEYS =
  `${KEY_PROVIDER} is not supported: its keys, which are numbers in the node /key, prove nothing; ` +
  "clients prove themselves by digest, SASL or x509";
const FAILURE_DELAY_MS_MAX = 10_000;
const USER_PREFIX = "user_";
const SUPER = "super";
const KERBEROS = "com.sun.security.auth.module.Krb5LoginModule";

/** What else decides over who may come. */
export interface AuthSurroundings {
  readonly digestEnabled: boolean;
  /** Certificates of clients are looked at. */
  readonly hasCertificates: boolean;
}

/** Checks options and reads the file of users. What is wrong becomes a problem; what is good to know, a notice. */
export function parseClientAuth(
  options: ClientAuthOptions,
  { digestEnabled, hasCertificates }: AuthSurroundings,
  problems: string[],
  notices: string[],
): ClientAuth {
  const providers = new Set<AuthProvider>(hasCertificates ? ["x509"] : []);
  for (const [key, name] of Object.entries(options.providers ?? {})) {
    const provider = PROVIDERS.get(name);
    if (name === KEY_PROVIDER) problems.push(`authProvider.${key}: ${NO_KEYS}`);
    else if (provider === undefined)
      notices.push(`authProvider.${key}: ${name} cannot be loaded, and its scheme is refused (AUTHFAILED)`);
    else if (provider !== "built in") providers.add(provider);
  }
  const enforcedSchemes = enforced(options, problems);
  const schemes = new Set<string>([...providers, "ip", ...(digestEnabled ? ["digest"] : [])]);
  for (const scheme of enforcedSchemes ?? []) {
    if (!schemes.has(scheme))
      problems.push(`clients must authenticate by ${scheme}, and there is no ${missing(scheme)}`);
  }
  const { anySaslUser, x509SuperUser, ensembleNames, failureDelayMsMax = FAILURE_DELAY_MS_MAX } = options;
  if (!Number.isInteger(failureDelayMsMax) || failureDelayMsMax < 0 || failureDelayMsMax > 60_000) {
    problems.push(`zooid.authFailureDelayMaxMs is a number of milliseconds up to 60000, found ${failureDelayMsMax}`);
  }
  return {
    rules: {
      providers,
      sasl: {
        superUsers: new Set(Object.values(options.saslSuperUsers ?? {})),
        allowsFailed: options.allowSaslFailedClients ?? false,
        ...(anySaslUser === undefined ? {} : { anyUser: anySaslUser }),
      },
      ...(x509SuperUser === undefined ? {} : { x509SuperUser }),
      ...(ensembleNames === undefined ? {} : { ensembleNames: new Set(ensembleNames) }),
      ...(enforcedSchemes === undefined ? {} : { enforcedSchemes }),
    },
    failures: { delayMsMax: failureDelayMsMax, sparesLoopback: options.failureDelayMsMax === undefined },
    saslUsers: options.jaasFile === undefined ? undefined : readUsers(options.jaasFile, options, problems, notices),
  };
}

function enforced(options: ClientAuthOptions, problems: string[]): ReadonlySet<string> | undefined {
  if (options.requireSasl === true) return new Set(["sasl"]);
  if (options.enforceAuth !== true) return undefined;
  const schemes = options.enforcedSchemes ?? [];
  if (schemes.length === 0) problems.push("enforce.auth.enabled=true needs enforce.auth.schemes=SCHEME,…");
  return new Set(schemes);
}

function missing(scheme: string): string {
  for (const [name, provider] of PROVIDERS)
    if (provider === scheme) return `authProvider.1=${name}, which makes that scheme`;
  return "such scheme";
}

function readUsers(
  file: string,
  { jaasSection = "Server", saslSuperPassword }: ClientAuthOptions,
  problems: string[],
  notices: string[],
): SaslUsers | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    problems.push(`jaasLoginConfig: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  const sections = parseJaas(text);
  if (typeof sections === "string") {
    problems.push(`jaasLoginConfig: ${file} ${sections}`);
    return undefined;
  }
  const modules = sections.get(jaasSection);
  if (modules === undefined) {
    // As with ZooKeeper: the file may be there for others of its sections.
    notices.push(`${file} has no section ${jaasSection}, so that no client can authenticate by SASL`);
    return undefined;
  }
  if (modules.some(({ name }) => name === KERBEROS)) {
    problems.push(`jaasLoginConfig: the section ${jaasSection} of ${file} asks for Kerberos, which is not supported`);
  }
  const users = new Map<string, string>();
  for (const { options } of modules) {
    for (const [key, value] of options) {
      if (key.startsWith(USER_PREFIX)) users.set(key.slice(USER_PREFIX.length), value);
    }
  }
  if (saslSuperPassword !== undefined && users.has(SUPER)) users.set(SUPER, saslSuperPassword);
  if (users.size === 0) notices.push(`the section ${jaasSection} of ${file} names no user_NAME="PASSWORD"`);
  return users;
}
