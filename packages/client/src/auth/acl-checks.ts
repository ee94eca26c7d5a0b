/**
 * Checks access lists before a request is sent. Servers take entries that can match no one, such as
 * a password in plain text for `digest`: the node is then lost to everyone.
 */
import { isIP } from "node:net";
import {
  type Acl,
  type AclEntry,
  ArgumentError,
  fits,
  found,
  misfit,
  misfits,
  OPEN_ACL,
  Permission,
  rules,
  type Shape,
  shape,
} from "@zooid/model";
import { zkError } from "../errors.ts";

/** One entry of an access list, as calls take it. */
export interface AclEntryInput {
  /**
   * A sum of {@link Permission}s, or letters as in ZooKeeper's shell: `c`reate, `d`elete, `r`ead,
   * `w`rite, `a`dmin.
   */
  readonly perms: number | string;
  /** `world`, `auth`, `digest`, `ip`, `x509`, `sasl`, or a scheme of the servers' own. */
  readonly scheme: string;
  readonly id: string;
}

/** An access list, as calls take it. */
export type AclInput = readonly AclEntryInput[];

const LETTERS: Readonly<Record<string, number>> = {
  c: Permission.CREATE,
  d: Permission.DELETE,
  r: Permission.READ,
  w: Permission.WRITE,
  a: Permission.ADMIN,
};

const ENTRY: Shape<AclEntryInput> = shape<AclEntryInput>({
  perms: {
    expected: 'a whole number from 0 to 31, or letters of "cdrwa"',
    accepts: (value) => permsOf(value) !== undefined,
  },
  scheme: { expected: "a name", accepts: (value) => typeof value === "string" && value !== "" },
  id: rules.text,
});

/** Bytes of the digests that servers can be set to: MD5, and the SHA family. */
const DIGEST_BYTES: ReadonlySet<number> = new Set([16, 20, 28, 32, 48, 64]);

/**
 * The list as it is sent.
 *
 * @param op the method, for the error
 * @throws INVALID_ACL with every problem; ArgumentError for what is no list
 */
export function checkedAcl(acl: AclInput, op: string, path: string): Acl {
  if (acl === OPEN_ACL) return OPEN_ACL;
  if (!Array.isArray(acl)) throw new ArgumentError(`${op} ${path}`, aclProblems(acl));
  const problems = aclProblems(acl);
  if (problems.length > 0) {
    const message = `${op} ${path}: not a valid access list (INVALID_ACL); ${problems.join("; ")}`;
    throw zkError({ code: "INVALID_ACL", op, path, outcome: "not-sent", message, reason: problems.join("; ") });
  }
  return acl.map(({ perms, scheme, id }) => ({ perms: permsOf(perms) ?? 0, scheme, id }));
}

/** Every problem of an access list, one sentence each. */
export function aclProblems(acl: unknown): readonly string[] {
  if (!Array.isArray(acl)) return [misfit("acl", acl, rules.list)];
  if (acl.length === 0) return ["acl: an empty list would deny all access"];
  return acl.flatMap((entry: unknown, i) => entryProblems(entry).map((problem) => `acl[${i}]: ${problem}`));
}

function entryProblems(entry: unknown): readonly string[] {
  if (typeof entry !== "object" || entry === null) {
    return [`an entry is an object with perms, scheme and id, found ${found(entry)}`];
  }
  if (!fits(entry, ENTRY)) return misfits(entry, ENTRY);
  const { perms, scheme, id } = entry as Partial<AclEntry>;
  const missing = Object.entries({ perms, scheme, id }).flatMap(([name, value]) => (value === undefined ? [name] : []));
  if (missing.length > 0) return missing.map((name) => `${name} is missing`);
  const problem = idProblem(scheme ?? "", id ?? "");
  return problem === undefined ? [] : [problem];
}

function idProblem(scheme: string, id: string): string | undefined {
  switch (scheme) {
    case "world":
      return id === "anyone" ? undefined : `the id of scheme world is "anyone", found ${found(id)}`;
    case "digest":
      // The part behind the colon may be a password: messages do not show it.
      return isDigestId(id)
        ? undefined
        : "the id of scheme digest is user:hash in base64, not the password; digestId(user, password) makes it";
    case "ip":
      return isAddressRange(id) ? undefined : `the id of scheme ip is an address or address/bits, found ${found(id)}`;
    case "sasl":
    case "x509":
      return id === "" ? `the id of scheme ${scheme} is a name, found ""` : undefined;
    default:
      return undefined;
  }
}

function isDigestId(id: string): boolean {
  const [user = "", hash = "", ...rest] = id.split(":");
  if (user === "" || rest.length > 0) return false;
  const bytes = Buffer.from(hash, "base64");
  return DIGEST_BYTES.has(bytes.length) && bytes.toString("base64") === hash;
}

function isAddressRange(id: string): boolean {
  const [address = "", bits, ...rest] = id.split("/");
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}

/** Undefined for what is neither a number of permissions nor letters. */
function permsOf(value: unknown): number | undefined {
  if (typeof value !== "string") {
    const isNumber = typeof value === "number" && Number.isInteger(value);
    return isNumber && value >= 0 && value <= Permission.ALL ? value : undefined;
  }
  let perms = 0;
  for (const letter of value) {
    const bit = Object.hasOwn(LETTERS, letter) ? LETTERS[letter] : undefined;
    if (bit === undefined) return undefined;
    perms |= bit;
  }
  return value === "" ? undefined : perms;
}
