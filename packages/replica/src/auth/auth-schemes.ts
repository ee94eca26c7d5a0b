import {
  type AccessRules,
  type Acl,
  type AclEntry,
  type Identity,
  isIpRange,
  OPEN_ACL,
  type SchemeRule,
} from "@zooid/model";
import { isDistinguishedName } from "./distinguished-name.ts";

/** Hash functions, handed in: the core computes nothing that a platform does better. */
export interface Hashes {
  /** The digest scheme's hash of `user:password`. */
  digest(bytes: Uint8Array): Uint8Array;
  sha256(bytes: Uint8Array): Uint8Array;
}

export interface AuthConfig {
  /**
   * `user:base64(hash)`; a client that authenticates as it may do everything. Undefined: no
   * superuser.
   */
  readonly superDigest: string | undefined;
  readonly digestEnabled: boolean;
  /** `skipACL=yes` */
  readonly skipAcl: boolean;
  /**
   * Schemes beyond `digest` and `ip`. Default: none; an entry or an auth packet of theirs is
   * refused.
   */
  readonly providers?: ReadonlySet<AuthProvider>;
  readonly sasl?: SaslRules;
  /** The subject whose certificate makes a superuser. */
  readonly x509SuperUser?: string;
  /**
   * The names that this ensemble goes by to clients which make sure that they came to the right
   * one. Absent: any.
   */
  readonly ensembleNames?: ReadonlySet<string>;
  /** Connections not authenticated by one of these schemes are refused. Absent: all are served. */
  readonly enforcedSchemes?: ReadonlySet<string>;
}

/** Schemes that exist only where they are configured. */
export type AuthProvider = "sasl" | "x509" | "ensemble";

export interface SaslRules {
  /** Users that may do everything. */
  readonly superUsers: ReadonlySet<string>;
  /** An entry of this user lets every user of the scheme in. */
  readonly anyUser?: string;
  /** After a failed exchange the connection stays open, with the identities it had. */
  readonly allowsFailed: boolean;
}

/** One connection's SASL exchange; the platform implements the mechanism. */
export interface SaslExchange {
  /** Takes the client's next token. */
  step(token: Uint8Array): SaslStep;
}

/**
 * `done`: the client is this user, and the token proves to it that the server knows the password
 * too; undefined, the protocol's null, where an earlier one has.
 */
export type SaslStep =
  | { readonly kind: "challenge"; readonly token: Uint8Array }
  | { readonly kind: "done"; readonly token: Uint8Array | undefined; readonly user: string }
  | { readonly kind: "failed" };

/**
 * The identities that an auth packet adds; `refused` is answered so, `elsewhere` sends the client
 * to look for another server.
 */
export type Granted = readonly Identity[] | "refused" | "elsewhere";

/** Authenticates a connection by an auth packet of one scheme. */
type Authenticate = (data: Uint8Array | undefined, connection: readonly Identity[]) => Granted;

interface Scheme {
  /** Whether an `auth` entry of an access list stands for identities of this scheme too. */
  readonly isAuthenticated: boolean;
  isValidId(id: string): boolean;
  /** The part of an identity that may be shown. */
  userOf(id: string): string;
  /** Undefined where no entry covers an identity. */
  readonly rule: SchemeRule | undefined;
  readonly authenticate: Authenticate;
}

/**
 * The authentication schemes of a server: the identities of connections, valid ACLs, matching
 * rules.
 */
export class AuthSchemes {
  readonly rules: AccessRules;
  readonly #schemes = new Map<string, Scheme>();
  /** Lists that were found valid as they are; weak, so it forgets them with their last holder. */
  readonly #fixed = new WeakMap<Acl, true>();
  /** The last list with `auth` entries and its expansion: a multi may repeat the same list. */
  #expansion: Expansion | undefined = undefined;

  readonly #aclCountMax: number;
  readonly #idLengthMax: number;
  readonly #config: AuthConfig;

