import type { Identity } from "@zooid/model";

/**
 * How much a connection may be: every access check and every forwarded write carries its
 * identities.
 */
export interface IdentityLimits {
  /** Identities of one connection; an auth packet for more is refused. */
  readonly identityCountMax: number;
  /** Bytes of one identity: its scheme and its id. */
  readonly identityBytesMax: number;
  /** Bytes of all identities of one connection. */
  readonly identitiesBytesMax: number;
}

/**
 * The identities `known` with those of `added` that are not among them; `known` itself where there
 * is none.
 */
export function withIdentities(known: readonly Identity[], added: readonly Identity[]): readonly Identity[] {
  const isNew = (one: Identity): boolean => !known.some((other) => other.scheme === one.scheme && other.id === one.id);
  const more = added.filter(isNew);
  return more.length === 0 ? known : [...known, ...more];
}

/** Whether a connection may have these identities. */
export function areWithin(limits: IdentityLimits, identities: readonly Identity[]): boolean {
  if (identities.length > limits.identityCountMax) return false;
  let sum = 0;
  for (const { scheme, id } of identities) {
    const bytes = Buffer.byteLength(scheme) + Buffer.byteLength(id);
    if (bytes > limits.identityBytesMax) return false;
    sum += bytes;
  }
  return sum <= limits.identitiesBytesMax;
}
