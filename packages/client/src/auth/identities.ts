import { createHash, getHashes } from "node:crypto";
import { type Acl, checkArgument, checkPassword, Permission, type Rule } from "@zooid/model";
import type { Credential } from "../options.ts";

/**
 * All permissions for the creator of the node, under each identity authenticated before;
 * INVALID_ACL if there is none.
 */
export const CREATOR_ALL_ACL: Acl = Object.freeze([Object.freeze({ perms: Permission.ALL, scheme: "auth", id: "" })]);

/** Servers take the name up to the first colon. */
const userRule: Rule = {
  expected: "a name without a colon",
  accepts: (value) => typeof value === "string" && value !== "" && !value.includes(":"),
};
const hashRule: Rule = {
  expected: "the name of a hash that Node.js has, such as sha256",
  words: ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3-256"],
  accepts: (value) => typeof value === "string" && getHashes().includes(value),
};

function checkUser(where: string, user: unknown, password: unknown): void {
  checkArgument(where, "the user", user, userRule);
  checkPassword(where, password);
}

/** Credentials of the scheme `digest`. */
export function digest(user: string, password: string): Credential {
  checkUser("digest", user, password);
  return { scheme: "digest", auth: `${user}:${password}` };
}

/**
 * The id of a user of the scheme `digest` in access lists: `user:base64(hash(user:password))`.
 *
 * @param hash the servers' `DigestAuthenticationProvider.digestAlg` by Node's name. Default `sha1`
 */
export function digestId(user: string, password: string, hash = "sha1"): string {
  checkUser("digestId", user, password);
  checkArgument("digestId", "the hash", hash, hashRule);
  return `${user}:${createHash(hash).update(`${user}:${password}`).digest("base64")}`;
}
