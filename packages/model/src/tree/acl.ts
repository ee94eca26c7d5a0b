import type { AccessRules, Acl, AclEntry, Identity, SchemeRule } from "./acl-entry.ts";
import { AclIndex } from "./acl-index.ts";
import { IdentityIndex } from "./identity-index.ts";

/** The rights of an identity to a znode. Nothing is inherited from parents. */
export const Permission = { READ: 1, WRITE: 2, CREATE: 4, DELETE: 8, ADMIN: 16, ALL: 31 } as const;
export type Permission = (typeof Permission)[keyof typeof Permission];

export const OPEN_ACL: Acl = Object.freeze([Object.freeze({ perms: Permission.ALL, scheme: "world", id: "anyone" })]);
export const READ_ONLY_ACL: Acl = Object.freeze([
  Object.freeze({ perms: Permission.READ, scheme: "world", id: "anyone" }),
]);

/** A longer list is refused. Decoders of requests do not build one. */
export const ACL_COUNT_MAX = 1000;

/** A list with more entries is asked by its index. */
const UNINDEXED_COUNT_MAX = 8;
/** A client with more identities is asked by their index. */
const UNINDEXED_IDENTITY_COUNT_MAX = 4;
/** The bytes of an index in memory, about. */
const INDEX_BYTES = 512;
const INDEX_BYTES_PER_ENTRY = 96;

/** A cache: each index is derived from its list alone. */
const indexes = new WeakMap<Acl, AclIndex>();

/**
 * The one place where a permission is decided: operations, parts of a multi, watches at delivery,
 * and admin commands ask it. It costs as much as the list has entries, or the client identities,
 * whichever are fewer, once both are indexed.
 *
 * @param identities never changed afterwards, as `acl`: of what is long an index is kept as long as
 *   itself
 * @param need one permission, or several of which any suffices (getACL needs READ or ADMIN)
 */
export function may(rules: AccessRules, identities: readonly Identity[], acl: Acl, need: number): boolean {
  if (acl === OPEN_ACL || rules.skipAcl || acl.length === 0) return true;
  if (acl.length > UNINDEXED_COUNT_MAX) return (indexOf(acl).permsOf(rules, identities) & need) !== 0;
  // Indexes, not iterators: this is on the way of every read, and an iterator is an object.
  for (let i = 0; i < acl.length; i++) {
    const entry = acl[i] as AclEntry;
    if ((entry.perms & need) !== 0 && entry.scheme === "world" && entry.id === "anyone") return true;
  }
  if (identities.length > UNINDEXED_IDENTITY_COUNT_MAX) return mayAny(rules, IdentityIndex.of(identities), acl, need);
  for (let i = 0; i < identities.length; i++) if ((identities[i] as Identity).scheme === "super") return true;
  for (let i = 0; i < acl.length; i++) {
    const entry = acl[i] as AclEntry;
    const rule = rules.schemes.get(entry.scheme);
    if ((entry.perms & need) === 0 || rule === undefined) continue;
    // To read an address again for each check would cost more than the index.
    if (rule.isRange === true) return (indexOf(acl).permsOf(rules, identities) & need) !== 0;
    if (coversAny(rule, identities, entry)) return true;
  }
  return false;
}

/**
 * Makes the index that checks of a list need, where that is due: when it is stored, and not when
 * many lists are read.
 */
export function prepareAcl(acl: Acl): void {
  if (isIndexed(acl)) indexOf(acl);
}

/** The bytes of a list's index in memory, about; 0 for a list that has none. */
export function aclIndexBytes(acl: Acl): number {
  return isIndexed(acl) ? INDEX_BYTES + acl.length * INDEX_BYTES_PER_ENTRY : 0;
}

function isIndexed(acl: Acl): boolean {
  return acl.length > UNINDEXED_COUNT_MAX || acl.some(({ scheme }) => scheme === "ip");
}

function indexOf(acl: Acl): AclIndex {
  let index = indexes.get(acl);
  if (index === undefined) {
    index = new AclIndex(acl);
    indexes.set(acl, index);
  }
  return index;
}

function mayAny(rules: AccessRules, identities: IdentityIndex, acl: Acl, need: number): boolean {
  if (identities.isSuper) return true;
  for (const entry of acl) {
    const rule = rules.schemes.get(entry.scheme);
    if ((entry.perms & need) === 0 || rule === undefined) continue;
    const ids = identities.ids(entry.scheme);
    if (ids.size === 0) continue;
    if (rule.isRange === true) {
      for (const address of ids) if ((indexOf(acl).rangePermsOf(address) & need) !== 0) return true;
    } else if (ids.has(entry.id) || entry.id === rule.everyoneId) return true;
    else if (rule.masterId !== undefined && ids.has(rule.masterId)) return true;
  }
  return false;
}

function coversAny(rule: SchemeRule, identities: readonly Identity[], entry: AclEntry): boolean {
  for (let i = 0; i < identities.length; i++) {
    const { scheme, id } = identities[i] as Identity;
    if (scheme === entry.scheme && (id === entry.id || id === rule.masterId || entry.id === rule.everyoneId))
      return true;
  }
  return false;
}
