/** What an identity may do with a znode. Nothing is inherited from parents. */
export const Permission = { READ: 1, WRITE: 2, CREATE: 4, DELETE: 8, ADMIN: 16, ALL: 31 } as const;
export type Permission = (typeof Permission)[keyof typeof Permission];

/** Who a connection is, as one authentication scheme sees it. A connection collects several. */
export interface Identity {
  readonly scheme: string;
  readonly id: string;
}

/** One line of a znode's access list. `perms` is kept as the client sent it, unknown bits too. */
export interface AclEntry {
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

export type Acl = readonly AclEntry[];

export const OPEN_ACL: Acl = Object.freeze([Object.freeze({ perms: Permission.ALL, scheme: "world", id: "anyone" })]);
export const READ_ONLY_ACL: Acl = Object.freeze([
  Object.freeze({ perms: Permission.READ, scheme: "world", id: "anyone" }),
]);

/** Whether an entry of a scheme covers an identity of the same scheme. Equality, unless the scheme says otherwise. */
export type IdMatcher = (identityId: string, aclId: string) => boolean;

export interface AccessRules {
  /** `skipACL=yes`: nobody is refused anything. */
  readonly skipAcl: boolean;
  /** The schemes that can match in an ACL; an entry of any other scheme matches nobody. */
  readonly matchers: ReadonlyMap<string, IdMatcher>;
}

/**
 * The one place where a permission is decided: operations, parts of a multi, watches at delivery, and admin commands ask it.
 *
 * @param need one permission, or several of which any suffices (getACL needs READ or ADMIN)
 */
export function may(rules: AccessRules, identities: readonly Identity[], acl: Acl, need: number): boolean {
  if (acl === OPEN_ACL || rules.skipAcl || acl.length === 0) return true;
  // Indexes, not iterators: this is on the way of every read, and an iterator is an object.
  for (let i = 0; i < acl.length; i++) {
    const entry = acl[i] as AclEntry;
    if ((entry.perms & need) !== 0 && entry.scheme === "world" && entry.id === "anyone") return true;
  }
  for (let i = 0; i < identities.length; i++) if ((identities[i] as Identity).scheme === "super") return true;
  for (let i = 0; i < acl.length; i++) {
    const entry = acl[i] as AclEntry;
    if ((entry.perms & need) !== 0 && matchesAny(rules.matchers.get(entry.scheme), identities, entry)) return true;
  }
  return false;
}

function matchesAny(matches: IdMatcher | undefined, identities: readonly Identity[], entry: AclEntry): boolean {
  if (matches === undefined) return false;
  for (let i = 0; i < identities.length; i++) {
    const identity = identities[i] as Identity;
    if (identity.scheme === entry.scheme && matches(identity.id, entry.id)) return true;
  }
  return false;
}
