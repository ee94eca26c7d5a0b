import { createHash } from "node:crypto";
import { type Acl, Permission } from "@zooid/model";
import type { Credential } from "../options.ts";

/**
 * All permissions for the creator of the node, under each identity authenticated before;
 * INVALID_ACL if there is none.
 */
export const CREATOR_ALL_ACL: Acl = Object.freeze([Object.freeze({ perms: Permission.ALL, scheme: "auth", id: "" })]);

/** Credentials of the scheme `digest`. */
export function digest(user: string, password: string): Credential {
  return { scheme: "digest", auth: `${user}:${password}` };
}

/**
 * The id of a user of the scheme `digest` in access lists: `user:base64(hash(user:password))`.
 *
 * @param hash the servers' `DigestAuthenticationProvider.digestAlg` by Node's name. Default `sha1`
 */
export function digestId(user: string, password: string, hash = "sha1"): string {
  return `${user}:${createHash(hash).update(`${user}:${password}`).digest("base64")}`;
}
