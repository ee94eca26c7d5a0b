import { type Acl, type AclEntry, Permission } from "@zooid/model";
import { CliError } from "../cli-error.ts";
import type { JsonArray } from "../output.ts";

/** In the order in which zkCli prints them. */
const LETTERS = [
  ["c", Permission.CREATE],
  ["d", Permission.DELETE],
  ["r", Permission.READ],
  ["w", Permission.WRITE],
  ["a", Permission.ADMIN],
] as const;

/** An access list as text reads it, with what is wrong in it. */
export interface ParsedAcl {
  readonly acl: Acl;
  /**
   * zkCli's sentences: an entry without two colons is left out, a letter that means nothing is
   * passed over.
   */
  readonly warnings: readonly string[];
}

/**
 * Reads `scheme:id:perms[,…]`. The id lies between the first and the last colon, so it may hold
 * some itself.
 */
export function parseAcl(text: string): ParsedAcl {
  const warnings: string[] = [];
  const acl: AclEntry[] = [];
  for (const entry of splitAtCommas(text)) {
    const first = entry.indexOf(":");
    const last = entry.lastIndexOf(":");
    if (first === last) {
      warnings.push(`${entry} does not have the form scheme:id:perm`);
      continue;
    }
    const perms = parsePerms(entry.slice(last + 1), warnings);
    acl.push({ perms, scheme: entry.slice(0, first), id: entry.slice(first + 1, last) });
  }
  return { acl, warnings };
}

/**
 * Refuses an empty list, as zkCli does, and one without any permission: no client could read such a
 * node, or give it another list. In JSON every part that means nothing is refused, since programs
 * do not read warnings.
 *
 * @throws INVALID_ACL
 */
export function requireAcl({ acl, warnings }: ParsedAcl, format: "text" | "json"): void {
  if (format === "json") {
    const without = acl
      .filter(({ perms }) => perms === 0)
      .map((entry) => `${entry.scheme}:${entry.id} permits nothing`);
    const faults = [...warnings, ...without];
    if (faults.length > 0) throw invalidAcl(`the access list is not valid: ${faults.join("; ")}`);
  }
  if (acl.length === 0) throw invalidAcl("Acl is not valid : null");
  // The server refuses an entry without a scheme, in ZooKeeper's words.
  if (acl.every(({ perms, scheme }) => perms === 0 && scheme !== ""))
    throw invalidAcl("the access list permits nothing: no client could read the node, or set another list");
}

function invalidAcl(message: string): CliError {
  return new CliError(message, {
    code: "INVALID_ACL",
    hint: "an entry is scheme:id:permissions, with letters of cdrwa",
  });
}

/** Two lines for each entry: who, then what. */
export function aclLines(acl: Acl): readonly string[] {
  return acl.flatMap(({ scheme, id, perms }) => [`'${scheme},'${id}`, `: ${permsText(perms)}`]);
}

export function aclJson(acl: Acl): JsonArray {
  return acl.map(({ scheme, id, perms }) => ({ scheme, id, perms: permsText(perms) }));
}

function permsText(perms: number): string {
  return LETTERS.map(([letter, bit]) => ((perms & bit) === 0 ? "" : letter)).join("");
}

function parsePerms(text: string, warnings: string[]): number {
  let perms = 0;
  for (const char of text) {
    const bit = LETTERS.find(([letter]) => letter === char)?.[1];
    if (bit === undefined) warnings.push(`Unknown perm type: ${char}`);
    else perms |= bit;
  }
  return perms;
}

/** Commas at the end separate nothing. */
function splitAtCommas(text: string): readonly string[] {
  return text === "" ? [""] : withoutEnd(text, ",").split(",");
}

/** Without the last characters that are this one. */
function withoutEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return text.slice(0, end);
}
