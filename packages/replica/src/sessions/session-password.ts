import { PASSWORD_HASH_BYTES } from "@zooid/model";
import type { Session } from "./session-tracker.ts";

const NO_HASH = new Uint8Array(PASSWORD_HASH_BYTES);

/** Whether a session lives and this is its password. */
export function mayRenew(session: Session | undefined, passwordHash: Uint8Array): session is Session {
  // rule: a-renewal-needs-the-password
  return hasPassword(session, passwordHash) && !session.closing;
}

/**
 * Whether a session's end was decided and is not committed, and this is its password. No
 * transaction ends a local session.
 */
export function isEnding(session: Session | undefined, passwordHash: Uint8Array): boolean {
  // rule: an-end-is-reported-when-it-is-committed
  return hasPassword(session, passwordHash) && session.closing && !session.isLocal;
}

/** Whether this is the session's password, as far as this server knows. */
export function hasPassword(session: Session | undefined, passwordHash: Uint8Array): session is Session {
  const expected = session?.passwordHash;
  // Compared in any case, so that the time it takes tells nothing.
  return equalInConstantTime(passwordHash, expected ?? NO_HASH) && expected !== undefined;
}

function equalInConstantTime(hash: Uint8Array, expected: Uint8Array): boolean {
  let difference = 0;
  for (let i = 0; i < PASSWORD_HASH_BYTES; i++) difference |= (hash[i] ?? 0) ^ (expected[i] ?? 0);
  return difference === 0;
}
