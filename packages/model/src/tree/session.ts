import { checkArgument } from "../arguments/checks.ts";
import type { Rule } from "../arguments/rules.ts";

/**
 * The id of a client's lifetime at the ensemble; never used again. A signed 64-bit integer, 0 for
 * none.
 */
export type SessionId = bigint & { readonly __brand: "SessionId" };

export const SESSION_NONE: SessionId = 0n as SessionId;

/** The stored part of a session's password: the first bytes of its SHA-256. */
export const PASSWORD_HASH_BYTES = 16;
export const PASSWORD_BYTES = 16;

const idRule: Rule = { expected: "a bigint", accepts: (value) => typeof value === "bigint" };

/** As operators read it: `0x` and lower-case hexadecimal of the unsigned 64 bits. */
export function formatSessionId(id: SessionId): string {
  checkArgument("formatSessionId", "an id of a session", id, idRule);
  return `0x${BigInt.asUintN(64, id).toString(16)}`;
}

export function sessionIdFromHalves(high: number, low: number): SessionId {
  return ((BigInt(high) << 32n) | BigInt(low >>> 0)) as SessionId;
}

export function sessionIdHigh(id: SessionId): number {
  return Number(BigInt.asIntN(32, id >> 32n));
}

export function sessionIdLow(id: SessionId): number {
  return Number(BigInt.asIntN(32, id));
}