  /**
   * @param limits an entry whose id is longer than any identity can match no client, and is not
   *   valid
   */
  constructor(
    config: AuthConfig,
    hashes: Hashes,
    { aclCountMax, identityBytesMax }: { readonly aclCountMax: number; readonly identityBytesMax: number },
  ) {
    this.#aclCountMax = aclCountMax;
    this.#idLengthMax = identityBytesMax;
    this.#config = config;
    this.#schemes.set("ip", ipScheme);
    if (config.digestEnabled) this.#schemes.set("digest", digestScheme(config.superDigest, hashes));
    if (config.providers?.has("sasl") === true) this.#schemes.set("sasl", saslScheme(config.sasl));
    if (config.providers?.has("x509") === true) this.#schemes.set("x509", x509Scheme(config.x509SuperUser));
    if (config.providers?.has("ensemble") === true) this.#schemes.set("ensemble", ensembleScheme(config.ensembleNames));
    const rules = new Map<string, SchemeRule>();
    for (const [name, { rule }] of this.#schemes) if (rule !== undefined) rules.set(name, rule);
    this.rules = { skipAcl: config.skipAcl, schemes: rules };
  }

  /** The identities that an auth packet adds; the connection is closed where it adds none. */
  authenticate(scheme: string, data: Uint8Array | undefined, connection: readonly Identity[]): Granted {
    return this.#schemes.get(scheme)?.authenticate(data, connection) ?? "refused";
  }

  /** The identities of a client that SASL has authenticated as this user. */
  saslIdentities(user: string): readonly Identity[] {
    const identity = { scheme: "sasl", id: user };
    return this.#config.sasl?.superUsers.has(user) === true ? [identity, SUPER] : [identity];
  }

  /** The identities of a client with a certificate of this subject. */
  certificateIdentities(subject: string): readonly Identity[] {
    const identity = { scheme: "x509", id: subject };
    return subject === this.#config.x509SuperUser ? [{ scheme: "super", id: subject }, identity] : [identity];
  }

  /**
   * Whether a wrong password of the superuser is among these identities, which a packet has added.
   */
  guessesSuper(added: readonly Identity[]): boolean {
    const { superDigest } = this.#config;
    if (superDigest === undefined) return false;
    const user = superDigest.slice(0, superDigest.lastIndexOf(":") + 1);
    return added.some(({ scheme, id }) => scheme === "digest" && id !== superDigest && id.startsWith(user));
  }

  /** Whether a connection with these identities may send requests other than for authentication. */
  mayAsk(identities: readonly Identity[]): boolean {
    const { enforcedSchemes } = this.#config;
    return enforcedSchemes === undefined || identities.some(({ scheme }) => enforcedSchemes.has(scheme));
  }

  /** Whether a failed SASL exchange leaves the connection open, with the identities it had. */
  get allowsFailedSasl(): boolean {
    return this.#config.sasl?.allowsFailed === true && !this.requiresSasl;
  }

  get requiresSasl(): boolean {
    return this.#config.enforcedSchemes?.has("sasl") === true;
  }

  /**
   * The list that is stored for one that a client sent: duplicates dropped, `auth` replaced by the
   * client's identities. Undefined when the list is empty or too long, or an entry is not valid.
   */
  fixAcl(acl: Acl | undefined, identities: readonly Identity[]): Acl | undefined {
    if (acl === undefined || acl.length === 0 || acl.length > this.#aclCountMax) return undefined;
    if (acl === OPEN_ACL || this.#fixed.has(acl)) return acl;
    const last = this.#expansion;
    if (last?.acl === acl && last.identities === identities) return last.list;
    const authenticated = identities.filter(({ scheme }) => this.#schemes.get(scheme)?.isAuthenticated === true);
    const fixed = new DistinctEntries();
    const expanded = new Set<number>();
    let changed = false;
    for (const entry of acl) {
      if (entry.scheme !== "auth") {
        if (!this.#isValid(entry)) return undefined;
        if (!fixed.add(entry)) changed = true;
        if (fixed.list.length > this.#aclCountMax) return undefined;
        continue;
      }
      changed = true;
      if (authenticated.length === 0) return undefined;
      // Whatever its id, another one with the same permissions adds nothing.
      if (expanded.has(entry.perms)) continue;
      expanded.add(entry.perms);
      for (const { scheme, id } of authenticated) {
        fixed.add({ perms: entry.perms, scheme, id });
        if (fixed.list.length > this.#aclCountMax) return undefined;
      }
    }
    if (changed) {
      this.#expansion = { acl, identities, list: fixed.list };
      return fixed.list;
    }
    this.#fixed.set(acl, true);
    return acl;
  }

  /** As clients without ADMIN see a list: of a digest only its user. */
  mask(acl: Acl): Acl {
    if (acl === OPEN_ACL || !acl.some((entry) => entry.scheme === "digest")) return acl;
    return acl.map((entry) => {
      const colon = entry.id.indexOf(":");
      if (entry.scheme !== "digest" || colon < 0) return entry;
      return { ...entry, id: `${entry.id.slice(0, colon)}:x` };
    });
  }

  /** As whoAmI shows them: of a digest only its user, of the superuser nothing but the scheme. */
  shown(identities: readonly Identity[]): readonly Identity[] {
    return identities.map(({ scheme, id }) => ({ scheme, id: this.#schemes.get(scheme)?.userOf(id) ?? "" }));
  }

  #isValid(entry: AclEntry): boolean {
    if (entry.id.length > this.#idLengthMax) return false;
    if (entry.scheme === "world") return entry.id === "anyone";
    return this.#schemes.get(entry.scheme)?.isValidId(entry.id) ?? false;
  }
}

interface Expansion {
  readonly acl: Acl;
  readonly identities: readonly Identity[];
  readonly list: Acl;
}

/** The entries of a list without those that it holds already. */
class DistinctEntries {
  readonly list: AclEntry[] = [];
  readonly #seen = new Set<string>();

  /** Whether it was new. */
  add(entry: AclEntry): boolean {
    // A scheme that is valid holds no colon, so different entries have different texts.
    const text = `${entry.perms}:${entry.scheme}:${entry.id}`;
    if (this.#seen.has(text)) return false;
    this.#seen.add(text);
    this.list.push(entry);
    return true;
  }
}

const SUPER: Identity = { scheme: "super", id: "" };

const ipScheme: Scheme = {
  isAuthenticated: false,
  isValidId: isIpRange,
  userOf: (address) => address,
  rule: { isRange: true },
  // The address was noted when the connection came; a packet adds nothing to it.
  authenticate: () => [],
};

function digestScheme(superDigest: string | undefined, hashes: Hashes): Scheme {
  return {
    isAuthenticated: true,
    isValidId: isDigestId,
    userOf: (id) => id.split(":", 1)[0] ?? "",
    rule: {},
    authenticate: (data) => {
      if (data === undefined) return "refused";
      const id = digestId(data, hashes);
      const identity = { scheme: "digest", id };
      return id === superDigest ? [SUPER, identity] : [identity];
    },
  };
}

function saslScheme(rules: SaslRules | undefined): Scheme {
  return {
    isAuthenticated: true,
    isValidId: isKerberosName,
    userOf: (user) => user,
    rule: { masterId: "super", everyoneId: rules?.anyUser },
    // It has an operation of its own.
    authenticate: () => "refused",
  };
}

/** A user with an `@` is a `service[/host]@REALM`; anything else is a name. */
function isKerberosName(id: string): boolean {
  return !id.includes("@") || /^[^/@]*(?:\/[^/@]*)?@[^/@]*$/.test(id);
}

function x509Scheme(superUser: string | undefined): Scheme {
  return {
    isAuthenticated: true,
    isValidId: isDistinguishedName,
    userOf: (subject) => subject,
    rule: { masterId: superUser },
    // The certificate was judged when the connection came; a packet finds it there or not.
    authenticate: (_, connection) => (connection.some(({ scheme }) => scheme === "x509") ? [] : "refused"),
  };
}

function ensembleScheme(names: ReadonlySet<string> | undefined): Scheme {
  return {
    isAuthenticated: false,
    isValidId: () => false,
    userOf: () => "",
    rule: undefined,
    authenticate: (data) => {
      if (data === undefined || data.length === 0 || names === undefined) return [];
      return names.has(text.decode(data)) ? [] : "elsewhere";
    },
  };
}

const COLON = 0x3a;
const text = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * `user:base64(hash(user:password))`, from the bytes of `user:password`; without a colon all of it
 * is the user.
 */
export function digestId(data: Uint8Array, hashes: Hashes): string {
  const colon = data.indexOf(COLON);
  const user = text.decode(colon < 0 ? data : data.subarray(0, colon));
  return `${user}:${Buffer.from(hashes.digest(data)).toString("base64")}`;
}

/**
 * Whether there are two parts between colons, without the empty ones at the end: Java's
 * `String.split` drops those.
 */
function isDigestId(id: string): boolean {
  let end = id.length;
  while (id.charCodeAt(end - 1) === COLON) end--;
  const colon = id.indexOf(":");
  return colon !== -1 && colon < end && id.lastIndexOf(":", end - 1) === colon;
}
