import { type Identity, may, Permission } from "@zooid/model";
import type { AdminView } from "./admin-view.ts";

/**
 * The reason why a command that reads or replaces all data is refused; undefined if it is allowed.
 */
export interface Denial {
  readonly status: 401 | 403;
  readonly error: string;
}

const NEEDED = [Permission.READ, Permission.WRITE, Permission.CREATE, Permission.DELETE, Permission.ADMIN];

/** The requester, as far as it is known. */
export interface Asking {
  /** The header of this name. */
  readonly authorization: string | undefined;
  /** The remote address; headers of proxies are ignored. */
  readonly address: string;
  readonly certificateSubject: string | undefined;
}

/**
 * Judges the header `Authorization: SCHEME DATA` as an auth packet is judged. Its identities need
 * every permission on the root: one permission is not enough, though it is for most operations.
 * Permissions of world:anyone do not count, since any made-up digest is an identity.
 */
export function denial(view: AdminView, asking: Asking): Denial | undefined {
  if (asking.authorization === undefined) return { status: 401, error: "Auth info is missing for the command" };
  const granted = identitiesOf(view, asking, asking.authorization);
  if (granted.length === 0) return { status: 401, error: "Not authenticated" };
  const { auth, tree } = view.driver.replica;
  if (granted.some(({ scheme }) => scheme === "super")) return undefined;
  const root = tree.view(tree.find(ROOT, 0, ROOT.length)).acl;
  const named = root.filter(({ scheme }) => scheme !== "world");
  const rules = { ...auth.rules, skipAcl: false };
  // A list without entries would allow everybody.
  const isNamed = named.length > 0 && NEEDED.every((permission) => may(rules, granted, named, permission));
  if (isNamed) return undefined;
  const isAllowedToAll = NEEDED.every((permission) => may(auth.rules, granted, root, permission));
  return { status: 403, error: isAllowedToAll ? NOT_NAMED : "Not authorized" };
}

const NOT_NAMED =
  "Not authorized: the access list of / must give every permission to this identity by an entry other than world:anyone, " +
  "or the superuser must ask";

const ROOT: Uint8Array = Buffer.from("/");

/** The identities that a requester has proved, of a request that was not denied. */
export function requesterIdentities(view: AdminView, asking: Asking): readonly Identity[] {
  return asking.authorization === undefined ? [] : identitiesOf(view, asking, asking.authorization);
}

function identitiesOf({ driver }: AdminView, asking: Asking, header: string): readonly Identity[] {
  const { auth } = driver.replica;
  const { address, certificateSubject } = asking;
  const [scheme = "", data = ""] = header.trim().split(/\s+/, 2);
  const here = { scheme: "ip", id: address };
  if (scheme === "ip") return [here];
  if (scheme === "x509") return certificateSubject === undefined ? [] : auth.certificateIdentities(certificateSubject);
  if (data === "") return [];
  const granted = auth.authenticate(scheme, Buffer.from(data), [here]);
  return typeof granted === "string" ? [] : granted;
}
