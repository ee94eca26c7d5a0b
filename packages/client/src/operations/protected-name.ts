/**
 * Names that a create finds again when the answer to it is lost: `_c_`, a UUID, a hyphen and the name that was asked for, as Curator
 * writes them. Go's client leaves the UUID's hyphens out.
 */
const PREFIX = "_c_";
const PROTECTED = /^_c_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})-(.*)$/s;

/** What a protected name was made of, or undefined for any other name. */
export interface ProtectedName {
  /** As it stands there, with or without hyphens. */
  readonly guid: string;
  /** What was asked for, with its sequence number if it has one. */
  readonly name: string;
}

export function parseProtectedName(name: string): ProtectedName | undefined {
  const [, guid, rest] = PROTECTED.exec(name) ?? [];
  return guid === undefined || rest === undefined ? undefined : { guid, name: rest };
}

/** What all names of one create begin with, the hyphen included, so that no other's can. */
export function protectedPrefix(guid: string): string {
  return `${PREFIX}${guid}-`;
}
