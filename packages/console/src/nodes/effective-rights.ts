/**
 * The rights of a user to a node, by the access lists of the node and of its parent, as the servers
 * judge it.
 */
import { type Client, isZkError } from "@zooid/client";
import { type AccessRules, type Acl, type AclEntry, type Identity, may, Permission, parentPath } from "@zooid/model";
import type { RightJson, RightsJson } from "../api/node-fact-shapes.ts";

/** A list, or `hidden`: the user has neither read nor admin, one of which reading it needs. */
type ReadAcl = Acl | "hidden";

interface Action {
  readonly action: RightJson["action"];
  readonly need: number;
  readonly permission: RightJson["permission"];
  /** The node whose list decides. */
  readonly of: "node" | "parent";
}

const ACTIONS: readonly Action[] = [
  { action: "read", need: Permission.READ, permission: "read", of: "node" },
  { action: "write", need: Permission.WRITE, permission: "write", of: "node" },
  { action: "create-children", need: Permission.CREATE, permission: "create", of: "node" },
  { action: "delete-children", need: Permission.DELETE, permission: "delete", of: "node" },
  { action: "delete", need: Permission.DELETE, permission: "delete", of: "parent" },
  { action: "set-acl", need: Permission.ADMIN, permission: "admin", of: "node" },
];
const SCHEMES = ["digest", "x509", "sasl"] as const;
/** In place of a digest's hash, which servers show only to users with admin. */
const HIDDEN_HASH = ":x";

export interface RightsOf {
  readonly path: string;
  readonly identities: readonly Identity[];
  readonly acl: ReadAcl;
  /** Undefined for the root, which has no parent and is never deleted. */
  readonly parentAcl: ReadAcl | undefined;
}

/** @param identities as the servers have them, `super` for the superuser */
export function effectiveRights({ path, identities, acl, parentAcl }: RightsOf): readonly RightJson[] {
  const isSuper = identities.some(({ scheme }) => scheme === "super");
  return ACTIONS.map(({ action, need, permission, of }): RightJson => {
    const list = of === "node" ? acl : parentAcl;
    const right = { action, permission, node: of === "node" || list === undefined ? path : parentPath(path) };
    if (list === undefined) return { ...right, verdict: "no", grants: [] };
    if (isSuper) return { ...right, verdict: "yes", grants: [] };
    if (list === "hidden") {
      // A list is hidden from users that have neither of these.
      const isRefused = need === Permission.READ || need === Permission.ADMIN;
      return { ...right, verdict: isRefused ? "no" : "unknown", grants: [] };
    }
    const entries = list.filter(({ perms }) => (perms & need) !== 0);
    const grants = entries.filter((entry) => covers(entry, identities, need));
    if (grants.length > 0) return { ...right, verdict: "yes", grants: grants.map(shown) };
    const likely = entries.filter((entry) => isLikely(entry, identities));
    return { ...right, verdict: likely.length > 0 ? "likely" : "no", grants: likely.map(shown) };
  });
}

/** Reads both lists, and asks the server for whom it takes the user. */
export async function readRights(
  client: Client,
  path: string,
  { identities }: { readonly identities: readonly Identity[] },
  signal: AbortSignal,
): Promise<RightsJson> {
  const [known, acl, parentAcl] = await Promise.all([
    identitiesOf(client, identities, signal),
    readAcl(client, path, signal),
    path === "/" ? undefined : readAcl(client, parentPath(path), signal),
  ]);
  const everyone = acl === "hidden" ? [] : effectiveRights({ path, identities: [], acl, parentAcl: undefined });
  return {
    path,
    identities: known.map(({ scheme, id }) => ({ scheme, id })),
    isSuperuser: known.some(({ scheme }) => scheme === "super"),
    rights: [...effectiveRights({ path, identities: known, acl, parentAcl })],
    everyone: everyone.flatMap(({ verdict, permission }) => (verdict === "yes" ? [permission] : [])),
  };
}

/** The server's answer has addresses and the superuser; of a digest it has the user's name only. */
export async function identitiesOf(
  client: Client,
  own: readonly Identity[],
  signal: AbortSignal,
): Promise<readonly Identity[]> {
  try {
    const infos = await client.whoAmI({ signal });
    const others = infos.filter(({ scheme }) => scheme !== "digest").map(({ scheme, user }) => ({ scheme, id: user }));
    return [...own.filter(({ scheme }) => scheme === "digest"), ...others];
  } catch (error) {
    // Servers before 3.7 do not have the request.
    if (!isZkError(error, "UNIMPLEMENTED")) throw error;
    return own.filter(({ scheme }) => scheme === "digest");
  }
}

async function readAcl(client: Client, path: string, signal: AbortSignal): Promise<ReadAcl> {
  try {
    return (await client.getAcl(path, { signal })).acl;
  } catch (error) {
    if (!isZkError(error, "NO_AUTH")) throw error;
    return "hidden";
  }
}

function covers(entry: AclEntry, identities: readonly Identity[], need: number): boolean {
  const schemes: AccessRules["schemes"] = new Map([
    ...SCHEMES.map((scheme) => [scheme, {}] as const),
    // Schemes of a server's own compare whole ids.
    ...identities.map(({ scheme }) => [scheme, {}] as const),
    ["ip", { isRange: true }] as const,
  ]);
  return may({ skipAcl: false, schemes }, identities, [entry], need);
}

/** An entry whose hash is hidden may be for another password of the same name. */
function isLikely({ scheme, id }: AclEntry, identities: readonly Identity[]): boolean {
  if (scheme !== "digest" || !id.endsWith(HIDDEN_HASH)) return false;
  const user = id.slice(0, -HIDDEN_HASH.length);
  return identities.some((identity) => identity.scheme === "digest" && identity.id.startsWith(`${user}:`));
}

function shown({ scheme, id }: AclEntry): { readonly scheme: string; readonly id: string } {
  return { scheme, id };
}
