import { ErrorCode, may } from "@zooid/model";
import type { Connection } from "../connections/connection.ts";
import type { GroundParts } from "../parts/ground.ts";

/** Why a connection may not read a node: NO_NODE, NO_AUTH, or OK where it may. */
export function readRefusal(
  { auth, tree }: Pick<GroundParts, "auth" | "tree">,
  connection: Connection,
  node: number,
  permission: number,
): ErrorCode {
  if (node === 0) return ErrorCode.NO_NODE;
  const { acl } = tree.view(node);
  return may(auth.rules, connection.answeredAs, acl, permission) ? ErrorCode.OK : ErrorCode.NO_AUTH;
}
