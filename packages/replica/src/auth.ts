import { type AccessRules, type Acl, type AclEntry, type Identity, type IdMatcher, OPEN_ACL } from "@zooid/model";
import { isInIpRange, isIpRange } from "./ip-address.ts";

/** Hash functions, handed in: the core computes nothing by itself that a platform does better. */
export interface Hashes {
  /** The digest scheme's hash of `user:password`. */
  digest(bytes: Uint8Array): Uint8Array;
  sha256(bytes: Uint8Array): Uint8Array;
}

export interface AuthConfig {
  /** `user:base64(hash)`; whoever authenticates as it may do everything. Undefined: nobody can. */
  readonly superDigest: string | undefined;
  readonly digestEnabled: boolean;
  /** `skipACL=yes` */
  readonly skipAcl: boolean;
}

/** What an auth packet of one scheme does to a connection. */
type Authenticate = (data: Uint8Array | undefined, connection: readonly Identity[]) => readonly Identity[] | undefined;

interface Scheme {
  /** Whether an `auth` entry of an access list stands for identities of this scheme too. */
  readonly isAuthenticated: boolean;
  isValidId(id: string): boolean;
  /** What may be shown of an identity. */
  userOf(id: string): string;
  readonly matches: IdMatcher;
  /** The identities that are added, or undefined to refuse. */
  readonly authenticate: Authenticate;
}

/** The authentication schemes of a server: who a connection becomes, which access lists are valid, who matches whom. */
export class AuthSchemes {
  readonly rules: AccessRules;
  readonly #schemes = new Map<string, Scheme>();
  /** Lists that were found valid as they are; weak, so it forgets them with their last holder. */
  readonly #fixed = new WeakMap<Acl, true>();

  readonly #aclCountMax: number;

  constructor(config: AuthConfig, hashes: Hashes, { aclCountMax }: { readonly aclCountMax: number }) {
    this.#aclCountMax = aclCountMax;
    this.#schemes.set("ip", ipScheme);
    if (config.digestEnabled) this.#schemes.set("digest", digestScheme(config.superDigest, hashes));
    const matchers = new Map<string, IdMatcher>();
    for (const [name, scheme] of this.#schemes) matchers.set(name, scheme.matches);
    this.rules = { skipAcl: config.skipAcl, matchers };
  }

  /** The identities that an auth packet adds; undefined refuses it, after which the connection is closed. */
  authenticate(
    scheme: string,
    data: Uint8Array | undefined,
    connection: readonly Identity[],
  ): readonly Identity[] | undefined {
    return this.#schemes.get(scheme)?.authenticate(data, connection);
  }

  /**
   * The list that is stored for one that a client sent: duplicates dropped, `auth` replaced by the client's identities.
   * Undefined when the list is empty or too long, or an entry is not valid.
   */
  fixAcl(acl: Acl | undefined, identities: readonly Identity[]): Acl | undefined {
    if (acl === undefined || acl.length === 0 || acl.length > this.#aclCountMax) return undefined;
    if (acl === OPEN_ACL || this.#fixed.has(acl)) return acl;
    const fixed: AclEntry[] = [];
    let changed = false;
    for (const entry of acl) {
      if (entry.scheme === "auth") {
        changed = true;
        const before = fixed.length;
        let any = false;
        for (const identity of identities) {
          if (this.#schemes.get(identity.scheme)?.isAuthenticated !== true) continue;
          any = true;
          push(fixed, { perms: entry.perms, scheme: identity.scheme, id: identity.id });
          if (fixed.length > this.#aclCountMax) return undefined;
        }
        if (!any && before === fixed.length) return undefined;
      } else {
        if (!this.#isValid(entry)) return undefined;
        if (!push(fixed, entry)) changed = true;
      }
    }
    if (changed) return fixed;
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
    if (entry.scheme === "world") return entry.id === "anyone";
    return this.#schemes.get(entry.scheme)?.isValidId(entry.id) ?? false;
  }
}

function push(entries: AclEntry[], entry: AclEntry): boolean {
  for (const known of entries) {
    if (known.perms === entry.perms && known.scheme === entry.scheme && known.id === entry.id) return false;
  }
  entries.push(entry);
  return true;
}

const ipScheme: Scheme = {
  isAuthenticated: false,
  isValidId: isIpRange,
  userOf: (address) => address,
  matches: isInIpRange,
  // The address was noted when the connection came; a packet adds nothing to it.
  authenticate: () => [],
};

function digestScheme(superDigest: string | undefined, hashes: Hashes): Scheme {
  return {
    isAuthenticated: true,
    isValidId: (id) => splitLikeJava(id).length === 2,
    userOf: (id) => splitLikeJava(id)[0] ?? "",
    matches: (identityId, aclId) => identityId === aclId,
    authenticate: (data) => {
      if (data === undefined) return undefined;
      const id = digestId(data, hashes);
      const identity = { scheme: "digest", id };
      return id === superDigest ? [{ scheme: "super", id: "" }, identity] : [identity];
    },
  };
}

const COLON = 0x3a;
const text = new TextDecoder("utf-8", { ignoreBOM: true });

/** `user:base64(hash(user:password))`, from the bytes of `user:password`; without a colon all of it is the user. */
export function digestId(data: Uint8Array, hashes: Hashes): string {
  const colon = data.indexOf(COLON);
  const user = text.decode(colon < 0 ? data : data.subarray(0, colon));
  return `${user}:${Buffer.from(hashes.digest(data)).toString("base64")}`;
}

/** `String.split(":")` drops empty parts at the end; which ids are valid follows from it. */
function splitLikeJava(value: string): string[] {
  const parts = value.split(":");
  while (parts.length > 1 && parts.at(-1) === "") parts.pop();
  return parts;
}
