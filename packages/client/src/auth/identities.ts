import { createHash } from "node:crypto";
import { type Acl, Permission } from "@zooid/model";
import type { Credential } from "../options.ts";

/** Everything for whoever creates the node, by each identity that they have shown until then; INVALID_ACL where they have shown none. */
export const CREATOR_ALL_ACL: Acl = Object.freeze([Object.freeze({ perms: Permission.ALL, scheme: "auth", id: "" })]);

/** A user of the scheme `digest`, to show to servers. */
export function digest(user: string, password: string): Credential {
  return { scheme: "digest", auth: `${user}:${password}` };
}

/**
 * What stands for a user of the scheme `digest` in access lists: `user:base64(hash(user:password))`.
 *
 * @param hash the servers' `DigestAuthenticationProvider.digestAlg`, as Node calls it. Default `sha1`
 */
export function digestId(user: string, password: string, hash = "sha1"): string {
  return `${user}:${createHash(hash).update(`${user}:${password}`).digest("base64")}`;
}
