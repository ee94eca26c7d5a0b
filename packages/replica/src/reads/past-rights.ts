import { type Acl, type ByteSlice, ErrorCode, may, Permission } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";
import { readRefusal } from "./read-refusal.ts";

const SLASH = 0x2f;

type Parts = Pick<GroundParts, "auth" | "tree">;

/**
 * Why a connection may not ask about the past of a path: it needs READ on the node, or where that
 * is gone, ADMIN on the nearest node above that is there. A path without a node says no more.
 *
 * Beside this it needs {@link mightRead}: somebody else may have had a node of that path.
 */
export function pastRefusal(parts: Parts, connection: Connection, path: Readonly<ByteSlice>): ErrorCode {
  const { tree } = parts;
  const { bytes, start, end } = path;
  const node = tree.find(bytes, start, end);
  if (node !== 0) return readRefusal(parts, connection, node, Permission.READ);
  for (let to = end; to > start; ) {
    to = Math.max(start, bytes.subarray(start, to).lastIndexOf(SLASH) + start);
    // The root is a slash.
    const above = tree.find(bytes, start, Math.max(to, start + 1));
    if (above !== 0) return readRefusal(parts, connection, above, Permission.ADMIN);
  }
  return ErrorCode.NO_AUTH;
}

/** Whether a connection might have read a node with that access list; not if it is unknown. */
export function mightRead({ auth }: Pick<Parts, "auth">, connection: Connection, acl: Acl | undefined): boolean {
  return acl !== undefined && may(auth.rules, connection.answeredAs, acl, Permission.READ);
}
