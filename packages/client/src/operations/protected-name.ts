import { checkArgument, rules } from "@zooid/model";

/**
 * Names by which a create finds its node when the answer is lost: `_c_`, a UUID, a hyphen and the
 * requested name, as in Curator. Go's client leaves the UUID's hyphens out.
 */
const PREFIX = "_c_";
const PROTECTED = /^_c_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})-(.*)$/s;

/** The parts of a protected name, or undefined for any other name. */
export interface ProtectedName {
  /** As in the name, with or without hyphens. */
  readonly guid: string;
  /** The requested name, with its sequence number if it has one. */
  readonly name: string;
}

export function parseProtectedName(name: string): ProtectedName | undefined {
  checkArgument("parseProtectedName", "the name", name, rules.text);
  const [, guid, rest] = PROTECTED.exec(name) ?? [];
  return guid === undefined || rest === undefined ? undefined : { guid, name: rest };
}

/** The unique prefix of one create, including the hyphen. */
export function protectedPrefix(guid: string): string {
  return `${PREFIX}${guid}-`;
}
