import { readFileSync } from "node:fs";
import { type JaasModule, parseJaas } from "@zooid/java-files";
import type { AuthConfig, AuthProvider } from "@zooid/replica";
import type { SaslUsers } from "../sasl/digest-md5.ts";
import { hasKerberos, type Kerberos, parseKerberos } from "../sasl/kerberos.ts";
import type { AuthFailuresOptions } from "./auth-failures.ts";

/** Authentication of clients beyond `digest` and addresses. */
export interface ClientAuthOptions {
  /**
   * Classes that `authProvider.N` names, by N; Apache's own for `sasl`, `x509` and `ensemble` are
   * known. Others are reported at startup.
   */
  readonly providers?: Readonly<Record<string, string>>;
  /**
   * A JAAS file; one of its sections lists SASL users as `user_NAME="PASSWORD"`, or has Java's
   * Krb5LoginModule with the server's `principal` and `keyTab`, for Kerberos. Default: no users.
   */
  readonly jaasFile?: string;
  /** The section of that file. Default `Server`. */
  readonly jaasSection?: string;
  /**
   * Rules in Hadoop's syntax that give Kerberos principals their names,
   * `RULE:[1:$1@$0](.+@OTHER)s/@.+//`; principals that no rule names are refused. Default
   * `DEFAULT`: the names of the server's own realm.
   */
  readonly authToLocal?: string;
  /** A user's name by Kerberos has no host: `hbase` for `hbase/node1@REALM`. Default false. */
  readonly removeHostFromPrincipal?: boolean;
  /** A user's name by Kerberos has no realm. Default false. */
  readonly removeRealmFromPrincipal?: boolean;
  /** Overrides the password of the user `super` in the file. */
  readonly saslSuperPassword?: string;
  /** SASL users with every permission, by any key. */
  readonly saslSuperUsers?: Readonly<Record<string, string>>;
  /** An access list's entry for this SASL user applies to every SASL user. */
  readonly anySaslUser?: string;
  /** Clients that fail at SASL continue without it, unless it is required. Default false. */
  readonly allowSaslFailedClients?: boolean;
  /** Clients must authenticate by SASL. Default false. */
  readonly requireSasl?: boolean;
  /** Clients must authenticate by one of `enforcedSchemes`. Default false. */
  readonly enforceAuth?: boolean;
  readonly enforcedSchemes?: readonly string[];
  /** The certificate subject with every permission. */
  readonly x509SuperUser?: string;
  /**
   * Names of this ensemble, for clients that check that they reached the right one. Default: every
   * name is accepted.
   */
  readonly ensembleNames?: readonly string[];
  /**
   * The sixth failed authentication of an address within a minute is answered after a second, and
   * each further one after twice the delay before, up to this many milliseconds. 0 turns the delay
   * off. Default 10000, except for clients on this machine, which are delayed only if this is set.
   */
  readonly failureDelayMsMax?: number;
}

/** {@link ClientAuthOptions} after validation. */
export interface ClientAuth {
  readonly rules: Omit<AuthConfig, "superDigest" | "digestEnabled" | "skipAcl">;
  /** Users of DIGEST-MD5. Undefined with {@link kerberos}, or where SASL is disabled. */
  readonly saslUsers: SaslUsers | undefined;
  readonly kerberos: Kerberos | undefined;
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
/** A sample provider of Apache's tests: it authenticates clients by arithmetic. */
const KEY_PROVIDER = `${PACKAGE}KeyAuthenticationProvider`;
const NO_KEYS =
  `${KEY_PROVIDER} is not supported: its keys, which are numbers in the node /key, prove nothing; ` +
  "clients prove themselves by digest, SASL or x509";
const FAILURE_DELAY_MS_MAX = 10_000;
/** The greatest value of the setting. */
const FAILURE_DELAY_MS_LIMIT = 60_000;
const USER_PREFIX = "user_";
const SUPER = "super";

/** Other settings that authentication depends on. */
export interface AuthSurroundings {
  readonly digestEnabled: boolean;
  /** Certificates of clients are verified. */
  readonly hasCertificates: boolean;
}

/**
 * Validates options and reads the file of users. Errors are added to the problems, warnings to the
 * notices.
 */
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
    if (schemes.has(scheme)) continue;
    const isListed = options.enforcedSchemes?.includes(scheme) === true;
    const setting = isListed ? "enforce.auth.schemes" : "sessionRequireClientSASLAuth";
    problems.push(`${setting}: clients must authenticate by ${scheme}, and there is no ${missing(scheme)}`);
  }
  const { anySaslUser, x509SuperUser, ensembleNames, failureDelayMsMax = FAILURE_DELAY_MS_MAX } = options;
  if (!Number.isInteger(failureDelayMsMax) || failureDelayMsMax < 0 || failureDelayMsMax > FAILURE_DELAY_MS_LIMIT) {
    problems.push(
      `zooid.authFailureDelayMaxMs is a whole number from 0 to ${FAILURE_DELAY_MS_LIMIT}, found ${failureDelayMsMax}`,
    );
  }
  if (providers.has("sasl") && options.jaasFile === undefined)
    notices.push("jaasLoginConfig names no file with users, so that no client can authenticate by SASL");
  const modules =
    options.jaasFile === undefined ? undefined : readSection(options.jaasFile, options, problems, notices);
  const kerberos = modules === undefined ? undefined : parseKerberos(modules, options, problems);
  const users =
    modules === undefined || hasKerberos(modules) ? undefined : usersOf(modules, options, { problems, notices });
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
    saslUsers: kerberos === undefined ? users : undefined,
    kerberos,
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

/** The modules of the server's section. */
function readSection(
  file: string,
  { jaasSection = "Server" }: ClientAuthOptions,
  problems: string[],
  notices: string[],
): readonly JaasModule[] | undefined {
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
    // As in ZooKeeper: the file may exist for its other sections.
    notices.push(`${file} has no section ${jaasSection}, so that no client can authenticate by SASL`);
  }
  return modules;
}

function usersOf(
  modules: readonly JaasModule[],
  { jaasFile, jaasSection = "Server", saslSuperPassword }: ClientAuthOptions,
  { problems, notices }: { readonly problems: string[]; readonly notices: string[] },
): SaslUsers {
  const users = new Map<string, string>();
  for (const { options } of modules) {
    for (const [key, value] of options) {
      if (!key.startsWith(USER_PREFIX)) continue;
      const user = key.slice(USER_PREFIX.length);
      if ((users.get(user) ?? value) !== value)
        problems.push(
          `jaasLoginConfig: the section ${jaasSection} of ${jaasFile} has ${key} twice, with different values`,
        );
      users.set(user, value);
    }
  }
  if (saslSuperPassword !== undefined && users.has(SUPER)) users.set(SUPER, saslSuperPassword);
  if (users.size === 0) notices.push(`the section ${jaasSection} of ${jaasFile} names no user_NAME="PASSWORD"`);
  return users;
}
