import { Permission } from "../tree/acl.ts";
import type { Acl, AclEntry } from "../tree/acl-entry.ts";

export type PermissionName = "read" | "write" | "create" | "delete" | "admin";

/** An entry of an access list in JSON, with its permissions by name. */
export interface AclEntryJson {
  readonly scheme: string;
  readonly id: string;
  readonly permissions: readonly PermissionName[];
}

const NAMES: readonly (readonly [PermissionName, number])[] = [
  ["read", Permission.READ],
  ["write", Permission.WRITE],
  ["create", Permission.CREATE],
  ["delete", Permission.DELETE],
  ["admin", Permission.ADMIN],
];

export const PERMISSION_NAMES: readonly PermissionName[] = NAMES.map(([name]) => name);

export function aclJson(acl: Acl): (AclEntryJson & { permissions: PermissionName[] })[] {
  return acl.map(({ scheme, id, perms }) => ({
    scheme,
    id,
    permissions: NAMES.filter(([, bit]) => (perms & bit) !== 0).map(([name]) => name),
  }));
}

export function aclOf(entries: readonly AclEntryJson[]): Acl {
  return entries.map(
    ({ scheme, id, permissions }): AclEntry => ({
      scheme,
      id,
      perms: NAMES.reduce((perms, [name, bit]) => (permissions.includes(name) ? perms | bit : perms), 0),
    }),
  );
}

/**
 * Whether a list was read without ADMIN: servers hide the hashes of passwords, and a node with such
 * a list would admit no user.
 */
export function hasHiddenHash(acl: Acl): boolean {
  return acl.some(({ scheme, id }) => scheme === "digest" && id.endsWith(":x"));
}
