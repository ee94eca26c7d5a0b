import type { Identity } from "@zooid/model";

/** A client is the same people for many writes. */
const USERS = new WeakMap<readonly Identity[], string>();

/**
 * The names of a client, separated by commas, as the audit log has them: of a digest the part
 * before the hash.
 */
export function auditUsers(identities: readonly Identity[]): string {
  const known = USERS.get(identities);
  if (known !== undefined) return known;
  const users = identities
    .map(userOf)
    .filter((user) => user !== "")
    .join(",");
  USERS.set(identities, users);
  return users;
}

function userOf({ scheme, id }: Identity): string {
  return scheme === "digest" ? id.replace(/:.*$/s, "") : id;
}
