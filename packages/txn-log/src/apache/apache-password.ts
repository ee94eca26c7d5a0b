import { createHash } from "node:crypto";
import { derivedPassword, PASSWORD_HASH_BYTES } from "@zooid/model/storage";

/**
 * The hash of the password that Apache's servers derive from a session's id, as a state keeps it.
 */
export function derivedPasswordHash(idHigh: number, idLow: number): Buffer {
  return createHash("sha256").update(derivedPassword(idHigh, idLow)).digest().subarray(0, PASSWORD_HASH_BYTES);
}
